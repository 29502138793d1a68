package snippet

import "strings"

// maxCode bounds the text of a program, and maxDepth programs within strings
// of programs.
const (
	maxCode  = 16 << 10
	maxDepth = 4
)

type kind byte

const (
	end kind = iota
	name
	number
	text // a string or a pattern
	sign
	line // the end of a statement
)

type token struct {
	kind  kind
	s     string // of a string, what is between its quotes
	mark  string // of a string, what stands before it, or its first quote
	match int    // of a bracket, where its counterpart is
	space bool   // blanks stand before it
}

// program is the tokens of a text, with a sentinel on either side.
type program []token

// at returns a token; beyond the ends there are empty ones.
func (p program) at(i int) token {
	if i < 0 || i >= len(p) {
		return token{}
	}
	return p[i]
}

// is reports whether tokens from i on are these signs and names.
func (p program) is(i int, want ...string) bool {
	for k, s := range want {
		if t := p.at(i + k); t.s != s || t.kind == text || t.kind == end {
			return false
		}
	}
	return true
}

// pair finds the counterpart of each bracket, and reports whether all have one.
func (p program) pair() bool {
	var open []int
	for i, t := range p {
		if t.kind != sign {
			continue
		}
		switch t.s {
		case "(", "[", "{":
			open = append(open, i)
		case ")", "]", "}":
			if len(open) == 0 {
				return false
			}
			last := open[len(open)-1]
			open = open[:len(open)-1]
			if strings.Index("([{", p[last].s) != strings.Index(")]}", t.s) {
				return false
			}
			p[last].match, p[i].match = i, last
		}
	}
	return len(open) == 0
}

// arguments splits what stands between a bracket and its counterpart at commas.
func (p program) arguments(open int) []program {
	var all []program
	last := p[open].match
	from := open + 1
	for i := from; i < last; i++ {
		switch {
		case p[i].kind == sign && p[i].match > i:
			i = p[i].match
		case p[i].kind == sign && p[i].s == ",":
			all = append(all, p[from:i])
			from = i + 1
		}
	}
	if from < last {
		all = append(all, p[from:last])
	}
	return all
}

// listed reports whether a word is in a list that is separated by blanks.
func listed(list, word string) bool {
	for rest := list; rest != ""; {
		var next string
		next, rest, _ = strings.Cut(rest, " ")
		if next == word {
			return true
		}
	}
	return false
}

func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// word returns the letters and digits that a text begins with.
func word(s string) string {
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) {
			return s[:i]
		}
	}
	return s
}

// numeral returns the number that a text begins with, "" if letters follow it
// that no number has.
func numeral(s string) string {
	i := 0
	for i < len(s) && (isLetter(s[i]) || isDigit(s[i]) || s[i] == '.' && !strings.HasPrefix(s[i:], "..")) {
		i++
	}
	if strings.Trim(s[:i], "0123456789abcdefABCDEFxXoOjJnL_.") != "" || strings.Contains(s[:i], "__") {
		return ""
	}
	return s[:i]
}

// plain reports whether a text holds nothing that languages or their versions
// see in different ways: bytes that end a line in some, and letters that look
// like others outside of strings, which the scanners refuse.
func plain(code string) bool {
	return len(code) <= maxCode && !strings.ContainsAny(code, "\r\v\f\x00\x1a\x04\u2028\u2029\u0085\ufeff")
}
