package decide

import (
	"path"
	"strings"
)

// What a reason calls the protected things.
const (
	ownFolder   = "satelle's own folder"
	gitFolder   = "the inside of a git repository"
	settings    = "a harness's settings"
	substrate   = "satelle's substrate"
	gitHooks    = "git's hooks"
	personal    = "what only a person decides (approvers, trusted logs, this machine's settings)"
	ownKeys     = "a key of satelle"
	ownSettings = "satelle.local.toml"

	workersToken = "the token of an agent that satelle started"
)

// holds describes a folder whose content is protected, wherever it lies.
type holds struct {
	name string
	what string
	// open lists its entries that a harness keeps for work and plans: they are
	// no settings. In worktrees lie work trees, which are judged by what is
	// within.
	open string
	// personal lists the entries that not even a story of the category
	// substrate opens.
	personal string
	// only, if set, lists the entries that are protected; a star ends a prefix.
	only string
}

var protected = [...]holds{
	{name: ".git", what: gitFolder},
	{name: ".husky", what: gitHooks},
	{name: ".satelle", what: substrate, personal: "approvers logs satelle.local.toml"},
	{name: ".claude", what: settings, only: "settings* hooks* commands skills agents plugins scheduled_tasks.json"},
	{name: ".codex", what: settings, open: "worktrees sessions memories"},
	{name: ".grok", what: settings, open: "worktrees sessions plans memory memories"},
	{name: ".gemini", what: settings, open: "tmp"},
	{name: ".cursor", what: settings, open: "worktrees plans"},
	{name: ".opencode", what: settings, open: "worktrees plans"},
	{name: "opencode.json", what: settings},
	{name: "opencode.jsonc", what: settings},
}

// match reports whether a component of a path is name. Case does not count,
// since on some file systems it does not. A component may be a pattern of the
// shell.
func match(component, name string, pattern bool) bool {
	component = strings.ToLower(component)
	if component == name {
		return true
	}
	if !pattern || !strings.ContainsAny(component, "*?[") || component[0] != '.' && strings.HasPrefix(name, ".") {
		return false // a star alone does not reach names with a dot
	}
	ok, err := path.Match(component, name)
	return ok || err != nil
}

// protectedName says what a path is, by the names in it, that no story may
// change.
func protectedName(p string, pattern bool) string {
	parts := strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
	for i := 0; i < len(parts); i++ {
		if match(parts[i], ".config", pattern) && i+1 < len(parts) && match(parts[i+1], "opencode", pattern) {
			return settings
		}
		for _, h := range protected {
			if !match(parts[i], h.name, pattern && h.name[0] == '.') { // else each star would reach a plain name
				continue
			}
			if i+1 == len(parts) {
				// The folder itself: to remove or replace it takes all with it.
				// A .git is protected as a file, too.
				return h.what
			}
			if what := h.within(parts[i+1], pattern); what != "" {
				return what
			}
		}
	}
	return ""
}

func (h holds) within(entry string, pattern bool) string {
	for _, name := range strings.Fields(h.personal) {
		if match(entry, name, pattern) {
			return personal
		}
	}
	if h.only == "" {
		if listed(h.open, strings.ToLower(entry)) {
			return ""
		}
		return h.what
	}
	for _, name := range strings.Fields(h.only) {
		prefix, star := strings.CutSuffix(name, "*")
		if match(entry, prefix, pattern) || star && strings.HasPrefix(strings.ToLower(entry), prefix) ||
			pattern && strings.ContainsAny(entry, "*?[") {
			return h.what
		}
	}
	return ""
}

func listed(names, name string) bool {
	for _, n := range strings.Fields(names) {
		if n == name {
			return true
		}
	}
	return false
}

// mentioned looks for protected paths in a text, which may be a path or, in
// any language, hold some.
func mentioned(text string, pattern bool) string {
	for _, token := range tokens(text, pattern) {
		if what := protectedName(token, pattern); what != "" {
			return what
		}
	}
	return ""
}

// tokens are the runs of characters in a text that paths are mostly made of.
func tokens(text string, pattern bool) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r > 127 || strings.ContainsRune("._-/+~@", r)
		return !plain && !(pattern && strings.ContainsRune("*?[]", r))
	})
}

// within reports whether p is dir or lies in it; both are real paths.
func within(p, dir string) bool {
	return dir != "" && (p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/"))
}

// secretName says what a path below satelle's folder, or in a .satelle, is
// that nobody may read.
func secretName(p, home string) string {
	if within(p, home) {
		rest := strings.Split(strings.TrimPrefix(strings.TrimPrefix(p, home), "/"), "/")
		for i, part := range rest {
			if i < 2 && (strings.EqualFold(part, "keys") || strings.EqualFold(part, "tokens")) {
				return ownKeys
			}
		}
	}
	if strings.EqualFold(path.Base(p), "satelle.local.toml") && strings.EqualFold(path.Base(path.Dir(p)), ".satelle") {
		return ownSettings
	}
	return ""
}
