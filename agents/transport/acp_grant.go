package transport

import (
	"regexp"
	"slices"
	"strings"

	acp "github.com/coder/acp-go-sdk"

	"satelle/agents"
)

// grant is what a binding's tools let an agent do, in the kinds of the protocol.
type grant struct {
	reads, edits, runs bool
	satelle            bool // may run satelle, and no other program
}

func grantOf(b agents.Binding) (g grant) {
	for _, tool := range b.Grants() {
		name, _, _ := strings.Cut(tool, "(")
		switch {
		case tool == "Bash(satelle:*)":
			g.satelle = true
		case slices.Contains([]string{"Bash", "bash", "run_terminal_command", "run_terminal_cmd", "shell", "exec", "terminal", "*"}, name):
			g.runs = true
			g.edits = g.edits || name == "*"
		case slices.Contains([]string{"Write", "Edit", "NotebookEdit", "write", "edit", "search_replace", "apply_patch", "write_file"}, name):
			g.edits = true
		default:
			g.reads = true
		}
	}
	if b.Role == agents.RoleReviewer {
		g.edits, g.runs = false, false
	}
	return g
}

// plain is a command of satelle that no shell makes anything else of.
var plain = regexp.MustCompile(`^satelle( [A-Za-z0-9_./:=@,-]+)*$`)

func (g grant) allows(call acp.ToolCallUpdate) bool {
	if call.Kind == nil {
		return false
	}
	switch *call.Kind {
	case acp.ToolKindRead, acp.ToolKindSearch:
		return g.reads
	case acp.ToolKindThink:
		return true
	case acp.ToolKindEdit, acp.ToolKindDelete, acp.ToolKindMove:
		return g.edits
	case acp.ToolKindExecute:
		input, _ := call.RawInput.(map[string]any)
		command, _ := input["command"].(string)
		return g.runs || g.satelle && plain.MatchString(command)
	}
	return false
}
