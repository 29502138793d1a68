//go:build clients

package clienttest

import (
	"path/filepath"
	"strings"
	"testing"
)

// Tools of an MCP server need a seat, but for those that the gate names and a
// person trusts.
func TestReaderTools(t *testing.T) {
	for _, tt := range []struct {
		on        *harness
		look      string // as the harness calls it before its hook
		call, put Call
		before    []Call
	}{
		{on: claude, look: "mcp__probe__look", call: Call{"mcp__probe__look", object{}}, put: Call{"mcp__probe__put", object{"path": "p.txt", "text": "changed"}}},
		{on: codex, look: "mcp__probe__look", call: Call{"mcp__probe.look", object{}}, put: Call{"mcp__probe.put", object{"path": "p.txt", "text": "changed"}}},
		{on: codeMode, look: "mcp__probe__look", call: inScript("mcp__probe__look", object{}), put: inScript("mcp__probe__put", object{"path": "p.txt", "text": "changed"})},
		{
			on: grok, look: "probe__look", before: []Call{{"search_tool", object{"query": "look"}}},
			call: Call{"use_tool", object{"tool_name": "probe__look", "tool_input": object{}}},
			put:  Call{"use_tool", object{"tool_name": "probe__put", "tool_input": object{"path": "p.txt", "text": "changed"}}},
		},
	} {
		t.Run(tt.on.title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.on.name, tt.on.install...)
			config := filepath.Join(w.repo, ".satelle", "satelle.toml")
			name := func() {
				text := strings.Replace(w.files()[".satelle/satelle.toml"], "[gate]\n", "[gate]\nreader_tools = ["+encode(tt.look)+"]\n", 1)
				w.put(config, []byte(text), 0o644)
			}
			both := []Call{tt.call, tt.put}
			model := New(t, Script{{Match: "MAIN", Turns: []Turn{
				{Calls: append(tt.before, tt.on.reads[0](w))},
				{Calls: both},
				{Before: name, Calls: both},
				{Before: func() { w.satelle("trust", "--yes") }, Calls: both},
			}}})
			tt.on.play(w, model, tt.on.yolo...)
			for turn, may := range map[int]bool{1: false, 2: false, 3: true} {
				if r, found := model.Result(0, turn, 0); !found || refused(r.Text) == may || may != strings.Contains(r.Text, "seen") {
					t.Errorf("turn %d, looking: %q", turn, r.Text)
				}
				if r, found := model.Result(0, turn, 1); !found || !refused(r.Text) {
					t.Errorf("turn %d, putting: %q", turn, r.Text)
				}
			}
			if w.changed("p.txt") {
				t.Error("it was put")
			}
		})
	}
}
