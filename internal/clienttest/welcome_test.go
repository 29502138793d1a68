//go:build clients

package clienttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// welcomed returns what the model was told of satelle when the session began.
func welcomed(model *Server) string {
	for _, r := range model.Requests() {
		if _, after, found := strings.Cut(string(r.Body), "satelle governs this work tree"); found {
			return after[:min(len(after), 3000)]
		}
	}
	return ""
}

// A session is told its principles and how to take the seat.
func TestClaudeIsWelcomed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "claude")
	model := New(t, Script{{Match: "MAIN"}})
	w.claude(model, "--dangerously-skip-permissions")
	got := welcomed(model)
	if !strings.Contains(got, "The route standard") || !strings.Contains(got, "To go on run: satelle story start") || strings.Contains(got, "WARNING") {
		t.Errorf("welcomed with %q", got)
	}
}

// Grok reads no answer when a session starts; there the welcome comes with the
// result of the first call, and once.
func TestGrokIsWelcomed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "all", "--trust") // Grok runs Claude's hooks too
	look := Turn{Calls: []Call{{"read_file", object{"target_file": "main-old.txt"}}}}
	model := New(t, Script{{Match: "MAIN", Turns: []Turn{look, look}}})
	w.grok(model)
	if got := welcomed(model); !strings.Contains(got, "The route standard") || !strings.Contains(got, "satelle story start") {
		t.Errorf("welcomed with %q", got)
	}
	requests := model.Requests()
	if n := strings.Count(string(requests[len(requests)-1].Body), "satelle governs this work tree"); n > 1 {
		t.Errorf("welcomed %d times", n)
	}
}

// Codex runs the hooks of the person and of the project; one of them speaks.
func TestCodexIsWelcomedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "codex", "--trust")
	w.satelle("agents", "install", "codex", "--scope", "user", "--trust")
	model := New(t, Script{{Match: "MAIN"}})
	w.codex(model)
	for _, r := range model.Requests() {
		if n := strings.Count(string(r.Body), "satelle governs this work tree"); n != 1 {
			t.Errorf("welcomed %d times", n)
		}
	}
}

// One whose hooks hold only in part is warned: Codex runs the hook for the
// session's start and skips the one before a tool.
func TestCodexIsWarned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "codex", "--trust")
	model := New(t, Script{{Match: "MAIN"}})
	w.codex(model)
	if got := welcomed(model); !strings.Contains(got, "The route standard") || strings.Contains(got, "WARNING") {
		t.Errorf("welcomed with %q", got)
	}
	config := filepath.Join(w.home, ".codex", "config.toml")
	b, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte(strings.Replace(string(b), `:pre_tool_use:0:0"`, `:stop:0:0"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	model = New(t, Script{{Match: "MAIN"}})
	w.codex(model)
	if got := welcomed(model); !strings.Contains(got, "WARNING") || !strings.Contains(got, "pre_tool_use") || !strings.Contains(got, "satelle agents install codex --trust") {
		t.Errorf("welcomed with %q", got)
	}
}
