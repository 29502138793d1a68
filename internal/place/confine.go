package place

import "strings"

// ConfineEnv tells satelle that the one who asks lives in a sandbox, in which
// what the repository brings (checks) has to stay: it holds the text of a
// Confinement. Only satelle's own hook sets it.
const ConfineEnv = "SATELLE_CONFINE"

// A Confinement is what a sandbox lets a program do. It may read everything.
type Confinement struct {
	Write   []string // folders that it may write
	Keep    []string // what of them it may not write
	Network bool
}

// String writes a confinement, a line each. Paths must not hold line breaks.
func (c Confinement) String() string {
	var b strings.Builder
	b.WriteString("1\n")
	for _, p := range c.Write {
		b.WriteString("write " + p + "\n")
	}
	for _, p := range c.Keep {
		b.WriteString("keep " + p + "\n")
	}
	if c.Network {
		b.WriteString("network\n")
	}
	return b.String()
}

// ParseConfinement reads what String wrote, and nothing else.
func ParseConfinement(text string) (c Confinement, ok bool) {
	rest, ok := strings.CutPrefix(text, "1\n")
	if !ok || rest != "" && !strings.HasSuffix(rest, "\n") {
		return Confinement{}, false
	}
	for line := range strings.Lines(rest) {
		word, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case word == "write" && strings.HasPrefix(path, "/"):
			c.Write = append(c.Write, path)
		case word == "keep" && strings.HasPrefix(path, "/"):
			c.Keep = append(c.Keep, path)
		case word == "network" && path == "":
			c.Network = true
		default:
			return Confinement{}, false
		}
	}
	return c, true
}
