package install

import (
	"os"
	"strings"
	"testing"
)

// The hashes are those that Codex's own reviewer computes.
func TestCodexHash(t *testing.T) {
	tests := []struct{ event, command, want string }{
		{"PreToolUse", `sh -c '[ -x "a" ] && exec "a" <b>; echo "\"é"'`, "sha256:f2d2d4cacbd6c800c3dae0ad21f82fa90f92a089ecc2d10a628039dca2494080"},
		{"SessionStart", "true", "sha256:b244a99b8eb5d7a0a128512a0a09926b7c5a479768fa0914f02d7eee086f0d53"},
	}
	for _, tt := range tests {
		if got := codexHash(snake(tt.event), tt.command); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.event, got, tt.want)
		}
	}
}

func TestTrust(t *testing.T) {
	w := newWorld(t)
	w.write("my repo/.codex/hooks.json", `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"mine"}]}]}}`)
	r := w.install()
	if len(r.Notes) != 2 || !strings.Contains(r.Notes[0], "--trust") || !strings.Contains(r.Notes[1], "--trust") {
		t.Errorf("notes = %q", r.Notes)
	}
	trusted := func() string {
		t.Helper()
		states, err := Status(w.Options)
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		for _, s := range states {
			if s.Problem != "" || !s.Current || !s.Launcher {
				t.Errorf("%+v", s)
			}
			if s.Trusted {
				out += s.Harness + " "
			}
		}
		return out
	}
	if got := trusted(); got != "claude " {
		t.Errorf("trusted without a word: %s", got)
	}
	w.Trust = true
	if r := w.install(); len(r.Notes) != 0 || len(r.Changes) != 2 {
		t.Errorf("report = %+v", r)
	}
	if got := trusted(); got != "claude grok codex " {
		t.Errorf("trusted: %s", got)
	}
	config := w.read("home dir/.codex/config.toml")
	for _, want := range []string{
		"[projects.\"" + w.root + "\"] # satelle\ntrust_level = \"trusted\" # satelle\n",
		"[hooks.state.\"" + w.root + "/.codex/hooks.json:pre_tool_use:1:0\"] # satelle\ntrusted_hash = \"sha256:",
		":session_start:0:0\"]",
		":post_tool_use:0:0\"]",
	} {
		if !strings.Contains(config, want) {
			t.Errorf("no %s in\n%s", want, config)
		}
	}

	// A hook in front of ours moves it: what was recorded is void.
	w.write("my repo/.codex/hooks.json", strings.Replace(w.read("my repo/.codex/hooks.json"), `[{"hooks"`, `[{"hooks":[]},{"hooks"`, 1))
	if got := trusted(); got != "claude grok " {
		t.Errorf("trusted after a move: %s", got)
	}
	w.install()
	if got := trusted(); got != "claude grok codex " || strings.Contains(w.read("home dir/.codex/config.toml"), "pre_tool_use:1:0") {
		t.Errorf("trusted again: %s\n%s", got, w.read("home dir/.codex/config.toml"))
	}
	w.remove()
	for _, name := range []string{"home dir/.codex/config.toml", "home dir/.grok/trusted_folders.toml"} {
		if _, err := os.Stat(w.path(name)); err == nil {
			t.Errorf("%s is still there:\n%s", name, w.read(name))
		}
	}
}

func TestTrustOfAnOlderReview(t *testing.T) {
	w := newWorld(t)
	w.Targets, w.Trust = []string{"codex"}, true
	key := w.root + "/.codex/hooks.json:pre_tool_use:0:0"
	old := "[projects.\"" + w.root + "\"]\ntrust_level = \"untrusted\"\n\n[hooks.state.\"" + key + "\"]\ntrusted_hash = \"sha256:old\"\n"
	w.write("home dir/.codex/config.toml", old)
	w.install()
	if s, err := Status(w.Options); err != nil || !s[0].Trusted {
		t.Errorf("status = %+v, %v", s, err)
	}
	w.remove()
	if got := w.read("home dir/.codex/config.toml"); got != old {
		t.Errorf("got\n%s", got)
	}
}

// A folder that the person names to Codex stays, even empty.
func TestCodexHome(t *testing.T) {
	for _, scope := range []string{Project, User} {
		w := newWorld(t)
		w.Targets, w.Trust, w.Scope = []string{"codex"}, true, scope
		w.CodexHome = w.path("home dir/codex of mine")
		if err := os.Mkdir(w.CodexHome, 0o755); err != nil {
			t.Fatal(err)
		}
		before := w.snapshot()
		w.install()
		if s, err := Status(w.Options); err != nil || !s[0].Trusted || !strings.Contains(w.read("home dir/codex of mine/config.toml"), "trusted_hash") {
			t.Errorf("status = %+v, %v", s, err)
		}
		w.remove()
		w.same(w.without(w.snapshot()), before, "after remove")
	}
}

func TestLinkedWorkTree(t *testing.T) {
	w := newWorld(t)
	w.write("my repo/.git/worktrees/side/HEAD", "ref: refs/heads/side\n")
	w.write("my repo/.git/worktrees/side/commondir", "../..\n")
	w.write("my repo/.git/worktrees/side/gitdir", w.path("side/.git")+"\n")
	w.write("side/.git", "gitdir: "+w.root+"/.git/worktrees/side\n")
	w.Repo, w.Targets, w.Trust = w.path("side"), []string{"codex"}, true
	r := w.install()
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "primary checkout, "+w.root) {
		t.Errorf("notes = %q", r.Notes)
	}
	if _, err := os.Stat(w.path("side/.codex/hooks.json")); err != nil {
		t.Error(err)
	}
}

func TestStatus(t *testing.T) {
	tests := []struct {
		name string
		set  func(*world)
		want func(State) bool
	}{
		{"nothing", func(w *world) {
			w.remove()
			if err := os.RemoveAll(w.SatelleHome); err != nil {
				w.t.Fatal(err)
			}
		}, func(s State) bool { return !s.Installed && !s.Current && !s.Trusted && !s.Engine && !s.Launcher }},
		{"all", func(*world) {}, func(s State) bool {
			return s.Installed && s.Current && s.Trusted && s.Engine && s.EngineFresh && s.Launcher && s.Off == "" && s.Uninstalled == Deny
		}},
		{"the engine is gone", func(w *world) {
			if err := os.Remove(w.path("home dir/.satelle/bin/satelle-hook")); err != nil {
				w.t.Fatal(err)
			}
		}, func(s State) bool { return s.Installed && !s.Engine }},
		{"the engine is old", func(w *world) { w.write("home dir/.satelle/bin/satelle-hook", "old") }, func(s State) bool { return s.Engine && !s.EngineFresh }},
		{"Claude's switch", func(w *world) {
			w.write("home dir/.claude/settings.json", `{"disableAllHooks": false}`)
			w.write("my repo/.claude/settings.local.json", `{"disableAllHooks": true}`)
		}, func(s State) bool { return s.Harness != "claude" || strings.Contains(s.Off, "settings.local.json") }},
		{"a nearer file turns the hooks on", func(w *world) {
			w.write("home dir/.claude/settings.json", `{"disableAllHooks": true}`)
			w.write("my repo/.claude/settings.local.json", `{"disableAllHooks": false}`)
		}, func(s State) bool { return s.Off == "" }},
		{"Codex's switch", func(w *world) {
			w.write("my repo/.codex/config.toml", "[features]\nhooks = false\n")
		}, func(s State) bool { return s.Harness != "codex" || strings.Contains(s.Off, "config.toml") }},
		{"a broken file", func(w *world) { w.write("my repo/.claude/settings.json", "{") }, func(s State) bool {
			return (s.Harness == "claude") == (strings.Contains(s.Problem, "settings.json") && !s.Installed)
		}},
		{"a half", func(w *world) {
			w.write("my repo/.grok/hooks/satelle.json", strings.Replace(w.read("my repo/.grok/hooks/satelle.json"), "SessionStart", "Stop", 1))
		}, func(s State) bool { return s.Harness != "grok" || !s.Installed && !s.Current }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.Trust = true
			w.install()
			tt.set(w)
			states, err := Status(w.Options)
			if err != nil || len(states) != 3 {
				t.Fatalf("%+v, %v", states, err)
			}
			for _, s := range states {
				if !tt.want(s) {
					t.Errorf("%+v", s)
				}
			}
		})
	}
}

func TestStatusOfTheUserScope(t *testing.T) {
	w := newWorld(t)
	w.Scope, w.Repo = User, "" // needs no repository
	w.install()
	states, err := Status(w.Options)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range states {
		if s.Trusted != (s.Harness != "codex") || !strings.HasPrefix(s.File, w.Home) {
			t.Errorf("%+v", s)
		}
	}
}
