//go:build differ && linux

package shell

import (
	"os"
	"regexp"
	"sort"
	"strings"
)

// flag is an option as a program's help tells it.
type flag struct {
	name  string // with its dashes
	value bool   // it takes one
}

var (
	longFlag  = regexp.MustCompile(`(?:^|[\s,\[(|])(--[a-z][a-zA-Z0-9-]+)(\[?=?\[?[ =]?[<A-Z])?`)
	shortFlag = regexp.MustCompile(`(?:^|[\s,\[(|])(-[a-zA-Z0-9#@?])(?:[\s,\])|]|(\[?[ =]?[<A-Z])|$)`)
)

func readFlags(help string) []flag {
	found := map[string]bool{}
	for _, line := range strings.Split(help, "\n") {
		for _, of := range [...]*regexp.Regexp{longFlag, shortFlag} {
			for _, m := range of.FindAllStringSubmatch(line, -1) {
				found[m[1]] = found[m[1]] || m[2] != ""
			}
		}
	}
	var flags []flag
	for name, value := range found {
		flags = append(flags, flag{name, value})
	}
	sort.Slice(flags, func(i, k int) bool { return flags[i].name < flags[k].name })
	return flags
}

// askFlags asks every program that has a rule for its options.
func askFlags(b *box) (map[string][]flag, error) {
	all := map[string][]flag{}
	ask := func(name, command string) error {
		reply, err := b.ask(boxRequest{Argv: []string{"/bin/bash", "-c", command}, Print: true}, limitAsk)
		if flags := readFlags(reply.Output); len(flags) > 0 {
			all[name] = flags
		}
		return err
	}
	for _, r := range Rules() {
		programs := strings.Fields(r.Programs)
		if len(programs) > 1 && programs[0] == "git" && strings.HasPrefix(r.Name, "git-") {
			for _, sub := range programs[1:] {
				if err := ask("git "+sub, "git "+sub+" --git-completion-helper-all | tr ' ' '\\n'; git "+sub+" -h"); err != nil {
					return nil, err
				}
			}
			continue
		}
		for _, name := range programs {
			help := name + " --help"
			switch name {
			case "docker", "podman", "kubectl", "tmux", "git", "busybox", "npm", "npx", "go", "ssh", "aws", "terraform", "brew", "pip", "pip3", "yes", "true", "false", "echo", "printf", "[", "test", "sh", "dash", "zsh", "ksh":
				continue // they need a name of a command, take it for text, or are in the grammar
			case "ps", "curl":
				help += " all"
			case "openssl":
				help = "openssl dgst -help; openssl x509 -help"
			case "unzip":
				help = "unzip -hh"
			case "xxd":
				help = "xxd -h"
			case "more", "less":
				help += " | cat"
			}
			if all[name] != nil {
				continue
			}
			if err := ask(name, "command -v "+name+" > /dev/null && "+help+" < /dev/null"); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// program is a program with a rule, and options that its help tells.
func (g *gen) program() string {
	name := g.known[g.r.IntN(len(g.known))]
	flags := g.flags[name]
	if g.chance(45) {
		return g.probe(name, flags[g.r.IntN(len(flags))])
	}
	var args []string
	for range g.r.IntN(4) {
		args = append(args, g.option(flags[g.r.IntN(len(flags))]))
	}
	if g.chance(10) {
		args = append(args, "-"+g.pick(strings.Split("a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z 0 1 2 3", " ")...)+g.pick("", "", g.rule("sink")))
	}
	for range g.r.IntN(3) {
		operand := g.rule("operand")
		if strings.HasPrefix(name, "git ") && g.chance(50) {
			operand = g.rule("rev")
		}
		at := len(args)
		if g.chance(20) {
			at = g.r.IntN(len(args) + 1)
		}
		args = append(args[:at], append([]string{operand}, args[at:]...)...)
	}
	if g.chance(4) {
		at := g.r.IntN(len(args) + 1)
		args = append(args[:at], append([]string{"--"}, args[at:]...)...)
	}
	if bare, ok := strings.CutPrefix(name, "git "); ok && g.chance(10) {
		name = "git " + g.rule("gitglobal") + " " + bare
	} else if !ok && g.chance(3) {
		name = g.pick("/usr/bin/", "/bin/", "./", `\`, "busybox ") + name
	}
	return strings.TrimSpace(name + " " + strings.Join(args, " "))
}

// plainly are calls of programs that read, where a file would not do.
var plainly = map[string]string{
	"zcat": "a.gz", "zgrep": "one a.gz", "gunzip": "-c a.gz", "zipinfo": "a.zip", "unzip": "-l a.zip", "tar": "-tf a.tgz", "jq": ". a.json", "yq": ". a.json", "patch": "--dry-run -p1 -i a.patch",
	"rsync": "-n docs/x pwn", "openssl": "dgst a", "man": "ls", "curl": "-s http://127.0.0.1:8080/", "wget": "-qO- http://127.0.0.1:8080/", "grep": "x a", "egrep": "x a", "fgrep": "x a", "rg": "one a", "ag": "one a",
	"join": "a b", "comm": "a b", "cmp": "a b", "diff": "a b", "diff3": "a b c", "sdiff": "a b", "find": ".", "look": "a c", "tr": "a b", "cut": "-c1 a", "sed": "p a", "gawk": "1 a", "mawk": "1 a", "awk": "1 a",
	"gzip": "-c a", "bzip2": "-c a", "xz": "-c a", "zstd": "-c a", "xargs": "echo", "env": "ls", "timeout": "1 ls", "nice": "ls", "ionice": "ls", "stdbuf": "-oL ls", "setsid": "ls", "time": "ls", "date": "", "dd": "if=a", "tee": "/dev/null",
	"mktemp": "-u", "seq": "2", "factor": "4", "sleep": "0", "ps": "", "hostname": "", "gcc": "-fsyntax-only a.c", "g++": "-fsyntax-only a.c", "cc": "-fsyntax-only a.c", "c++": "-fsyntax-only a.c", "python3": "-c 1", "node": "-p 1", "perl": "-e 1", "ruby": "-e 1",
	"dpkg": "-l bash", "less": "a", "base64": "a", "expr": "1 + 1", "printenv": "", "git merge-file": "-p a b c", "git apply": "--stat a.patch", "git format-patch": "-1 --stdout", "git fetch": "--dry-run", "git clean": "-n", "git add": "-n .", "git rm": "-n a", "git mv": "-n a pwn",
	"git archive": "HEAD", "git hash-object": "a", "git cat-file": "-p HEAD", "git grep": "one", "git blame": "a", "git annotate": "a", "git config": "-l", "git stash": "list", "git worktree": "list", "git notes": "list", "git reflog": "show", "git bundle": "verify a", "git submodule": "status",
	"git range-diff": "main feature HEAD", "git diff-tree": "HEAD", "git diff-index": "HEAD", "git merge-base": "HEAD main", "git rev-list": "HEAD", "git rev-parse": "HEAD", "git check-ignore": "a", "git check-attr": "-a a", "git verify-tag": "v1.1", "git verify-commit": "HEAD", "git ls-remote": ".",
	"git bisect": "log", "git rerere": "status", "git sparse-checkout": "list", "git remote": "show", "git var": "-l", "git fast-export": "HEAD", "git help": "-a", "git name-rev": "HEAD", "git cherry": "main", "git ls-tree": "HEAD", "git check-ref-format": "a", "git check-mailmap": "<a@b>", "git symbolic-ref": "HEAD",
}

// probe gives a call that reads one option that could make it write.
func (g *gen) probe(name string, f flag) string {
	text := f.name
	if g.chance(15) {
		text = "-" + g.pick(strings.Split("a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z 0 1 2", " ")...)
	}
	if f.value != g.chance(15) {
		of := g.pick("pwn", "./x", "pwn", "./x", "'touch pwn'", "docs/out", "a", "1", "always", "names", "http://127.0.0.1:8080/", "sh")
		text += g.pick("=", "", " ", "=") + of
	}
	call, ok := plainly[name]
	if !ok {
		call = "a"
	}
	words := strings.Fields(call)
	at := g.r.IntN(len(words) + 1)
	if strings.HasPrefix(name, "git ") && g.chance(60) {
		at = len(words)
	}
	words = append(words[:at], append([]string{text}, words[at:]...)...)
	if g.chance(15) {
		words = append(words, g.pick("pwn", "b", "-o", "-", "--", "-f", "-v"))
	}
	return name + " " + strings.Join(words, " ") + g.pick("", "", "", " < a", " < /dev/null")
}

// option writes an option in one of the ways there are.
func (g *gen) option(f flag) string {
	text, value := f.name, f.value
	long := strings.HasPrefix(text, "--")
	if long && len(text) > 5 && g.chance(15) {
		text = text[:4+g.r.IntN(len(text)-4)]
	}
	if !long && g.chance(20) { // a cluster
		text = "-" + g.pick("n", "r", "a", "l", "v", "q", "s", "f", "i", "u", "c", "1") + text[1:]
	}
	if value != g.chance(8) {
		of := g.rule("optionvalue")
		switch {
		case long && g.chance(70):
			text += "=" + of
		case !long && g.chance(50):
			text += of
		default:
			text += " " + of
		}
	}
	if g.chance(4) {
		at := 1 + g.r.IntN(len(text))
		text = text[:at] + g.pick(`""`, "''", `\`, "{,}", "$x", "${x:-}") + text[at:]
	}
	return text
}

// mutant is a command of ours that is known to read, with something altered.
func (g *gen) mutant() string {
	text := g.seeds[g.r.IntN(len(g.seeds))]
	for range 1 + g.r.IntN(3) {
		text = g.mutate(text)
	}
	return text
}

// readSnippets reads the programs that the tests of package snippet judge, of
// either verdict.
func readSnippets(dir string) (map[string][]string, error) {
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r")
	all := map[string][]string{}
	for language, file := range map[string]string{"py": "python", "js": "node", "pl": "perl", "rb": "ruby", "lu": "lua"} {
		b, err := os.ReadFile(dir + "/" + file + ".txt")
		if err != nil {
			return nil, err
		}
		for _, line := range strings.Split(string(b), "\n") {
			if verdict, code, ok := strings.Cut(line, " "); ok && verdict != "#" {
				all[language] = append(all[language], unescape.Replace(strings.TrimLeft(code, " ")))
			}
		}
	}
	return all, nil
}

// snippet is such a program, or a mixture of two, with something altered.
func (g *gen) snippet(language string) string {
	programs := g.snippets[language]
	if len(programs) == 0 {
		return ""
	}
	text := programs[g.r.IntN(len(programs))]
	if other := programs[g.r.IntN(len(programs))]; g.chance(25) && text != "" && other != "" {
		text = text[:g.r.IntN(len(text))] + other[g.r.IntN(len(other)):]
	}
	for range g.r.IntN(3) {
		text = g.letter(text)
	}
	return text
}

// altered is a text that quotes a harmful command, with a letter or two
// altered, and still judged to read, if one is found.
func (g *gen) altered() (text string) {
	defer func() { _ = recover() }() // what panics is found when it is judged again
	for range 40 {
		text = g.closed("quoted")
		for range g.r.IntN(4) {
			text = g.letter(text)
		}
		if strings.Contains(text, "pwn") && !Judge(text, Env{Dir: boxRepo, Home: boxHome, Temp: "/tmp"}).Changes {
			break
		}
	}
	return text
}

func (g *gen) mutate(text string) string {
	words := tokens(text)
	at := g.r.IntN(len(words) + 1)
	insert := func(s string) string {
		return strings.Join(words[:at], "") + " " + s + " " + strings.Join(words[at:], "")
	}
	switch g.r.IntN(15) {
	case 0:
		return insert(g.rule("argument"))
	case 1:
		return insert(g.rule("content"))
	case 2:
		return insert(g.rule("redir"))
	case 3:
		if name := strings.TrimSpace(words[0]); len(g.flags[name]) > 0 {
			at = min(at+1, len(words))
			return insert(g.option(g.flags[name][g.r.IntN(len(g.flags[name]))]))
		}
		return insert(g.quote(g.closed("loaded")))
	case 4:
		if len(words) > 1 {
			at = g.r.IntN(len(words))
			return strings.Join(words[:at], "") + strings.Join(words[at+1:], "")
		}
		return text
	case 5:
		return text + g.pick("; ", " && ", " | ", " || ", "\n", " & ", "|", " |& ") + g.seeds[g.r.IntN(len(g.seeds))]
	case 6:
		return g.pick("env ", "timeout 1 ", "command ", "time ", "nice ", "! ", "exec ", "eval ", "xargs ", "busybox ", "builtin ", "stdbuf -oL ", "find . -exec ", "coproc ", "LC_ALL=C ", "x=1 ", "setsid ", "noglob ", "- ", "sh -c ", "git ", `\`) + text
	case 7:
		return g.pick("$(", "`", "<(", "(", "{ ", "echo \"$(", "x=$(") + text + g.pick(")", "`", "; }", ")\"", "")
	case 8:
		return g.pick("bash -c ", "sh -c ", "eval ", "zsh -c ", "trap ", "xargs sh -c ", "find . -exec sh -c ") + g.quote(text) + g.pick("", " EXIT", " \\;", " x")
	case 9:
		return g.pick("if true; then ", "for x in a b; do ", "while read -r x; do ", "f() { ", "case a in a) ", "[[ a ]] && ", "select x in a; do ") + text + g.pick("; fi", "; done", "; done < names", "; }; f", ";; esac", "")
	case 10:
		if len(words) > 0 {
			at = g.r.IntN(len(words))
			words[at] = g.quote(strings.TrimSpace(words[at])) + " "
			return strings.Join(words, "")
		}
		return text
	}
	return g.letter(text)
}

// letter alters a character: where quoting begins and ends, parsers differ.
func (g *gen) letter(text string) string {
	if text == "" {
		return text
	}
	i := g.r.IntN(len(text))
	c := g.pick("'", `"`, "`", "$", "\\", "(", ")", "{", "}", ";", "&", "|", "<", ">", " ", "\n", "#", "*", "?", "[", "]", "!", "~", "=", "-", "@", "\t", ",", "%", "^", "o", "w", "e", "x", "1", "/", "+", ":", "\r", "\f", "\\\n", "$'", `$"`, "<<", "<<<", ">&", "$((", "))", "[[", "]]", "((", ";;", "\u00a0", "#\n")
	switch g.r.IntN(3) {
	case 0:
		return text[:i] + c + text[i:]
	case 1:
		return text[:i] + text[i+1:]
	}
	return text[:i] + c + text[i+1:]
}

// tokens cuts a text into words with the blanks behind them, roughly: quotes
// hold together.
func tokens(text string) []string {
	var all []string
	start, quote := 0, byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case (c == ' ' || c == '\n' || c == ';' || c == '|' || c == '&') && i+1 < len(text) && text[i+1] != ' ':
			all = append(all, text[start:i+1])
			start = i + 1
		}
	}
	return append(all, text[start:])
}
