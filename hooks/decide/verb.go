package decide

import (
	"os"
	"strings"

	"satelle/hooks/shell"
)

// personVerbs are the verbs of satelle that only a person may use, and the one
// that git alone calls: it records commits.
const personVerbs = "trust,halt,resume,approve,story restamp,ledger redact,ledger rotate-key,agents install,agents remove,agent run,agent use,git-hook"

// sessionVerbs are those that always run, since they change no file of the
// work tree. What is in neither list needs a seat.
const sessionVerbs = "status,doctor,version,help,completion,audit,appeal,top,story,ledger,workflow,agents status,agent list,agent validate,runner adapters"

// verbIn returns the listed verb with which the arguments begin, options
// aside, or "". An argument that is known only at run time matches every word.
func verbIn(list string, args []string) string {
	var words []string
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			words = append(words, arg)
		}
	}
	for _, verb := range strings.Split(list, ",") {
		want := strings.Split(verb, " ")
		if len(words) < len(want) {
			continue
		}
		hit := true
		for i, w := range want {
			hit = hit && (words[i] == w || words[i] == "*")
		}
		if hit {
			return verb
		}
	}
	return ""
}

// helpOnly reports whether a call only prints help. Beside another option a
// --help may be that option's value, or stand behind a --.
func helpOnly(args []string) bool {
	help := len(args) == 0
	for _, arg := range args {
		switch {
		case arg == "--help" || arg == "-h":
			help = true
		case arg == "*" || strings.HasPrefix(arg, "-"):
			return false
		}
	}
	return help
}

// judgeVerbs looks at the calls of satelle in a command. changes tells that one
// of them is no session verb, so that the command needs a seat.
func judgeVerbs(calls []shell.Invocation, installed func(program string) bool, ledger bool) (verb, foreign string, changes bool) {
	for _, call := range calls {
		if v := verbIn(personVerbs, call.Args); v != "" && !helpOnly(call.Args) {
			return v, "", false
		}
	}
	for _, call := range calls {
		if call.Guess {
			continue
		}
		if !call.Direct || !installed(call.Program) {
			return "", call.Program, false
		}
		unknown := verbIn(sessionVerbs, call.Args) == "" && !helpOnly(call.Args)
		if unknown && !(len(call.Args) > 0 && call.Args[0] == "init" && !ledger) {
			changes = true
		}
	}
	return "", "", changes
}

// isShim reports whether a path is that of the satelle which agents that satelle
// started find first: it lies in satelle's own folder, in that of a repository.
func isShim(path, own string) bool {
	home := strings.TrimSuffix(own, "bin/satelle")
	key, found := strings.CutPrefix(path, home)
	key, shim := strings.CutSuffix(key, "/bin/satelle")
	return found && shim && key != "" && !strings.Contains(key, "/") && key != ".." && key != "."
}

// installedAs reports whether a program, as a command names it, is the
// installed satelle: the same file as the one in satelle's own folder.
func installedAs(program, own, dir, pathList string) bool {
	want, err := os.Stat(own)
	if err != nil {
		return false
	}
	same := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && (os.SameFile(info, want) || isShim(path, own))
	}
	if strings.Contains(program, "/") {
		return strings.HasPrefix(program, "/") && same(program)
	}
	for _, folder := range strings.Split(pathList, ":") {
		if folder == "" {
			folder = "."
		}
		path := absolute(dir, folder) + "/" + program
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return same(path)
		}
	}
	return false
}
