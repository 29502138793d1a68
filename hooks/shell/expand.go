package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// substitution judges the commands of $(…) and returns what may come of them.
func (j *judge) substitution(p *syntax.CmdSubst) word {
	j.enter(p.Stmts)
	if len(p.Stmts) != 1 {
		return unknownWord
	}
	stmt := p.Stmts[0]
	if numericOutput(stmt) {
		return word{text: "*", numeric: true}
	}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(stmt.Redirs) > 0 || len(call.Assigns) > 0 {
		return unknownWord
	}
	var argv []string
	for _, arg := range call.Args {
		argv = append(argv, arg.Lit())
	}
	if len(argv) > 0 && j.funcs[argv[0]] != nil {
		return unknownWord
	}
	if len(argv) > 2 && argv[0] == "git" && printsCommits(argv[1], argv[2:]) {
		return word{text: "*", many: true}
	}
	switch strings.Join(argv, " ") {
	case "pwd":
		if j.dir != "" {
			return literal(j.dir)
		}
	case "mktemp", "mktemp -d":
		if j.env.Temp != "" && !j.assigned("TMPDIR") {
			return literal(j.env.Temp + "/tmp.satelle")
		}
	case "git rev-parse --show-toplevel":
		// Wherever that is, it is the work tree one is in.
		if j.dir != "" {
			return word{text: j.dir, known: false}
		}
	}
	return unknownWord
}

// enter judges commands that run in a process of their own: what they assign
// and where they go ends with them.
func (j *judge) enter(stmts []*syntax.Stmt) {
	dir, unsure := j.dir, j.unsure
	j.inner++
	j.stmts(stmts)
	j.inner--
	j.dir, j.unsure = dir, unsure
}

// process judges the commands of <(…) and >(…).
func (j *judge) process(stmts []*syntax.Stmt) { j.enter(stmts) }

// numericOutput reports whether a statement prints an integer and nothing else.
func numericOutput(stmt *syntax.Stmt) bool {
	if stmt.Negated {
		return false
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.BinaryCmd:
		return cmd.Op == syntax.Pipe && numericOutput(cmd.Y)
	case *syntax.CallExpr:
		if len(cmd.Assigns) > 0 || len(cmd.Args) == 0 {
			return false
		}
		args := cmd.Args[1:]
		switch cmd.Args[0].Lit() {
		case "wc": // with a file name it prints that as well
			return len(args) == 1 && len(args[0].Lit()) == 2 && strings.HasPrefix(args[0].Lit(), "-")
		case "nproc":
			return len(args) == 0
		case "date":
			return len(args) == 1 && args[0].Lit() == "+%s"
		case "id":
			return len(args) == 1 && (args[0].Lit() == "-u" || args[0].Lit() == "-g")
		}
	}
	return false
}

// inside judges the words within a parameter expansion.
func (j *judge) inside(p *syntax.ParamExp) {
	if p.Excl && p.Names == 0 && !allElements(p.Index) {
		// ${!x} evaluates whatever x names, a subscript with a command included.
		j.changesBy(ruleIndirect, j.src(p))
	}
	if p.Index != nil && !allElements(p.Index) {
		j.arithm(p.Index)
	}
	if p.Slice != nil {
		j.arithm(p.Slice.Offset)
		j.arithm(p.Slice.Length)
	}
	if p.Repl != nil {
		j.word(p.Repl.Orig)
		j.word(p.Repl.With)
	}
	if p.Exp == nil {
		return
	}
	if p.Exp.Op == syntax.OtherParamOps && (p.Exp.Word == nil || p.Exp.Word.Lit() == "P") {
		j.changesBy(ruleIndirect, j.src(p)) // ${x@P} runs the commands in a prompt
	}
	w := j.word(p.Exp.Word)
	j.mention(w)
}

func allElements(index syntax.ArithmExpr) bool {
	w, ok := index.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}

// arithm judges an arithmetic expression. The shell evaluates the value of a
// variable as an expression in turn, down to commands in subscripts, so only
// integers may stand in one.
func (j *judge) arithm(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case nil:
	case *syntax.BinaryArithm:
		j.arithm(x.X)
		j.arithm(x.Y)
	case *syntax.UnaryArithm:
		j.arithm(x.X)
	case *syntax.ParenArithm:
		j.arithm(x.X)
	case *syntax.Word:
		if variable := x.Lit(); variable != "" {
			if !isNumber(variable) && !j.integer(variable) {
				j.changesBy(ruleArithmetic, j.src(x))
			}
			return
		}
		if w := j.word(x); !w.numeric && !(w.known && isNumber(w.text)) {
			j.changesBy(ruleArithmetic, j.src(x))
		}
	default:
		j.changesBy(ruleArithmetic, j.src(x))
	}
}

// integer reports whether a bare word of an expression is a variable that
// holds an integer, or a number in another base.
func (j *judge) integer(variable string) bool {
	if isName(variable) {
		if !j.assigned(variable) {
			return true // unset, or the user's own
		}
		w := j.value(variable)
		return w.numeric || w.known && isNumber(w.text)
	}
	return strings.HasPrefix(variable, "0x") && strings.Trim(variable[2:], "0123456789abcdefABCDEF") == ""
}

func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// printsCommits reports whether a command of git prints names of commits and
// nothing else, none of which begins with a dash. An argument that is not
// written out is "".
func printsCommits(command string, args []string) bool {
	if command != "merge-base" && command != "rev-list" {
		return false
	}
	for _, arg := range args {
		if arg == "" || strings.HasPrefix(arg, "-") && !isNumber(arg) && !allowed("--all --max-parents=0 --max-count=1 --fork-point", arg) {
			return false
		}
	}
	return true
}
