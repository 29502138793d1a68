package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"satelle/hooks/shell/snippet"
)

// interpreters run a program in a language of their own. Where it stands in
// the text of the command and only reads by what package snippet can tell, so
// does the call. It must run in a folder that an agent can't write, since some
// languages look there for the modules that a program names.
var interpreters = []rule{
	{
		name: "python", programs: "python python3", check: pythonReads,
		why:   "runs a program; one that is given with -c or as a here-document and provably only reads passes, and modules that print",
		reads: `python3 -c "import sys; print(sys.version)"`, changes: `python3 -c "open('a', 'w')"`,
	},
	{
		name: "node", programs: "node nodejs", check: nodeReads,
		why:   "runs a program; one that is given with -e or -p and provably only reads passes; --check only parses",
		reads: `node -p "require('./package.json').version"`, changes: `node -e "require('fs').rmSync('a')"`,
	},
	{
		name: "perl", programs: "perl", check: perlReads,
		why:   "runs a program; one that is given with -e and provably only reads passes",
		reads: "perl -ne 'print if /TODO/' README.md", changes: "perl -pi -e 's/a/b/' README.md",
	},
	{
		name: "ruby", programs: "ruby", check: rubyReads,
		why:   "runs a program; one that is given with -e and provably only reads passes",
		reads: "ruby -e 'puts 1 + 1'", changes: `ruby -e 'File.delete("a")'`,
	},
	{
		name: "lua", programs: "lua lua5.1 lua5.2 lua5.3 lua5.4 luajit", check: luaReads,
		why:   "runs a program; one that is given with -e and provably only reads passes",
		reads: "lua -e 'print(1+1)'", changes: `lua -e 'os.remove("a")'`,
	},
}

// given is the program that an interpreter is given, by an option or on its
// standard input.
func (j *judge) given(code *word, rest []word) (text string, args []word, ok bool) {
	switch {
	case code != nil:
		return code.text, rest, code.known
	case len(rest) == 0 || rest[0].known && rest[0].text == "-":
		if j.input != nil && j.input.known {
			return j.input.text, rest[min(1, len(rest)):], true
		}
	}
	return "", nil, false
}

func pythonReads(j *judge, c *call) bool {
	if oneOf(c, "-V", "-VV") {
		return true
	}
	var code *word
	for i, w := range c.args { // what follows -c or -m is the program's
		flags, option := strings.CutPrefix(w.text, "-")
		switch {
		case !w.known:
			return false
		case !option || flags == "" || strings.Trim(flags, "bBEIOqsSuPcm") != "":
			text, _, ok := j.given(code, c.args[i:])
			return ok && j.ownGit() && snippet.Python(text)
		case strings.HasSuffix(flags, "c") && i+1 < len(c.args):
			code = &c.args[i+1]
			text, _, ok := j.given(code, c.args[i+2:])
			return ok && j.ownGit() && snippet.Python(text)
		case strings.HasSuffix(flags, "m") && i+1 < len(c.args):
			return c.args[i+1].known && j.ownGit() && pythonModule(j, c, c.args[i+1].text, c.args[i+2:])
		case strings.ContainsAny(flags, "cm"):
			return false
		}
	}
	text, _, ok := j.given(nil, nil)
	return ok && j.ownGit() && snippet.Python(text)
}

// pythonModule judges a module of Python's library that is run as a program.
func pythonModule(j *judge, c *call, module string, args []word) bool {
	rest := &call{name: module, program: literal(module), args: args, src: c.src}
	switch module {
	case "json.tool":
		operands, ok := rest.options("", func(option string, _ word) bool {
			return allowed("sort-keys no-ensure-ascii json-lines indent tab compact no-indent", option)
		})
		n := count(operands)
		return ok && n >= 0 && n <= 1
	case "pip":
		lookup("", "pip").apply(j, rest)
		return true
	case "platform", "site", "sysconfig", "calendar", "this":
		return len(args) == 0
	case "ast", "tokenize", "dis":
		return len(args) == 1 && args[0].known && !strings.HasPrefix(args[0].text, "-")
	case "zipfile", "tarfile":
		return len(args) == 2 && args[0].known && allowed("-l --list", args[0].text)
	}
	return false
}

func nodeReads(j *judge, c *call) bool {
	check := len(c.args) == 2 && (c.args[0].text == "--check" || c.args[0].text == "-c") && !c.args[1].open && !strings.HasPrefix(c.args[1].text, "-")
	if check || oneOf(c, "-v", "-h") {
		return true
	}
	var code *word
	rest := c.args
	for len(rest) > 0 && strings.HasPrefix(rest[0].text, "-") && rest[0].text != "-" {
		w := rest[0]
		rest = rest[1:]
		option, value, assigned := strings.Cut(w.text, "=")
		switch {
		case !w.known || w.open:
			return false
		case allowed("-e -p -pe --eval --print", option):
			if assigned {
				w.text = value
			} else if len(rest) > 0 {
				w, rest = rest[0], rest[1:]
			} else {
				return false
			}
			code = &w
		case !allowed("--no-warnings --no-deprecation --trace-uncaught --input-type=commonjs", w.text):
			return false
		}
	}
	text, args, ok := j.given(code, rest)
	for _, w := range args { // options may follow it
		ok = ok && !w.open && !strings.HasPrefix(w.text, "-")
	}
	return ok && j.ownGit() && snippet.Node(text)
}

func rubyReads(j *judge, c *call) bool {
	if oneOf(c, "-v", "-V", "-h") {
		return true
	}
	var programs []string
	rest := c.args
	for len(rest) > 0 && strings.HasPrefix(rest[0].text, "-") && rest[0].text != "-" {
		flags, known := strings.TrimLeft(rest[0].text[1:], "nplaw"), rest[0].known
		rest = rest[1:]
		switch {
		case !known || flags == "-":
			return false
		case flags == "" || allowed("rjson rset rdate rtime rdigest rcsv", flags):
		case flags == "e" && len(rest) > 0 && rest[0].known:
			programs = append(programs, rest[0].text)
			rest = rest[1:]
		default:
			return false
		}
	}
	text := strings.Join(programs, "\n")
	if len(programs) == 0 {
		var ok bool
		if text, rest, ok = j.given(nil, rest); !ok {
			return false
		}
	}
	return plainFiles(rest) && j.ownGit() && snippet.Ruby(text)
}

func luaReads(j *judge, c *call) bool {
	if oneOf(c, "-v") {
		return true
	}
	if len(c.args) > 0 && c.args[0].text == "-e" {
		return len(c.args) == 2 && c.args[1].known && snippet.Lua(c.args[1].text)
	}
	text, rest, ok := j.given(nil, c.args)
	return ok && len(rest) == 0 && snippet.Lua(text)
}

// plainFiles reports whether operands are names that no language takes for
// anything but a file to read.
func plainFiles(operands []word) bool {
	for _, w := range operands {
		if !w.known || w.text == "" || strings.ContainsAny(w.text, "|<>&+ \t\n") {
			return false
		}
	}
	return true
}

// perlReads: what <> reads is opened by its name, and a name that begins or
// ends with certain signs writes, or is run.
func perlReads(j *judge, c *call) bool {
	if oneOf(c, "-v", "-h") {
		return true
	}
	var programs []string
	rest := c.args
	for len(rest) > 0 && strings.HasPrefix(rest[0].text, "-") && rest[0].text != "-" {
		w := rest[0]
		rest = rest[1:]
		if !w.known {
			return false
		}
		if w.text == "--" {
			break
		}
		flags := w.text[1:]
		for flags != "" {
			flag := flags[0]
			flags = flags[1:]
			switch flag {
			case 'n', 'p', 'w', 'a', 'W', 'X':
			case 'l', '0': // with an octal number
				flags = strings.TrimLeft(flags, "01234567")
			case 'F':
				if !allowed(`, : ; \t \| / = \s+ \. @ #`, flags) {
					return false
				}
				flags = ""
			case 'e', 'E':
				if flags != "" || len(rest) == 0 || !rest[0].known {
					return false
				}
				programs = append(programs, rest[0].text)
				rest = rest[1:]
			default:
				return false
			}
		}
	}
	if len(programs) == 0 {
		return false
	}
	return plainFiles(rest) && j.ownGit() && snippet.Perl(strings.Join(programs, "\n"))
}

// input is what a redirection gives to the standard input, if it is written
// out in the text.
func (j *judge) inputOf(r *syntax.Redirect, w word) *word {
	if r.N != nil && r.N.Value != "0" {
		return j.input
	}
	switch r.Op {
	case syntax.WordHdoc:
		w.text += "\n"
		return &w
	case syntax.Hdoc:
		quoted := r.Word.Lit() == "" || strings.Contains(r.Word.Lit(), `\`)
		if quoted && r.Hdoc != nil && len(r.Hdoc.Parts) == 1 {
			if lit, ok := r.Hdoc.Parts[0].(*syntax.Lit); ok && !(j.inner > j.base && strings.Contains(lit.Value, "`")) {
				return &word{text: lit.Value, known: true}
			}
		}
	}
	return &unknownWord
}
