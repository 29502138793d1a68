package dialect

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// What a payload may be. A harness stays far below all of them.
const (
	MaxPayload = 16 << 20 // bytes
	maxDepth   = 64       // nesting of arrays and objects
)

// What is wrong with a payload. The texts go into a denial, so they hold
// nothing of the payload.
var (
	ErrTooLarge   = errors.New("the hook input is larger than 16 MiB")
	ErrEmpty      = errors.New("the hook input is empty")
	ErrText       = errors.New("the hook input is not valid UTF-8 text")
	ErrNesting    = errors.New("the hook input is nested too deeply")
	ErrJSON       = errors.New("the hook input is not one JSON object")
	ErrDuplicate  = errors.New("the hook input names one key twice")
	ErrSpellings  = errors.New("two spellings of one key disagree in the hook input")
	ErrType       = errors.New("a field of the hook input has the wrong type")
	ErrClipped    = errors.New("the harness clipped the tool's input, so it can't be judged")
	ErrNoTool     = errors.New("the hook input names no tool")
	ErrIncomplete = errors.New("a field that the tool needs is missing in the hook input")
)

// ReadAll reads a payload, and no more than MaxPayload of it.
func ReadAll(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxPayload+1))
	if err != nil {
		return nil, err
	}
	if len(b) > MaxPayload {
		return nil, ErrTooLarge
	}
	return b, nil
}

// bound returns the payload without a byte order mark, or why it must not
// reach a parser.
func bound(b []byte) ([]byte, error) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if len(b) > MaxPayload {
		return nil, ErrTooLarge
	}
	if len(bytes.TrimLeft(b, " \t\r\n")) == 0 {
		return nil, ErrEmpty
	}
	if !utf8.Valid(b) {
		return nil, ErrText
	}
	return b, scan(b)
}

// scan looks once over JSON text, valid or not: it bounds the nesting and finds
// escapes of lone surrogates, which parsers replace by something else.
func scan(b []byte) error {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return ErrNesting
			}
		case '}', ']':
			depth--
		case '"':
			end, err := scanString(b, i+1)
			if err != nil {
				return err
			}
			i = end
		}
	}
	return nil
}

// scanString returns the index of the quote that ends the string which begins
// at i. An unfinished one is left to the parser.
func scanString(b []byte, i int) (int, error) {
	for i < len(b) && b[i] != '"' {
		if b[i] != '\\' {
			i++
			continue
		}
		unit, ok := escapedUnit(b, i)
		switch {
		case !ok:
			i += 2
		case unit < 0xd800 || unit > 0xdfff:
			i += 6
		default:
			low, ok := escapedUnit(b, i+6)
			if unit > 0xdbff || !ok || low < 0xdc00 || low > 0xdfff {
				return 0, ErrText
			}
			i += 12
		}
	}
	return i, nil
}

// escapedUnit returns the UTF-16 unit that an escape \uXXXX at i stands for.
func escapedUnit(b []byte, i int) (unit int, ok bool) {
	if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
		return 0, false
	}
	for _, c := range b[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		unit = unit<<4 | int(c)
	}
	return unit, true
}
