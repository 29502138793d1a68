package snippet

import "strings"

// jsScan splits a program into tokens. A template becomes a string and its
// expressions in brackets, as if they were added to it.
func jsScan(code string) (program, bool) {
	s := jsScanner{rest: code}
	ok := s.until(0)
	return s.p, ok && s.rest == ""
}

type jsScanner struct {
	rest string
	p    program
}

// until scans up to the brace that closes a template's expression, or to the
// end. depth is how many templates are around.
func (s *jsScanner) until(depth int) bool {
	if depth > maxDepth {
		return false
	}
	braces := 0
	for s.rest != "" {
		c := s.rest[0]
		operand := jsOperand(s.p, len(s.p)-1)
		switch {
		case c == ' ' || c == '\t':
			s.rest = s.rest[1:]
		case c == '\n':
			s.rest = strings.TrimLeft(s.rest, " \t\n")
			// What begins with a sign may go on with the statement.
			if s.rest != "" && (isLetter(s.rest[0]) || isDigit(s.rest[0]) || strings.IndexByte("$'\"{", s.rest[0]) >= 0) {
				s.add(line, "\n", "")
			}
		case strings.HasPrefix(s.rest, "//"):
			if i := strings.IndexByte(s.rest, '\n'); i >= 0 {
				s.rest = s.rest[i:]
			} else {
				s.rest = ""
			}
		case strings.HasPrefix(s.rest, "/*"):
			_, after, ok := strings.Cut(s.rest[2:], "*/")
			if !ok {
				return false
			}
			s.rest = after
		case strings.HasPrefix(s.rest, "<!--") || strings.HasPrefix(s.rest, "-->"):
			return false // a comment, to some
		case c == '"' || c == '\'':
			if !s.quoted(c) {
				return false
			}
		case c == '`':
			if operand || !s.template(depth) {
				return false
			}
		case c == '/':
			switch last := s.p.at(len(s.p) - 1); {
			case last.kind == sign && (last.s == ")" || last.s == "}" || last.s == "++" || last.s == "--"),
				last.kind == name && listed("of async await let", last.s) && !s.p.is(len(s.p)-2, "."):
				return false // a pattern or a division
			case operand:
				s.add(sign, "/", "/")
			case !s.pattern():
				return false
			}
		case isDigit(c):
			n := numeral(s.rest)
			if n == "" {
				return false
			}
			s.add(number, n, n)
		case isLetter(c) || c == '$':
			n := 0
			for n < len(s.rest) && (isLetter(s.rest[n]) || isDigit(s.rest[n]) || s.rest[n] == '$') {
				n++
			}
			s.add(name, s.rest[:n], s.rest[:n])
		case c == '}' && braces == 0 && depth > 0:
			return true
		case c >= 0x80 || strings.IndexByte(`\#@`, c) >= 0:
			return false
		default:
			switch c {
			case '{':
				braces++
			case '}':
				braces--
			}
			what := s.rest[:1]
			for _, long := range [...]string{"...", "=>", "?.", "==", "!=", "<=", ">=", "++", "--", "&&", "||", "??", "+=", "-=", "*="} {
				if strings.HasPrefix(s.rest, long) && !(long == "?." && len(s.rest) > 2 && isDigit(s.rest[2])) {
					what = long
					break
				}
			}
			s.add(sign, what, what)
		}
	}
	return depth == 0
}

// add appends a token, and drops what it was read from.
func (s *jsScanner) add(k kind, what, from string) {
	s.p = append(s.p, token{kind: k, s: what})
	s.rest = strings.TrimPrefix(s.rest, from)
}

func (s *jsScanner) quoted(quote byte) bool {
	for i := 1; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			i++
		case '\n':
			return false
		case quote:
			s.p = append(s.p, token{kind: text, s: s.rest[1:i], mark: string(quote)})
			s.rest = s.rest[i+1:]
			return true
		}
	}
	return false
}

func (s *jsScanner) template(depth int) bool {
	s.p = append(s.p, token{kind: text, mark: "`"})
	for i := 1; i < len(s.rest); i++ {
		switch {
		case s.rest[i] == '\\':
			i++
		case s.rest[i] == '`':
			s.rest = s.rest[i+1:]
			return true
		case strings.HasPrefix(s.rest[i:], "${"):
			s.rest = s.rest[i+2:]
			s.add(sign, "+", "")
			s.add(sign, "(", "")
			if !s.until(depth+1) || !strings.HasPrefix(s.rest, "}") {
				return false
			}
			s.add(sign, ")", "")
			i = 0 // of what follows the brace
		}
	}
	return false
}

// pattern skips /…/ with its flags.
func (s *jsScanner) pattern() bool {
	class := false
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '\\':
			i++
		case c == '\n':
			return false
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.rest = s.rest[i+1:]
			s.rest = s.rest[len(word(s.rest)):]
			s.p = append(s.p, token{kind: text, mark: "/"})
			return true
		}
	}
	return false
}
