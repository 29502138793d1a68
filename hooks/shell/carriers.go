package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// carriers run another program as wrappers do, with more that has to be looked
// at.
var carriers = []rule{
	{
		name: "parallel", programs: "parallel", judge: judgeParallel,
		why:   "runs a program for each argument, which decides; it is put together as a text for a shell",
		reads: "parallel -k wc -l ::: a b", changes: "parallel rm ::: a",
	},
	{
		name: "scheduling", programs: "chrt taskset setarch linux32 linux64 chronic unbuffer", judge: judgeScheduling,
		why:   "run a program, which decides",
		reads: "taskset -c 0 ls", changes: "chrt -b 0 rm a",
	},
	{
		name: "strace", programs: "strace ltrace", judge: judgeStrace,
		why:   "run a program, which decides; -o writes a file or runs a program, -e can tamper with calls",
		reads: "strace -f -e trace=open ls", changes: "strace -o log ls",
	},
	{
		name: "watch", programs: "watch", judge: judgeWatch,
		why:   "runs a text again and again, which decides",
		reads: "watch -n 1 'git status'", changes: "watch 'touch a'",
	},
	{
		name: "eval", programs: "eval", judge: judgeEval, builtin: true, state: true,
		why:   "runs a text, which decides if it is written out",
		reads: `eval "ls docs"`, changes: `eval "$CMD"`,
	},
}

// judgeParallel: the program and its arguments become a text, in which only
// what it puts in is quoted.
func judgeParallel(j *judge, c *call) {
	j.input = nil
	rest, ok := c.leading("k0", "jnN", "keep-order will-cite no-notice null jobs= max-args= max-replace-args= delay= halt=", ignore)
	if !ok || len(rest) == 0 {
		j.changes(c.src)
		return
	}
	var run []word
	for _, w := range c.args {
		ok = ok && w.text != "--" // to another program of this name, what follows are commands
	}
	if !ok {
		j.changes(c.src)
		return
	}
	item := unknownWord // a line of its input
	for i, w := range rest {
		if w.known && (w.text == ":::" || w.text == ":::+") {
			item = word{text: "*", many: true}
			for _, arg := range rest[i+1:] {
				if arg.known && allowed("::: :::+ :::: ::::+", arg.text) || arg.open || strings.HasPrefix(arg.text, "-") {
					item = unknownWord
				}
				j.mention(arg)
			}
			break
		}
		if w.known && allowed(":::: ::::+", w.text) {
			break
		}
		run = append(run, w)
	}
	placed := false
	for i, w := range run {
		text := w.text
		for _, placeholder := range [...]string{"{}", "{.}", "{/}", "{//}", "{/.}", "{#}", "{%}", "{1}", "{2}"} {
			if strings.Contains(text, placeholder) {
				placed = true
				run[i].open = run[i].open || item.open && strings.HasPrefix(text, placeholder)
				run[i].known = false
				text = strings.ReplaceAll(text, placeholder, "*")
			}
		}
		if !w.known || strings.Trim(strings.ReplaceAll(text, "*", ""), plainSigns) != "" {
			j.changes(c.src)
			return
		}
		run[i].text = text
	}
	if len(run) == 0 { // the lines are commands
		j.changes(c.src)
		return
	}
	if !placed {
		run = append(append([]word(nil), run...), item)
	}
	j.run(run, false)
}

// plainSigns mean nothing but themselves to a shell.
const plainSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,@%+-"

func judgeScheduling(j *judge, c *call) {
	var rest []word
	var ok bool
	switch c.name {
	case "chrt":
		rest, ok = c.leading("bfiorR", "", "batch fifo idle other rr", ignore)
		ok = ok && len(rest) > 1 && rest[0].numeric
		if ok {
			rest = rest[1:]
		}
	case "taskset":
		rest, ok = c.leading("c", "", "cpu-list", ignore)
		ok = ok && len(rest) > 1 && rest[0].known
		if ok {
			rest = rest[1:]
		}
	case "setarch":
		if len(c.args) > 0 && c.args[0].known && !strings.HasPrefix(c.args[0].text, "-") {
			c.args = c.args[1:]
		}
		rest, ok = c.leading("RLXv", "", "", ignore)
	default:
		rest, ok = c.args, len(c.args) > 0 && !strings.HasPrefix(c.args[0].text, "-")
	}
	if !ok || len(rest) == 0 {
		j.changes(c.src)
		return
	}
	j.run(rest, false)
}

func judgeStrace(j *judge, c *call) {
	traces := true
	rest, ok := c.leading("fcCtTrvyqiwx", "es", "", func(option string, value word) {
		if option == "e" {
			traces = traces && value.known && !strings.ContainsAny(value.text, ":") && (strings.HasPrefix(value.text, "trace=") || strings.Trim(value.text, plainSigns[:52]+",_") == "")
		}
	})
	if !ok || !traces || len(rest) == 0 {
		j.changes(c.src)
		return
	}
	j.run(rest, false)
}

func judgeWatch(j *judge, c *call) {
	rest, ok := c.leading("debgtcpwx", "n", "differences no-title interval= precise exec color beep errexit chgexit", ignore)
	text := make([]string, len(rest))
	for i, w := range rest {
		ok = ok && w.known && !w.many
		text[i] = w.text
	}
	if !ok || len(rest) == 0 {
		j.changes(c.src)
		return
	}
	j.nested(strings.Join(text, " "), c.src, false)
	if !portable(strings.Join(text, " ")) {
		j.changes(c.src)
	}
}

// leavesBehind reports whether a text changes the shell that runs it.
func leavesBehind(node syntax.Node) bool {
	found := moves(node)
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl, *syntax.DeclClause, *syntax.Assign, *syntax.LetClause, *syntax.ArithmCmd, *syntax.ArithmExp:
			found = true
		case *syntax.ParamExp:
			found = found || n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull)
		case *syntax.Redirect:
			found = found || n.N != nil && strings.HasPrefix(n.N.Value, "{")
		case *syntax.ForClause:
			found = true
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				r := lookup("", n.Args[0].Lit())
				found = found || r == nil || r.state
			}
		}
		return !found
	})
	return found
}

// judgeEval: what the text leaves behind in the shell is not followed, so one
// that leaves something is refused.
func judgeEval(j *judge, c *call) {
	text := make([]string, len(c.args))
	ok := true
	for i, w := range c.args {
		ok = ok && w.known && !w.many
		text[i] = w.text
	}
	joined := strings.Join(text, " ")
	file, err := parse(joined)
	if !ok || err != nil || leavesBehind(file) {
		j.taint = true
		j.changes(c.src)
	}
	if ok {
		j.nested(joined, c.src, true)
	}
}
