//go:build clients

package clienttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// doctor runs satelle doctor where the real clients are on the PATH, and
// returns its exit code and report.
func (w *world) doctor(env []string, args ...string) (int, gjson.Result) {
	w.t.Helper()
	path := "PATH=" + filepath.Join(w.home, ".satelle", "bin") + ":" + clients + ":" + programs + ":/usr/local/bin:/usr/bin:/bin"
	code, out := w.try(append([]string{path}, env...), append([]string{filepath.Join(programs, "satelle"), "doctor", "--json"}, args...)...)
	line, _, _ := strings.Cut(out[max(0, strings.Index(out, "{")):], "\n")
	if !gjson.Valid(line) {
		w.t.Fatalf("doctor: exit %d\n%s", code, out)
	}
	return code, gjson.Parse(line)
}

// hookOf is how things stand with a harness in a scope.
func hookOf(r gjson.Result, harness, scope string) gjson.Result {
	for _, h := range r.Get("hooks").Array() {
		if h.Get("harness").Str == harness && h.Get("scope").Str == scope {
			return h
		}
	}
	return gjson.Result{}
}

func findings(r gjson.Result, harness string) []string {
	var out []string
	for _, f := range r.Get("findings").Array() {
		if f.Get("harness").Str == harness && f.Get("level").Str == "broken" {
			out = append(out, f.Get("name").Str)
		}
	}
	return out
}

// What doctor reads in the files is what the harness itself says.
func TestDoctorAgreesWithTheClients(t *testing.T) {
	t.Parallel()
	edit := func(file, old, text string) func(*world) {
		return func(w *world) {
			w.t.Helper()
			path := filepath.Join(w.dir, file)
			b, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(b), old) {
				w.t.Fatalf("%s: %v\n%s", file, err, b)
			}
			if err := os.WriteFile(path, []byte(strings.Replace(string(b), old, text, 1)), 0o644); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	nothing := func(*world) {}
	link := func(w *world) {
		tree := filepath.Join(w.dir, "linked tree")
		w.run(nil, "git", "worktree", "add", "-q", "-b", "linked", tree)
		w.cwd = tree
	}
	for _, c := range []struct {
		name, harness string
		trust         bool
		set           func(*world)
		finding       string // what the files tell, "" for nothing
		says          string // a part of what the harness says
		env           string
	}{
		{"codex, trusted", "codex", true, nothing, "", "loaded", ""},
		{"codex, nothing trusted", "codex", false, nothing, "untrusted-project", "not loaded", ""},
		{"codex, a position that moved", "codex", true, edit("my repo/.codex/hooks.json", `"PreToolUse": [`,
			`"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]},`), "moved", "pre_tool_use", ""},
		{"codex, a changed hash", "codex", true, edit("home/.codex/config.toml", `"sha256:`, `"sha256:0`), "changed", "pre_tool_use modified", ""},
		{"codex, no review", "codex", true, edit("home/.codex/config.toml", `:pre_tool_use:0:0"`, `:stop:0:0"`), "unreviewed", "pre_tool_use untrusted", ""},
		{"codex, switched off by the project", "codex", true, edit("my repo/.codex/config.toml", "[features] # satelle", "[features] # satelle\nhooks = false"), "hooks-off", "not loaded", ""},
		{"codex, switched off by the person", "codex", true, edit("home/.codex/config.toml", "[projects", "[features]\ncodex_hooks = false\n[projects"), "hooks-off", "not loaded", ""},
		{"codex, a review that was switched off", "codex", true, edit("home/.codex/config.toml", "trusted_hash", "enabled = false\ntrusted_hash"), "disabled", "pre_tool_use not loaded", ""},
		{"codex, an unknown key", "codex", true, edit("my repo/.codex/hooks.json", "{", `{"$schema": "x",`), "unreadable", "", ""},
		{"codex, a value of the wrong type", "codex", true, edit("my repo/.codex/hooks.json", "{", `{"description": 5,`), "file-dropped", "not loaded", ""},
		{"codex, a matcher that is no pattern", "codex", true, edit("my repo/.codex/hooks.json", `"hooks": [`, `"matcher": "(", "hooks": [`), "entry-dropped", "pre_tool_use not loaded", ""},
		{"grok, trusted", "grok", true, nothing, "", "loaded", ""},
		{"grok, untrusted", "grok", false, nothing, "untrusted-folder", "not loaded", ""},
		{"grok, a timeout that is no whole number", "grok", true, edit("my repo/.grok/hooks/satelle.json", `"timeout": 60`, `"timeout": 60.5`), "file-dropped", "not loaded", ""},
		{"grok, a foreign timeout that is text", "grok", true, edit("my repo/.grok/hooks/satelle.json", `"PreToolUse": [`,
			`"Stop": [{"hooks": [{"type": "command", "command": "true", "timeout": "5"}]}], "PreToolUse": [`), "file-dropped", "not loaded", ""},
		{"grok, trust by a variable", "grok", false, nothing, "", "loaded", "GROK_FOLDER_TRUST=0"},
		{"grok, another folder of its own", "grok", true, nothing, "environment", "not loaded", "GROK_HOME=/nowhere/grok"},
		{"grok, in a sub-folder", "grok", true, func(w *world) { w.cwd = filepath.Join(w.repo, "sub folder") }, "", "loaded", ""},
		{"grok, in a linked work tree", "grok", true, link, "", "loaded", ""},
		{"codex, in a sub-folder", "codex", true, func(w *world) { w.cwd = filepath.Join(w.repo, "sub folder") }, "", "loaded", ""},
		{"codex, in a linked work tree", "codex", true, link, "", "loaded", ""},
		{"codex, another folder of its own", "codex", true, nothing, "untrusted-project", "not loaded", "CODEX_HOME=OTHER"},
		{"grok, a matcher that is no pattern", "grok", true, edit("my repo/.grok/hooks/satelle.json", `"hooks": [`, `"matcher": "(", "hooks": [`), "entry-dropped", "not loaded", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			install := []string{}
			if c.trust {
				install = append(install, "--trust")
			}
			w := newWorld(t, c.harness, install...)
			c.set(w)
			env := []string{strings.Replace(c.env, "OTHER", filepath.Join(w.dir, "other"), 1)}
			if err := os.Mkdir(filepath.Join(w.dir, "other"), 0o700); err != nil {
				t.Fatal(err)
			}
			code, r := w.doctor(env)
			h := hookOf(r, c.harness, "project")
			told := findings(r, c.harness)
			if live := c.finding == ""; h.Get("live").Bool() != live || live && code != 0 || !live && code != 1 {
				t.Errorf("exit %d: %s\n%s", code, h.Raw, r.Get("findings").Raw)
			}
			if c.finding != "" && (len(told) == 0 || told[0] != c.finding) {
				t.Errorf("findings %q, want %s", told, c.finding)
			}
			if says := h.Get("says").Str; !strings.Contains(says, c.says) || strings.HasPrefix(says, "loaded") != (c.finding == "") {
				t.Errorf("%s says %q, want %q", c.harness, says, c.says)
			}
		})
	}
}

// replacing changes the text of Claude's settings wherever it stands.
func replacing(old, text string) func(*world) {
	return func(w *world) {
		w.t.Helper()
		b, err := os.ReadFile(filepath.Join(w.repo, ".claude", "settings.json"))
		if err != nil || !strings.Contains(string(b), old) {
			w.t.Fatalf("%v\n%s", err, b)
		}
		n := -1
		if old == "{" {
			n = 1
		}
		w.write(".claude/settings.json", strings.Replace(string(b), old, text, n))
	}
}

// Played by Claude Code: doctor sees what it does.
func TestDoctorPlaysClaude(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		set  func(*world)
		says string
		env  string
	}{
		{"all is well", func(*world) {}, "denied", ""},
		{"a simple start", func(*world) {}, "not denied", "CLAUDE_CODE_SIMPLE=1"},
		{"a safe start", func(*world) {}, "not denied", "CLAUDE_CODE_SAFE_MODE=1"},
		{"an async entry", replacing(`"type": "command"`, `"async": true, "type": "command"`), "not denied", ""},
		{"the seat is held", (*world).takeSeat, "denied", ""},
		{"switched off", func(w *world) { w.write(".claude/settings.local.json", `{"disableAllHooks": true}`) }, "not denied", ""},
		{"the file is dropped", replacing("{", `{"permissions": "garbage",`), "not denied", ""},
		{"the entry is dropped", replacing(`"block"`, `"banana"`), "not denied", ""},
		{"a sub-directory", func(w *world) { w.cwd = filepath.Join(w.repo, "sub folder") }, "not denied", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "claude")
			c.set(w)
			before := w.files()
			code, r := w.doctor([]string{c.env}, "--claude-run")
			h := hookOf(r, "claude", "project")
			if h.Get("says").Str != c.says || h.Get("proof").Str != "played" || h.Get("live").Bool() != (c.says == "denied") || (code == 0) != (c.says == "denied") {
				t.Errorf("exit %d: %s\n%s", code, h.Raw, r.Get("findings").Raw)
			}
			w.untouched(before)
			if _, err := os.Stat(filepath.Join(w.home, ".claude")); err == nil {
				t.Error("the person's Claude folder was made")
			}
		})
	}
}
