package agents

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ours are the commands that satelle itself proposes.
var ours = []string{
	DefaultClaudeCommand, DefaultGrokCommand, DefaultCodexExecCommand, DefaultOpencodeCommand, DefaultCodexACPCommand, DefaultGrokACPCommand,
}

// Executes is what a repository has this machine execute by the binding, for a
// person to look at before it is trusted: the command with what the repository
// puts around it, and the values of its own [vars] that come into it. It is ""
// where the session does the work, and, unless such a value comes in, where the
// machine's own catalogue binds and where a reviewer runs a command of satelle's
// own with nothing around it.
func (f File) Executes(b Binding, vars Vars) string {
	if b.Command == InLoop || strings.TrimSpace(b.Command) == "" {
		return "" // it starts nothing
	}
	var env, filled []string
	for _, key := range slices.Sorted(maps.Keys(b.Env)) {
		if !slices.Contains(b.Private, key) && !(key == permissionKey && b.Env[key] == readOnlyRules) {
			env = append(env, fmt.Sprintf("env %s = %q", key, b.Env[key]))
		}
		for _, ref := range variable.FindAllStringSubmatch(b.Env[key], -1) {
			if value, known := vars.Values[ref[1]]; known && !slices.Contains(vars.Secret, ref[1]) {
				filled = append(filled, fmt.Sprintf("var %s = %q", ref[1], value))
			}
		}
	}
	var lines []string
	ownReviewer := b.Role == RoleReviewer && slices.Contains(ours, b.Command) && b.Settings == "" && env == nil
	if b.Path == f.Path && !ownReviewer {
		lines = append([]string{b.Command}, env...)
		for _, kv := range [][2]string{{"settings", b.Settings}, {"tools", b.Tools}} {
			if kv[1] != "" {
				lines = append(lines, fmt.Sprintf("%s %q", kv[0], kv[1]))
			}
		}
	}
	slices.Sort(filled)
	return strings.Join(append(lines, slices.Compact(filled)...), "\n")
}
