package transport

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// lookUp finds the program where the agent's own environment has it, so that a
// binding's PATH counts.
func lookUp(name string, inv Invocation) (string, *Failure) {
	if info, err := os.Stat(inv.Dir); inv.Dir != "" && (err != nil || !info.IsDir()) {
		return "", &Failure{Class: Failed, Message: fmt.Sprintf("the folder that it should work in is not there: %s", inv.Dir)}
	}
	path := inv.variable("PATH")
	if _, own := inv.Binding.Env["PATH"]; !own {
		path = Outside(path, inv.Dir)
	}
	program, why := Find(name, inv.Dir, path)
	if why != "" {
		return "", &Failure{Class: Missing, Message: fmt.Sprintf("the program %q %s: install it, or name another in the command of [%s]", name, why, inv.Binding.Name)}
	}
	return program, nil
}

// Outside is a list of folders, as $PATH is, without those that lie in the folder
// where the agent works: whoever works there could put another program in the place
// of the one that is meant. What a binding itself sets is what is meant.
func Outside(path, dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return path // and nobody works there
	}
	return strings.Join(slices.DeleteFunc(filepath.SplitList(path), func(folder string) bool {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(real, folder)
		}
		to, err := filepath.EvalSymlinks(folder)
		if err != nil {
			return true // nothing is there
		}
		rel, err := filepath.Rel(real, to)
		return err == nil && filepath.IsLocal(rel)
	}), string(filepath.ListSeparator))
}

// Find returns the program of a name, and why there is none: one with a slash is
// relative to dir, where the agent works, and any other is looked for on path, a
// list as in $PATH.
func Find(name, dir, path string) (program, why string) {
	folders := filepath.SplitList(path)
	if strings.Contains(name, "/") {
		folders = []string{dir}
		if filepath.IsAbs(name) {
			folders = []string{""}
		}
	}
	closed := ""
	for _, folder := range folders {
		program = filepath.Join(folder, name)
		if !filepath.IsAbs(program) {
			program = filepath.Join(dir, program)
		}
		info, err := os.Stat(program)
		if err != nil || info.IsDir() {
			continue
		}
		if info.Mode()&0o111 != 0 {
			return program, ""
		}
		if closed == "" {
			closed = program
		}
	}
	switch {
	case closed != "":
		return "", "is not executable at " + closed
	case strings.Contains(name, "/"):
		return "", "is not there"
	}
	return "", "is not on PATH outside of the work tree"
}

// variable is one of the agent's environment; the last of a name counts.
func (inv Invocation) variable(name string) (value string) {
	env := inv.Env
	if env == nil {
		env = os.Environ()
	}
	for _, pair := range env {
		if v, ok := strings.CutPrefix(pair, name+"="); ok {
			value = v
		}
	}
	return value
}
