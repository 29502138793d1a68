package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call is a simple command, expanded.
type call struct {
	name    string // without its folder
	program word
	args    []word
	src     string
	rule    *rule // by which it is judged
	prose   []int // the arguments that are text for people, as far as a rule has found them
	dashes  bool  // the program looks for -- before it reads options
	shell   bool  // run by the shell itself, so that builtins and functions apply
}

func (j *judge) call(c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		if len(c.Args) > 0 && c.Args[0].Lit() == "read" && j.funcs["read"] == nil && a.Name != nil && a.Name.Value == "IFS" {
			j.word(a.Value) // how one line is split
			continue
		}
		j.assign(a, len(c.Args) > 0)
	}
	if len(c.Args) == 0 {
		return
	}
	words := j.words(c.Args)
	j.runAs(words, j.src(c), true, len(c.Assigns) > 0)
}

// run judges the program and arguments that another program runs.
func (j *judge) run(words []word, direct bool) {
	src := make([]string, len(words))
	for i, w := range words {
		src[i] = w.text
	}
	j.runAs(words, strings.Join(src, " "), false, !direct)
}

// runAs judges a program and its arguments. changed tells that assignments or
// another program stand before it.
func (j *judge) runAs(words []word, src string, shell, changed bool) {
	if len(words) == 0 || !j.step(1) {
		return
	}
	program := words[0]
	c := &call{program: program, args: words[1:], src: src, shell: shell}
	if !program.known || program.many || program.text == "" {
		j.mention(program)
		j.stranger(ruleComputed, c)
		j.mentionAll(c)
		return
	}
	c.name = path.Base(program.text)
	if isSatelle(c.name) {
		j.invoke(c, !changed && !j.taint && j.funcs[program.text] == nil)
		return
	}
	dir := j.dir
	bodies := j.funcs[program.text]
	if bodies != nil && shell {
		j.callFunction(c, bodies)
	}
	if bodies != nil && shell && j.defined[program.text] {
		// There is no way past the function.
	} else if j.gateReads(c, changed) {
		// A person says that it reads.
	} else if r := j.program(c.name); r == nil || r.builtin && !shell || program.text != c.name && !standard(program.text) {
		j.stranger(ruleUnknown, c)
	} else {
		r.apply(j, c)
	}
	after := j.dir
	j.dir = dir // a word of cd starts from where cd was called
	j.mentionAll(c)
	j.dir = after
}

// step counts down to where a text takes too long to be judged. From then on
// nothing of it is known.
func (j *judge) step(n int) bool {
	if *j.steps > 0 {
		*j.steps -= n
		return true
	}
	j.overrun(ruleTooDeep)
	return false
}

// overrun gives a text up: it changes files, and which is not known.
func (j *judge) overrun(rule string) {
	if j.eff.Opaque {
		return
	}
	j.changesBy(rule, "it takes too long to be judged")
	j.taint, j.eff.Opaque = true, true
	j.eff.Words = []Word{{Text: j.text, Dir: j.env.Dir}}
}

// program finds the rule of a program. The tables are searched in a row, which
// is the quickest for a few.
func (j *judge) program(name string) *rule {
	const few = 12
	if j.finds++; j.finds <= few {
		return lookup("", name)
	}
	if j.index == nil {
		j.index = make(map[string]*rule, 1024)
		for _, table := range tables {
			for i := range table {
				if table[i].of != "" {
					continue
				}
				for program := range strings.FieldsSeq(table[i].programs) {
					j.index[program] = &table[i]
				}
			}
		}
	}
	return j.index[name]
}

// stranger judges a program of which nothing is known: it may run what it is
// given as well.
func (j *judge) stranger(rule string, c *call) {
	j.changesBy(rule, c.src)
	switch c.name {
	case "", "eval", "source", ".", "enable":
		j.taint = true
	}
	for i, w := range c.args {
		lower := strings.ToLower(w.text)
		if strings.HasPrefix(lower, "--no-verify") || strings.Contains(lower, "core.hookspath") {
			j.bypass(w.text)
		}
		if w.known && isSatelle(path.Base(w.text)) {
			j.eff.Satelle = append(j.eff.Satelle, Invocation{Program: w.text, Args: texts(c.args[i+1:]), Guess: true})
		}
	}
}

func (j *judge) bypass(what string) {
	if j.eff.Bypass == "" {
		j.eff.Bypass = clip(what)
	}
}

func (j *judge) mentionAll(c *call) {
	if c.program.text != c.name {
		j.mention(c.program)
	}
	for i, w := range c.args {
		if !slices.Contains(c.prose, i) {
			j.mention(w)
		}
	}
}

func isSatelle(name string) bool { return name == "satelle" }

// invoke records a call of satelle. Its own decision is made elsewhere; a
// value with blanks is text for people.
func (j *judge) invoke(c *call, direct bool) {
	for _, w := range c.args {
		if !strings.ContainsAny(w.text, " \t\n") {
			j.mention(w)
		}
	}
	j.eff.Satelle = append(j.eff.Satelle, Invocation{Program: c.program.text, Args: texts(c.args), Direct: direct})
}

func texts(words []word) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = w.text
		if !w.known {
			all[i] = "*"
		}
	}
	return all
}

// standard reports whether a path leads to a folder of system programs.
func standard(program string) bool {
	switch path.Dir(program) {
	case "/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin":
		return path.Clean(program) == program
	}
	return false
}

func (j *judge) callFunction(c *call, bodies []*syntax.Stmt) {
	if j.calls == maxCalls || !j.step(1) {
		j.changesBy(ruleFunction, c.src)
		return
	}
	j.calls++
	for _, body := range bodies {
		j.conditional(func() { j.stmt(body) })
	}
	j.calls--
}

// assign judges NAME=value, for the shell itself or (prefix) for one program.
func (j *judge) assign(a *syntax.Assign, prefix bool) {
	j.state = true
	if a.Name == nil {
		j.changesBy(ruleVariable, j.src(a))
		return
	}
	if a.Index != nil && !allElements(a.Index) {
		j.arithm(a.Index)
	}
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				j.arithm(e.Index)
			}
			if e.Value != nil {
				j.mention(j.word(e.Value))
			}
		}
	}
	value := j.word(a.Value)
	j.mention(value)
	variable := a.Name.Value
	harmless := !dangerous(variable) && !j.exported(variable)
	if prefix {
		harmless = inert(variable, value)
	}
	if !harmless && !inert(variable, value) {
		j.changesBy(ruleVariable, j.src(a))
		j.taint = true
	}
	if gitVariable(variable) {
		j.bypass(variable)
	}
	if !prefix && a.Index == nil && a.Array == nil && !a.Append {
		j.set(variable, value)
	}
}

// declare judges export, declare, local, readonly and typeset.
func (j *judge) declare(c *syntax.DeclClause) {
	j.state = true
	for _, a := range c.Args {
		if a.Naked && a.Name == nil { // an option or a computed name
			w := j.word(a.Value)
			switch {
			case !w.known || !strings.HasPrefix(w.text, "-"):
				j.changesBy(ruleVariable, j.src(c))
			case strings.Trim(w.text, "-fFpraAgx") != "":
				j.changesBy(ruleVariable, j.src(c))
			}
			continue
		}
		if a.Naked {
			if c.Variant.Value == "export" && !inert(a.Name.Value, unknownWord) && (dangerous(a.Name.Value) || namedAfterProgram(a.Name.Value)) {
				j.changesBy(ruleVariable, j.src(c))
			}
			continue
		}
		exports := c.Variant.Value == "export" || c.Variant.Value == "declare" || c.Variant.Value == "typeset"
		if exports && (dangerous(a.Name.Value) || c.Variant.Value == "export" && namedAfterProgram(a.Name.Value)) && !inert(a.Name.Value, j.word(a.Value)) {
			j.changesBy(ruleVariable, j.src(c))
			j.taint = true
		}
		j.assign(a, false)
	}
}
