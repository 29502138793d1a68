package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// name is what the whole text does with a variable.
type name struct {
	sites   int  // places that give it a value
	numbers bool // all of them integers
}

// survey looks at the whole text before it is judged in order: a function may
// be called before its definition is read, a loop runs again.
func (j *judge) survey(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if j.funcs == nil {
				j.funcs = map[string][]*syntax.Stmt{}
			}
			if n.Name != nil {
				j.funcs[n.Name.Value] = append(j.funcs[n.Name.Value], n.Body)
			}
		case *syntax.Assign:
			if n.Name != nil && !n.Naked {
				j.site(n.Name.Value, !n.Append && n.Array == nil && n.Index == nil && numericWord(n.Value))
			}
		case *syntax.WordIter:
			j.site(n.Name.Value, false)
		case *syntax.Redirect:
			if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
				j.site(strings.Trim(n.N.Value, "{}"), false)
				j.fill(strings.Trim(n.N.Value, "{}"), j.src(n))
			}
		case *syntax.ParamExp:
			if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				j.site(n.Param.Value, false)
				j.fill(n.Param.Value, j.src(n))
			}
		case *syntax.DeclClause:
			j.surveyExports(n)
			if n.Variant.Value != "export" {
				for _, a := range n.Args { // an assignment to what was made read-only fails
					if a.Naked && a.Name != nil {
						j.site(a.Name.Value, false)
					}
				}
			}
		case *syntax.CallExpr:
			j.surveyCall(n)
		case *syntax.BinaryArithm:
			// An assignment in arithmetic yields an integer, if what is
			// assigned may be evaluated at all, which arithm decides.
			if target, ok := n.X.(*syntax.Word); ok {
				j.site(target.Lit(), true)
				if assigns(n.Op) {
					j.fill(target.Lit(), j.src(n))
				}
			}
		case *syntax.UnaryArithm:
			if target, ok := n.X.(*syntax.Word); ok {
				j.site(target.Lit(), true)
				if n.Op == syntax.Inc || n.Op == syntax.Dec {
					j.fill(target.Lit(), j.src(n))
				}
			}
		}
		return true
	})
}

// surveyCall finds the variables that a builtin fills.
func (j *judge) surveyCall(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	switch n.Args[0].Lit() {
	case "read", "mapfile", "readarray", "printf", "getopts", "unset", "wait", "command", "builtin":
		for _, arg := range n.Args[1:] {
			variable := strings.TrimPrefix(arg.Lit(), "-v")
			j.site(variable, false)
			j.filled[variable] = true
		}
	}
}

func (j *judge) site(variable string, number bool) {
	if variable == "" {
		return
	}
	n := j.names[variable]
	if n == nil {
		n = &name{numbers: true}
		j.names[variable] = n
	}
	n.sites++
	n.numbers = n.numbers && number
}

func numericWord(w *syntax.Word) bool {
	if w == nil {
		return false
	}
	if isNumber(w.Lit()) {
		return true
	}
	if len(w.Parts) != 1 {
		return false
	}
	_, arithm := w.Parts[0].(*syntax.ArithmExp)
	return arithm
}

func (j *judge) assigned(variable string) bool { return j.names[variable] != nil }

// set gives a variable its value, if this is the only place that does and is
// sure to be reached.
func (j *judge) set(variable string, value word) {
	if n := j.names[variable]; n != nil && n.sites == 1 && j.cond == 0 && j.inner == 0 && !ofShell(variable) {
		j.vars[variable] = value
	}
}

// value is what a variable holds at this point.
func (j *judge) value(variable string) word {
	if value, ok := j.vars[variable]; ok {
		return value
	}
	if n := j.names[variable]; n != nil {
		if ofShell(variable) {
			return unknownWord
		}
		if n.numbers && !j.exported(variable) {
			return word{text: "*", numeric: true}
		}
		return unknownWord
	}
	switch variable {
	case "HOME":
		if j.env.Home != "" {
			return literal(j.env.Home)
		}
	case "PWD":
		if j.dir != "" {
			return literal(j.dir)
		}
	case "TMPDIR":
		if j.env.Temp != "" {
			return literal(j.env.Temp)
		}
	case "RANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "UID", "EUID", "PPID", "BASHPID":
		return word{text: "*", numeric: true}
	}
	return unknownWord
}

func (j *judge) exported(variable string) bool {
	return j.env.Exported != nil && j.env.Exported(variable)
}

// ofShell reports whether a shell gives a variable values by itself, so that
// an assignment says nothing.
func ofShell(variable string) bool {
	return allowed("_ REPLY reply MAPFILE OPTARG OPTIND FUNCNAME DIRSTACK COPROC PIPESTATUS pipestatus status MATCH match MBEGIN mbegin MEND mend "+
		"HISTCMD GROUPS UID EUID PPID RANDOM SRANDOM SECONDS LINENO EPOCHSECONDS EPOCHREALTIME COLUMNS LINES TTY USERNAME", variable)
}

// assigns reports whether an operator of arithmetic gives its left side a value.
func assigns(op syntax.BinAritOperator) bool {
	switch op {
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
		return true
	}
	return false
}
