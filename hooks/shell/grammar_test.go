//go:build differ && linux

package shell

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// grammar is what testdata/differ/*.txt say.
type grammar map[string][]alternative

type alternative struct {
	weight int
	text   string
}

var weighted = regexp.MustCompile(`^(\d+) (.*)$`)

func readGrammar(paths ...string) (grammar, error) {
	rules := grammar{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		rule := ""
		for _, line := range strings.Split(string(b), "\n") {
			text, indented := strings.CutPrefix(line, " ")
			switch {
			case !indented && (text == "" || text[0] == '#'):
			case !indented:
				if rule = text; rules[rule] != nil {
					return nil, fmt.Errorf("%s: %s has two definitions", path, rule)
				}
			case strings.HasPrefix(text, "* "):
				for _, word := range strings.Fields(text[2:]) {
					rules[rule] = append(rules[rule], alternative{1, strings.ReplaceAll(word, "§", " ")})
				}
			default:
				a := alternative{1, text}
				if m := weighted.FindStringSubmatch(text); m != nil {
					a.weight, _ = strconv.Atoi(m[1])
					a.text = m[2]
				}
				rules[rule] = append(rules[rule], a)
			}
		}
	}
	return rules, rules.check()
}

var reference = regexp.MustCompile(`@(?:([qs]):)?([a-z]*)@`)

// check finds names that nothing defines.
func (rules grammar) check() error {
	g := gen{}
	for name, alternatives := range rules {
		for _, a := range alternatives {
			for _, m := range reference.FindAllStringSubmatch(a.text, -1) {
				if m[2] != "" && rules[m[2]] == nil && g.special(m[2]) == nil {
					return fmt.Errorf("%s: nothing defines %q", name, m[2])
				}
			}
		}
	}
	return nil
}

const (
	maxDepth = 22  // of rules within rules
	maxRules = 500 // in one command
)

// gen makes one command text. All that it draws comes from r, so that a number
// leads to the same text again.
type gen struct {
	*lab
	r     *rand.Rand
	depth int
	used  int
	tame  bool     // within a part that is made to be judged a reader
	docs  []string // here-documents whose bodies are due at the next newline
}

// lab is what all generators share.
type lab struct {
	rules grammar
	start string            // the rule that makes a command
	flags map[string][]flag // what programs tell of their options
	known []string          // programs that have any
	seeds []string          // commands to start from

	snippets map[string][]string // programs to start from, by language
}

// command is the text with a number.
func (l *lab) command(seed uint64, n int) string {
	g := gen{lab: l, r: rand.New(rand.NewPCG(seed, uint64(n)))}
	return g.rule(l.start)
}

func (g *gen) chance(percent int) bool { return g.r.IntN(100) < percent }

func (g *gen) pick(list ...string) string { return list[g.r.IntN(len(list))] }

// rule expands a rule of the grammar.
func (g *gen) rule(name string) string {
	if special := g.special(name); special != nil {
		return special()
	}
	if (name == "words" || name == "simple") && g.depth > 2 && !g.tame && g.chance(75) {
		return g.reader(name)
	}
	g.depth++
	g.used++
	defer func() { g.depth-- }()
	alternatives := g.rules[name]
	total := 0
	for _, a := range alternatives {
		total += a.weight
	}
	at := g.r.IntN(total)
	if g.depth > maxDepth || g.used > maxRules {
		at = 0
	}
	for _, a := range alternatives {
		if at -= a.weight; at < 0 {
			return g.expand(a.text)
		}
	}
	panic("unreachable: the weights were summed")
}

// reader expands a rule several times, for a part that by itself is judged to
// read. What many such parts make together is then worth to be looked at.
func (g *gen) reader(name string) (text string) {
	defer func() {
		if recover() != nil {
			g.tame = false // a judgement that panics is found when all of it is judged
		}
	}()
	g.tame = true
	for range 4 {
		docs := len(g.docs)
		text = g.rule(name)
		if !Judge(text, Env{Dir: boxRepo, Home: boxHome, Temp: "/tmp"}).Changes {
			break
		}
		g.docs = g.docs[:min(docs, len(g.docs))]
	}
	g.tame = false
	return text
}

func (g *gen) expand(text string) string {
	var b strings.Builder
	for {
		m := reference.FindStringSubmatchIndex(text)
		if m == nil {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:m[0]])
		name := text[m[4]:m[5]]
		switch {
		case name == "":
		case m[2] < 0:
			b.WriteString(g.rule(name))
		default:
			inner := g.closed(name)
			if text[m[2]] == 's' {
				b.WriteString(single(inner))
			} else {
				b.WriteString(g.quote(inner))
			}
		}
		text = text[m[1]:]
	}
}

// special is a rule that the grammar can't express, or nil.
func (g *gen) special(name string) func() string {
	switch name {
	case "nl":
		return func() string { return "\n" + g.due() }
	case "lf":
		return func() string { return "\n" }
	case "at":
		return func() string { return "@" }
	case "tab":
		return func() string { return "\t" }
	case "end":
		return func() string {
			if len(g.docs) == 0 {
				return ""
			}
			return "\n" + g.due()
		}
	case "inner": // what begins within a substitution ends there
		return func() string { return g.closed("substituted") }
	case "doc":
		return g.document
	case "seedpy", "seedjs", "seedpl", "seedrb", "seedlu":
		return func() string { return g.snippet(name[4:]) }
	case "program":
		return g.program
	case "mutant":
		return g.mutant
	case "altered":
		return g.altered
	}
	return nil
}

// due is the text of the here-documents begun on the line that ended.
func (g *gen) due() string {
	text := strings.Join(g.docs, "")
	g.docs = nil
	return text
}

// closed expands a rule with its own here-documents.
func (g *gen) closed(name string) string {
	docs := g.docs
	g.docs = nil
	text := g.rule(name)
	if len(g.docs) > 0 {
		text += "\n" + g.due()
	}
	g.docs = docs
	return text
}

// document begins a here-document.
func (g *gen) document() string {
	end := g.pick("EOF", "E", "END", "rm", "E$x", "X Y", "-", "E-F", "1")
	open, indent, dash := end, "", ""
	switch n := g.r.IntN(6); {
	case n == 0 || strings.ContainsAny(end, " $"):
		open = "'" + end + "'"
	case n == 1:
		open = `"` + end + `"`
	case n == 2 && len(end) > 2:
		open = end[:1] + "'" + end[1:] + "'"
	case n == 3:
		open = `\` + end
	}
	if g.chance(20) {
		dash, indent = "-", g.pick("", "\t", "\t\t")
	}
	body := ""
	for range g.r.IntN(4) {
		line := g.rule("docline")
		if strings.HasPrefix(line, "EOF") || strings.HasPrefix(line, " EOF") {
			line = strings.Replace(line, "EOF", end, 1)
		}
		body += indent + line + "\n"
	}
	g.docs = append(g.docs, body+indent+end+"\n")
	return g.pick("", "", "", "0", "3") + "<<" + dash + g.pick("", "", " ") + open
}

// quote writes text as one word, in one of the ways there are.
func (g *gen) quote(s string) string {
	const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./"
	plain := s != "" && strings.Trim(s, bare+"=+:,@%") == ""
	switch n := g.r.IntN(20); {
	case plain && n < 12:
		return s
	case n < 14:
		return single(s)
	case n < 17:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(s) + `"`
	case n < 18:
		return "$'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(s) + "'"
	case n < 19 && !strings.Contains(s, "\n") && s != "":
		var b strings.Builder
		for _, r := range s {
			if !strings.ContainsRune(bare, r) || g.chance(10) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
		return b.String()
	case len(s) > 1 && n == 19:
		at := 1 + g.r.IntN(len(s)-1)
		return g.quote(s[:at]) + g.quote(s[at:])
	}
	return single(s)
}

func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
