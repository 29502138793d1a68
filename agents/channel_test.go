package agents

import (
	"slices"
	"testing"
)

func TestDispatchable(t *testing.T) {
	tests := []struct {
		tools string
		ok    bool
	}{
		{"Bash(satelle:*)", true},
		{"Read,Grep,Glob,Bash(satelle:*)", true},
		{"Read, Bash(satelle:*) ", true},
		{"Read Bash", true},
		{"Bash(*)", true},
		{"*", true},
		{"read_file", true},
		{"read_file,grep,list_dir,run_terminal_command", true},
		{"Bash(git log, -n 1),Bash", true},

		{"", false},
		{"Read", false},
		{"Read,Grep,Glob", false},
		{"Bash(git:*)", false},
		{"Bash(satelle)", false},
		{"Bash(satelle:*", false},
		{"Bash(satelle story get:*)", false},
		{"Bash(echo satelle:*)", false},
		{"bash", false},
		{"read_files", false},
		{"xread_file", false},
		{"Read(read_file, Bash)", false},
		{"Read(*)", false},
	}
	for _, tt := range tests {
		if err := (Binding{Name: "a", Command: "x y", Tools: tt.tools}).Dispatchable(); (err == nil) != tt.ok {
			t.Errorf("%q: %v", tt.tools, err)
		}
	}
	if err := (Binding{Command: InLoop}).Dispatchable(); err != nil {
		t.Errorf("an in-loop binding was asked for a channel: %v", err)
	}
}

func TestGrants(t *testing.T) {
	got := Binding{Tools: " Read,Bash(git log, a),,mcp__x  Glob"}.Grants()
	if !slices.Equal(got, []string{"Read", "Bash(git log, a)", "mcp__x", "Glob"}) {
		t.Errorf("%q", got)
	}
}
