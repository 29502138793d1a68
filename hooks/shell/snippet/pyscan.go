package snippet

import "strings"

// pyScan splits a program into tokens.
func pyScan(code string) (p program, ok bool) {
	brackets, space := 0, false
	for code != "" {
		c := code[0]
		t := token{space: space}
		space = false
		switch {
		case c == ' ' || c == '\t':
			code, space = code[1:], true
			continue
		case c == '\n':
			code = code[1:]
			if brackets > 0 {
				continue
			}
			t.kind, t.s = line, "\n"
		case c == '\\' && strings.HasPrefix(code, "\\\n"):
			code = code[2:]
			continue
		case c == '#':
			comment, _, _ := strings.Cut(code, "\n")
			if strings.Contains(comment, "coding") { // it may say how to read the rest
				return nil, false
			}
			code = code[len(comment):]
			continue
		case isDigit(c) || c == '.' && len(code) > 1 && isDigit(code[1]):
			if t.s = numeral(code); t.s == "" {
				return nil, false
			}
			t.kind, code = number, code[len(t.s):]
		case isLetter(c):
			t.kind, t.s = name, word(code)
			code = code[len(t.s):]
			if code == "" || code[0] != '"' && code[0] != '\'' {
				break
			}
			if t.mark = strings.ToLower(t.s); !listed("r b u f rb br fr rf", t.mark) {
				return nil, false
			}
			if t, code, ok = pyString(t, code); !ok {
				return nil, false
			}
			t.mark = strings.Trim(t.mark, "u")
		case c == '"' || c == '\'':
			if t, code, ok = pyString(t, code); !ok {
				return nil, false
			}
		case c >= 0x80 || strings.IndexByte("$?`\\!", c) >= 0 && !strings.HasPrefix(code, "!="):
			return nil, false
		default:
			t.kind, t.s = sign, code[:1]
			for _, two := range [...]string{"==", "!=", "<=", ">=", ":=", "->", "**", "//", "+=", "-=", "*=", "/=", "|=", "&="} {
				if strings.HasPrefix(code, two) {
					t.s = two
				}
			}
			code = code[len(t.s):]
			switch t.s {
			case "(", "[", "{":
				brackets++
			case ")", "]", "}":
				brackets--
			case "@":
				return nil, false // a decorator calls what follows
			}
		}
		p = append(p, t)
	}
	return p, true
}

// pyString reads a string that begins at its quote.
func pyString(t token, code string) (token, string, bool) {
	quote := code[:1]
	if strings.HasPrefix(code, strings.Repeat(quote, 3)) {
		quote = code[:3]
	}
	for i := len(quote); i < len(code); i++ {
		switch {
		case code[i] == '\\':
			i++
		case code[i] == '\n' && len(quote) == 1:
			return t, "", false
		case strings.HasPrefix(code[i:], quote):
			t.kind, t.s = text, code[len(quote):i]
			return t, code[i+len(quote):], true
		}
	}
	return t, "", false
}

// formatted judges what the braces of a string evaluate.
func (py *python) formatted(s string, depth int) bool {
	if depth > maxDepth {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "{{") || strings.HasPrefix(s[i:], "}}"):
			i++
		case s[i] == '{':
			n, ok := py.field(s[i+1:], depth)
			if !ok {
				return false
			}
			i += n + 1
		case s[i] == '}':
			return false
		}
	}
	return true
}

// field judges a replacement field up to its closing brace, which it finds.
func (py *python) field(s string, depth int) (n int, ok bool) {
	brackets, format := 0, -1
	var quote byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' || c == '#' || c == '\n':
			return 0, false
		case format >= 0 && c == '"' || format >= 0 && c == '\'':
			return 0, false
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[' || c == '{':
			brackets++
		case c == '}' && brackets == 0:
			expression := s[:i]
			if format >= 0 {
				expression = s[:format]
				if !py.formatted(s[format+1:i], depth+1) {
					return 0, false
				}
			}
			expression = strings.TrimRight(expression, " ")
			for _, conversion := range [...]string{"!r", "!s", "!a"} {
				expression = strings.TrimSuffix(expression, conversion)
			}
			expression = strings.TrimSuffix(strings.TrimRight(expression, " "), "=")
			return i, py.reads(expression, depth+1)
		case c == ')' || c == ']' || c == '}':
			brackets--
		case c == ':' && brackets == 0 && format < 0:
			format = i
		}
	}
	return 0, false
}
