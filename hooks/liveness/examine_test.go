package liveness

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"satelle/hooks/dialect"
	"satelle/hooks/install"
)

func TestAllIsWell(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.examine()
	if !r.OK || !r.Governed || !r.Installed() || len(r.Findings) != 0 || r.Tree != w.repo {
		t.Errorf("%+v", r)
	}
	for _, name := range install.Names() {
		h := w.hook(r, name, install.Project)
		if !h.Installed || !h.Current || !h.Trusted || !h.Denies || !h.Live || h.Proof != ProofCanary {
			t.Errorf("%+v", h)
		}
		if h := w.hook(r, name, install.User); h.Installed || h.Live || h.Proof != "" {
			t.Errorf("%+v", h)
		}
		if !slices.ContainsFunc(r.Open, func(o Opening) bool { return o.Harness == name }) {
			t.Errorf("nothing is told to stay open under %s", name)
		}
	}
	if h := w.hook(r, "git", "clone"); !h.Installed || !h.Current || !h.Live || h.Proof != ProofFiles {
		t.Errorf("%+v", h)
	}
	if r.Warning("claude") != "" {
		t.Errorf("a warning: %s", r.Warning("claude"))
	}
}

func TestNothingIsInstalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remove("all", install.Project)
	r := w.examine()
	if r.Installed() || slices.ContainsFunc(r.Open, func(o Opening) bool { return o.Harness != "git" }) {
		t.Errorf("%+v", r)
	}
}

// disarmed is a way in which hooks come to nothing.
type disarmed struct {
	name    string
	set     func(*world)
	finding string
	level   string
	harness string // "" for one of no harness
	dead    bool   // the project's hooks of that harness are not live
}

var disarming = []disarmed{
	// Claude Code.
	{"switched off by the person", func(w *world) {
		w.write("home/.claude/settings.json", `{"disableAllHooks": true}`)
	}, "hooks-off", Broken, "claude", true},
	{"switched off by the local file", func(w *world) {
		w.write("my repo/.claude/settings.local.json", `{"disableAllHooks": true}`)
	}, "hooks-off", Broken, "claude", true},
	{"switched off in a sub-directory", func(w *world) {
		w.write("my repo/sub/.claude/settings.local.json", `{"disableAllHooks": true}`)
		w.Dir = w.path("my repo/sub")
	}, "hooks-off", Broken, "claude", true},
	{"permissions of the wrong type", func(w *world) {
		w.replace("my repo/.claude/settings.json", "{", `{"permissions": "garbage",`)
	}, "file-dropped", Broken, "claude", true},
	{"no valid JSON", func(w *world) {
		w.replace("my repo/.claude/settings.json", "{", "{,")
	}, "unreadable", Broken, "claude", true},
	{"a local file that is dropped", func(w *world) {
		w.write("my repo/.claude/settings.local.json", "{,")
	}, "file-dropped", Note, "claude", false},
	{"an unknown onFailure", func(w *world) {
		w.replace("my repo/.claude/settings.json", `"onFailure": "block"`, `"onFailure": "banana"`)
	}, "entry-dropped", Broken, "claude", true},
	{"no onFailure", func(w *world) {
		w.replace("my repo/.claude/settings.json", ",\n            \"onFailure\": \"block\"", "")
	}, "fails-open", Open, "claude", false},
	{"a matcher", func(w *world) {
		w.replace("my repo/.claude/settings.json", `"hooks": [`, `"matcher": "Edit|Write", "hooks": [`)
	}, "narrowed", Open, "claude", false},
	{"async", func(w *world) {
		w.replace("my repo/.claude/settings.json", `"type": "command"`, `"async": true, "type": "command"`)
	}, "async", Broken, "claude", true},
	{"a short timeout", func(w *world) {
		w.replace("my repo/.claude/settings.json", `"timeout": 60`, `"timeout": 1`)
	}, "timeout", Open, "claude", false},
	{"an event is missing", func(w *world) {
		w.replace("my repo/.claude/settings.json", `"PreSkillShellCommand"`, `"Stop"`)
	}, "incomplete", Broken, "claude", true},
	{"a changed command", func(w *world) {
		w.write("my repo/.claude/settings.json", strings.ReplaceAll(w.read("my repo/.claude/settings.json"), "exit 0; ", "exit 0; true; "))
	}, "altered", Broken, "claude", true},
	{"a simple Claude", func(w *world) { w.env("CLAUDE_CODE_SIMPLE=1") }, "environment", Broken, "claude", true},
	{"a safe Claude", func(w *world) { w.env("CLAUDE_CODE_SAFE_MODE=1") }, "environment", Broken, "claude", true},
	{"managed hooks only", func(w *world) {
		w.write("etc/claude-code/managed-settings.json", `{"allowManagedHooksOnly": true}`)
	}, "managed", Broken, "claude", true},
	{"managed settings", func(w *world) {
		w.write("etc/claude-code/managed-settings.json", `{}`)
	}, "managed", Note, "claude", false},
	{"a sub-directory", func(w *world) {
		w.write("my repo/sub/x", "")
		w.Dir = w.path("my repo/sub")
	}, "sub-directory", Open, "claude", false},

	// Codex.
	{"[features] hooks", func(w *world) {
		w.replace("my repo/.codex/config.toml", "[features] # satelle\n", "[features] # satelle\nhooks = false\n")
	}, "hooks-off", Broken, "codex", true},
	{"[features] codex_hooks of the person", func(w *world) {
		w.replace("home/.codex/config.toml", "[projects", "[features]\ncodex_hooks = false\n[projects")
	}, "hooks-off", Broken, "codex", true},
	{"an untrusted project", func(w *world) {
		w.replace("home/.codex/config.toml", `trust_level = "trusted"`, `trust_level = "untrusted"`)
	}, "untrusted-project", Broken, "codex", true},
	{"a changed hash", func(w *world) {
		w.replace("home/.codex/config.toml", `"sha256:`, `"sha256:0`)
	}, "changed", Broken, "codex", true},
	{"no review", func(w *world) {
		w.replace("home/.codex/config.toml", `:pre_tool_use:0:0"`, `:stop:0:0"`)
	}, "unreviewed", Broken, "codex", true},
	{"a position that moved", func(w *world) {
		w.replace("my repo/.codex/hooks.json", `"PreToolUse": [`, `"PreToolUse": [{"hooks": [{"type": "command", "command": "mine"}]},`)
	}, "moved", Broken, "codex", true},
	{"a review that was switched off", func(w *world) {
		w.replace("home/.codex/config.toml", "trusted_hash", "enabled = false\ntrusted_hash")
	}, "disabled", Broken, "codex", true},
	{"an unknown key", func(w *world) {
		w.replace("my repo/.codex/hooks.json", "{", `{"$schema": "x",`)
	}, "unreadable", Broken, "codex", true},
	{"a timeout of the wrong type", func(w *world) {
		w.replace("my repo/.codex/hooks.json", `{`, `{"description": 5,`)
	}, "file-dropped", Broken, "codex", true},
	{"a foreign timeout of the wrong type", func(w *world) {
		w.replace("my repo/.codex/hooks.json", `"PreToolUse": [`, `"Stop": [{"hooks": [{"type": "command", "command": "mine", "timeout": "5"}]}], "PreToolUse": [`)
	}, "file-dropped", Broken, "codex", true},
	{"a matcher that is no pattern", func(w *world) {
		w.replace("my repo/.codex/hooks.json", `"hooks": [`, `"matcher": "(", "hooks": [`)
	}, "entry-dropped", Broken, "codex", true},
	{"a broken configuration", func(w *world) { w.write("home/.codex/config.toml", "[") }, "unreadable", Broken, "codex", true},
	{"terminals", func(w *world) {
		w.replace("my repo/.codex/config.toml", "false", "true")
	}, "typing", Open, "codex", false},
	{"a folder of Codex in temp", func(w *world) {
		w.CodexHome = w.path("tmp/codex")
		w.install("codex", install.Project, true)
	}, "environment", Note, "codex", false},
	{"managed hooks only", func(w *world) {
		w.write("etc/codex/requirements.toml", "allow_managed_hooks_only = true\n")
	}, "managed", Broken, "codex", true},

	// Grok.
	{"an untrusted folder", func(w *world) {
		w.replace("home/.grok/trusted_folders.toml", "trusted = true", "trusted = false")
	}, "untrusted-folder", Broken, "grok", true},
	{"trust by a variable", func(w *world) {
		w.write("home/.grok/trusted_folders.toml", "")
		w.env("GROK_FOLDER_TRUST=0")
	}, "environment", Note, "grok", false},
	{"a timeout that is no whole number", func(w *world) {
		w.replace("my repo/.grok/hooks/satelle.json", `"timeout": 60`, `"timeout": 60.5`)
	}, "file-dropped", Broken, "grok", true},
	{"a foreign timeout that is text", func(w *world) {
		w.replace("my repo/.grok/hooks/satelle.json", `"PreToolUse": [`, `"Stop": [{"hooks": [{"type": "command", "command": "mine", "timeout": "5"}]}], "PreToolUse": [`)
	}, "file-dropped", Broken, "grok", true},
	{"no timeout", func(w *world) {
		w.replace("my repo/.grok/hooks/satelle.json", ",\n            \"timeout\": 60", "")
	}, "timeout", Open, "grok", false},
	{"no valid JSON", func(w *world) {
		w.replace("my repo/.grok/hooks/satelle.json", "{", "{,")
	}, "unreadable", Broken, "grok", true},
	{"another folder of Grok", func(w *world) { w.env("GROK_HOME=/nowhere") }, "environment", Broken, "grok", true},
	{"Claude's hooks are not Grok's", func(w *world) {
		w.remove("grok", install.Project)
		w.env("GROK_CLAUDE_HOOKS_ENABLED=0")
	}, "environment", Open, "grok", true},

	// Any.
	{"the engine is gone", func(w *world) { w.sh("rm", w.path("home/.satelle/bin/satelle-hook")) }, "engine-missing", Broken, "", true},
	{"the engine is not executable", func(w *world) { w.sh("chmod", "644", w.path("home/.satelle/bin/satelle-hook")) }, "engine-missing", Broken, "", true},
	{"the engine is old", func(w *world) { w.program("home/.satelle/bin/satelle-hook", engine+"# old\n") }, "engine-outdated", Open, "", false},
	{"the wrapper is old", func(w *world) { w.program("home/.satelle/bin/satelle-hook.sh", "exit 0\n") }, "engine-outdated", Open, "", false},
	{"the program is gone", func(w *world) { w.sh("rm", w.path("home/.satelle/bin/satelle")) }, "program-missing", Open, "", false},
	{"satelle's folder is open to others", func(w *world) { w.sh("chmod", "755", w.path("home/.satelle")) }, "home", Open, "", false},
	{"another satelle is first", func(w *world) {
		w.program("bin/satelle", "#!/bin/sh\n")
		w.write("home/.profile", "PATH='"+w.path("bin")+"':$PATH\n")
	}, "path", Open, "", false},
	{"a login shell finds none", func(w *world) { w.write("home/.profile", "") }, "path", Note, "", false},
	{"a login shell fails", func(w *world) {
		w.program("bin/a shell", "#!/bin/sh\n[ \"$1\" = -c ] || exit 1\nexec sh \"$@\"\n")
		w.Shell = w.path("bin/a shell")
	}, "path", Note, "", false},
	{"a launcher with a flag", func(w *world) {
		w.program("home/.satelle/agents/bin/satelle-claude", "#!/bin/sh\nexec claude --setting-sources user \"$@\"\n")
	}, "launcher", Open, "", false},
	{"not committed", func(w *world) {
		w.git("rm", "-q", "--cached", ".claude/settings.json")
		w.git("commit", "-q", "-m", "Without")
	}, "uncommitted", Open, "", false},
	{"committed before they were installed", func(w *world) {
		text := w.read("my repo/.codex/hooks.json")
		w.write("my repo/.codex/hooks.json", "{}\n")
		w.commit()
		w.write("my repo/.codex/hooks.json", text)
	}, "uncommitted", Open, "", false},
	{"ignored", func(w *world) {
		w.git("rm", "-q", "--cached", ".claude/settings.json")
		w.git("commit", "-q", "-m", "Without")
		w.write("my repo/.git/info/exclude", ".claude\n")
	}, "ignored", Note, "", false},
	{"a work tree without hooks", func(w *world) {
		w.git("worktree", "add", "-q", "-b", "side", "../side tree")
		w.sh("rm", "-r", w.path("side tree/.claude"))
	}, "work-tree", Open, "claude", false},
	{"a hook of git is gone", func(w *world) { w.sh("rm", w.path("my repo/.git/hooks/pre-push")) }, "incomplete", Broken, "git", true},
	{"a hook of git is not executable", func(w *world) { w.sh("chmod", "644", w.path("my repo/.git/hooks/pre-commit")) }, "not-executable", Broken, "git", true},
	{"a hook of git was changed", func(w *world) {
		w.replace("my repo/.git/hooks/pre-commit", "exit 1", "exit 0")
	}, "outdated", Open, "git", false},
	{"git looks elsewhere", func(w *world) { w.git("config", "core.hooksPath", "/nowhere") }, "git-hooks", Note, "git", false},
	{"a link that leads out", func(w *world) {
		w.sh("mv", w.path("my repo/.claude/settings.json"), w.path("moved.json"))
		w.sh("ln", "-s", w.path("moved.json"), w.path("my repo/.claude/settings.json"))
	}, "unreadable", Broken, "claude", true},
	{"a folder in place of the settings", func(w *world) {
		w.sh("rm", w.path("my repo/.grok/hooks/satelle.json"))
		w.write("my repo/.grok/hooks/satelle.json/x", "")
	}, "unreadable", Broken, "grok", true},
}

func TestDisarming(t *testing.T) {
	t.Parallel()
	for _, d := range disarming {
		t.Run(d.harness+" "+d.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d.set(w)
			// What the files tell of a harness needs no process to be seen.
			w.Quick = d.harness != "" && d.harness != "git" && d.finding != "work-tree"
			r := w.examine()
			found := named(r, d.finding)
			found = slices.DeleteFunc(found, func(f Finding) bool { return f.Level != d.level || f.Harness != d.harness })
			if len(found) == 0 {
				t.Fatalf("no finding %s (%s) of %q in %+v", d.finding, d.level, d.harness, r.Findings)
			}
			if r.OK != (d.level == Note) {
				t.Errorf("OK = %v: %+v", r.OK, r.Findings)
			}
			for _, h := range r.Hooks {
				if h.Scope != install.User && (h.Harness == d.harness || d.harness == "" && h.Harness != "git") && h.Live == d.dead {
					t.Errorf("live = %v: %+v", h.Live, r.Findings)
				}
				// What befalls one harness leaves the others alive.
				if h.Scope == install.Project && d.harness != "" && h.Harness != d.harness && !h.Live && d.finding != "environment" {
					t.Errorf("%s is dead, too: %+v", h.Harness, r.Findings)
				}
			}
			for _, f := range r.Findings {
				if f.What == "" || f.Mend == "" {
					t.Errorf("it says too little: %+v", f)
				}
			}
			// A command that mends it does.
			if d.level != Note && w.mend(found[0].Mend) {
				if again := named(w.examine(), d.finding); len(again) >= len(found) && again[0].Level == d.level {
					t.Errorf("%s does not mend it: %+v", found[0].Mend, again)
				}
			}
		})
	}
}

// What is closed already is no finding.
func TestNotDisarming(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*world){
		"the nearer file switches on": func(w *world) {
			w.write("home/.claude/settings.json", `{"disableAllHooks": true}`)
			w.write("my repo/.claude/settings.local.json", `{"disableAllHooks": false}`)
		},
		"no boolean switches off": func(w *world) { w.write("my repo/.claude/settings.local.json", `{"disableAllHooks": "yes"}`) },
		"a variable that is off":  func(w *world) { w.env("CLAUDE_CODE_SIMPLE=0", "GROK_FOLDER_TRUST=1") },
		"trust by Grok's configuration": func(w *world) {
			w.write("home/.grok/trusted_folders.toml", "")
			w.write("home/.grok/config.toml", "[folder_trust]\nenabled = false\n")
		},
		"terminals closed by the person": func(w *world) {
			w.write("my repo/.codex/config.toml", "")
			w.replace("home/.codex/config.toml", "[projects", "[features]\nunified_exec_tty = false\n[projects")
			w.commit()
		},
		"another's hook behind ours": func(w *world) {
			w.write("my repo/.codex/hooks.json", strings.Replace(w.read("my repo/.codex/hooks.json"), "\n    ],\n    \"PostToolUse\"",
				",{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\", \"timeout\": 5}]}\n    ],\n    \"PostToolUse\"", 1))
			w.commit()
		},
		"a link within the repository": func(w *world) {
			w.write("my repo/config/claude.json", w.read("my repo/.claude/settings.json"))
			w.sh("ln", "-sf", "../config/claude.json", w.path("my repo/.claude/settings.json"))
			w.commit()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			set(w)
			if r := w.examine(); !r.OK || len(r.Findings) > 0 {
				t.Errorf("%+v", r.Findings)
			}
		})
	}
}

// The person's own settings close what a project's can't.
func TestUserScopeCloses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install("all", install.User, true)
	w.write("my repo/sub/x", "")
	w.git("worktree", "add", "-q", "../side")
	w.sh("rm", "-r", w.path("side/.claude"), w.path("side/.grok"))
	w.git("rm", "-q", "--cached", ".claude/settings.json")
	w.Dir = w.path("my repo/sub")
	r := w.examine()
	if !r.OK {
		t.Errorf("%+v", r.Findings)
	}
	for _, name := range install.Names() {
		if h := w.hook(r, name, install.User); !h.Live {
			t.Errorf("%+v", h)
		}
	}
	// In no repository at all.
	w.write("else/x", "")
	w.Dir = w.path("else")
	r = w.examine()
	if !r.OK || r.Governed || r.Tree != "" || len(r.Hooks) != len(install.Names()) {
		t.Errorf("%+v", r)
	}
	for _, h := range r.Hooks {
		if !h.Live || !h.Denies {
			t.Errorf("%+v", h)
		}
	}
	w.env("CLAUDE_CONFIG_DIR=" + w.path("elsewhere"))
	if f := named(w.examine(), "environment"); len(f) != 1 || f[0].Harness != "claude" || f[0].Level != Broken {
		t.Errorf("%+v", f)
	}
}

func TestLinkedWorkTree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.git("worktree", "add", "-q", "../side")
	w.Dir = w.path("side")
	r := w.examine()
	if h := w.hook(r, "codex", install.Project); !h.Live || h.File != filepath.Join(w.repo, ".codex", "hooks.json") {
		t.Errorf("%+v\n%+v", h, r.Findings)
	}
	if h := w.hook(r, "claude", install.Project); !h.Live || h.File != w.path("side/.claude/settings.json") {
		t.Errorf("%+v", h)
	}
	if h := w.hook(r, "grok", install.Project); !h.Live { // the trust covers the repository
		t.Errorf("%+v\n%+v", h, r.Findings)
	}
	if f := named(r, "linked-tree"); len(f) != 1 || !r.OK {
		t.Errorf("%+v", r.Findings)
	}
}

func TestFolderWithoutGit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.program("bin/grok", "#!/bin/sh\nexit 1\n")
	w.install("claude", install.User, false)
	w.write("plain/.satelle/satelle.toml", "project = \"q\"\n")
	w.Dir = w.path("plain")
	r := w.examine()
	if f := named(r, "no-git"); len(f) != 1 || f[0].Level != Open || !w.mend(f[0].Mend) {
		t.Fatalf("%+v", r.Findings)
	}
	if r = w.examine(); len(named(r, "no-git")) != 0 || !w.hook(r, "grok", install.User).Live {
		t.Errorf("%+v", r)
	}
}

// Without a process nothing is fired or asked; the files still tell.
func TestQuick(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.program("home/.satelle/bin/satelle-hook", "#!/bin/sh\ntouch '"+w.path("fired")+"'\n")
	w.program("built here/satelle-hook", w.read("home/.satelle/bin/satelle-hook"))
	w.program("bin/codex", "#!/bin/sh\ntouch '"+w.path("fired")+"'\n")
	w.Quick = true
	if r := w.examine(); !r.OK || !w.hook(r, "codex", install.Project).Live {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(w.path("fired")); err == nil {
		t.Error("something was started")
	}
	w.write("my repo/.claude/settings.local.json", `{"disableAllHooks": true}`)
	r := w.examine()
	if got := r.Warning("claude"); !strings.Contains(got, "disableAllHooks") || strings.Contains(got, "\n") {
		t.Errorf("warning: %q", got)
	}
	if got := r.Warning("codex"); got != "" {
		t.Errorf("warning: %q", got)
	}
}

func TestDisarms(t *testing.T) {
	for command, want := range map[string]string{
		"claude -p":                              "",
		"claude --bare -p":                       "--bare",
		"claude --setting-sources=user":          "--setting-sources",
		"claude -p 'what is --barely?'":          "",
		"codex exec -c features.hooks=false":     "features.hooks=false",
		"codex --disable  hooks exec":            "--disable hooks",
		"codex -c 'features.codex_hooks=false'":  "features.codex_hooks=false",
		"codex --disable unified_exec_tty":       "",
		"opencode run --pure":                    "--pure",
		"exec claude --safe-mode \"$@\"":         "--safe-mode",
		dialect.Command(dialect.Deny):            "",
		"npx -y @agentclientprotocol/codex-acp ": "",
	} {
		if got := Disarms(command); got != want {
			t.Errorf("Disarms(%q) = %q, want %q", command, got, want)
		}
	}
}
