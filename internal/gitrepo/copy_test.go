package gitrepo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"satelle/internal/fault"
)

// A copy has the commit and the files of the work tree, nothing of it staged.
func TestCopy(t *testing.T) {
	for _, tt := range []struct {
		name   string
		do     func(w work)
		status string // in the copy
	}{
		{"clean", func(work) {}, ""},
		{"modified", func(w work) { w.write("a.txt", "changed\n") }, " M a.txt"},
		{"staged", func(w work) { w.write("a.txt", "s\n"); w.git("add", "a.txt") }, " M a.txt"},
		{"deleted", func(w work) { w.remove("a.txt") }, " D a.txt"},
		{"untracked", func(w work) { w.write("new/deep/file", "n\n") }, "?? new/"},
		{"ignored", func(w work) { w.write(".gitignore", "*.o\n"); w.commit(); w.write("x.o", "o") }, ""},
		{"executable", func(w work) { os.Chmod(w.path("a.txt"), 0o755) }, " M a.txt"},
		{"a link", func(w work) { w.remove("a.txt"); os.Symlink("dir", w.path("a.txt")) }, " T a.txt"},
		{"awkward names", func(w work) { w.write("-dash", "4"); w.write("new\nline", "2") }, "?? -dash\n?? \"new\\nline\""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWork(t)
			w.write(".git/hooks/post-checkout", "#!/bin/sh\ntouch \"$GIT_DIR/ran\"\n")
			os.Chmod(w.path(".git/hooks/post-checkout"), 0o755)
			tt.do(w)
			dir := filepath.Join(t.TempDir(), "a copy")
			copied, err := w.open().Copy(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			c := work{t, dir}
			if got, want := c.tree(), w.tree(); got != want {
				t.Errorf("tree %s, want %s", got, want)
			}
			if got, want := c.git("rev-parse", "HEAD"), w.git("rev-parse", "HEAD"); got != want {
				t.Errorf("HEAD %s, want %s", got, want)
			}
			if got := c.git("rev-parse", "--abbrev-ref", "HEAD"); got != "HEAD" {
				t.Errorf("on branch %s", got)
			}
			if got := strings.TrimRight(c.git("-c", "core.quotePath=true", "status", "--porcelain"), "\n"); got != strings.TrimSpace(tt.status) {
				t.Errorf("status %q, want %q", got, tt.status)
			}
			c.git("fsck", "--no-dangling") // nothing hangs on objects that are gone
			if _, err := os.Stat(filepath.Join(c.dir, "x.o")); err == nil {
				t.Error("what is ignored was copied")
			}
			if copied.Top() != dir && !strings.HasSuffix(copied.Top(), "/a copy") {
				t.Errorf("top %s", copied.Top())
			}
			if err := w.open().RemoveCopy(t.Context(), dir); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("it is left: %v", err)
			}
			if ran, _ := filepath.Glob(w.path(".git/ran")); len(ran)+len(w.git("worktree", "prune", "--verbose")) > 0 {
				t.Errorf("hooks ran, or something is left: %v", ran)
			}
		})
	}
}

func TestCopyOfNothing(t *testing.T) {
	hermetic(t)
	w := work{t, t.TempDir()}
	w.git("init", "--quiet")
	if _, err := w.open().Copy(t.Context(), filepath.Join(t.TempDir(), "c")); !fault.Is(err, fault.Refused) || fault.TryOf(err) == "" {
		t.Error(err)
	}
}

// Filters that the repository sets show git another content than the file's, and
// do not run.
func TestCopyRunsNoFilter(t *testing.T) {
	w := newWork(t)
	w.write(".gitattributes", "*.txt filter=evil\n")
	w.commit()
	mark := filepath.Join(t.TempDir(), "ran")
	w.git("config", "filter.evil.smudge", "touch "+mark+"; cat")
	w.git("config", "filter.evil.clean", "touch "+mark+"; cat")
	if _, err := w.open().Copy(t.Context(), filepath.Join(t.TempDir(), "c")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a filter of the repository ran")
	}
}
