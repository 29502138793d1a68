//go:build clients

package clienttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func codexScript() Script {
	shell := func(command string) Call { return Call{"exec_command", object{"cmd": command}} }
	patch := func(lines ...string) string {
		return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
	}
	return Script{{Match: "MAIN", Turns: []Turn{
		{Calls: []Call{shell("ls"), shell("cat main-old.txt")}},
		{Calls: []Call{
			shell("echo echoed > main-bash.txt"),
			{"apply_patch", patch("*** Add File: main-new.txt", "+written")},
			{"apply_patch", patch("*** Update File: main-old.txt", "@@", "-old", "+edited")},
			shell("apply_patch <<'EOF'\n" + patch("*** Add File: main-here.txt", "+written") + "EOF\n"),
		}},
	}}}
}

func TestCodexWithoutASeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "codex", "--trust")
	model := New(t, codexScript())
	before := w.files()
	w.codex(model)
	w.untouched(before)
	ran(t, model, 0, reads)
	denied(t, model, 0, edits)
}

func TestCodexWithTheSeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "codex", "--trust")
	w.takeSeat()
	script := codexScript()
	// A terminal, into which text could be typed past the hook, is not to be had.
	script[0].Turns = append(script[0].Turns, Turn{Calls: []Call{{"exec_command", object{"cmd": "cat > typed.txt", "tty": true}}}})
	model := New(t, script)
	w.codex(model)
	ran(t, model, 0, reads)
	ran(t, model, 0, edits)
	w.wrote("main-bash.txt", "echoed")
	w.wrote("main-new.txt", "written")
	w.wrote("main-old.txt", "edited")
	w.wrote("main-here.txt", "written")
	if r, found := model.Result(0, 2, 0); !found || !strings.Contains(r.Text, "disabled") {
		t.Errorf("a terminal: %q", r.Text)
	}
}

func TestCodexTakesTheSeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "codex", "--trust")
	// Codex runs commands in a login shell, which sets PATH anew.
	profile := "PATH='" + filepath.Join(w.home, ".satelle", "bin") + "':$PATH\n"
	if err := os.WriteFile(filepath.Join(w.home, ".profile"), []byte(profile), 0o644); err != nil {
		t.Fatal(err)
	}
	write := Call{"apply_patch", "*** Begin Patch\n*** Add File: new.txt\n+written\n*** End Patch\n"}
	model := New(t, Script{{Match: "MAIN", Turns: []Turn{
		{Calls: []Call{write}},
		{Calls: []Call{{"exec_command", object{"cmd": start}}}},
		{Calls: []Call{write}},
	}}})
	w.codex(model)
	denied(t, model, 0, 0)
	ran(t, model, 0, 2)
	w.wrote("new.txt", "written")
}

func TestCodexWithABrokenEngine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "codex", "--trust")
	w.takeSeat()
	if err := os.WriteFile(filepath.Join(w.home, ".satelle", "bin", "satelle-hook"), []byte("\x7fELF garbage"), 0o755); err != nil {
		t.Fatal(err)
	}
	model := New(t, codexScript())
	before := w.files()
	w.codex(model)
	w.untouched(before)
	ran(t, model, 0, reads)
}

// Hooks in the person's own settings, whose project nobody trusted.
func TestCodexInTheUserScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "codex", "--scope", "user", "--trust")
	w.cwd = filepath.Join(w.repo, "sub folder")
	model := New(t, codexScript())
	before := w.files()
	w.codex(model)
	w.untouched(before)
	denied(t, model, 0, edits)
}

// Without --trust the very same hooks are skipped, and status says so.
func TestCodexWithoutTrust(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "codex")
	if err := os.MkdirAll(filepath.Join(w.home, ".codex"), 0o755); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(w.satelle("agents", "status", "--json")) {
		if strings.Contains(line, `"codex"`) && strings.Contains(line, `"project"`) && !strings.Contains(line, `"trusted":false`) {
			t.Errorf("status: %s", line)
		}
	}
	model := New(t, codexScript())
	w.codex(model)
	w.wrote("main-new.txt", "written")
}
