package decide

import (
	"path"
	"strings"

	"satelle/internal/place"
)

// What no story may change is known by its names. What follows has another name
// on this machine, or is one person's file by a name that elsewhere is nothing
// special.

// moved maps variables to the names of the folders that they move.
var moved = [...]struct{ variable, name string }{
	{"CODEX_HOME", ".codex"},
	{"CLAUDE_CONFIG_DIR", ".claude"},
	{"GROK_HOME", ".grok"},
	{"XDG_CONFIG_HOME", ".config"},
	{"GIT_CONFIG_GLOBAL", ".gitconfig"},
	{"ZDOTDIR", ""},
}

// Files below a home by which git's hooks, or the shell that a harness runs
// hooks with, can be made to do nothing.
const (
	gitOwn   = ".gitconfig .config/git"
	shellOwn = ".zshenv .config/fish"

	gitSettings   = "git's own settings"
	shellSettings = "what a shell runs before a hook"
)

// known is a file or folder, and the path below a home by which it is judged.
type known struct{ real, name string }

// homes finds out once a call what of a home lies where.
func (w *world) homes() []known {
	if w.ofHomes != nil {
		return w.ofHomes
	}
	w.ofHomes = []known{}
	keep := func(file, name string) {
		// What can't be resolved leads nowhere yet; its parts are judged then.
		if real, err := place.Resolve(file); err == nil {
			w.ofHomes = append(w.ofHomes, known{real, name})
		}
	}
	for _, m := range moved {
		if dir := w.variable(m.variable); strings.HasPrefix(dir, "/") && path.Clean(dir) != "/" {
			keep(dir, m.name)
		}
	}
	if w.user != "" {
		keep(w.user, "")
		for _, name := range strings.Fields(gitOwn + " " + shellOwn) {
			keep(w.user+"/"+name, name) // it may be a link
		}
	}
	return w.ofHomes
}

// ownSetting says what a real path is by the place that it has in a home.
func (w *world) ownSetting(real string, tree bool) string {
	for _, k := range w.homes() {
		name := k.name
		switch {
		case within(real, k.real):
			name = strings.TrimPrefix(name+strings.TrimPrefix(real, k.real), "/")
		case !tree || !within(k.real, real):
			continue
		}
		if what := homeName(name, tree); what != "" {
			return what
		}
		if k.name != "" {
			if what := protectedName(name, false); what != "" {
				return what
			}
		}
	}
	return ""
}

// homeName says what a path below a home is.
func homeName(name string, tree bool) string {
	for _, own := range [...]struct{ names, what string }{{gitOwn, gitSettings}, {shellOwn, shellSettings}} {
		for _, n := range strings.Fields(own.names) {
			if within(strings.ToLower(name), n) || tree && within(n, name) {
				return own.what
			}
		}
	}
	return ""
}
