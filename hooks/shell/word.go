package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is what a program gets for a word of the text.
type word struct {
	text    string // unknown parts are "*"
	known   bool   // text is exactly what the program gets
	many    bool   // it may become no word, or several
	open    bool   // it may begin with a dash that the text does not show
	numeric bool   // it is an integer
	digits  bool   // its unknown parts are integers
}

func literal(text string) word {
	return word{text: text, known: true, numeric: isNumber(text)}
}

func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && len(s) < 19 && strings.Trim(s, "0123456789") == ""
}

// unknownWord is a word of which nothing is known.
var unknownWord = word{text: "*", many: true, open: true}

// words expands the words of the text, and judges the commands within.
func (j *judge) words(ws []*syntax.Word) []word {
	all := make([]word, 0, len(ws))
	for _, w := range ws {
		all = append(all, j.fields(w)...)
	}
	return all
}

// fields expands one word. A known variable without quotes is split at blanks.
func (j *judge) fields(w *syntax.Word) []word {
	got := j.word(w)
	if len(w.Parts) != 1 {
		return []word{got}
	}
	p, ok := w.Parts[0].(*syntax.ParamExp)
	if !ok || !simple(p) {
		return []word{got}
	}
	value := j.value(p.Param.Value)
	if !value.known || strings.ContainsAny(value.text, "*?[") {
		return []word{got}
	}
	var all []word
	for _, field := range strings.Fields(value.text) {
		all = append(all, literal(field))
	}
	return all
}

// simple reports whether a parameter is expanded as it is: $x or ${x}.
func simple(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil && !p.Length && !p.Excl && p.Names == 0
}

// word expands a word of the text without splitting it.
func (j *judge) word(w *syntax.Word) word {
	if w == nil {
		return literal("")
	}
	if w.Lit() == "[" {
		return literal("[") // the program, not a pattern
	}
	b := builder{j: j, w: word{known: true, digits: true}}
	for i, part := range w.Parts {
		b.part(part, false, i == 0)
	}
	b.w.text = b.text.String()
	switch {
	case b.w.known:
		b.w.numeric = isNumber(b.w.text)
	case strings.HasPrefix(b.w.text, "-") && (b.w.many || !b.w.digits):
		b.w.open = true // an option, and which one can't be seen
	}
	return b.w
}

// script is the text of a program in a word; an integer in it that is known
// only at run time is as good as any.
func (w word) script() (text string, ok bool) {
	if w.known {
		return w.text, true
	}
	return strings.ReplaceAll(w.text, "*", "1"), w.digits && !w.many && !w.open
}

// builder puts a word together from its parts.
type builder struct {
	j    *judge
	w    word
	text strings.Builder
}

// unknown adds a part of which only the listed properties are known.
func (b *builder) unknown(quoted bool, of word) {
	if b.text.Len() == 0 {
		b.w.open = of.open
		b.w.numeric = of.numeric
	}
	if !quoted && !of.numeric {
		b.w.many = b.w.many || of.many
		b.w.open = b.w.open || of.many && (of.open || b.text.Len() == 0 && b.j.dashed())
	}
	b.w.known = false
	b.w.digits = b.w.digits && of.numeric
	b.text.WriteString(of.text)
}

func (b *builder) part(part syntax.WordPart, quoted, first bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		b.lit(p.Value, quoted, first)
	case *syntax.SglQuoted:
		b.single(p)
	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			b.part(inner, true, false)
		}
		if p.Dollar {
			b.w.known, b.w.digits = false, false // a translation may replace it
		}
	case *syntax.ParamExp:
		b.param(p, quoted)
	case *syntax.CmdSubst:
		b.unknownOr(quoted, b.j.substitution(p))
	case *syntax.ArithmExp:
		if p.Bracket {
			b.j.changesBy(ruleArithmetic, b.j.src(p)) // $[a > b], of which other shells know nothing
		}
		b.j.arithm(p.X)
		b.unknown(quoted, word{text: "*", numeric: true})
	case *syntax.ProcSubst:
		b.j.process(p.Stmts)
		b.unknown(true, word{text: "/dev/fd/*"})
	default: // an extended glob, in which zsh could run code
		b.j.changesBy(ruleGlob, b.j.src(part))
		b.unknown(quoted, unknownWord)
	}
}

// unknownOr adds a value that may be known after all.
func (b *builder) unknownOr(quoted bool, w word) {
	if w.known && (quoted || !strings.ContainsAny(w.text, " \t\n*?[")) {
		b.text.WriteString(w.text)
		return
	}
	if w.known { // it is split, and its fields may be options, or patterns
		w.many = true
		for _, field := range strings.Fields(w.text) {
			w.open = w.open || field[0] == '-' || strings.IndexByte("*?[", field[0]) >= 0 && b.j.dashed()
		}
	}
	w.known = false
	b.unknown(quoted, w)
}

// dashed reports whether a pattern may find a name here that begins with a
// dash, and so make an option. Where agents can write, one may be put there.
func (j *judge) dashed() bool {
	if !j.ownGit() {
		return true
	}
	dir := j.dir
	if j.top {
		dir = j.env.Tree
	}
	return j.env.Dashed != nil && (dir == "" || j.env.Dashed(dir))
}

func (b *builder) lit(s string, quoted, first bool) {
	if first && strings.HasPrefix(s, "~") {
		prefix, rest, slash := strings.Cut(s, "/")
		if prefix == "~" && b.j.env.Home != "" && !b.j.assigned("HOME") {
			b.text.WriteString(b.j.env.Home)
		} else {
			b.unknown(true, word{text: "*"})
		}
		if !slash {
			return
		}
		s = "/" + rest
	}
	if quoted && strings.IndexByte(s, '\\') < 0 {
		b.text.WriteString(s)
		return
	}
	if !quoted && (strings.Contains(s, "=~") || strings.Contains(s, ":~")) {
		b.w.known = false // bash expands a tilde after a name and = in any word
	}
	braced := !quoted && braces(s)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0):
			if i++; s[i] != '\n' {
				b.text.WriteByte(s[i])
			}
			continue
		case !quoted && (c == '*' || c == '?' || c == '['):
			b.w.open = b.w.open || b.text.Len() == 0 && b.j.dashed()
			b.w.known, b.w.digits, b.w.many = false, false, true
		case braced && (c == '{' || c == '}'):
			// All of the expansion is one unknown part: .cl{a,}ude is .cl*ude.
			if b.text.Len() == 0 {
				b.w.open = true
			}
			b.w.known, b.w.digits, b.w.many, c = false, false, true, '*'
			if end := strings.LastIndexByte(s, '}'); end > i {
				i = end
			}
		}
		b.text.WriteByte(c)
	}
}

// braces reports whether text without quotes holds a brace expansion. A brace
// may also close in another part of the word.
func braces(s string) bool {
	return strings.ContainsAny(strings.ReplaceAll(s, "{}", ""), "{}")
}

func (b *builder) single(p *syntax.SglQuoted) {
	if !p.Dollar || !strings.Contains(p.Value, `\`) {
		b.text.WriteString(p.Value)
		return
	}
	if strings.Contains(p.Value, `\'`) {
		b.j.changesBy(ruleQuote, "$'…\\'…'") // where $'…' is unknown, the quote ends here
	}
	simple := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\'`, "'", `\"`, `"`, `\\`, `\`)
	for rest := p.Value; ; {
		_, after, ok := strings.Cut(rest, `\`)
		if !ok {
			b.text.WriteString(simple.Replace(p.Value))
			return
		}
		if after == "" || strings.IndexByte(`nt'"\`, after[0]) < 0 {
			b.unknown(true, word{text: "*", open: true})
			return
		}
		rest = after[1:]
	}
}

// misread reports whether a parameter holds quotes that shells take in another
// way than the parser, which may hide a command behind them, or miss where the
// parameter ends. Within double quotes single ones quote nothing; and $'…' is
// replaced by what it holds before bash looks at it once more.
func misread(p *syntax.ParamExp, quoted bool) bool {
	hidden := false
	syntax.Walk(p, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.SglQuoted:
			switch {
			case n.Dollar:
				hidden = hidden || strings.Trim(strings.NewReplacer(`\n`, "", `\t`, "").Replace(n.Value), plainSigns+" ") != ""
			case quoted:
				hidden = hidden || strings.ContainsAny(n.Value, "$`\"\\{}")
			}
		}
		return !hidden
	})
	return hidden
}

// param expands a parameter.
func (b *builder) param(p *syntax.ParamExp, quoted bool) {
	b.j.inside(p)
	if misread(p, quoted) {
		b.j.changesBy(ruleQuote, b.j.src(p))
	}
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	switch {
	case p.Length:
		b.unknown(quoted, word{text: "*", numeric: true})
	case simple(p) && (name == "?" || name == "#" || name == "$" || name == "!"):
		b.unknown(quoted, word{text: "*", numeric: true})
	case simple(p):
		b.unknownOr(quoted, b.j.value(name))
	default:
		b.unknown(quoted, unknownWord)
	}
}
