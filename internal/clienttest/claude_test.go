//go:build clients

package clienttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Conversations of the scripts, and their turns.
const (
	sub, main    = 0, 1
	reads, edits = 0, 1
)

// claudeScript reads, then tries every tool that changes files; then a
// sub-agent does the same.
func claudeScript(w *world) Script {
	turns := func(who string) []Turn {
		at := func(name string) string { return filepath.Join(w.repo, who+"-"+name) }
		return []Turn{
			{Calls: []Call{
				{"Read", object{"file_path": at("old.txt")}},
				{"Read", object{"file_path": at("book.ipynb")}},
				{"Bash", object{"command": "ls", "description": "list"}},
			}},
			{Calls: []Call{
				{"Write", object{"file_path": at("new.txt"), "content": "written\n"}},
				{"Edit", object{"file_path": at("old.txt"), "old_string": "old", "new_string": "edited"}},
				{"NotebookEdit", object{"notebook_path": at("book.ipynb"), "cell_id": "c1", "new_source": "22", "cell_type": "code", "edit_mode": "replace"}},
				{"Monitor", object{"command": "echo watched > " + who + "-monitor.txt", "description": "watch", "timeout_ms": 5000}},
				{"Bash", object{"command": "echo echoed > " + who + "-bash.txt", "description": "write"}},
			}},
		}
	}
	return Script{
		sub: {Match: "SUBTASK", Turns: turns("sub")},
		main: {Match: "MAIN", Turns: append(turns("main"), Turn{Calls: []Call{
			{"Agent", object{"description": "sub", "prompt": "SUBTASK do it", "subagent_type": "general-purpose", "run_in_background": false}},
		}})},
	}
}

func TestClaudeWithoutASeat(t *testing.T) {
	tools := "--allowedTools=Read,Bash,Write,Edit,NotebookEdit,Monitor,Agent"
	for _, tt := range []struct {
		mode string
		args []string
		// alone: Claude Code asks a service that is not there, and refuses to
		// start a sub-agent.
		alone bool
	}{
		{"default", []string{tools}, false},
		{"acceptEdits", []string{"--permission-mode", "acceptEdits", tools}, false},
		{"dontAsk", []string{"--permission-mode", "dontAsk", tools}, false},
		{"bypass", []string{"--dangerously-skip-permissions"}, false},
		{"auto", []string{"--permission-mode", "auto", tools}, true},
		{"plan", []string{"--permission-mode", "plan", tools}, true},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "claude")
			model := New(t, claudeScript(w))
			before := w.files()
			if code, out := w.claude(model, tt.args...); (code != 0) != tt.alone {
				t.Errorf("exit %d\n%s", code, out)
			}
			w.untouched(before)
			ran(t, model, main, reads)
			denied(t, model, main, edits)
			if !tt.alone {
				ran(t, model, sub, reads)
				denied(t, model, sub, edits)
			}
		})
	}
}

// Started in a sub-folder, Claude Code does not read the settings at the root;
// those of the person count everywhere.
func TestClaudeInTheUserScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "claude", "--scope", "user")
	w.cwd = filepath.Join(w.repo, "sub folder")
	model := New(t, claudeScript(w))
	before := w.files()
	w.claude(model, "--dangerously-skip-permissions")
	w.untouched(before)
	for _, who := range []int{main, sub} {
		ran(t, model, who, reads)
		denied(t, model, who, edits)
	}
}

func TestClaudeWithTheSeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "claude")
	w.takeSeat()
	model := New(t, claudeScript(w))
	w.claude(model, "--dangerously-skip-permissions")
	for conversation, who := range []string{sub: "sub", main: "main"} {
		ran(t, model, conversation, reads)
		ran(t, model, conversation, edits)
		w.wrote(who+"-new.txt", "written")
		w.wrote(who+"-old.txt", "edited")
		w.wrote(who+"-book.ipynb", "22")
		w.wrote(who+"-monitor.txt", "watched")
		w.wrote(who+"-bash.txt", "echoed")
	}
}

// The main job: the agent is denied, runs the command that the denial names, and
// goes on. What is a person's stays a person's.
func TestClaudeTakesTheSeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "claude")
	write := func(name string) Call {
		return Call{"Write", object{"file_path": filepath.Join(w.repo, name), "content": "x\n"}}
	}
	bash := func(command string) Call {
		return Call{"Bash", object{"command": command, "description": "run"}}
	}
	model := New(t, Script{{Match: "MAIN", Turns: []Turn{
		{Calls: []Call{write("new.txt")}},
		{Calls: []Call{bash(start)}},
		{Calls: []Call{write("new.txt")}},
		{Calls: []Call{
			write(".claude/settings.json"), write(".satelle/workflows/step.md"), write(".git/hooks/pre-commit"),
			bash("satelle agents remove claude"), bash("satelle trust"), bash("rm -rf .claude"), bash("git config core.hooksPath /tmp"),
		}},
	}}})
	before := w.files()
	w.claude(model, "--dangerously-skip-permissions")
	denied(t, model, 0, 0)
	before["new.txt"] = "x\n"
	w.untouched(before)
	if _, err := os.Lstat(filepath.Join(w.repo, ".git", "hooks", "pre-commit")); err == nil {
		t.Error("a hook of git was written")
	}
	if config := w.run(nil, "git", "config", "--list"); strings.Contains(config, "hookspath") {
		t.Errorf("git's hooks were moved: %s", config)
	}
	if s := w.satelle("status"); !strings.Contains(s, "WHAT") {
		t.Errorf("status: %s", s)
	}
	for i := range model.script[0].Turns[3].Calls {
		if r, found := model.Result(0, 3, i); !found || !strings.Contains(r.Text, "satelle") {
			t.Errorf("%+v: %q", r.Call, r.Text)
		}
	}
}

// The shell preamble of a skill is no tool call, and asks the hook all the same.
func TestClaudeSkillPreamble(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "claude")
	w.write(".claude/skills/greet/SKILL.md", "---\nname: greet\ndescription: greets\n---\nGreeting: !`echo hello > preamble.txt`\n")
	call := Turn{Calls: []Call{{"Skill", object{"skill": "greet"}}}}
	model := New(t, Script{{Match: "MAIN", Turns: []Turn{call}}})
	before := w.files()
	w.claude(model, "--dangerously-skip-permissions")
	w.untouched(before)

	w.takeSeat()
	w.claude(New(t, Script{{Match: "MAIN", Turns: []Turn{call}}}), "--dangerously-skip-permissions")
	w.wrote("preamble.txt", "hello")
}

// One session in which the engine breaks in every way, while a story holds the
// seat: nothing can tell so any more, and edits are denied.
func TestClaudeWithABrokenEngine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "claude")
	w.takeSeat()
	engine := filepath.Join(w.home, ".satelle", "bin", "satelle-hook")
	whole, err := os.ReadFile(engine)
	if err != nil {
		t.Fatal(err)
	}
	put := func(content []byte, mode os.FileMode) func() {
		return func() {
			if err := os.Remove(engine); err != nil && !os.IsNotExist(err) {
				t.Error(err)
			}
			if content == nil {
				return
			}
			if err := os.WriteFile(engine, content, mode); err != nil {
				t.Error(err)
			}
		}
	}
	breaks := []struct {
		name string
		do   func()
	}{
		{"removed", put(nil, 0)},
		{"not executable", put(whole, 0o644)},
		{"empty", put([]byte{}, 0o755)},
		{"truncated", put(whole[:len(whole)/3], 0o755)},
		{"only a header", put(whole[:64], 0o755)},
		{"garbage", put([]byte("\x7fELF garbage \x00\xff"), 0o755)},
		{"another program", put([]byte("#!/bin/sh\nexit 1\n"), 0o755)},
	}
	turns := []Turn{{Calls: []Call{{"Write", object{"file_path": filepath.Join(w.repo, "whole.txt"), "content": "x\n"}}}}}
	for _, b := range breaks {
		turns = append(turns, Turn{Before: b.do, Calls: []Call{
			{"Bash", object{"command": "ls", "description": "list"}},
			{"Read", object{"file_path": filepath.Join(w.repo, "main-old.txt")}},
			{"Write", object{"file_path": filepath.Join(w.repo, "new.txt"), "content": b.name}},
			{"Bash", object{"command": "echo x > bash.txt", "description": "write"}},
		}})
	}
	model := New(t, Script{{Match: "MAIN", Turns: turns}})
	before := w.files()
	w.claude(model, "--dangerously-skip-permissions")

	w.wrote("whole.txt", "x")
	before["whole.txt"] = "x\n"
	w.untouched(before)
	for n, b := range breaks {
		for i, tool := range []string{"ls", "Read", "Write", "echo"} {
			r, found := model.Result(0, n+1, i)
			refused := strings.Contains(r.Text, "satelle")
			if !found || refused != (i >= 2) {
				t.Errorf("engine %s, %s: %q", b.name, tool, r.Text)
			}
		}
	}
}

// The settings are rewritten from outside, in mid-session: Claude Code reads
// them again, asks the hook, and keeps what it had.
func TestClaudeKeepsItsHooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "claude")
	// The person's own hook shows when Claude Code has noticed a change.
	noticed := filepath.Join(w.dir, "noticed")
	own := `{"hooks": {"ConfigChange": [{"hooks": [{"type": "command", "command": "echo >> '` + noticed + `'", "timeout": 60}]}]}}`
	if err := os.MkdirAll(filepath.Join(w.home, ".claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.home, ".claude", "settings.json"), []byte(own), 0o644); err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(w.repo, ".claude", "settings.json")
	rewrite := func(path, text string) func() {
		return func() {
			if err := os.RemoveAll(noticed); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Error(err)
			}
			if _, err := await(noticed); err != nil {
				t.Errorf("Claude Code did not notice the change: %v", err)
			}
		}
	}
	local := filepath.Join(w.repo, ".claude", "settings.local.json")
	write := Call{"Write", object{"file_path": filepath.Join(w.repo, "new.txt"), "content": "x\n"}}
	bash := Call{"Bash", object{"command": "echo x > bash.txt", "description": "write"}}
	model := New(t, Script{{Match: "MAIN", Turns: []Turn{
		{Calls: []Call{write}},
		{Before: rewrite(settings, "{}"), Calls: []Call{write, bash}},
		{Before: rewrite(local, `{"disableAllHooks": true}`), Calls: []Call{write, bash}},
	}}})
	before := w.files()
	w.claude(model, "--dangerously-skip-permissions")
	before[".claude/settings.json"] = "{}"
	before[".claude/settings.local.json"] = `{"disableAllHooks": true}`
	w.untouched(before)
	for turn := range 3 {
		denied(t, model, 0, turn)
	}
}
