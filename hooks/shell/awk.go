package shell

import "strings"

func judgeAwk(j *judge, c *call) {
	rest, ok := c.leading("", "Fv", "field-separator= assign=", ignore)
	if !ok || len(rest) == 0 {
		j.changes(c.src)
		return
	}
	if program, known := rest[0].script(); !known || !awkReads(program) {
		j.changes(c.src)
	}
}

// awkReads reports whether a program neither prints to a file or a command nor
// runs one. It reads tokens, not grammar, and refuses what could be taken in
// two ways.
func awkReads(program string) bool {
	s := awkScanner{rest: program}
	for s.rest != "" {
		if !s.token() {
			return false
		}
	}
	return true
}

type awkScanner struct {
	rest     string
	operand  bool // the last token ended an operand: a slash divides
	paren    bool // it was a closing parenthesis, after which a pattern may stand as well
	depth    int  // of parentheses and brackets
	goes     bool // a statement goes on after a newline here
	printing bool // within a print statement, begun at depth
	at       int
}

func (s *awkScanner) token() bool {
	c := s.rest[0]
	paren := s.paren
	s.paren = false
	goes := s.goes
	if c != ' ' && c != '\t' && c != '\r' && c != '#' && c != '\\' && c != '\n' {
		s.goes = c == ',' || c == '&' || strings.HasPrefix(s.rest, "||")
	}
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		s.rest, s.paren = s.rest[1:], paren
	case c == '\\':
		s.rest = s.rest[min(2, len(s.rest)):]
	case c == '#':
		if i := strings.IndexByte(s.rest, '\n'); i >= 0 {
			s.rest = s.rest[i:]
		} else {
			s.rest = ""
		}
	case c == '"':
		return s.skip('"')
	case c == '/':
		if s.operand && !paren {
			s.rest, s.operand = s.rest[1:], false
			return true
		}
		if paren { // both could be meant, unless nothing closes a pattern
			s.rest, s.operand = s.rest[1:], false
			return !strings.Contains(s.rest, "/")
		}
		return s.skip('/')
	case isAlnum(c):
		return s.name()
	case c == '\n' && goes:
		s.rest = s.rest[1:]
	default:
		return s.operator(c)
	}
	return true
}

func isAlnum(c byte) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// skip drops a string or a pattern. In brackets, awks disagree on the slash.
func (s *awkScanner) skip(delim byte) bool {
	for i := 1; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			i++
		case '\n':
			return false
		case delim:
			text := s.rest[1:i]
			s.rest, s.operand = s.rest[i+1:], true
			return delim == '"' || strings.LastIndexByte(text, '[') <= strings.LastIndexByte(text, ']')
		}
	}
	return false
}

func (s *awkScanner) name() bool {
	i := 1
	for i < len(s.rest) && isAlnum(s.rest[i]) {
		i++
	}
	name := s.rest[:i]
	s.rest, s.operand = s.rest[i:], true
	switch name {
	case "system", "include", "load", "extension":
		return false
	case "print", "printf":
		s.printing, s.at, s.operand = true, s.depth, false
	case "return", "in", "case", "else", "do", "getline", "delete", "exit", "BEGIN", "END":
		s.operand = false
	}
	return true
}

func (s *awkScanner) operator(c byte) bool {
	two := s.rest[:min(2, len(s.rest))]
	switch {
	case two == "++" || two == "--":
		s.rest = s.rest[2:]
		return true
	case two == "||" || two == ">=":
		s.rest, s.operand = s.rest[2:], false
		return true
	case c == '|' || c == '@' || two == ">>":
		return false
	case c == '>' && s.printing && s.depth <= s.at:
		return s.device()
	}
	s.rest, s.operand = s.rest[1:], false
	switch c {
	case '(', '[':
		s.depth++
	case ')', ']':
		s.depth--
		s.operand, s.paren = true, c == ')'
	case ';', '\n', '{', '}':
		s.printing = false
	}
	return true
}

// device accepts a print to a standard stream.
func (s *awkScanner) device() bool {
	rest := strings.TrimLeft(s.rest[1:], " \t")
	for _, stream := range [...]string{`"/dev/stderr"`, `"/dev/stdout"`} {
		if after, ok := strings.CutPrefix(rest, stream); ok {
			after = strings.TrimLeft(after, " \t")
			s.rest, s.operand = after, true
			return after == "" || strings.IndexByte(";}\n", after[0]) >= 0
		}
	}
	return false
}
