package install

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"satelle/hooks/dialect"
	"satelle/internal/fault"
)

func TestInstallMakesWhatEachHarnessNeeds(t *testing.T) {
	tests := []struct {
		target string
		files  []string
		events []string
	}{
		{"claude", []string{".claude/settings.json"}, []string{"PreToolUse", "PreSkillShellCommand", "ConfigChange", "PostToolUse", "SessionStart"}},
		{"grok", []string{".grok/hooks/satelle.json"}, []string{"PreToolUse", "PostToolUse", "SessionStart"}},
		{"codex", []string{".codex/hooks.json", ".codex/config.toml"}, []string{"PreToolUse", "PostToolUse", "SessionStart"}},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			w := newWorld(t)
			w.Targets = []string{tt.target}
			before := w.snapshot()
			w.install()
			var settings struct {
				Hooks map[string][]struct {
					Matcher *string
					Hooks   []struct {
						Type, Command, OnFailure string
						Timeout                  int
					}
				}
			}
			if err := json.Unmarshal([]byte(w.read("my repo/"+tt.files[0])), &settings); err != nil {
				t.Fatal(err)
			}
			if len(settings.Hooks) != len(tt.events) {
				t.Errorf("hooks for %d events, want %v", len(settings.Hooks), tt.events)
			}
			for _, e := range tt.events {
				groups := settings.Hooks[e]
				if len(groups) != 1 || len(groups[0].Hooks) != 1 || groups[0].Matcher != nil {
					t.Fatalf("%s: %+v", e, groups)
				}
				h := groups[0].Hooks[0]
				guard := tt.target == "claude" && e != "PostToolUse" && e != "SessionStart"
				if h.Type != "command" || h.Command != dialect.Command(Deny) || h.Timeout != timeout || (h.OnFailure == "block") != guard {
					t.Errorf("%s: %+v", e, h)
				}
			}
			for path := range w.snapshot() {
				name, inRepo := strings.CutPrefix(path, w.root+"/")
				if _, old := before[path]; inRepo && !old && !slices.Contains(tt.files, name) && !isDir(path) {
					t.Errorf("%s was made too", path)
				}
			}
			w.remove()
			w.same(w.without(w.snapshot()), before, "after remove")
		})
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func TestCodexGetsNoTTY(t *testing.T) {
	w := newWorld(t)
	w.write("my repo/.codex/config.toml", "model = \"m\" # mine\n\n[features]\nhooks = true\n")
	w.install()
	want := "model = \"m\" # mine\n\n[features]\nunified_exec_tty = false # satelle\nhooks = true\n"
	if got := w.read("my repo/.codex/config.toml"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestInstallTwiceChangesNothing(t *testing.T) {
	for _, scope := range []string{Project, User} {
		for _, trust := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, trust %v", scope, trust), func(t *testing.T) {
				w := newWorld(t)
				w.Scope, w.Trust = scope, trust
				before := w.snapshot()
				if r := w.install(); len(r.Changes) == 0 {
					t.Error("no changes reported")
				}
				first := w.snapshot()
				if r := w.install(); len(r.Changes) > 0 {
					t.Errorf("the second time changed %v", r.Changes)
				}
				w.same(w.snapshot(), first, "after the second install")
				w.remove()
				w.same(w.without(w.snapshot()), before, "after remove")
				removed := w.snapshot()
				if r := w.remove(); len(r.Changes) > 0 {
					t.Errorf("the second remove changed %v", r.Changes)
				}
				w.same(w.snapshot(), removed, "after the second remove")
			})
		}
	}
}

// mine is what people have in their settings, in formats of all kinds.
var mine = map[string][]string{
	"my repo/.claude/settings.json": {
		"{\n    \"model\" : \"opus\",\n\n    \"hooks\": {\n        \"PreToolUse\": [ {\"matcher\":\"Bash\", \"hooks\":[{\"type\":\"command\",\"command\":\"./mine.sh\"}]} ],\n        \"Stop\": []\n    },\n    \"permissions\": {\"deny\": [ ]}\n}",
		"{}", "{ }\n", "{\"hooks\":{}}\r\n", "\xef\xbb\xbf{\"hooks\": {\"PreToolUse\": [\n]}}\n", "{\r\n\t\"a\": 1\r\n}\r\n",
	},
	"my repo/.grok/hooks/satelle.json": {"{\"$schema\":\"x\",\"hooks\":{\"Stop\":[]}}"},
	"my repo/.codex/hooks.json":        {"{\n  \"description\": \"ours\",\n  \"hooks\": {}\n}\n"},
	"my repo/.codex/config.toml":       {"", "# empty\n", "features = { hooks = true }", "[features]\r\n# no\r\nunified_exec_tty = true # I like it\r\n"},
	"home dir/.codex/config.toml":      {"", "model = \"x\"\n\n[projects.\"/else\"]\ntrust_level = \"trusted\"\n", "[hooks.state.\"/else:pre_tool_use:0:0\"]\ntrusted_hash = 'x'"},
	"home dir/.grok/trusted_folders.toml": {
		"[folders.\"/else\"]\ntrusted = true\ndecided_at = 17\n", "",
	},
}

func TestRemoveRestoresEveryByte(t *testing.T) {
	names := []string{}
	for name := range mine {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		for _, name := range names {
			if i := rapid.IntRange(0, len(mine[name])).Draw(rt, name); i > 0 {
				w.write(name, mine[name][i-1])
				if err := os.Chmod(w.path(name), rapid.SampledFrom([]os.FileMode{0o600, 0o644, 0o664}).Draw(rt, "mode")); err != nil {
					rt.Fatal(err)
				}
			}
		}
		before := w.snapshot()
		order := rapid.Permutation([]string{"claude", "grok", "codex"})
		w.Trust = rapid.Bool().Draw(rt, "trust")
		w.Uninstalled = rapid.SampledFrom([]string{Deny, Allow}).Draw(rt, "uninstalled")
		for _, w.Targets[0] = range order.Draw(rt, "in") {
			w.install()
		}
		w.Targets = []string{"all"}
		if rapid.Bool().Draw(rt, "switch") {
			w.Uninstalled = Deny
			w.install()
		}
		for _, w.Targets[0] = range order.Draw(rt, "out") {
			w.remove()
		}
		if d := differences(w.without(w.snapshot()), before); len(d) > 0 {
			rt.Fatal(strings.Join(d, "\n"))
		}
	})
}

func TestOnlyOwnEntriesAreTouched(t *testing.T) {
	w := newWorld(t)
	alike := dialect.Command(Deny) + " # mine"
	text, err := json.Marshal(map[string]any{"hooks": map[string]any{"PreToolUse": []any{
		map[string]any{"hooks": []any{map[string]any{"type": "command", "command": alike}}},
		map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "satelle-hook"}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	w.write("my repo/.claude/settings.json", string(text))
	w.write("home dir/.satelle/agents/bin/satelle-codex", "#!/bin/sh\n# satelle-launcher of my own\n")
	before := w.without(w.snapshot())
	r := w.install()
	if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "satelle-codex is not satelle's") }) {
		t.Errorf("notes = %q", r.Notes)
	}
	w.remove()
	w.same(w.without(w.snapshot()), before, "after remove")
}

func TestSwitchingTheUninstalledAnswer(t *testing.T) {
	w := newWorld(t)
	w.Trust = true
	w.install()
	w.Uninstalled = Allow
	w.install()
	states, err := Status(w.Options)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range states {
		if s.Uninstalled != Allow || !s.Current || !s.Trusted {
			t.Errorf("%+v", s)
		}
	}
	command, err := json.Marshal(dialect.Command(Deny))
	if err != nil || strings.Contains(w.read("my repo/.claude/settings.json"), string(command)) {
		t.Error("the old command is still there")
	}
}

func TestAChangedEntryIsMended(t *testing.T) {
	w := newWorld(t)
	w.Targets = []string{"claude"}
	w.install()
	good := w.read("my repo/.claude/settings.json")
	w.write("my repo/.claude/settings.json", strings.Replace(good, `"timeout": 60`, `"timeout": 1`, 1))
	if s, err := Status(w.Options); err != nil || s[0].Current || !s[0].Installed {
		t.Errorf("status = %+v, %v", s, err)
	}
	w.install()
	if got := w.read("my repo/.claude/settings.json"); got != good {
		t.Errorf("got %s", got)
	}
}

func TestRefusesWhatItCannotUnderstand(t *testing.T) {
	tests := []struct{ name, file, text, says string }{
		{"invalid JSON", "my repo/.claude/settings.json", "{\n\"a\": 1,\n}", "line 3"},
		{"empty", "my repo/.claude/settings.json", "", "the file is empty"},
		{"truncated", "my repo/.grok/hooks/satelle.json", `{"hooks": {`, "no valid JSON"},
		{"a key twice", "my repo/.claude/settings.json", "{\"hooks\": {},\n\"hooks\": {}}", "line 2"},
		{"a wrong type", "my repo/.claude/settings.json", `{"hooks": []}`, "hooks is no object"},
		{"deeply nested", "my repo/.claude/settings.json", strings.Repeat("[", 2<<20), "no valid JSON"},
		{"huge", "my repo/.claude/settings.json", strings.Repeat(" ", maxSettings+1), "larger than"},
		{"a key for which Codex drops the file", "my repo/.codex/hooks.json", "{\n\"$schema\": \"x\"}", "line 2"},
		{"invalid TOML", "my repo/.codex/config.toml", "a = 1\nb =\n", "line 2"},
		{"a contrary inline value", "my repo/.codex/config.toml", "features = { unified_exec_tty = true }", "set it to false"},
		{"invalid personal TOML", "home dir/.codex/config.toml", "[", "line 1"},
		{"invalid trust of Grok's", "home dir/.grok/trusted_folders.toml", "x", "line 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.Trust = true
			w.write(tt.file, tt.text)
			err := w.refused(fault.Refused)
			if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), w.path(tt.file)) {
				t.Errorf("error = %v, want the file and %q", err, tt.says)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name  string
		set   func(*world)
		class error
	}{
		{"an unknown harness", func(w *world) { w.Targets = []string{"cursor"} }, fault.Usage},
		{"none", func(w *world) { w.Targets = nil }, fault.Usage},
		{"an unknown scope", func(w *world) { w.Scope = "world" }, fault.Usage},
		{"an unknown answer", func(w *world) { w.Uninstalled = "maybe" }, fault.Usage},
		{"no repository", func(w *world) { w.Repo = w.Home }, fault.NotFound},
		{"no engine beside the program", func(w *world) {
			if err := os.Remove(w.path("built here/satelle-hook")); err != nil {
				t.Fatal(err)
			}
		}, fault.NotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.set(w)
			w.refused(tt.class)
		})
	}
}

func TestDryRun(t *testing.T) {
	w := newWorld(t)
	w.write("my repo/.claude/settings.json", "{\n  \"model\": \"opus\"\n}\n")
	before := w.snapshot()
	w.DryRun, w.Trust = true, true
	r := w.install()
	w.same(w.snapshot(), before, "after a dry run")
	i := slices.IndexFunc(r.Changes, func(c Change) bool { return strings.HasSuffix(c.Path, "settings.json") })
	if i < 0 || r.Changes[i].Action != "update" || !strings.Contains(r.Changes[i].Diff, "-  \"model\": \"opus\"\n+  \"model\": \"opus\",\n+  \"hooks\": {\n") {
		t.Errorf("changes = %+v", r.Changes)
	}
	w.DryRun = false
	if real := w.install(); len(real.Changes) != len(r.Changes) {
		t.Errorf("the dry run promised %d changes, %d were made", len(r.Changes), len(real.Changes))
	}
}

func TestNothingElseOfSatelleChanges(t *testing.T) {
	w := newWorld(t)
	w.write("my repo/.satelle/workflows/agents.toml", "[reviewer]\ncommand = \"x y\"\n")
	w.write("home dir/.satelle/config.toml", "[agent]\ncli = \"grok\"\n")
	w.install()
	w.remove()
	if w.read("my repo/.satelle/workflows/agents.toml") != "[reviewer]\ncommand = \"x y\"\n" || w.read("home dir/.satelle/config.toml") != "[agent]\ncli = \"grok\"\n" {
		t.Error("a binding or the choice of the agent has changed")
	}
}

func TestConcurrentChangeIsNotOverwritten(t *testing.T) {
	w := newWorld(t)
	w.write("my repo/.claude/settings.json", "{}")
	j, err := w.Options.resolve()
	if err != nil {
		t.Fatal(err)
	}
	p := &plan{}
	if err := j.install(p, harnesses[0]); err != nil {
		t.Fatal(err)
	}
	w.write("my repo/.claude/settings.json", `{"theirs": 1}`)
	if _, err := p.carryOut(false); !fault.Is(err, fault.Busy) {
		t.Errorf("error = %v", err)
	}
	if got := w.read("my repo/.claude/settings.json"); got != `{"theirs": 1}` {
		t.Errorf("got %s", got)
	}
	left, err := filepath.Glob(w.root + "/.claude/.satelle-*")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
