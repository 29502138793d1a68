package snippet

import "strings"

// plFunctions are the functions and words of Perl that a program may use. What
// stands in none of the lists is refused: a bare word may be a call.
const (
	plFunctions = "print printf sprintf join split length uc lc ucfirst lcfirst reverse sort keys values each map grep chomp chop substr index rindex abs int sqrt hex oct ord chr " +
		"push pop shift unshift splice scalar defined exists delete wantarray sin cos log exp localtime gmtime pos quotemeta die warn say"
	plWords = "if unless else elsif for foreach while until and or not eq ne lt gt le ge cmp last next exit return my our undef BEGIN END qw STDIN STDERR STDOUT time a b"
	// plBefore are words after which an operand begins, so that a slash begins a
	// pattern and a percent sign a name.
	plBefore = "if unless elsif and or not while until return print printf join split grep map sort reverse push unshift keys values each defined delete exists scalar die warn my our foreach for"
)

// Perl reports whether a program in Perl only reads, whatever it reads from.
// What it is given to read with <> is for the caller to judge: Perl runs a
// name that ends in a bar.
func Perl(code string) bool {
	if !plain(code) || strings.HasPrefix(code, "=") || strings.Contains(code, "(?{") || strings.Contains(code, "(??") || strings.Contains(code, "(*") {
		return false
	}
	s := plScanner{rest: code}
	for s.rest != "" {
		if !s.token() {
			return false
		}
	}
	return true
}

type plScanner struct {
	rest    string
	operand bool   // the last token ended an operand: a slash divides
	doubt   bool   // a slash could mean either
	last    string // the last word, "" if something else came last
}

func (s *plScanner) token() bool {
	c := s.rest[0]
	switch {
	case c == ' ' || c == '\t':
		s.rest = s.rest[1:]
		return true
	case c == '\n':
		// Documentation begins with = at the start of a line.
		s.rest = s.rest[1:]
		return !strings.HasPrefix(s.rest, "=")
	case c == '#':
		i := strings.IndexByte(s.rest, '\n')
		if i < 0 {
			i = len(s.rest)
		}
		s.rest = s.rest[i:]
		return true
	case c == '%' && s.doubt || c == '*' && (s.doubt || !s.operand):
		return false // an operator, or what begins a name
	case c == '$' || c == '@' || c == '%' && !s.operand:
		return s.variable()
	case c == '\'' || c == '"':
		return s.quoted(c, c == '"')
	case c == '/':
		if s.doubt {
			return false
		}
		if !s.operand {
			return s.pattern("")
		}
		s.rest, s.operand = s.rest[1:], false
		return true
	case isDigit(c):
		n := numeral(s.rest)
		s.rest, s.last = s.rest[len(n):], ""
		s.operand, s.doubt = true, false
		return n != "" && !strings.Contains(s.rest[:min(1, len(s.rest))], "x")
	case isLetter(c):
		return s.word()
	}
	return s.sign(c)
}

// variable accepts $name, $_, $1, @name, %name, $#name and a few others.
// Dereferences and names that perl itself looks at are refused.
func (s *plScanner) variable() bool {
	rest := s.rest[1:]
	if s.rest[0] == '$' && strings.HasPrefix(rest, "#") && len(rest) > 1 && isLetter(rest[1]) {
		rest = rest[1:]
	}
	name := word(rest)
	if name == "" && s.rest[0] == '$' && rest != "" && strings.IndexByte(".,/;&", rest[0]) >= 0 {
		name = rest[:1]
	}
	s.rest = rest[len(name):]
	s.operand, s.doubt, s.last = true, false, ""
	if strings.HasPrefix(s.rest, "::") || strings.HasPrefix(s.rest, "'") {
		return false
	}
	// Names in capitals are perl's: @ARGV, %ENV, @INC, $SIG{…}.
	return name != "" && (name == strings.ToLower(name) || name == "F" && s.rest != "")
}

// quoted skips a string; within "…" what would run is refused.
func (s *plScanner) quoted(delim byte, interpolates bool) bool {
	closing := delim
	if i := strings.IndexByte("([{<", delim); i >= 0 {
		closing = ")]}>"[i]
	}
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '\\':
			i++
		case c == closing:
			body := s.rest[1:i]
			s.rest = s.rest[i+1:]
			s.operand, s.doubt, s.last = true, false, ""
			return !interpolates || plInterpolates(body)
		case c == delim:
			return false // brackets in brackets
		}
	}
	return false
}

// plInterpolates reports whether a text interpolates nothing but variables by
// their names.
func plInterpolates(body string) bool {
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '\\':
			i++
		case c == '$' || c == '@':
			name := word(body[i+1:])
			after := body[i+1+len(name):]
			switch {
			case name == "" && c == '$' && (after == "" || strings.IndexByte(")|/.,;&", after[0]) >= 0):
				// The end of a line in a pattern, or one of perl's own. Before
				// a bracket it is an element, with code in its subscript.
				if len(after) > 1 && (after[1] == '[' || after[1] == '{') {
					return false
				}
			case name == "" && c == '@' && (after == "" || after[0] == ' ' || after[0] == '.'):
			case name == "" || name != strings.ToLower(name):
				return false
			case strings.HasPrefix(after, "[") || strings.HasPrefix(after, "{") || strings.HasPrefix(after, "->") || strings.HasPrefix(after, "::") || strings.HasPrefix(after, "'"):
				return false
			}
			i += len(name)
		}
	}
	return true
}

// pattern skips /…/ with its flags, or the first part of s/…/…/.
func (s *plScanner) pattern(operator string) bool {
	delim := s.rest[0]
	if strings.IndexByte("/|,#!~", delim) < 0 {
		return false
	}
	if !s.quoted(delim, operator != "y" && operator != "tr") {
		return false
	}
	if operator == "s" || operator == "y" || operator == "tr" {
		s.rest = string(delim) + s.rest
		if !s.quoted(delim, operator == "s") {
			return false
		}
	}
	flags := word(s.rest)
	s.rest = s.rest[len(flags):]
	s.operand = true
	switch operator {
	case "y", "tr":
		return strings.Trim(flags, "cdsr") == ""
	}
	return strings.Trim(flags, "gimsxr") == "" // e runs the replacement
}

func (s *plScanner) word() bool {
	name := word(s.rest)
	before := s.last
	after := s.rest[len(name):]
	next := strings.TrimLeft(after, " \t\n")
	if strings.HasPrefix(next, "=>") { // a string
		s.rest, s.operand, s.last = after, true, ""
		return !listed("s m y tr q qq qw qr", name)
	}
	switch name {
	case "s", "m", "y", "tr", "qr":
		s.rest = after
		return after != "" && s.pattern(name)
	case "q", "qq", "qw":
		s.rest = after
		return after != "" && strings.IndexByte("([{</|!", after[0]) >= 0 && s.quoted(after[0], name == "qq")
	}
	if name == "x" { // an operator, or a call
		ok := s.operand && !s.doubt
		s.rest, s.last, s.operand, s.doubt = after, name, false, true
		return ok
	}
	s.rest, s.last = after, name
	s.operand, s.doubt = false, !listed(plBefore, name)
	if listed("STDIN STDERR STDOUT", name) { // only where something is printed to or read from it
		s.operand = true
		return before == "print" || before == "printf" || before == "say"
	}
	if strings.HasPrefix(after, "::") || strings.HasPrefix(next, "->") {
		return false
	}
	if name == "a" || name == "b" {
		return false // a bare word; $a and $b are variables
	}
	return listed(plFunctions, name) || listed(plWords, name)
}

func (s *plScanner) sign(c byte) bool {
	for _, in := range [...]string{"<STDIN>", "<>"} {
		if !s.operand && strings.HasPrefix(s.rest, in) {
			s.rest = s.rest[len(in):]
			s.operand, s.doubt, s.last = true, false, ""
			return true
		}
	}
	two := s.rest[:min(2, len(s.rest))]
	switch {
	case two == "=~" || two == "!~" || two == "<=":
		s.rest = strings.TrimPrefix(s.rest[2:], ">")
		s.operand, s.doubt, s.last = false, false, ""
		return true
	case two == "++" || two == "--":
		s.rest, s.doubt, s.last = s.rest[2:], true, ""
		return true
	case two == "<<" || two == "->" || two == "::":
		return false
	case c == '<' && !s.operand:
		return false // a pattern of file names
	case c == '-' && len(s.rest) > 1 && isLetter(s.rest[1]):
		return false // a test of a file, or a word
	case c == '&' && two != "&&":
		return false // a call
	case strings.IndexByte("()[]{};,+-*.=<>!?:|&%^~", c) < 0:
		return false
	}
	if two == "&&" {
		s.rest = s.rest[1:]
	}
	s.rest, s.last = s.rest[1:], ""
	s.operand = c == ')' || c == ']' || c == '}'
	s.doubt = c == '}'
	return true
}
