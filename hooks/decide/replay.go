package decide

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Bounds of what is printed, in bytes as a quoted word: the kernel takes at
// most 128 KiB for one argument, and the shell gets all as one.
const (
	maxPrinted = 80 << 10
	maxAside   = 24 << 10
)

// print is a command that prints an outcome and ends like it, and does nothing
// else. A comment tells a person who looks at it where that came from.
func (o outcome) print(args []string) string {
	var b strings.Builder
	b.WriteString("# Carried out by satelle's hook, outside of the sandbox: satelle " + oneLine(strings.Join(args[:min(len(args), 2)], " ")) + "\n")
	stdout, whole := printed(o.stdout, maxPrinted)
	if stdout != "''" {
		b.WriteString("printf '%s' " + stdout + "\n")
	}
	if !whole {
		o.stderr = append(o.stderr, "satelle: the output was cut\n"...)
	}
	if stderr, _ := printed(o.stderr, maxAside); stderr != "''" {
		b.WriteString("printf '%s' " + stderr)
		if !o.merged {
			b.WriteString(" >&2")
		}
		b.WriteString("\n")
	}
	return b.String() + "exit " + decimal(o.code) + "\n"
}

// printed quotes a text for every POSIX shell, and the beginning of one that
// would be longer than most.
func printed(text []byte, most int) (word string, whole bool) {
	var b bytes.Buffer
	b.WriteByte('\'')
	whole = true
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		part := string(r)
		switch r {
		case '\'':
			part = `'\''`
		case 0:
			part = ""
		}
		if b.Len()+len(part) > most {
			whole = false
			break
		}
		b.WriteString(part)
		text = text[n:]
	}
	b.WriteByte('\'')
	return b.String(), whole
}

// decimal writes an exit code.
func decimal(code int) string {
	const digits = "0123456789"
	code &= 255
	s := digits[code%10 : code%10+1]
	for code /= 10; code > 0; code /= 10 {
		s = digits[code%10:code%10+1] + s
	}
	return s
}
