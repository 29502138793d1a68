//go:build clients

package clienttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func grokScript(w *world) Script {
	turns := func(who string) []Turn {
		return []Turn{
			{Calls: []Call{
				{"read_file", object{"target_file": who + "-old.txt"}},
				{"list_dir", object{"target_directory": "."}},
				{"run_terminal_command", object{"command": "ls", "description": "list"}},
			}},
			{Calls: []Call{
				{"write", object{"file_path": filepath.Join(w.repo, who+"-new.txt"), "content": "written\n"}},
				{"search_replace", object{"file_path": who + "-old.txt", "old_string": "old", "new_string": "edited"}},
				{"run_terminal_command", object{"command": "echo echoed > " + who + "-bash.txt", "description": "write"}},
				{"monitor", object{"command": "echo watched > " + who + "-monitor.txt", "description": "watch"}},
			}},
		}
	}
	return Script{
		sub: {Match: "SUBTASK", Turns: turns("sub")},
		main: {Match: "MAIN", Turns: append(turns("main"), Turn{Calls: []Call{
			{"spawn_subagent", object{"prompt": "SUBTASK do it", "description": "sub", "background": false}},
		}})},
	}
}

func TestGrokWithoutASeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "all", "--trust") // Grok runs Claude's hooks too
	model := New(t, grokScript(w))
	before := w.files()
	w.grok(model)
	w.untouched(before)
	for _, who := range []int{main, sub} {
		ran(t, model, who, reads)
		denied(t, model, who, edits)
	}
}

func TestGrokWithTheSeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "grok", "--trust")
	w.takeSeat()
	model := New(t, grokScript(w))
	w.grok(model)
	for conversation, who := range []string{sub: "sub", main: "main"} {
		ran(t, model, conversation, reads)
		ran(t, model, conversation, edits)
		w.wrote(who+"-new.txt", "written")
		w.wrote(who+"-old.txt", "edited")
		w.wrote(who+"-bash.txt", "echoed")
		w.wrote(who+"-monitor.txt", "watched")
	}
}

func TestGrokTakesTheSeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "grok", "--trust")
	write := Call{"write", object{"file_path": filepath.Join(w.repo, "new.txt"), "content": "written\n"}}
	model := New(t, Script{{Match: "MAIN", Turns: []Turn{
		{Calls: []Call{write}},
		{Calls: []Call{{"run_terminal_command", object{"command": start, "description": "take the seat"}}}},
		{Calls: []Call{write}},
		{Calls: []Call{{"run_terminal_command", object{"command": "satelle status", "description": "look"}}}},
	}}})
	w.grok(model)
	denied(t, model, 0, 0)
	ran(t, model, 0, 2)
	if r, found := model.Result(0, 3, 0); !found || !strings.Contains(r.Text, "you are: session grok") {
		t.Errorf("a session counts as a person: %q", r.Text)
	}
	w.wrote("new.txt", "written")
}

func TestGrokWithABrokenEngine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "grok", "--trust")
	w.takeSeat()
	if err := os.Remove(filepath.Join(w.home, ".satelle", "bin", "satelle-hook")); err != nil {
		t.Fatal(err)
	}
	model := New(t, grokScript(w))
	before := w.files()
	w.grok(model)
	w.untouched(before)
	ran(t, model, main, reads)
}

// Hooks in the person's own settings, in a folder that nobody trusted.
func TestGrokInTheUserScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "grok", "--scope", "user")
	w.cwd = filepath.Join(w.repo, "sub folder")
	model := New(t, grokScript(w))
	before := w.files()
	w.grok(model)
	w.untouched(before)
	denied(t, model, main, edits)
}
