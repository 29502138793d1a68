//go:build clients

package clienttest

import (
	"strings"
	"testing"
)

// Where the gate only warns, a call runs, and the agent is told why it should
// not have been made. A prompt that the harness's own mode asks for is asked.
func TestWarning(t *testing.T) {
	for _, tt := range []struct {
		name, harness string
		run           func(w *world, model *Server)
		call          Call
		runs          bool
	}{
		{"claude", "claude", func(w *world, model *Server) { w.claude(model, "--dangerously-skip-permissions") }, Call{"Bash", object{"command": "echo x > new.txt", "description": "write"}}, true},
		{"claude asks", "claude", func(w *world, model *Server) { w.claude(model, "--permission-mode", "default") }, Call{"Bash", object{"command": "echo x > new.txt", "description": "write"}}, false},
		{"codex", "codex", func(w *world, model *Server) { w.codex(model) }, shellCall("echo x > new.txt"), true},
		{"grok", "grok", func(w *world, model *Server) { w.grok(model) }, Call{"run_terminal_command", object{"command": "echo x > new.txt", "description": "write"}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.harness, "--trust")
			w.write(".satelle/satelle.toml", strings.Replace(w.files()[".satelle/satelle.toml"], "[gate]\n", "[gate]\nmode = \"warn\"\n", 1))
			w.satelle("trust", "--yes")
			model := New(t, Script{{Match: "MAIN", Turns: []Turn{{Calls: []Call{tt.call}}}}})
			tt.run(w, model)
			if tt.runs {
				w.wrote("new.txt", "x")
			} else if _, was := w.files()["new.txt"]; was {
				t.Error("the prompt was lifted")
			}
			told := false
			for _, r := range model.Requests() {
				told = told || strings.Contains(string(r.Body), "only warns of it") && strings.Contains(string(r.Body), "story start")
			}
			if !told {
				t.Error("the agent was not told")
			}
		})
	}
}
