package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"satelle/internal/fault"
)

func TestEngine(t *testing.T) {
	w := newWorld(t)
	w.install()
	for _, name := range []string{engineName, wrapperName} {
		info, err := os.Lstat(w.path("home dir/.satelle/bin/" + name))
		if err != nil || info.Mode() != 0o755 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if w.read("home dir/.satelle/bin/satelle-hook") != w.read("built here/satelle-hook") {
		t.Error("the engine is no copy of the one beside the program")
	}
	if to, err := os.Readlink(w.path("home dir/.satelle/bin/satelle")); err != nil || to != w.Program {
		t.Errorf("satelle leads to %s, %v", to, err)
	}
	if info, err := os.Stat(w.SatelleHome); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("$SATELLE_HOME: %v, %v", info.Mode(), err)
	}

	// A newer engine, and broken ones, are replaced.
	for _, spoil := range []func(path string) error{
		func(path string) error { return os.WriteFile(path, []byte("old"), 0o755) },
		func(path string) error { return os.Chmod(path, 0o644) },
		os.Remove,
		func(path string) error { os.Remove(path); return os.Symlink("/nowhere", path) },
	} {
		if err := spoil(w.path("home dir/.satelle/bin/satelle-hook")); err != nil {
			t.Fatal(err)
		}
		w.install()
		if err := os.Chmod(w.path("home dir/.satelle/bin/satelle-hook.sh"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.install()
		if states, err := Status(w.Options); err != nil || !states[0].Engine || !states[0].EngineFresh {
			t.Errorf("status = %+v, %v", states[0], err)
		}
	}

	// The installed program installs itself again.
	before := w.snapshot()
	w.Program = w.path("home dir/.satelle/bin/satelle")
	w.install()
	w.same(w.snapshot(), before, "after installing by the installed name")
}

func TestModesOfNewFiles(t *testing.T) {
	old := syscall.Umask(0o022)
	t.Cleanup(func() { syscall.Umask(old) })
	w := newWorld(t)
	w.Trust = true
	w.install()
	for name, want := range map[string]os.FileMode{
		"my repo/.claude": 0o755, "my repo/.claude/settings.json": 0o644, "my repo/.grok/hooks/satelle.json": 0o644,
		"home dir/.codex": 0o700, "home dir/.codex/config.toml": 0o600, "home dir/.grok/trusted_folders.toml": 0o600,
		"home dir/.satelle/agents/bin/satelle-grok": 0o755,
	} {
		if info, err := os.Stat(w.path(name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}

func TestLaunchers(t *testing.T) {
	w := newWorld(t)
	w.install()
	for _, name := range []string{"claude", "grok", "npx"} {
		w.write("stubs/"+name, "#!/bin/sh\nprintf '%s' \""+name+"\"\nprintf ' <%s>' \"$@\"\n")
		if err := os.Chmod(w.path("stubs/"+name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ launcher, want string }{
		{"satelle-claude", "claude <-p> <two words>"},
		{"satelle-grok", "grok <agent> <stdio>"},
		{"satelle-codex", "npx <-y> <@agentclientprotocol/codex-acp>"},
	}
	for _, tt := range tests {
		cmd := exec.Command(w.path("home dir/.satelle/agents/bin/"+tt.launcher), "-p", "two words")
		cmd.Env = []string{"PATH=" + w.path("stubs") + ":/usr/bin:/bin"}
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != tt.want {
			t.Errorf("%s ran %q, %v; want %q", tt.launcher, out, err, tt.want)
		}
	}
}

func TestSymlinks(t *testing.T) {
	link := func(w *world, to, from string) {
		w.t.Helper()
		if err := os.MkdirAll(filepath.Dir(w.path(from)), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.Symlink(to, w.path(from)); err != nil {
			w.t.Fatal(err)
		}
	}
	t.Run("within the repository it is followed", func(t *testing.T) {
		w := newWorld(t)
		w.write("my repo/config/claude.json", "{\"a\": 1}\n")
		link(w, "../config/claude.json", "my repo/.claude/settings.json")
		before := w.snapshot()
		w.install()
		if !strings.Contains(w.read("my repo/config/claude.json"), "PreToolUse") {
			t.Error("the file that the link names has no hooks")
		}
		w.remove()
		w.same(w.without(w.snapshot()), before, "after remove")
	})
	t.Run("out of the repository it is refused", func(t *testing.T) {
		w := newWorld(t)
		w.write("home dir/precious.json", "{}")
		link(w, w.path("home dir/precious.json"), "my repo/.claude/settings.json")
		w.refused(fault.Refused)
	})
	t.Run("so is a folder", func(t *testing.T) {
		w := newWorld(t)
		link(w, w.Home, "my repo/.codex")
		w.refused(fault.Refused)
	})
	t.Run("and one that leads nowhere", func(t *testing.T) {
		w := newWorld(t)
		link(w, "nowhere", "my repo/.claude/settings.json")
		w.refused(fault.Refused)
	})
	t.Run("a person's own settings may lie anywhere", func(t *testing.T) {
		w := newWorld(t)
		w.Scope = User
		w.write("dotfiles/settings.json", "{}\n")
		link(w, w.path("dotfiles/settings.json"), "home dir/.claude/settings.json")
		before := w.snapshot()
		w.install()
		if !strings.Contains(w.read("dotfiles/settings.json"), "PreToolUse") {
			t.Error("the file that the link names has no hooks")
		}
		w.remove()
		w.same(w.without(w.snapshot()), before, "after remove")
	})
	t.Run("a folder in place of the settings", func(t *testing.T) {
		w := newWorld(t)
		w.write("my repo/.claude/settings.json/x", "")
		w.refused(fault.Refused)
	})
}

func TestInstallNeedsNoPath(t *testing.T) {
	t.Setenv("PATH", "")
	w := newWorld(t)
	w.install()
	w.remove()
}
