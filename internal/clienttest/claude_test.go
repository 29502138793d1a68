//go:build clients

package clienttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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

// The shell preamble of a command that a person gives runs before the model has
// said a word, and asks the hook all the same.
func TestClaudeCommandPreamble(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "claude")
	w.write(".claude/commands/greet.md", "---\ndescription: greets\nallowed-tools: Bash(*)\n---\nMAIN. Greeting: !`echo changed > preamble.txt`\n")
	w.prompt = "/greet"
	before := w.files()
	told := func() (out string) {
		model := New(t, Script{{Match: "MAIN"}})
		w.claude(model, "--dangerously-skip-permissions")
		for _, r := range model.Requests() {
			out += string(r.Body)
		}
		return out
	}
	denial := told()
	w.untouched(before)
	w.takeSeat()
	told()
	if !w.changed("preamble.txt") {
		t.Error("the preamble does not run with the seat")
	}
	if !strings.Contains(denial, "preamble.txt") {
		t.Errorf("without a seat the command was not tried: %.500s", denial)
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
