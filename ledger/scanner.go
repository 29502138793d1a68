package ledger

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// maxInt is the largest integer that every JSON parser reads exactly.
const maxInt = 1<<53 - 1

// A scanner reads canonical JSON from b, which the caller has found to be
// valid UTF-8. Its methods do nothing once bad is set, so that a parser reads
// as a list of what must stand there, with one check at its end.
//
// Canonical means: no white space between tokens, in strings no escape but the
// shortest form of what has to be escaped, integers only, no name twice in an
// object.
type scanner struct {
	b    []byte
	i    int
	bad  bool
	refs []ref // the blob references met so far
}

// A ref is a reference to a blob in the body of a record.
type ref struct {
	digest []byte // 64 hexadecimal digits
	length int64
}

func (s *scanner) fail() { s.bad = true }

// expect skips lit.
func (s *scanner) expect(lit string) {
	if !s.at(lit) {
		s.fail()
		return
	}
	s.i += len(lit)
}

// peek returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	if s.bad || s.i >= len(s.b) {
		return 0
	}
	return s.b[s.i]
}

// field skips prefix and returns the string that follows, without its quotes.
func (s *scanner) field(prefix string) []byte {
	s.expect(prefix)
	return s.string()
}

func (s *scanner) bool() bool {
	if s.peek() == 't' {
		s.expect("true")
		return true
	}
	s.expect("false")
	return false
}

// string skips a string and returns what stands between its quotes.
func (s *scanner) string() []byte {
	s.expect(`"`)
	start := s.i
	for !s.bad {
		i := plain(s.b, s.i)
		if i >= len(s.b) {
			s.fail()
			break
		}
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return s.b[start:i]
		case c == '\\':
			n := escapeLen(s.b[i:])
			if n == 0 {
				s.fail()
			}
			s.i = i + n
		default: // a raw control character
			s.fail()
		}
	}
	return nil
}

// plain returns the index of the first byte at or after i that is a quote, a
// backslash or a control character, or len(b). Text is most of a ledger, so it
// looks at eight bytes at a time.
func plain(b []byte, i int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	for len(b)-i >= 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		q := w ^ '"'*ones
		e := w ^ '\\'*ones
		// A byte's high bit is set in (x-ones)&^x if the byte is zero, in
		// (w-0x20*ones)&^w if it is below 0x20. A borrow can only mark a
		// byte above one that is marked rightly, so the first mark is right.
		m := ((q-ones)&^q | (e-ones)&^e | (w-0x20*ones)&^w) & highs
		if m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
		i += 8
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < 0x20 {
			return i
		}
	}
	return i
}

// escapeLen returns the length of the canonical escape at the start of b, 0 if
// there is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 || b[2] != '0' || b[3] != '0' {
			return 0
		}
		hi, lo := b[4], hexDigit(b[5])
		if hi != '0' && hi != '1' || lo < 0 {
			return 0
		}
		if shortEscape[(hi-'0')<<4|byte(lo)] != 0 {
			return 0 // has a shorter spelling
		}
		return 6
	}
	return 0
}

// shortEscape gives the letter of the two-byte escapes of control characters.
var shortEscape = [32]byte{'\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

// hexDigit returns the value of a lower-case hexadecimal digit, -1 for others.
func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}

// integer skips an integer and returns it: no fraction, no exponent, no
// leading zero, no -0, at most maxInt in size.
func (s *scanner) integer() int64 {
	neg := s.peek() == '-'
	if neg {
		s.i++
	}
	start := s.i
	var n int64
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		n = n*10 + int64(s.b[s.i]-'0')
		s.i++
		if n > maxInt {
			s.fail()
			return 0
		}
	}
	digits := s.i - start
	if digits == 0 || digits > 1 && s.b[start] == '0' || neg && n == 0 {
		s.fail()
	}
	if neg {
		return -n
	}
	return n
}

// value skips any value at the given depth.
func (s *scanner) value(depth int) {
	switch s.peek() {
	case '"':
		s.string()
	case '{':
		s.object(depth)
	case '[':
		s.array(depth)
	case 't', 'f':
		s.bool()
	case 'n':
		s.expect("null")
	default:
		s.integer()
	}
}

func (s *scanner) array(depth int) {
	s.expect("[")
	if depth > MaxDepth {
		s.fail()
	}
	if s.peek() == ']' {
		s.i++
		return
	}
	for !s.bad {
		s.value(depth + 1)
		if s.peek() != ',' {
			break
		}
		s.i++
	}
	s.expect("]")
}

// object skips an object and refuses a name that occurs twice. Since a string
// has one spelling only, comparing bytes is comparing names.
func (s *scanner) object(depth int) {
	s.expect("{")
	if depth > MaxDepth {
		s.fail()
	}
	if s.peek() == '}' {
		s.i++
		return
	}
	var names nameSet
	for !s.bad {
		name := s.string()
		if !names.add(name) {
			s.fail()
		}
		s.expect(":")
		if string(name) == "digest" && s.at(`"`+digestPrefix) {
			s.ref(names.n == 1)
			break
		}
		s.value(depth + 1)
		if s.peek() != ',' {
			break
		}
		s.i++
	}
	s.expect("}")
}

// at reports whether lit comes next.
func (s *scanner) at(lit string) bool {
	return !s.bad && len(s.b)-s.i >= len(lit) && string(s.b[s.i:s.i+len(lit)]) == lit
}

// ref skips the members of a reference to a blob, of which digest must be the
// first, and notes it. What looks like a reference has to be one: the check of
// a ledger must find each of them.
func (s *scanner) ref(first bool) {
	digest := s.string()
	s.expect(`,"length":`)
	n := s.integer()
	s.field(`,"type":`)
	if s.bad || !first || n < 0 || len(digest) != len(digestPrefix)+64 {
		s.fail()
		return
	}
	digest = digest[len(digestPrefix):]
	for _, c := range digest {
		if hexDigit(c) < 0 {
			s.fail()
			return
		}
	}
	s.refs = append(s.refs, ref{digest, n})
}

// A nameSet finds duplicates: by comparing while there are few, which costs no
// allocation, by a map beyond.
type nameSet struct {
	few  [12][]byte
	n    int
	many map[string]struct{}
}

func (t *nameSet) add(name []byte) bool {
	if t.many == nil && t.n == len(t.few) {
		t.many = make(map[string]struct{}, 2*len(t.few))
		for _, f := range t.few {
			t.many[string(f)] = struct{}{}
		}
	}
	if t.many != nil {
		before := len(t.many)
		t.many[string(name)] = struct{}{}
		return len(t.many) > before
	}
	for _, f := range t.few[:t.n] {
		if bytes.Equal(f, name) {
			return false
		}
	}
	t.few[t.n] = name
	t.n++
	return true
}
