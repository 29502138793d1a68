package agents

import (
	"slices"
	"strings"

	"satelle/internal/fault"
)

// channels are the grants by which a performer can fetch its context: the
// commands of satelle, any shell, or reading files from disk. Claude's Read is
// none. (Seed 001, "What each role needs".)
var channels = []string{"Bash(satelle:*)", "Bash", "Bash(*)", "*", "read_file"}

// Dispatchable tells why a binding can't perform a step: its grant has no
// channel for context. It is the one predicate of this question; `agent
// validate` and the refusal of a dispatch both rest on it. An in-loop binding
// is not dispatched, so nothing is asked of it, and reviewers are never judged
// by it: their context is pushed to them.
func (b Binding) Dispatchable() error {
	if b.Command == InLoop || slices.ContainsFunc(b.Grants(), func(g string) bool { return slices.Contains(channels, g) }) {
		return nil
	}
	return fault.New(fault.Refused,
		"[%s] tools %q give its agent no way to its context: add Bash(satelle:*), by which satelle lets it read and attach only, or read_file where the CLI has it (Claude's Read is none)",
		b.Name, b.Tools)
}

// Grants are the binding's tools, one by one. Commas and blanks part them, but
// not between brackets.
func (b Binding) Grants() []string {
	var all []string
	depth := 0
	fields := strings.FieldsFunc(b.Tools, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		}
		return depth == 0 && (r == ',' || strings.ContainsRune(blanks, r))
	})
	for _, f := range fields {
		all = append(all, strings.TrimSpace(f))
	}
	return all
}

// shell reports whether a tool of the grant runs commands.
func (b Binding) shell() string {
	for _, g := range b.Grants() {
		name, _, _ := strings.Cut(g, "(")
		if slices.Contains(shells, name) {
			return g
		}
	}
	return ""
}

// shells are the tools that run commands, in the words of each CLI.
var shells = []string{"Bash", "*", "PowerShell", "Monitor", "bash", "shell", "run_terminal_command", "run_terminal_cmd", "monitor", "terminal", "local_shell", "exec"}
