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
// puts around it. It is "" where the session does the work, where the machine's
// own catalogue binds, and where a reviewer runs a command of satelle's own with
// nothing around it.
func (f File) Executes(b Binding) string {
	var env []string
	for _, key := range slices.Sorted(maps.Keys(b.Env)) {
		if !slices.Contains(b.Private, key) && !(key == permissionKey && b.Env[key] == readOnlyRules) {
			env = append(env, fmt.Sprintf("env %s = %q", key, b.Env[key]))
		}
	}
	switch {
	case b.Command == InLoop || b.Path != f.Path:
		return ""
	case b.Role == RoleReviewer && slices.Contains(ours, b.Command) && b.Settings == "" && env == nil:
		return ""
	}
	lines := append([]string{b.Command}, env...)
	for _, kv := range [][2]string{{"settings", b.Settings}, {"tools", b.Tools}} {
		if kv[1] != "" {
			lines = append(lines, fmt.Sprintf("%s %q", kv[0], kv[1]))
		}
	}
	return strings.Join(lines, "\n")
}
