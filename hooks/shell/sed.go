package shell

import "strings"

func judgeSed(j *judge, c *call) {
	inPlace, scripts, ok := false, []word(nil), true
	operands, known := c.options("el", func(option string, value word) bool {
		switch {
		case option == "i" || len(option) > 1 && strings.HasPrefix("in-place", option):
			inPlace = true
			return true
		case option == "e":
			scripts = append(scripts, value)
			return true
		case option == "expression": // as a word of its own the script would be taken for an operand
			ok = ok && value.text != ""
			scripts = append(scripts, value)
			return true
		}
		// After -i the rest of the cluster is a suffix.
		return inPlace || allowed("n E r s u z l posix quiet silent regexp-extended separate unbuffered null-data debug sandbox", option)
	})
	if len(scripts) == 0 && len(operands) > 0 {
		scripts, operands = operands[:1], operands[1:]
	}
	for _, script := range scripts {
		text, known := script.script()
		ok = ok && known && sedReads(text)
	}
	if !ok || !known {
		j.changes(c.src)
	}
	if inPlace {
		j.writeAll(c, operands, known, false)
		j.sedBackups(c, operands)
	}
}

// sedBackups records the copies that -i keeps. In their name a star stands for
// the file's, and a slash leads to another folder.
func (j *judge) sedBackups(c *call, operands []word) {
	for _, w := range c.args {
		long, suffix, _ := strings.Cut(w.text, "=")
		if !strings.HasPrefix(w.text, "--") {
			at := strings.IndexAny(w.text, "iel")
			if long = ""; at < 1 || w.text[0] != '-' || w.text[at] != 'i' {
				continue
			}
			suffix = w.text[at+1:]
		}
		switch {
		case long != "" && (len(long) < 3 || !strings.HasPrefix("--in-place", long)), suffix == "":
		case strings.ContainsAny(suffix, "*/"):
			j.changes(c.src)
		default:
			for _, file := range operands {
				file.text += suffix
				j.writes(c.src, file, false)
			}
		}
	}
}

// sedReads reports whether a script neither writes a file (w, W, s///w) nor
// runs a command (e, s///e). What it can't follow it refuses.
func sedReads(script string) bool {
	s := sedScanner{rest: script}
	for s.blanks(" \t\n;{}"); s.rest != ""; s.blanks(" \t\n;{}") {
		if !s.address() || !s.command() {
			return false
		}
	}
	return true
}

type sedScanner struct{ rest string }

func (s *sedScanner) blanks(set string) { s.rest = strings.TrimLeft(s.rest, set) }

// line drops what is left of the line; a backslash at its end takes in the next.
func (s *sedScanner) line() {
	for {
		line, rest, _ := strings.Cut(s.rest, "\n")
		s.rest = rest
		if slashes := len(line) - len(strings.TrimRight(line, `\`)); slashes%2 == 0 {
			return
		}
	}
}

// address drops the addresses before a command.
func (s *sedScanner) address() bool {
	for {
		s.blanks(" \t")
		switch {
		case s.rest == "":
			return false
		case s.rest[0] == '/':
			if _, ok := s.until('/'); !ok {
				return false
			}
			s.blanks("IM")
		case s.rest[0] == '\\' && len(s.rest) > 1:
			s.rest = s.rest[1:]
			if _, ok := s.until(s.rest[0]); !ok {
				return false
			}
			s.blanks("IM")
		default:
			s.blanks("0123456789$~+")
		}
		s.blanks(" \t")
		if !strings.HasPrefix(s.rest, ",") {
			break
		}
		s.rest = s.rest[1:]
	}
	s.blanks("! \t")
	return true
}

// until drops a delimiter, text, and the delimiter again. Programs disagree on
// whether a delimiter counts within brackets, so there it is refused.
func (s *sedScanner) until(delim byte) (text string, ok bool) {
	if delim == '\n' || delim == '\\' {
		return "", false
	}
	first := -1    // within brackets: where a closing one would stand for itself
	doubt := false // some programs still see brackets here
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '\\' && (first < 0 || i+1 < len(s.rest) && s.rest[i+1] == delim):
			i++
		case c == '\\':
			// Within brackets it stands for itself, or for the next character.
			if strings.HasPrefix(s.rest[i+1:], "]") {
				i++
				first, doubt = -1, true
			}
		case c == '\n':
			return "", false
		case c == delim:
			text, s.rest = s.rest[1:i], s.rest[i+1:]
			return text, first < 0 && !doubt
		case c == '[' && first < 0:
			if first = i + 1; strings.HasPrefix(s.rest[first:], "^") {
				first++
			}
		case c == '[' && i+1 < len(s.rest) && strings.IndexByte(":.=", s.rest[i+1]) >= 0: // a class of characters
			end := strings.Index(s.rest[i+2:], s.rest[i+1:i+2]+"]")
			if end < 0 || strings.ContainsAny(s.rest[i+2:i+2+end], "\n"+string(delim)) {
				return "", false
			}
			i += end + 3
		case c == ']' && (first >= 0 && i > first || doubt):
			first, doubt = -1, false
		}
	}
	return "", false
}

func (s *sedScanner) command() bool {
	if s.rest == "" {
		return true
	}
	command := s.rest[0]
	s.rest = s.rest[1:]
	switch command {
	case '{', '}':
		return true
	case '#', 'r', 'R': // a comment, or a file to read
		_, s.rest, _ = strings.Cut(s.rest, "\n")
		return true
	case 'a', 'i', 'c': // a text
		s.line()
		return true
	case ':', 'b', 't', 'T':
		i := strings.IndexAny(s.rest, "\n;}")
		if i < 0 {
			i = len(s.rest)
		}
		s.rest = s.rest[i:]
		return true
	case '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F':
	case 'q', 'Q', 'l':
		s.blanks(" \t0123456789")
	case 's', 'y':
		if s.rest == "" {
			return false
		}
		delim := s.rest[0]
		if _, ok := s.until(delim); !ok {
			return false
		}
		s.rest = string(delim) + s.rest
		replacement := s.rest
		if _, ok := s.until(delim); !ok && s.rest == replacement {
			return false // a bracket in the replacement is no matter
		}
		if command == 's' {
			s.blanks("gpiImM0123456789")
		}
	default:
		return false
	}
	s.blanks(" \t")
	return s.rest == "" || strings.IndexByte("\n;}#", s.rest[0]) >= 0
}
