package route

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of what is read. A route is written by people; what exceeds these
// is no route.
const (
	maxFile     = 1 << 20
	maxLine     = 64 << 10
	maxSections = 200
	maxItems    = 100
	maxName     = 64
)

// line is one line of a file without its end; CRLF and LF are the same.
type line struct {
	no   int
	text string
}

// trimmed is the line without white space around it.
func (l line) trimmed() string { return strings.TrimSpace(l.text) }

// split takes a file apart into lines. A file that is no text of bounded size is
// one problem, and nothing more is said about it.
func split(r *report, file string, data []byte) ([]line, bool) {
	if data == nil {
		r.add(file, 1, "the file is not there", "write it, or run `satelle init` for the shipped one")
		return nil, false
	}
	if len(data) > maxFile {
		r.add(file, 1, fmt.Sprintf("the file has %d bytes", len(data)), fmt.Sprintf("keep it under %d", maxFile))
		return nil, false
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) == 0 {
		r.add(file, 1, "the file is empty", "write it, or run `satelle init` for the shipped one")
		return nil, false
	}
	var lines []line
	for no := 1; len(data) > 0; no++ {
		raw, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		raw = bytes.TrimSuffix(raw, []byte("\r"))
		if len(raw) > maxLine {
			r.add(file, no, fmt.Sprintf("the line has %d bytes", len(raw)), fmt.Sprintf("keep it under %d", maxLine))
			return nil, false
		}
		if !utf8.Valid(raw) {
			r.add(file, no, "the line is not valid UTF-8", "save the file as UTF-8 text")
			return nil, false
		}
		if i := bytes.IndexFunc(raw, hidden); i >= 0 {
			c, _ := utf8.DecodeRune(raw[i:])
			r.add(file, no, fmt.Sprintf("the line holds the control character %U", c), "take it out")
			return nil, false
		}
		lines = append(lines, line{no, string(raw)})
	}
	return lines, true
}

// hidden reports characters that make a file read differently from what it
// says: controls, and those that reverse the direction of what is displayed. A
// person decides by reading whether a check may run.
func hidden(c rune) bool {
	return unicode.IsControl(c) && c != '\t' || c >= '\u202a' && c <= '\u202e' || c >= '\u2066' && c <= '\u2069'
}

// validName reports whether s may name a state, a category, an obligation, a
// tag, a skill or a binding. A leading letter or digit keeps names apart from
// the flags of a command line.
func validName(s string) bool {
	if s == "" || len(s) > maxName || !alnum(s[0]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !alnum(c) && c != '_' && c != '-' && c != ':' {
			return false
		}
	}
	return true
}

func alnum(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// nameMend says what validName wants.
const nameMend = "use at most 64 of a-z, 0-9, _, - and :, and begin with a letter or digit"

// clip keeps foreign text in a message short.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
