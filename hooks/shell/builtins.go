package shell

import (
	"path/filepath"
	"strings"
)

// builtins are what the shell does by itself.
var builtins = []rule{
	{
		name: "history", programs: "history", judge: judgeHistory, builtin: true, why: "lists earlier commands; its options write files",
		reads: "history 20", changes: "history -w f",
	},
	{
		name: "cd", programs: "cd chdir pushd popd", judge: judgeCd, builtin: true, state: true, why: "change where the shell is",
		reads: "cd docs && ls", changes: "cd docs && touch a",
	},
	{
		name: "control", programs: ": break continue return exit shift times dirs help caller umask ulimit logout", builtin: true, state: true, why: "steer the shell",
		reads: "ulimit -a | head -1; exit 0", changes: ": > f",
	},
	{
		name: "jobs", programs: "jobs wait", judge: judgeJobs, builtin: true, state: true, why: "tell of background commands; jobs -x runs one, wait -p evaluates a subscript",
		reads: "ls & wait", changes: "jobs -x rm a",
	},
	{
		name: "hash", programs: "type hash", judge: judgeHash, builtin: true, state: true, why: "tell where programs are; hash -p redirects one",
		reads: "type ls", changes: "hash -p ./x ls",
	},
	{
		name: "command", programs: "command", judge: judgeCommand, builtin: true, why: "tells where a program is, or runs it, which decides",
		reads: "command -v node", changes: "command rm a",
	},
	{
		name: "builtin", programs: "builtin", judge: func(j *judge, c *call) { j.runAs(c.args, c.src, true, true) }, builtin: true, state: true, why: "runs a builtin, which decides",
		reads: "builtin echo a", changes: `builtin eval "rm a"`,
	},
	{
		name: "exec", programs: "exec", judge: judgeExec, builtin: true, state: true, why: "opens files, or runs a program, which decides",
		reads: "exec 3< a; cat <&3", changes: "exec 3> a",
	},
	{
		name: "alias", programs: "alias", judge: judgeAlias, builtin: true, state: true, why: "lists aliases; a new one gives a word another meaning",
		reads: "alias", changes: "alias ls=rm",
	},
	{
		name: "trap", programs: "trap", judge: judgeTrap, builtin: true, state: true, why: "runs a text later, which decides",
		reads: "trap - EXIT", changes: "trap 'touch a' EXIT",
	},
	{
		name: "set", programs: "set", judge: judgeSet, builtin: true, state: true, why: "switches options of the shell",
		reads: "set -euo pipefail; ls", changes: "set -a",
	},
	{
		name: "shopt", programs: "shopt", judge: judgeShopt, builtin: true, state: true, why: "switches options of the shell; some change what words mean",
		reads: "shopt -s globstar; ls", changes: "shopt -s expand_aliases",
	},
	{
		name: "fill", programs: "read mapfile readarray getopts unset", judge: judgeNames, builtin: true, state: true, why: "fill variables; a computed subscript is evaluated",
		reads: "read -r a < b", changes: "unset 'a[$(touch b)]'",
	},
	{
		name: "printf", programs: "printf", judge: judgePrintf, state: true, why: "prints; -v fills a variable, whose subscript is evaluated, as is what zsh prints as a number",
		reads: `printf '%s\n' a`, changes: `printf -v "$x" a`,
	},
	{
		name: "test", programs: "test [", judge: judgeTest, why: "compare; -v evaluates a subscript",
		reads: "test -f a && echo yes", changes: `[ -v 'a[$(touch b)]' ]`,
	},
}

func judgeCd(j *judge, c *call) {
	physical := false
	operands, ok := c.options("", func(option string, _ word) bool {
		physical = physical || option == "P"
		return allowed("L P e n", option)
	})
	to := literal(j.env.Home)
	switch {
	case !ok || len(operands) > 1:
		j.changes(c.src)
	case c.name == "popd":
		if n := len(j.dirs); n > 0 && len(operands) == 0 {
			j.dir, j.dirs = j.dirs[n-1], j.dirs[:n-1]
			return
		}
		to = unknownWord
	case len(operands) == 1:
		to = operands[0]
	case c.name == "pushd":
		to = unknownWord
	}
	if c.name == "pushd" {
		j.dirs = append(j.dirs, j.dir)
	}
	if to.text == j.dir && to.text != "" && !to.known {
		// The top of the work tree that one is in: the same for git.
		j.dir, j.top, j.unsure = "", j.ownGit(), false
		return
	}
	j.top = false
	if strings.HasPrefix(to.text, "-") || strings.HasPrefix(to.text, "+") || !filepath.IsAbs(to.text) && (j.exported("CDPATH") || j.assigned("CDPATH")) {
		to = unknownWord
	}
	path, known := j.path(to)
	j.dir = ""
	if known && !physical {
		j.dir = filepath.Clean(path) // a shell takes .. by the name, not by where a link leads
	}
	j.unsure = j.dir == "" || j.env.IsDir == nil || !j.env.IsDir(path) || !j.env.IsDir(j.dir)
}

// ownGit reports whether git, run here, reads a configuration that an agent
// could not have written.
func (j *judge) ownGit() bool {
	if j.top {
		return true
	}
	return j.dir != "" && (j.dir == j.env.Dir || j.env.OwnGit != nil && j.env.OwnGit(j.dir))
}

func judgeHash(j *judge, c *call) {
	_, ok := c.options("", func(option string, _ word) bool {
		return allowed("a f p P t r l", option) && (c.name == "type" || option != "p")
	})
	for _, w := range c.args {
		ok = ok && (c.name == "type" || w.known && !strings.Contains(w.text, "=")) // zsh: another program for a name
	}
	if !ok {
		j.changes(c.src)
		j.taint = true
	}
}

func judgeJobs(j *judge, c *call) {
	operands, ok := c.options("", func(option string, _ word) bool {
		return allowed("l n p r s f", option) && (c.name == "jobs" || option != "p")
	})
	for _, w := range operands {
		ok = ok && !strings.Contains(w.text, "[")
	}
	if !ok {
		j.changes(c.src)
	}
}

func judgeCommand(j *judge, c *call) {
	shows := false
	rest, ok := c.leading("pvV", "", "", func(option string, _ word) { shows = shows || option != "p" })
	switch {
	case !ok:
		j.changes(c.src)
	case !shows:
		funcs := j.funcs
		j.funcs = nil // it goes past functions
		j.runAs(rest, c.src, true, true)
		j.funcs = funcs
	}
}

func judgeExec(j *judge, c *call) {
	rest, ok := c.leading("cl", "a", "", ignore)
	if !ok {
		j.changes(c.src)
		return
	}
	j.run(rest, false)
}

func judgeAlias(j *judge, c *call) {
	for _, w := range c.args {
		if w.open || strings.Contains(w.text, "=") || !w.known {
			j.changes(c.src)
			j.taint = true
		}
	}
}

func judgeTrap(j *judge, c *call) {
	if len(c.args) == 0 || c.args[0].known && (c.args[0].text == "-" || c.args[0].text == "" || c.args[0].text == "-l" || c.args[0].text == "-p") {
		return
	}
	if !c.args[0].known {
		j.changes(c.src)
		return
	}
	j.nested(c.args[0].text, c.src, true)
}

func judgeSet(j *judge, c *call) {
	for i := 0; i < len(c.args); i++ {
		w := c.args[i]
		switch {
		case w.text == "--" || w.text == "-" || w.known && (w.text == "" || w.text[0] != '-' && w.text[0] != '+'):
			return // the rest are positional parameters
		case !w.known || strings.Trim(w.text[1:], "euxvfEThbmBCHo") != "":
			j.changes(c.src)
		case strings.HasSuffix(w.text, "o") && i+1 < len(c.args):
			i++
			if !c.args[i].known || !allowed("pipefail errexit nounset xtrace verbose noglob noclobber nolog emacs vi monitor notify braceexpand", c.args[i].text) {
				j.changes(c.src)
			}
		}
	}
}

func judgeShopt(j *judge, c *call) {
	operands, ok := c.options("", func(option string, _ word) bool { return allowed("s u q p", option) })
	for _, w := range operands {
		ok = ok && w.known && allowed("globstar nullglob dotglob extglob failglob nocaseglob nocasematch inherit_errexit checkwinsize histappend", w.text)
	}
	if !ok {
		j.changes(c.src)
	}
}

// judgeNames allows plain variable names only. read is the one with options
// that take a value; mapfile -C would run one.
func judgeNames(j *judge, c *call) {
	value := "adinNptu"
	if c.name != "read" {
		value = "dnOsu"
	}
	operands, ok := c.options(value, func(option string, of word) bool {
		if c.name == "read" && option == "a" {
			j.fill(of.text, c.src)
			return of.known && isName(of.text) && j.filled[of.text]
		}
		if strings.Contains(value, option) && !of.numeric && (!of.known || strings.Contains(of.text, "[")) {
			return false // to zsh some of these options take no value, and so it is a name
		}
		return option != "C" && option != "c"
	})
	for i, w := range operands {
		if c.name == "getopts" && i == 0 {
			ok = ok && w.known
			continue
		}
		j.fill(w.text, c.src)
		// A name that the survey did not see may belie what is known of its value.
		ok = ok && w.known && isName(w.text) && j.filled[w.text]
		if c.name == "unset" && j.funcs[w.text] != nil {
			delete(j.defined, w.text)
		}
	}
	if !ok {
		j.changes(c.src)
	}
}

// judgePrintf: zsh evaluates what it prints as a number, commands in subscripts
// included.
func judgePrintf(j *judge, c *call) {
	args := c.args
	switch {
	case len(args) == 0:
		return
	case args[0].known && args[0].text == "-v" && len(args) > 1 && args[1].known && isName(args[1].text) && c.shell && j.filled[args[1].text]:
		j.fill(args[1].text, c.src)
		args = args[2:]
	case args[0].known && args[0].text == "--":
		args = args[1:]
	case strings.HasPrefix(args[0].text, "-") || args[0].open:
		j.changes(c.src)
		return
	}
	if len(args) == 0 || args[0].known && !printsNumbers(args[0].text) {
		return
	}
	for i, w := range args {
		if i > 0 && !w.numeric && (!w.known || strings.Contains(w.text, "[")) {
			j.changes(c.src)
			return
		}
	}
}

// printsNumbers reports whether a format prints a number, or takes one for a
// width.
func printsNumbers(format string) bool {
	for rest := format; ; {
		_, after, ok := strings.Cut(rest, "%")
		if !ok {
			return false
		}
		after = strings.TrimLeft(after, "-+ #0123456789.'$hlLjzt")
		if after == "" || strings.IndexByte("diouxXeEfFgGaAc*(", after[0]) >= 0 {
			return true
		}
		rest = after[1:]
	}
}

// judgeTest: a subscript is evaluated by -v and -R, so one that holds a command
// may stand nowhere, and what splits into words could be one.
func judgeTest(j *judge, c *call) {
	for i, w := range c.args {
		if w.open && w.many || (w.text == "-v" || w.text == "-R") && (i+1 >= len(c.args) || !c.args[i+1].known || !isName(c.args[i+1].text)) ||
			strings.Contains(w.text, "[") && strings.ContainsAny(w.text, "$`") {
			j.changes(c.src)
		}
	}
}

// fill judges that something but an assignment gives a variable a value that
// the text does not show.
func (j *judge) fill(variable, src string) {
	if (dangerous(variable) || j.exported(variable)) && !inert(variable, unknownWord) {
		j.changesBy(ruleVariable, src)
		j.taint = true
	}
}
