package snippet

import "strings"

// rbScan splits a program into tokens, and judges what its strings evaluate.
func rbScan(code string, depth int) (p program, ok bool) {
	space := false
	for code != "" {
		c := code[0]
		t := token{space: space}
		space = false
		last := p.at(len(p) - 1)
		operand := last.kind == number || last.kind == text || last.kind == sign && (last.s == ")" || last.s == "]" || last.s == "}") ||
			last.kind == name && !listed(rbBefore, last.s)
		switch {
		case c == ' ' || c == '\t':
			code, space = code[1:], true
			continue
		case c == '\n':
			if strings.HasPrefix(code, "\n=") {
				return nil, false
			}
			code, space = code[1:], true
			t.kind, t.s = line, "\n"
		case c == '#':
			comment, _, _ := strings.Cut(code, "\n")
			if strings.Contains(comment, "coding") {
				return nil, false
			}
			code = code[len(comment):]
			continue
		case isDigit(c):
			i := 0
			for i < len(code) && (isDigit(code[i]) || code[i] == '_' || code[i] == '.' && i+1 < len(code) && isDigit(code[i+1])) {
				i++
			}
			if i < len(code) && isLetter(code[i]) {
				return nil, false
			}
			t.kind, t.s, code = number, code[:i], code[i:]
		case isLetter(c) || c == '$' && len(code) > 1:
			t.kind, t.s = name, word(code)
			if c == '$' {
				t.s = "$" + word(code[1:])
				if t.s == "$" {
					t.s = code[:2]
				}
			}
			code = code[len(t.s):]
			if code != "" && (code[0] == '?' || code[0] == '!') && !strings.HasPrefix(code[1:], "=") && c != '$' {
				t.s += code[:1]
				code = code[1:]
			}
		case c == '\'' || c == '"':
			if p, code, ok = rbString(p, code, c, c == '"', depth); !ok {
				return nil, false
			}
			continue
		case c == '%' && len(code) > 2 && (!operand || t.space && last.kind == name && listed("puts print p pp", last.s)):
			interpolates := code[1] == 'Q'
			if strings.IndexByte("qQwi", code[1]) < 0 || strings.IndexByte("([{", code[2]) < 0 || code[1] == 'i' {
				return nil, false
			}
			closing := ")]}"[strings.IndexByte("([{", code[2])]
			if strings.IndexByte(code[3:max(3, 3+strings.IndexByte(code[3:], closing))], code[2]) >= 0 {
				return nil, false
			}
			if p, code, ok = rbString(p, code[2:], closing, interpolates, depth); !ok {
				return nil, false
			}
			continue
		case c == '/':
			if last.kind == name && operand && t.space && len(code) > 1 && code[1] != ' ' || last.kind == sign && last.s == "}" {
				return nil, false // a division or a pattern
			}
			if operand {
				t.kind, t.s, code = sign, "/", code[1:]
				break
			}
			if p, code, ok = rbString(p, code, '/', true, depth); !ok {
				return nil, false
			}
			flags := word(code)
			if strings.Trim(flags, "imxu") != "" {
				return nil, false
			}
			code = code[len(flags):]
			continue
		case c >= 0x80 || strings.IndexByte("`\\@;?", c) >= 0 && c != ';' && c != '?' || strings.HasPrefix(code, "<<") || strings.HasPrefix(code, "->"):
			return nil, false
		case c == '?' && !(t.space && strings.HasPrefix(code, "? ")):
			return nil, false // a character
		case c == '%' && strings.HasPrefix(code, "%="):
			return nil, false
		default:
			t.kind, t.s = sign, code[:1]
			for _, long := range [...]string{"<=>", "===", "||=", "=>", "==", "!=", "=~", "!~", "<=", ">=", "&&", "||", "&.", "+=", "-=", "*=", "**", "..."} {
				if strings.HasPrefix(code, long) {
					t.s = long
					break
				}
			}
			code = code[len(t.s):]
		}
		p = append(p, t)
	}
	return p, true
}

// rbString reads a string up to its closing sign. What it evaluates becomes
// tokens in brackets, as if they were added to it.
func rbString(p program, code string, closing byte, interpolates bool, depth int) (program, string, bool) {
	at := len(p)
	p = append(p, token{kind: text})
	for i := 1; i < len(code); i++ {
		switch {
		case code[i] == '\\':
			i++
		case interpolates && strings.HasPrefix(code[i:], "#{"):
			n := strings.IndexAny(code[i:], "}\"'")
			if depth == maxDepth || n < 0 || code[i+n] != '}' || strings.ContainsAny(code[i+2:i+n], "{\\#\n"+string(closing)) {
				return nil, "", false
			}
			inner, ok := rbScan(code[i+2:i+n], depth+1)
			if !ok {
				return nil, "", false
			}
			p = append(p, token{kind: sign, s: "+"}, token{kind: sign, s: "("})
			p = append(append(p, inner...), token{kind: sign, s: ")"})
			i += n
		case code[i] == closing:
			p[at].s = code[1:i]
			return p, code[i+1:], true
		}
	}
	return nil, "", false
}
