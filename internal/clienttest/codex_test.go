//go:build clients

package clienttest

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// Text can't be typed into a running program past the hook: there is no
// terminal to be had, and the input of a session is closed.
func TestCodexTypesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "codex", "--trust")
	w.takeSeat()
	session := regexp.MustCompile(`session ID (\d+)`)
	model := New(t, Script{{Match: "MAIN", Turns: []Turn{
		{Calls: []Call{
			{"exec_command", object{"cmd": "cat > terminal.txt", "tty": true}},
			{"exec_command", object{"cmd": "sleep 60; cat > typed.txt", "yield_time_ms": 250}},
		}},
		{Then: func(told []Result) []Call {
			m := session.FindStringSubmatch(told[1].Text)
			if m == nil {
				t.Errorf("no session goes on: %q", told[1].Text)
				return nil
			}
			return []Call{{"write_stdin", object{"session_id": json.Number(m[1]), "chars": "changed\n"}}}
		}},
	}}})
	before := w.files()
	w.codex(model)
	w.untouched(before)
	if r, found := model.Result(0, 0, 0); !found || !strings.Contains(r.Text, "disabled") {
		t.Errorf("a terminal: %q", r.Text)
	}
	if r, found := model.Result(0, 1, 0); !found || !strings.Contains(r.Text, "closed") {
		t.Errorf("text for a session: %q", r.Text)
	}
}
