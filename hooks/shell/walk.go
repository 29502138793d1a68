package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (j *judge) stmts(stmts []*syntax.Stmt) {
	for _, s := range stmts {
		j.stmt(s)
		if j.unsure {
			// The text goes on whether or not the last cd succeeded.
			j.dir, j.unsure = "", false
		}
	}
}

// stmt judges one statement, and marks its words as quiet if all of it only
// reads and leaves nothing behind that a later statement could use.
func (j *judge) stmt(s *syntax.Stmt) {
	from, state, changed := len(j.eff.Words), j.state, j.eff.Changes
	targets, unknown := len(j.eff.Targets), j.unknown
	j.state, j.unknown = false, false
	if s.Background || s.Coprocess || s.Disown {
		j.inner++
	}
	dir, input := j.dir, j.input
	j.input = nil
	j.redirects(s.Redirs)
	j.command(s)
	j.input = input
	if s.Background || s.Coprocess || s.Disown {
		j.inner--
		j.dir = dir
	}
	reads := len(j.eff.Targets) == targets && !j.unknown && changed == j.eff.Changes
	if reads && !j.state && j.inner == 0 {
		j.hush(from)
	}
	j.state, j.unknown = j.state || state, j.unknown || unknown
}

// hush marks all words from one on as quiet. Most of them are, since a list
// holds lists.
func (j *judge) hush(from int) {
	if j.eff.Opaque {
		return
	}
	words, at := j.eff.Words, from
	for at < len(words) {
		if at >= j.quiet[0] && at < j.quiet[1] {
			at = j.quiet[1]
			continue
		}
		words[at].Quiet = true
		at++
	}
	if from > j.quiet[1] {
		j.quiet[0] = from
	}
	j.quiet = [2]int{min(j.quiet[0], from), len(words)}
}

func (j *judge) command(s *syntax.Stmt) {
	switch c := s.Cmd.(type) {
	case nil: // redirections alone
	case *syntax.CallExpr:
		j.call(c)
	case *syntax.BinaryCmd:
		j.binary(c)
	case *syntax.Subshell:
		j.enter(c.Stmts)
	case *syntax.Block:
		j.stmts(c.Stmts)
	case *syntax.IfClause:
		j.conditional(func() {
			for clause := c; clause != nil; clause = clause.Else {
				j.stmts(clause.Cond)
				j.stmts(clause.Then)
			}
		})
	case *syntax.WhileClause:
		j.loop(c, func() {
			j.stmts(c.Cond)
			j.stmts(c.Do)
		})
	case *syntax.ForClause:
		j.forClause(c)
	case *syntax.CaseClause:
		j.conditional(func() {
			j.mention(j.word(c.Word))
			for _, item := range c.Items {
				for _, pattern := range item.Patterns {
					j.word(pattern)
				}
				j.stmts(item.Stmts)
			}
		})
	case *syntax.FuncDecl:
		j.function(c)
	case *syntax.ArithmCmd:
		j.arithm(c.X)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			j.arithm(x)
		}
	case *syntax.TestClause:
		j.test(c.X)
	case *syntax.DeclClause:
		j.declare(c)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			j.stmt(c.Stmt)
		}
	case *syntax.CoprocClause:
		if c.Name != nil {
			j.fill(c.Name.Lit(), j.src(c))
			if !compound(c.Stmt) {
				j.changesBy(ruleUnparsable, j.src(c)) // to bash, the name is a program
			}
		}
		j.enter([]*syntax.Stmt{c.Stmt})
	default:
		j.changesBy(ruleUnparsable, j.src(s))
	}
}

func (j *judge) binary(c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.AndStmt:
		j.stmt(c.X)
		j.cond++
		j.stmt(c.Y)
		j.cond--
	case syntax.OrStmt:
		before := j.dir
		j.stmt(c.X)
		after := j.dir
		// The right side runs where the left side failed.
		j.dir, j.unsure = before, false
		j.cond++
		j.stmt(c.Y)
		j.cond--
		switch {
		case after == before && j.dir == before:
		case leaves(c.Y):
			j.dir, j.unsure = after, false
		default:
			j.dir, j.unsure = after, true
		}
	default: // a pipe
		j.enter([]*syntax.Stmt{c.X})
		j.enter([]*syntax.Stmt{c.Y})
	}
}

// leaves reports whether nothing after a statement runs.
func leaves(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || s.Background {
		return false
	}
	name := call.Args[0].Lit()
	return name == "exit" || name == "return"
}

// conditional judges what may or may not run. Where it would leave the working
// directory is then unknown.
func (j *judge) conditional(body func()) {
	dir := j.dir
	j.cond++
	body()
	j.cond--
	if j.dir != dir {
		j.dir = ""
	}
	j.unsure = false
}

// loop judges what may run several times: its second round starts where the
// first one ended.
func (j *judge) loop(node syntax.Node, body func()) {
	if moves(node) {
		j.dir = ""
	}
	j.conditional(body)
}

// moves reports whether a command changes the working directory.
func moves(node syntax.Node) bool {
	found := false
	syntax.Walk(node, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			switch call.Args[0].Lit() {
			case "cd", "pushd", "popd", "command", "builtin", "":
				found = true
			}
		}
		return !found
	})
	return found
}

func (j *judge) forClause(c *syntax.ForClause) {
	switch loop := c.Loop.(type) {
	case *syntax.WordIter:
		items := j.words(loop.Items)
		value := word{text: "*", numeric: len(items) > 0}
		for _, item := range items {
			j.mention(item)
			value.open = value.open || item.open || strings.HasPrefix(item.text, "-") || len(items) == 0
			value.numeric = value.numeric && item.numeric
			value.many = value.many || !item.known && !item.numeric || strings.ContainsAny(item.text, " \t\n")
		}
		if len(items) == 0 || c.Select { // the positional parameters, or a reply
			value = unknownWord
		}
		if len(items) == 1 {
			value.text, value.known = items[0].text, items[0].known && !items[0].many
		}
		variable := loop.Name.Value
		j.fill(variable, j.src(c))
		if n := j.names[variable]; n != nil && n.sites == 1 {
			j.vars[variable] = value
			defer delete(j.vars, variable)
		}
	case *syntax.CStyleLoop:
		j.arithm(loop.Init)
		j.arithm(loop.Cond)
		j.arithm(loop.Post)
	}
	j.loop(c, func() { j.stmts(c.Do) })
}

// function looks at a declaration. The body is judged where it is called; a
// name that the shell calls by itself is called at once.
func (j *judge) function(c *syntax.FuncDecl) {
	j.state = true
	if c.Name == nil || len(c.Names) > 0 || hooked(c.Name.Value) {
		j.changesBy(ruleFunction, j.src(c))
		return
	}
	_, block := c.Body.Cmd.(*syntax.Block)
	if c.RsrvWord || !block {
		// A shell that doesn't know the word "function" runs the lines of the
		// body; after another body a pipe is no part of it.
		j.conditional(func() { j.stmt(c.Body) })
	}
	if block && j.cond == 0 && j.inner == j.base {
		j.defined[c.Name.Value] = true
	}
}

// hooked reports whether a shell calls a function of this name by itself.
func hooked(name string) bool {
	return strings.HasPrefix(name, "command_not_found") || strings.HasPrefix(name, "TRAP") ||
		allowed("chpwd precmd preexec periodic zshexit zshaddhistory zsh_directory_name", name)
}

// test judges [[ … ]], whose numeric operators evaluate their operands.
func (j *judge) test(x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			j.testNumber(x.X)
			j.testNumber(x.Y)
			return
		}
		j.test(x.X)
		j.test(x.Y)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
			if w, ok := x.X.(*syntax.Word); !ok || !isName(w.Lit()) {
				j.changesBy(ruleArithmetic, j.src(x))
			}
		}
		j.test(x.X)
	case *syntax.ParenTest:
		j.test(x.X)
	case *syntax.Word:
		j.mention(j.word(x))
	default:
		j.changesBy(ruleUnparsable, "[[")
	}
}

func (j *judge) testNumber(x syntax.TestExpr) {
	w, ok := x.(*syntax.Word)
	if !ok {
		j.test(x)
		return
	}
	got := j.word(w)
	if !got.numeric && !(got.known && (isNumber(got.text) || j.integer(got.text))) {
		j.changesBy(ruleArithmetic, j.src(x))
	}
}

// redirects judges where a statement's input comes from and its output goes.
func (j *judge) redirects(redirs []*syntax.Redirect) {
	for _, r := range redirs {
		w := j.word(r.Word)
		if r.Op == syntax.RdrIn || r.Op == syntax.WordHdoc || r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc || r.Op == syntax.DplIn || r.Op == syntax.RdrInOut {
			j.input = j.inputOf(r, w)
		}
		switch r.Op {
		case syntax.RdrIn, syntax.WordHdoc:
			j.mention(w)
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc != nil {
				if w.known && w.text == "" || documents(r.Hdoc) {
					j.changesBy(ruleQuote, j.src(r))
				}
				b := builder{j: j}
				for _, part := range r.Hdoc.Parts {
					b.part(part, true, false)
				}
				j.mention(word{text: b.text.String()})
			}
		case syntax.DplIn:
		case syntax.DplOut:
			// >&word without a number is a file, and so are >&1- and >&-1 to zsh.
			if !(w.known && isNumber(w.text) && w.text[0] != '-') && w.text != "-" {
				j.output(r, w)
			}
		default:
			j.output(r, w)
		}
	}
}

// documents reports whether a here-document begins within a word. In another
// one, the parser and a shell part on which of them ends first; and after an
// empty delimiter bash forgets, in a substitution, that it was quoted.
func documents(w *syntax.Word) bool {
	found := false
	syntax.Walk(w, func(n syntax.Node) bool {
		r, ok := n.(*syntax.Redirect)
		found = found || ok && (r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc)
		return !found
	})
	return found
}

// compound reports whether a statement is none of plain words.
func compound(s *syntax.Stmt) bool {
	switch s.Cmd.(type) {
	case nil, *syntax.CallExpr, *syntax.DeclClause, *syntax.LetClause, *syntax.TimeClause, *syntax.CoprocClause:
		return false
	}
	return true
}

// output judges a redirection that opens a file for writing.
func (j *judge) output(r *syntax.Redirect, w word) {
	if sink(w) {
		return
	}
	j.mention(w)
	rule := j.rule
	j.rule = ruleRedirect
	j.writes(j.src(r), w, false)
	j.rule = rule
}

// sink reports whether a word is a device that keeps nothing.
func sink(w word) bool {
	if !w.known {
		return false
	}
	switch w.text {
	case "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2":
		return true
	}
	return false
}
