//go:build kill || bench

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// world is a repository with a story before its last gate, and a copy of it.
type world struct {
	t          *testing.T
	dir, bin   string
	repo, home string
	id         string
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, dir: t.TempDir()}
	w.repo, w.home, w.bin = filepath.Join(w.dir, "live", "repo"), filepath.Join(w.dir, "live", "home"), filepath.Join(w.dir, "bin")
	for _, d := range []string{w.repo, w.home, w.bin} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", w.bin, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	w.must("git", "init", "-q", "-b", "main")
	w.must("git", "commit", "-q", "--allow-empty", "-m", "one")
	w.must("satelle", "init")
	out := w.must("satelle", "story", "start", "--title", "A", "--ac", "a")
	w.id = out[strings.Index(out, "sty_"):][:12]
	w.copy("live", "kept")
	return w
}

func (w *world) env() []string {
	return []string{
		"PATH=" + w.bin + ":" + os.Getenv("PATH"), "HOME=" + w.home, "SATELLE_HOME=" + filepath.Join(w.home, ".satelle"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org", "GOMAXPROCS=1",
	}
}

func (w *world) command(args ...string) *exec.Cmd {
	path := args[0]
	if path == "satelle" {
		path = filepath.Join(w.bin, "satelle")
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir, cmd.Env = w.repo, w.env()
	return cmd
}

func (w *world) must(args ...string) string {
	w.t.Helper()
	out, err := w.command(args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (w *world) copy(from, to string) {
	w.t.Helper()
	if err := os.RemoveAll(filepath.Join(w.dir, to)); err != nil {
		w.t.Fatal(err)
	}
	out, err := exec.Command("cp", "-a", filepath.Join(w.dir, from), filepath.Join(w.dir, to)).CombinedOutput()
	if err != nil {
		w.t.Fatalf("copying: %v\n%s", err, out)
	}
}

func (w *world) restore() { w.copy("kept", "live") }

func (w *world) status() string {
	w.t.Helper()
	out := w.must("satelle", "story", "get", w.id, "--json")
	_, rest, _ := strings.Cut(out, `"status":"`)
	status, _, _ := strings.Cut(rest, `"`)
	return status
}
