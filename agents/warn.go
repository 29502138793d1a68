package agents

import (
	"maps"
	"slices"
	"strings"

	"satelle/agents/redact"
)

// writers are the tools that change files, in the words of each CLI.
var writers = []string{"Write", "Edit", "NotebookEdit", "MultiEdit", "search_replace", "write", "edit", "apply_patch"}

// Warn lists what still works and is better written otherwise, by file and
// line.
func (f File) Warn() []string {
	all := slices.Clone(f.Warnings)
	add := func(b Binding, format string, args ...any) {
		all = append(all, f.failAt(b, format, append([]any{b.Name}, args...)...).Error())
	}
	for _, b := range f.Bindings {
		if b.Role != RoleReviewer {
			continue
		}
		if grant := b.shell(); grant != "" {
			add(b, "[%s] grants its reviewer %s, which it has no use for: satelle puts everything into the payload", grant)
		}
		for _, g := range b.Grants() {
			if name, _, _ := strings.Cut(g, "("); slices.Contains(writers, name) {
				add(b, "[%s] grants its reviewer %s, but a reviewer changes nothing: its verdict would be void", g)
			}
		}
	}
	return all
}

// literalSecrets warns of what looks like a credential in a file that is
// committed.
func (l layer) literalSecrets() []string {
	var all []string
	shapes := redact.New(nil)
	for _, name := range l.names() {
		t := l.tables[name]
		warn := func(key, what string) {
			all = append(all, l.fail(l.line(name, key),
				"[%s] %s looks like a secret, and this file is committed: write ${NAME} in env and NAME under [vars] of satelle.local.toml", name, what).Error())
		}
		for key, p := range map[string]*string{"command": t.Command, "harness": t.Harness, "settings": t.Settings, "model": t.Model} {
			if s := value(p); shapes.String(s) != s {
				warn(key, key)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(t.Env)) {
			s := t.Env[key]
			if shapes.String(s) != s || secretName.MatchString(key) && strings.TrimSpace(variable.ReplaceAllString(s, "")) == s && s != "" {
				warn("env", "env "+key)
			}
		}
	}
	slices.Sort(all)
	return all
}

// Shown is the binding as it may be printed: without values of its env that may
// be credentials.
func (b Binding) Shown() Binding {
	shapes := redact.New(nil)
	env := map[string]string{}
	for key, v := range b.Env {
		named := secretName.MatchString(key) && !variable.MatchString(v)
		if env[key] = shapes.String(v); named || slices.Contains(b.Private, key) {
			env[key] = "[redacted]"
		}
	}
	if b.Env = env; len(env) == 0 {
		b.Env = nil
	}
	b.Command, b.Settings = shapes.String(b.Command), shapes.String(b.Settings)
	return b
}
