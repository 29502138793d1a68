package shell

import "strings"

// options walks over a call's arguments as getopt does. value lists the short
// options that take a value; flag is called for each option, without its
// dashes, and reports whether it is allowed. It returns the operands, and
// whether all options were allowed and known. Where it can't be told whether
// the options have ended, what follows is judged as options and returned as
// operands, too.
func (c *call) options(value string, flag func(option string, value word) bool) (operands []word, ok bool) {
	ok = true
	bare := false     // the last word was an option, which may take the next for its value
	var either []word // what follows a -- that is a value, or the end of the options
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		after := bare
		bare = strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") || strings.HasPrefix(a.text, "--") && !strings.Contains(a.text, "=")
		switch {
		case a.open, !a.known && strings.HasPrefix(a.text, "-"):
			return c.args[i:], false
		case a.text == "--" && after && !c.dashes && either == nil:
			bare, either = false, c.args[i+1:]
		case a.text == "--" && either != nil:
			return append(operands, either...), false
		case a.text == "--":
			return append(operands, c.args[i+1:]...), ok
		case strings.HasPrefix(a.text, "--"):
			option, text, _ := strings.Cut(a.text[2:], "=")
			ok = len(option) > 1 && flag(option, literal(text)) && ok
		case strings.HasPrefix(a.text, "-") && a.text != "-":
			for k := 1; k < len(a.text); k++ {
				option, of := a.text[k:k+1], word{}
				if strings.Contains(value, option) {
					if of = literal(a.text[k+1:]); of.text == "" {
						if i++; i >= len(c.args) {
							return append(operands, either...), false
						}
						of = c.args[i]
						ok = ok && !of.many // what it splits into may be options
					}
					k = len(a.text)
				}
				ok = flag(option, of) && ok
			}
		case either == nil:
			operands = append(operands, a)
		}
	}
	return append(operands, either...), ok
}

// listed reports whether an option is in a list like "o output in-place". A
// long option may be shortened, so a part that leads to a listed one counts.
func listed(list, option string) bool {
	for rest := list; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, " ")
		if name == option || len(option) > 1 && strings.HasPrefix(name, option) {
			return true
		}
	}
	return false
}

// allowed reports whether an option is in a list, written out.
func allowed(list, option string) bool {
	for rest := list; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, " ")
		if name == option {
			return true
		}
	}
	return false
}

// leading reads the options before the first operand, as a program does that
// runs another one. flags are the allowed short options, those in value take a
// value; long lists the allowed long ones. It returns what follows.
func (c *call) leading(flags, value, long string, flag func(option string, value word)) (rest []word, ok bool) {
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		switch {
		case a.open, !a.known && strings.HasPrefix(a.text, "-"):
			return nil, false
		case a.text == "--":
			return c.args[i+1:], true
		case !strings.HasPrefix(a.text, "-") || a.text == "-":
			return c.args[i:], true
		case strings.HasPrefix(a.text, "--"):
			option, text, assigned := strings.Cut(a.text[2:], "=")
			of := literal(text)
			switch takes := allowed(long, option+"="); {
			case !takes && !allowed(long, option) || assigned && !takes:
				return nil, false
			case takes && !assigned:
				if i++; i >= len(c.args) || c.args[i].many {
					return nil, false
				}
				of = c.args[i]
			}
			flag(option, of)
		default:
			for k := 1; k < len(a.text); k++ {
				option, of := a.text[k:k+1], word{}
				switch {
				case strings.Contains(value, option):
					if of = literal(a.text[k+1:]); of.text == "" {
						if i++; i >= len(c.args) || c.args[i].many {
							return nil, false
						}
						of = c.args[i]
					}
					k = len(a.text)
				case !strings.Contains(flags, option):
					return nil, false
				}
				flag(option, of)
			}
		}
	}
	return nil, true
}

func ignore(string, word) {}

// count is how many operands there are; -1 if that can't be known.
func count(operands []word) int {
	for _, w := range operands {
		if w.many {
			return -1
		}
	}
	return len(operands)
}
