package gitrepo

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Tree is the tree that committing everything would make, whatever was done to
// the work tree before.
func TestTree(t *testing.T) {
	tests := []struct {
		name string
		do   func(w work)
	}{
		{"clean", func(work) {}},
		{"modified", func(w work) { w.write("a.txt", "changed\n") }},
		{"same size", func(w work) { w.write("a.txt", "z\n") }},
		{"staged", func(w work) { w.write("a.txt", "s\n"); w.git("add", "a.txt") }},
		{"staged and modified again", func(w work) { w.write("a.txt", "s\n"); w.git("add", "a.txt"); w.write("a.txt", "t\n") }},
		{"deleted", func(w work) { w.remove("a.txt") }},
		{"staged deletion", func(w work) { w.git("rm", "--quiet", "a.txt") }},
		{"untracked", func(w work) { w.write("new/deep/file", "n\n") }},
		{"added, not staged", func(w work) { w.write("n", "n\n"); w.git("add", "--intent-to-add", "n") }},
		{"ignored", func(w work) { w.write(".gitignore", "*.o\n"); w.write("x.o", "o") }},
		{"ignored and tracked", func(w work) { w.write("x.o", "o"); w.commit(); w.write(".gitignore", "*.o\n"); w.write("x.o", "p") }},
		{"executable", func(w work) { os.Chmod(w.path("a.txt"), 0o755) }},
		{"symbolic link", func(w work) { w.remove("a.txt"); os.Symlink("dir", w.path("a.txt")) }},
		{"dangling link", func(w work) { os.Symlink("nowhere", w.path("l")) }},
		{"file becomes folder", func(w work) { w.remove("a.txt"); w.write("a.txt/in", "x") }},
		{"folder becomes file", func(w work) { w.remove("dir"); w.write("dir", "x") }},
		{"folder becomes link", func(w work) { w.write("other/b.txt", "c"); w.remove("dir"); os.Symlink("other", w.path("dir")) }},
		{"folder becomes a link that is ignored", func(w work) {
			w.write(".gitignore", "/dir\n")
			w.write("other/b.txt", "c")
			w.remove("dir")
			os.Symlink("other", w.path("dir"))
		}},
		{"awkward names", func(w work) {
			w.write("sp ace", "1")
			w.write("new\nline", "2")
			w.write("tab\t", "3")
			w.write("-dash", "4")
			w.write(":(top)magic", "5")
			w.write("q\"uote", "6")
			w.write("\xff\xfe", "7")
			w.write("*", "8")
		}},
		{"line ends", func(w work) { w.write(".gitattributes", "* text=auto\n"); w.write("crlf", "1\r\n2\r\n") }},
		{"conflict", func(w work) {
			w.git("checkout", "--quiet", "-b", "side")
			w.write("a.txt", "side\n")
			w.commit()
			w.git("checkout", "--quiet", "main")
			w.write("a.txt", "main\n")
			w.commit()
			w.failing("merge", "side")
		}},
		{"conflict with a deletion", func(w work) {
			w.git("checkout", "--quiet", "-b", "side")
			w.git("rm", "--quiet", "a.txt")
			w.commit()
			w.git("checkout", "--quiet", "main")
			w.write("a.txt", "main\n")
			w.commit()
			w.failing("merge", "side")
		}},
		{"locked index", func(w work) { w.write("a.txt", "x\n"); w.write(".git/index.lock", "") }},
		{"split index", func(w work) { w.git("update-index", "--split-index"); w.write("a.txt", "x\n") }},
		{"split index asked for", func(w work) { w.git("config", "core.splitIndex", "true"); w.write("a.txt", "x\n") }},
		{"one side of a conflict", func(w work) {
			blob := w.git("rev-parse", "HEAD:a.txt")
			w.git("update-index", "--force-remove", "a.txt")
			w.input("100644 "+blob+" 2\ta.txt\n", "update-index", "--index-info")
		}},
		{"line ends that git warns of", func(w work) {
			w.git("config", "core.autocrlf", "input")
			w.write("crlf", "1\r\n2\r\n")
			w.git("config", "core.safecrlf", "true")
		}},
		{"no index", func(w work) { w.remove(".git/index") }},
		{"index of version 4", func(w work) { w.git("update-index", "--index-version", "4"); w.write("a.txt", "x\n") }},
		{"tracked folder with a repository", func(w work) {
			w.git("init", "--quiet", "dir")
			w.write("dir/b.txt", "x\n")
			w.write("dir/new", "x\n")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWork(t)
			tt.do(w)
			before := w.files()
			got := w.tree()
			if after := w.files(); !maps.Equal(before, after) {
				t.Errorf("the repository was touched")
			}
			if want := w.committed(); got != want {
				t.Errorf("tree %s, want %s\n%s", got, want, w.git("status", "--short"))
			}
		})
	}
}

func (w work) failing(args ...string) {
	w.Helper()
	_, _, err := call{dir: w.dir, conf: []string{"-c", "core.editor=true"}}.git(w.Context(), args...)
	if err == nil {
		w.Fatalf("git %q was expected to fail", args)
	}
}

// files are all files below the work tree, the repository included, with their
// time; that of objects aside, which git renews when it would write them again.
func (w work) files() map[string]string {
	w.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[path] = info.Mode().String()
		if !strings.Contains(path, "sharedindex") && !strings.Contains(path, "/objects/") {
			all[path] += info.ModTime().String()
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
	return all
}

func TestTreeUnborn(t *testing.T) {
	hermetic(t)
	w := work{t, t.TempDir()}
	w.git("init", "--quiet")
	r := w.open()
	empty := w.tree()
	if head, err := r.Head(t.Context()); head != "" || err != nil {
		t.Errorf("head %q, %v", head, err)
	}
	if dirty, err := r.Dirty(t.Context()); dirty || err != nil {
		t.Errorf("dirty %v, %v", dirty, err)
	}
	w.write("a.txt", "a\n")
	if w.tree() == empty {
		t.Error("an untracked file was not seen")
	}
	if dirty, err := r.Dirty(t.Context()); !dirty || err != nil {
		t.Errorf("dirty %v, %v", dirty, err)
	}
	if got := w.changed(""); got != "A a.txt\n" {
		t.Errorf("changed %q", got)
	}
}

func TestTreeSHA256(t *testing.T) {
	hermetic(t)
	w := work{t, t.TempDir()}
	w.git("init", "--quiet", "--object-format=sha256")
	w.write("a.txt", "a\n")
	w.commit()
	w.write("a.txt", "b\n")
	if got := w.tree(); len(got) != 64 || got != w.committed() {
		t.Errorf("tree %s", got)
	}
	if got := w.changed("HEAD"); got != "M a.txt\n" {
		t.Errorf("changed %q", got)
	}
	if got := w.changed(""); got != "A a.txt\n" {
		t.Errorf("changed %q", got)
	}
}

// A linked work tree has an index of its own, and its nested place in the main
// one does not count.
func TestTreeLinked(t *testing.T) {
	w := newWork(t)
	clean := w.tree()
	w.git("worktree", "add", "--quiet", "--detach", "linked")
	if w.tree() != clean {
		t.Error("a linked work tree counts as content")
	}
	linked := work{t, w.path("linked")}
	linked.write("a.txt", "x\n")
	if linked.tree() != linked.committedLinked() {
		t.Error("the tree of the linked work tree is not that of its files")
	}
	if w.tree() != clean {
		t.Error("a change in a linked work tree counts for the main one")
	}
	if linked.open().CommonDir() != w.open().CommonDir() {
		t.Error("they share no common directory")
	}
}

func (w work) committedLinked() string {
	w.git("add", "--all")
	return w.git("write-tree")
}

// No change in a repository within the work tree goes unseen, and going back is
// seen too.
func TestTreeNested(t *testing.T) {
	for _, kind := range []string{"submodule", "untracked", "unborn", "two deep"} {
		t.Run(kind, func(t *testing.T) {
			w := newWork(t)
			inner := work{t, w.path("inner")}
			switch kind {
			case "submodule":
				origin := initWork(t, filepath.Join(t.TempDir(), "origin"))
				w.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", origin.dir, "inner")
				w.commit()
			case "untracked":
				initWork(t, inner.dir)
			case "unborn":
				w.git("init", "--quiet", "inner")
				inner.write("a.txt", "a\n")
			case "two deep":
				initWork(t, inner.dir)
				inner = initWork(t, inner.path("more"))
			}
			first := w.tree()
			if kind == "submodule" && first != w.git("rev-parse", "HEAD^{tree}") {
				t.Error("a clean submodule does not count by its commit")
			}
			seen := []string{first}
			see := func(what string) {
				t.Helper()
				tree := w.tree()
				if slices.Contains(seen, tree) {
					t.Errorf("unseen: %s", what)
				}
				seen = append(seen, tree)
			}
			inner.write("a.txt", "x\n")
			see("a changed file")
			inner.write("untracked", "x\n")
			see("an untracked file")
			inner.write("a.txt", "a\n")
			inner.remove("untracked")
			if w.tree() != first {
				t.Error("the tree is not what it was")
			}
			inner.commit()
			see("a commit")
			if got := w.changed("HEAD"); !strings.Contains(got, " inner\n") {
				t.Errorf("changed %q", got)
			}
		})
	}
}

func TestTreeSubmoduleNotCheckedOut(t *testing.T) {
	w := newWork(t)
	origin := initWork(t, filepath.Join(t.TempDir(), "origin"))
	w.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", origin.dir, "inner")
	w.commit()
	w.git("submodule", "--quiet", "deinit", "--force", "inner")
	if got, want := w.tree(), w.git("rev-parse", "HEAD^{tree}"); got != want {
		t.Errorf("tree %s, want %s", got, want)
	}
}

// The bits and the settings by which git is told not to look hide nothing.
func TestTreeHides(t *testing.T) {
	hide := map[string]func(w work){
		"assume-unchanged": func(w work) { w.git("update-index", "--assume-unchanged", "a.txt") },
		"skip-worktree":    func(w work) { w.git("update-index", "--skip-worktree", "a.txt") },
		"staging":          func(w work) { w.git("config", "core.ignoreStat", "true"); w.git("update-index", "--really-refresh") },
		"both": func(w work) {
			w.git("update-index", "--assume-unchanged", "a.txt")
			w.git("update-index", "--skip-worktree", "a.txt")
		},
		"fsmonitor": func(w work) {
			w.git("config", "core.fsmonitor", "true")
			w.git("-c", "core.fsmonitor=/bin/true", "update-index", "--fsmonitor")
			w.git("-c", "core.fsmonitor=/bin/true", "update-index", "--fsmonitor-valid", "a.txt")
		},
		"weak stat": func(w work) {
			w.git("config", "core.checkStat", "minimal")
			w.git("config", "core.trustctime", "false")
		},
		"no look at the change time": func(w work) { w.git("config", "core.trustctime", "false") },
		"filter": func(w work) {
			w.write(".git/info/attributes", "* filter=lie\n")
			w.git("config", "filter.lie.clean", "printf 'a\\n'")
			w.git("config", "filter.lie.required", "true")
		},
		"replaced tree": func(w work) {
			w.write("a.txt", "zzz\n")
			w.git("add", "a.txt")
			evil := w.git("commit-tree", "-m", "x", w.git("write-tree"))
			w.git("reset", "--quiet", "--hard")
			w.git("replace", "HEAD", evil)
			w.git("update-index", "--refresh")
		},
	}
	for name, hide := range hide {
		t.Run(name, func(t *testing.T) {
			w := newWork(t)
			// What is older than the index is believed to be what the index says.
			past := time.Now().Add(-time.Hour)
			if err := os.Chtimes(w.path("a.txt"), past, past); err != nil {
				t.Fatal(err)
			}
			w.git("update-index", "--refresh")
			clean := w.tree()
			hide(w)
			info, err := os.Stat(w.path("a.txt"))
			if err != nil {
				t.Fatal(err)
			}
			w.write("a.txt", map[bool]string{true: "zzz\n", false: "z\n"}[name == "replaced tree"])
			if err := os.Chtimes(w.path("a.txt"), info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
			if w.tree() == clean {
				t.Error("the change is not in the tree")
			}
			if got := w.changed("HEAD"); got != "M a.txt\n" {
				t.Errorf("changed %q", got)
			}
			if dirty, err := w.open().Dirty(t.Context()); !dirty || err != nil {
				t.Errorf("dirty %v, %v", dirty, err)
			}
		})
	}
}

// A file that git must not look at and that is gone is gone.
func TestTreeHidesDeletion(t *testing.T) {
	w := newWork(t)
	w.git("update-index", "--assume-unchanged", "a.txt")
	w.remove("a.txt")
	if got := w.changed("HEAD"); got != "D a.txt\n" {
		t.Errorf("changed %q", got)
	}
}

// Files that a sparse checkout has left out are not deleted.
func TestTreeSparse(t *testing.T) {
	for _, index := range []string{"--no-sparse-index", "--sparse-index"} {
		w := newWork(t)
		w.git("sparse-checkout", "init", "--cone", index)
		w.git("sparse-checkout", "set", "other")
		if _, err := os.Stat(w.path("dir/b.txt")); err == nil {
			t.Fatal("the checkout is not sparse")
		}
		if got, want := w.tree(), w.git("rev-parse", "HEAD^{tree}"); got != want {
			t.Errorf("%s: tree %s, want %s", index, got, want)
		}
		w.write("a.txt", "x\n")
		if got := w.changed("HEAD"); got != "M a.txt\n" {
			t.Errorf("%s: changed %q", index, got)
		}
	}
}

// A folder for temporary files within the work tree does not make every tree
// another one.
func TestTreeTempInside(t *testing.T) {
	w := newWork(t)
	want := w.tree()
	if err := os.Mkdir(w.path("tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", w.path("tmp"))
	if got := w.tree(); got != want {
		t.Errorf("tree %s, want %s", got, want)
	}
}

func TestTreeUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		// Nothing is unreadable to root; a file that is none stands in for it.
		w := newWork(t)
		w.remove("a.txt")
		mkfifo(t, w.path("a.txt"))
		if _, err := w.open().Tree(t.Context()); err == nil {
			t.Error("a pipe was taken for a file")
		}
		return
	}
	w := newWork(t)
	w.write("closed/x", "x")
	if err := os.Chmod(w.path("closed"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(w.path("closed"), 0o755) })
	if _, err := w.open().Tree(t.Context()); err == nil {
		t.Error("a folder that cannot be read was taken for an empty one")
	}
}

// What git prints of the index is read as far as it is understood.
func TestParseEntries(t *testing.T) {
	const record = "100644 abc 0\ta\tb\x00"
	known := entry{mode: "100644", hash: "abc", stage: "0", path: "a\tb", changed: "1:2", modified: "3:4"}
	unknown := known
	unknown.changed, unknown.modified = "", ""
	tests := []struct {
		out  string
		want []entry
	}{
		{"", nil},
		{record, []entry{unknown}},
		{record + "  ctime: 1:2\n  mtime: 3:4\n  dev: 1\tino: 2\n  size: 1\tflags: 0\n", []entry{known}},
		{record + "  mtime: 3:4\n  more: x\n  ctime: 1:2\n" + record + record, []entry{known, unknown, unknown}},
		{record + "  ctime 1:2", []entry{unknown}},
		{record + "other\n", nil},
		{"100644 abc\ta\x00", nil},
		{"100644 abc 0 a\x00", nil},
	}
	for _, tt := range tests {
		got, err := parseEntries(tt.out)
		if !slices.Equal(got, tt.want) && err == nil || tt.want == nil && tt.out != "" && err == nil {
			t.Errorf("%q: %+v, %v", tt.out, got, err)
		}
	}
}
