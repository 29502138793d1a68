package gitrepo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"satelle/internal/fault"
)

func mkfifo(t *testing.T, path string) {
	t.Helper()
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOpen(t *testing.T) {
	w := newWork(t)
	w.git("worktree", "add", "--quiet", "--detach", "../linked")
	w.git("init", "--quiet", "--bare", "../bare.git")
	w.git("init", "--quiet", "--separate-git-dir", "../apart.git", "../apart")
	if err := os.Symlink("repo", w.path("../link")); err != nil {
		t.Fatal(err)
	}
	w.write("../plain/file", "")
	base, err := filepath.EvalSymlinks(filepath.Dir(w.dir))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		dir, top, common string
		class            error
	}{
		{"repo", "repo", "repo/.git", nil},
		{"repo/dir", "repo", "repo/.git", nil},
		{"link/dir", "repo", "repo/.git", nil},
		{"linked", "linked", "repo/.git", nil},
		{"apart", "apart", "apart.git", nil},
		{"repo/.git", "", "", fault.NotFound},
		{"repo/.git/hooks", "", "", fault.NotFound},
		{"bare.git", "", "", fault.NotFound},
		{"plain", "", "", fault.NotFound},
		{"gone", "", "", fault.NotFound},
	}
	for _, tt := range tests {
		r, err := Open(t.Context(), filepath.Join(base, tt.dir))
		if tt.class != nil {
			if !fault.Is(err, tt.class) {
				t.Errorf("%s: err = %v, want %v", tt.dir, err, tt.class)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.dir, err)
			continue
		}
		if r.Top() != filepath.Join(base, tt.top) || r.CommonDir() != filepath.Join(base, tt.common) {
			t.Errorf("%s: top %s, common %s", tt.dir, r.Top(), r.CommonDir())
		}
	}
}

// A repository cannot send its reader elsewhere.
func TestOpenElsewhere(t *testing.T) {
	w := newWork(t)
	other := initWork(t, filepath.Join(t.TempDir(), "other"))
	decoy := work{t, t.TempDir()} // says that it belongs to the repository
	decoy.write(".git", "gitdir: "+w.path(".git")+"\n")
	for _, to := range []string{other.dir, decoy.dir, filepath.Dir(w.dir), w.path("dir")} {
		w.git("config", "core.worktree", to)
		if r, err := Open(t.Context(), w.dir); err == nil {
			t.Errorf("core.worktree = %s: opened %s", to, r.Top())
		}
	}
	if _, err := Open(t.Context(), w.path("dir")); !fault.Is(err, fault.Refused) {
		t.Errorf("err = %v", err)
	}
}

// The caller's GIT_* variables, which a git hook has, do not steer us.
func TestEnvironment(t *testing.T) {
	w := newWork(t)
	other := initWork(t, filepath.Join(t.TempDir(), "other"))
	other.write("a.txt", "other\n")
	want := w.tree()
	for k, v := range map[string]string{
		"GIT_DIR": other.path(".git"), "GIT_WORK_TREE": other.dir, "GIT_INDEX_FILE": other.path(".git/index"),
		"GIT_OBJECT_DIRECTORY": other.path(".git/objects"), "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare",
		"GIT_CONFIG_VALUE_0": "true", "GIT_EXTERNAL_DIFF": "false", "GIT_CEILING_DIRECTORIES": w.dir, "LC_ALL": "de_DE.UTF-8",
	} {
		t.Setenv(k, v)
	}
	if got := w.tree(); got != want {
		t.Errorf("tree %s, want %s", got, want)
	}
	if _, err := Open(t.Context(), t.TempDir()); !fault.Is(err, fault.NotFound) {
		t.Errorf("err = %v", err)
	}
}

func TestHead(t *testing.T) {
	w := newWork(t)
	want := w.git("rev-parse", "HEAD")
	if got, err := w.open().Head(t.Context()); got != want || err != nil {
		t.Errorf("head %q, %v", got, err)
	}
	w.git("checkout", "--quiet", "--detach")
	if got, err := w.open().Head(t.Context()); got != want || err != nil {
		t.Errorf("detached head %q, %v", got, err)
	}
}

func TestConfig(t *testing.T) {
	w := newWork(t)
	w.git("config", "core.hooksPath", "/some/hooks")
	w.git("config", "section.key", "two\nlines")
	r := w.open()
	for key, want := range map[string]string{"core.hooksPath": "/some/hooks", "section.key": "two\nlines", "user.name": "n", "no.such": ""} {
		if got, err := r.Config(t.Context(), key); got != want || err != nil {
			t.Errorf("%s = %q, %v", key, got, err)
		}
	}
	if _, err := r.Config(t.Context(), "nosection"); err == nil {
		t.Error("a key without section has a value")
	}
}

func TestCheckIgnored(t *testing.T) {
	w := newWork(t)
	w.write(".gitignore", "*.local\n/build/\n")
	r := w.open()
	for path, want := range map[string]bool{"x.local": true, "dir/x.local": true, "build/x": true, "a.txt": false, ":(glob)**": false, filepath.Join(r.Top(), "x.local"): true} {
		if got, err := r.CheckIgnored(t.Context(), path); got != want || err != nil {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
	if _, err := r.CheckIgnored(t.Context(), "../outside"); err == nil {
		t.Error("a path outside of the work tree has an answer")
	}
}

// A read that is given up leaves no folder behind.
func TestContext(t *testing.T) {
	w := newWork(t)
	r := w.open()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Tree(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	w.tree()
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestQuotePath(t *testing.T) {
	for path, want := range map[string]string{"/a b": "/a b", "/a:b": `"/a:b"`, `/a"b\`: `"/a\"b\\"`} {
		if got := quotePath(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	hermetic(t)
	w := initWork(t, filepath.Join(t.TempDir(), `odd: "name"`))
	w.write("a.txt", "x\n")
	if got := w.changed("HEAD"); got != "M a.txt\n" {
		t.Errorf("changed %q", got)
	}
	if patch, _, err := w.open().Diff(t.Context(), "HEAD", 0); err != nil || !strings.Contains(string(patch), "-a\n+x\n") {
		t.Errorf("patch %q, %v", patch, err)
	}
}
