package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const lowerHex = "0123456789abcdef"

// encode writes the one form of a record that parse accepts, and returns it
// with its parts. The parser has the last word on what is written: a record
// that it refuses could never be verified.
func encode(id string, now time.Time, d *Draft) ([]byte, view, error) {
	body, err := bodyJSON(d.Body)
	if err != nil {
		return nil, view{}, fmt.Errorf("body of %s: %w", d.Kind, err)
	}
	raw := envelope(id, now, d, body)
	v, err := parse(raw)
	if err != nil && len(raw) <= MaxRecord {
		// Most bodies are canonical as they come; the others are rewritten.
		if body, err = canonical(body); err != nil {
			return nil, view{}, fmt.Errorf("body of %s: %w", d.Kind, err)
		}
		raw = envelope(id, now, d, body)
		v, err = parse(raw)
	}
	switch {
	case len(raw) > MaxRecord:
		return nil, view{}, fmt.Errorf("%s has %d bytes, more than a record may have (%d)", d.Kind, len(raw), MaxRecord)
	case err != nil:
		return nil, view{}, fmt.Errorf("%s: %w", d.Kind, err)
	}
	return raw, v, nil
}

func envelope(id string, now time.Time, d *Draft, body []byte) []byte {
	b := make([]byte, 0, 600+len(body))
	b = append(b, `{"id":"`...)
	b = append(b, id...)
	b = append(b, `","time":"`...)
	b = appendTime(b, now)
	b = append(b, `","kind":"`...)
	b = append(b, d.Kind...)
	b = append(b, `","story":"`...)
	b = append(b, d.Story...)
	b = append(b, '"')
	a := &d.Actor
	for i, s := range [len(actorKeys)]string{a.Kind, a.Name, a.Session, a.Harness, a.Host, a.Auth, a.Key, a.Sig} {
		b = append(b, actorPrefixes[i]...)
		b = appendString(b, s)
	}
	b = append(b, `},"crit":`...)
	b = strconv.AppendBool(b, d.Crit)
	b = append(b, `,"schema":`...)
	b = strconv.AppendInt(b, int64(d.Schema), 10)
	b = append(b, `,"body":`...)
	b = append(b, body...)
	return append(b, '}')
}

// bodyJSON returns a body as JSON of whatever form. nil is the empty object.
func bodyJSON(body any) ([]byte, error) {
	switch v := body.(type) {
	case nil:
		return []byte("{}"), nil
	case json.RawMessage:
		return v, nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// canonical returns the canonical form of an object.
func canonical(body []byte) ([]byte, error) {
	b, err := rewrite(body)
	if err != nil {
		return nil, err
	}
	s := scanner{b: b}
	if s.object(1); s.bad || s.i != len(b) {
		return nil, fmt.Errorf("want one object of at most %d levels, no name twice, no fractions, integers below 2^53", MaxDepth)
	}
	return b, nil
}

// rewrite drops white space and gives every string its canonical spelling.
// It changes no value.
func rewrite(b []byte) ([]byte, error) {
	if !json.Valid(b) {
		return nil, errors.New("invalid JSON")
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	out := make([]byte, 0, len(b))
	type level struct {
		object bool
		n      int
	}
	var stack []level
	for dec.More() || len(stack) > 0 {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		if d, ok := tok.(json.Delim); ok && (d == '}' || d == ']') {
			stack = stack[:len(stack)-1]
			out = append(out, byte(d))
			continue
		}
		if len(stack) > 0 {
			top := &stack[len(stack)-1]
			switch {
			case top.object && top.n%2 == 1:
				out = append(out, ':')
			case top.n > 0:
				out = append(out, ',')
			}
			top.n++
		}
		switch t := tok.(type) {
		case json.Delim:
			out = append(out, byte(t))
			stack = append(stack, level{object: t == '{'})
		case string:
			out = appendString(out, t)
		case json.Number:
			out = append(out, t...)
		case bool:
			out = strconv.AppendBool(out, t)
		case nil:
			out = append(out, "null"...)
		}
	}
	return out, nil
}

// appendString writes s as a canonical string. Bytes that are not UTF-8 become
// U+FFFD, as encoding/json has it.
func appendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case shortEscape[c] != 0:
			b = append(b, '\\', shortEscape[c])
		default:
			b = append(b, `\u00`...)
			b = append(b, lowerHex[c>>4], lowerHex[c&15])
		}
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// unescape is the inverse of appendString for what stands between the quotes.
func unescape(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b)
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		if b[i] != '\\' {
			out = append(out, b[i])
			i++
			continue
		}
		switch c := b[i+1]; c {
		case 'u':
			out = append(out, byte(hexDigit(b[i+4])<<4|hexDigit(b[i+5])))
			i += 6
			continue
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		default:
			out = append(out, c)
		}
		i += 2
	}
	return string(out)
}
