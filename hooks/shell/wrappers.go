package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wrappers are the programs that run another program: what they run decides.
var wrappers = []rule{
	{
		name: "find", programs: "find", judge: judgeFind, why: "lists files; some of its actions write or run programs",
		reads: "find . -name '*.md' -exec grep -n x {} +", changes: "find . -name '*.md' -delete",
	},
	{
		name: "xargs", programs: "xargs", judge: judgeXargs, why: "runs a program, which decides",
		reads: "find . -print0 | xargs -0 wc -l", changes: "echo a | xargs rm",
	},
	{
		name: "env", programs: "env", judge: judgeEnv, why: "runs a program, which decides, with variables",
		reads: "env LC_ALL=C sort a", changes: "env PATH=. ls",
	},
	{
		name: "timeout", programs: "timeout", judge: judgeTimeout, why: "runs a program, which decides",
		reads: "timeout 5 ls", changes: "timeout 5 rm a",
	},
	{
		name: "nice", programs: "nice ionice stdbuf setsid", judge: judgeNice, why: "run a program, which decides",
		reads: "nice -n 10 du -sh src", changes: "stdbuf -oL rm a",
	},
	{
		name: "time", programs: "time", judge: judgeTime, why: "runs a program, which decides",
		reads: "command time -p ls", changes: "command time -o log ls",
	},
	{
		name: "busybox", programs: "busybox", judge: func(j *judge, c *call) { j.run(c.args, false) }, why: "runs one of its programs, which decides",
		reads: "busybox ls", changes: "busybox rm a",
	},
	{
		name: "shell", programs: "sh bash dash zsh ksh", judge: judgeSh, why: "run a text, which decides; with -n nothing",
		reads: "bash -lc 'git status'", changes: "sh -c 'rm a'",
	},
}

func judgeEnv(j *judge, c *call) {
	dir := j.dir
	defer func() { j.dir = dir }()
	rest, ok := c.leading("i0v", "uC", "ignore-environment null debug unset= chdir=", func(option string, value word) {
		if option == "C" || option == "chdir" {
			j.dir, _ = j.path(value)
		}
	})
	if len(rest) > 0 && rest[0].text == "-" {
		rest = rest[1:]
	}
	for ok && len(rest) > 0 {
		variable, value, assigns := strings.Cut(rest[0].text, "=")
		if !assigns {
			break
		}
		w := rest[0]
		w.text = value
		ok = isName(variable) && inert(variable, w)
		if gitVariable(variable) {
			j.bypass(variable)
		}
		rest = rest[1:]
	}
	if !ok {
		j.changes(c.src)
	}
	j.run(rest, false)
}

func judgeTimeout(j *judge, c *call) {
	rest, ok := c.leading("fpv", "ks", "foreground preserve-status verbose kill-after= signal=", ignore)
	if !ok || len(rest) < 2 || !rest[0].known {
		j.changes(c.src)
		return
	}
	j.run(rest[1:], false)
}

func judgeNice(j *judge, c *call) {
	var rest []word
	var ok bool
	switch c.name {
	case "nice":
		rest, ok = c.leading("0123456789", "n", "adjustment=", ignore)
	case "ionice":
		rest, ok = c.leading("t", "cn", "class= classdata= ignore", ignore)
	case "stdbuf":
		rest, ok = c.leading("", "ioe", "input= output= error=", ignore)
	case "setsid":
		rest, ok = c.leading("wc", "", "wait ctty", ignore)
	}
	if !ok {
		j.changes(c.src)
		return
	}
	j.run(rest, false)
}

func judgeTime(j *judge, c *call) {
	rest, ok := c.leading("pv", "f", "portability verbose format=", ignore)
	if !ok {
		j.changes(c.src)
		return
	}
	j.run(rest, false)
}

func judgeXargs(j *judge, c *call) {
	j.input = nil // it reads that itself
	replace := ""
	rest, ok := c.leading("0rtx", "nLPsEdaI", "null no-run-if-empty verbose exit max-args= max-lines= max-procs= max-chars= delimiter= arg-file= eof= replace=",
		func(option string, value word) {
			if option == "I" || option == "replace" {
				replace = value.text
			}
		})
	if !ok {
		j.changes(c.src)
		return
	}
	if len(rest) == 0 {
		return // xargs alone prints
	}
	if replace == "" {
		j.run(append(append([]word(nil), rest...), unknownWord), false)
		return
	}
	j.run(filled(rest, replace, true), false)
}

// filled replaces a placeholder in words by what is known only at run time.
func filled(words []word, placeholder string, open bool) []word {
	all := make([]word, len(words))
	for i, w := range words {
		if strings.Contains(w.text, placeholder) {
			w.open = w.open || open && strings.HasPrefix(w.text, placeholder)
			w.text = strings.ReplaceAll(w.text, placeholder, "*")
			w.known = false
		}
		all[i] = w
	}
	return all
}

// judgeFind looks at each word of the expression. A name that find hands on
// begins with a starting point, so it can't be an option.
func judgeFind(j *judge, c *call) {
	j.input = nil
	for i := 0; i < len(c.args); i++ {
		w := c.args[i]
		if w.open {
			j.changes(c.src)
			continue
		}
		switch w.text {
		case "-path", "-wholename", "-name":
			// What is left out is no target.
			if i > 0 && (c.args[i-1].text == "-not" || c.args[i-1].text == "!") || i+2 < len(c.args) && c.args[i+2].text == "-prune" {
				c.prose = append(c.prose, i+1)
			}
		case "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-ok", "-okdir":
			j.changes(c.src)
		case "-exec", "-execdir":
			end := i + 1
			for end < len(c.args) && c.args[end].text != ";" && !(c.args[end].text == "+" && c.args[end-1].text == "{}") {
				end++
			}
			if end == len(c.args) {
				j.changes(c.src)
				return
			}
			dir, top := j.dir, j.top
			if w.text == "-execdir" {
				j.dir, j.top = "", false // wherever the file is
			}
			j.run(filled(c.args[i+1:end], "{}", false), false)
			j.dir, j.top = dir, top
			i = end
		}
	}
}

// judgeSh judges a shell that is given its text. Scripts and standard input
// can't be seen.
func judgeSh(j *judge, c *call) {
	text, parse := false, false
	rest, ok := c.leading("ceuxvflhin", "o", "login norc noprofile posix version help", func(option string, _ word) {
		switch option {
		case "c":
			text = true
		case "n":
			parse = true
		}
	})
	switch {
	case ok && (versionOnly(c) || parse && !text && len(rest) > 0):
	case !ok || !text || len(rest) == 0 || !rest[0].known:
		j.changes(c.src)
	default:
		j.nested(rest[0].text, c.src, false)
		if (c.name == "sh" || c.name == "dash") && !portable(rest[0].text) {
			j.changes(c.src)
		}
	}
}

// portable reports whether a shell that knows no more than POSIX asks for takes
// a text as bash does: to the former, (( a > b )) and [[ a > b ]] write.
func portable(text string) bool {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return false
	}
	same := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ArithmCmd, *syntax.TestClause, *syntax.LetClause, *syntax.DeclClause, *syntax.CoprocClause, *syntax.ProcSubst, *syntax.ExtGlob:
			same = false
		case *syntax.FuncDecl:
			same = same && !n.RsrvWord
		case *syntax.SglQuoted:
			same = same && !n.Dollar
		case *syntax.Redirect: // {fd}< would be an argument, &> another command
			same = same && (n.N == nil || !strings.HasPrefix(n.N.Value, "{")) && n.Op != syntax.RdrAll && n.Op != syntax.AppAll
		case *syntax.CallExpr: // what is not there leaves the shell where it is
			same = same && !(len(n.Args) > 0 && allowed("pushd popd builtin", n.Args[0].Lit()))
		}
		return same
	})
	return same
}

// sites is how many places give variables values.
func (j *judge) sites() int {
	n := 0
	for _, name := range j.names {
		n += name.sites
	}
	return n
}

// nested judges a text that another shell runs, or (same) this one later.
func (j *judge) nested(text, src string, same bool) {
	if rule, _ := oversized(text); j.texts == maxTexts || rule != "" || !j.step(1+len(text)>>10) {
		j.changesBy(ruleTooDeep, src)
		return
	}
	file, err := parse(text)
	if err != nil {
		j.changesBy(ruleUnparsable, src)
		return
	}
	sub := newJudge(text, j.env, j.texts+1)
	sub.steps, sub.index, sub.finds = j.steps, j.index, j.finds
	sub.dir, sub.inner, sub.exports, sub.taint = j.dir, 1, j.exports, j.taint
	if same {
		sub.exports = true
		sub.funcs, sub.names, sub.defined, sub.filled = j.funcs, j.names, j.defined, j.filled
	} else {
		sub.base = sub.inner
		for variable := range j.names { // it may have been exported
			sub.site(variable, false)
			sub.site(variable, false)
		}
	}
	before := sub.sites()
	sub.survey(file)
	if same && sub.sites() != before {
		j.changes(src) // it runs at any time, and so what variables hold is unknown
	}
	sub.stmts(file.Stmts)
	sub.done()
	if sub.eff.Changes {
		j.mark(sub.eff.Rule, sub.eff.Why)
	}
	j.unknown = j.unknown || sub.unknown
	if sub.eff.Opaque || len(j.eff.Words)+len(sub.eff.Words) > maxWords {
		j.overrun(ruleTooLong)
	}
	j.eff.Targets = append(j.eff.Targets, sub.eff.Targets...)
	j.eff.Links = append(j.eff.Links, sub.eff.Links...)
	j.eff.Copies = append(j.eff.Copies, sub.eff.Copies...)
	j.placed = append(j.placed, sub.placed...)
	if !j.eff.Opaque {
		j.eff.Words = append(j.eff.Words, sub.eff.Words...)
	}
	j.eff.Satelle = append(j.eff.Satelle, sub.eff.Satelle...)
	if sub.eff.Bypass != "" {
		j.bypass(sub.eff.Bypass)
	}
}
