package transport

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// lookUp finds the program where the agent's own environment has it, so that a
// binding's PATH counts; a name with a slash is relative to the agent's folder.
func lookUp(name string, inv Invocation) (string, *Failure) {
	if info, err := os.Stat(inv.Dir); inv.Dir != "" && (err != nil || !info.IsDir()) {
		return "", &Failure{Class: Failed, Message: fmt.Sprintf("the folder that it should work in is not there: %s", inv.Dir)}
	}
	missing := func(why string) *Failure {
		return &Failure{Class: Missing, Message: fmt.Sprintf("the program %q %s: install it, or name another in the command of [%s]", name, why, inv.Binding.Name)}
	}
	folders := filepath.SplitList(inv.variable("PATH"))
	if strings.Contains(name, "/") {
		folders = []string{inv.Dir}
		if filepath.IsAbs(name) {
			folders = []string{""}
		}
	}
	closed := ""
	for _, dir := range folders {
		path := filepath.Join(dir, name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(inv.Dir, path)
		}
		info, err := os.Stat(path)
		if err != nil || info.IsDir() {
			continue
		}
		if info.Mode()&0o111 != 0 {
			return path, nil
		}
		if closed == "" {
			closed = path
		}
	}
	switch {
	case closed != "":
		return "", missing("is not executable at " + closed)
	case strings.Contains(name, "/"):
		return "", missing("is not there")
	}
	return "", missing("is not on PATH")
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
