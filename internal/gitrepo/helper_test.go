package gitrepo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// work is a scratch repository under test.
type work struct {
	*testing.T
	dir string
}

// hermetic keeps the person's configuration out.
func hermetic(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "xdg"))
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = n\n\temail = n@example.com\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// newWork makes a repository with one commit of a.txt and dir/b.txt.
func newWork(t *testing.T) work {
	t.Helper()
	hermetic(t)
	return initWork(t, filepath.Join(t.TempDir(), "repo"))
}

func initWork(t *testing.T, dir string) work {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w := work{t, dir}
	w.git("init", "--quiet")
	w.write("a.txt", "a\n")
	w.write("dir/b.txt", "b\n")
	w.commit()
	return w
}

func (w work) git(args ...string) string {
	w.Helper()
	return w.input("", args...)
}

// input is git with something to read.
func (w work) input(text string, args ...string) string {
	w.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.dir
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w work) commit() {
	w.Helper()
	w.git("add", "--all")
	w.git("commit", "--quiet", "--allow-empty", "--message", "x")
}

func (w work) path(name string) string { return filepath.Join(w.dir, name) }

func (w work) write(name, text string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

func (w work) remove(name string) {
	w.Helper()
	if err := os.RemoveAll(w.path(name)); err != nil {
		w.Fatal(err)
	}
}

func (w work) open() *Repo {
	w.Helper()
	r, err := Open(w.Context(), w.dir)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

func (w work) tree() string {
	w.Helper()
	tree, err := w.open().Tree(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return tree
}

// committed is what Tree promises: the tree of a commit of everything, made in
// a copy of the repository.
func (w work) committed() string {
	w.Helper()
	copied := work{w.T, filepath.Join(w.TempDir(), "copy")}
	if out, err := exec.Command("cp", "-a", w.dir, copied.dir).CombinedOutput(); err != nil {
		w.Fatalf("%v\n%s", err, out)
	}
	os.Remove(copied.path(".git/index.lock"))
	copied.git("-c", "core.safecrlf=false", "add", "--all")
	return copied.git("write-tree")
}

func (w work) changed(base string) string {
	w.Helper()
	changes, err := w.open().Changed(w.Context(), base)
	if err != nil {
		w.Fatal(err)
	}
	var b strings.Builder
	for _, c := range changes {
		b.WriteString(c.Status + " " + c.Path + "\n")
	}
	return b.String()
}

// tripwire is a command that leaves a mark if anybody runs it, and the check
// that nobody did.
func (w work) tripwire() (command string, check func()) {
	w.Helper()
	dir := w.TempDir()
	mark := filepath.Join(dir, "mark")
	script := filepath.Join(dir, "wire")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$0 $*\" >>"+mark+"\ncat\n"), 0o755); err != nil {
		w.Fatal(err)
	}
	return script, func() {
		w.Helper()
		if ran, err := os.ReadFile(mark); err == nil {
			w.Errorf("the repository's configuration ran:\n%s", ran)
		}
	}
}
