package place

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// world is a small file system: a home for satelle and a folder for trees.
type world struct {
	t          *testing.T
	home, root string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, home: filepath.Join(root, "satelle home"), root: filepath.Join(root, "trees")}
}

func (w *world) path(name string) string { return filepath.Join(w.root, name) }

func (w *world) write(name, content string) {
	w.t.Helper()
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) link(target, name string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Symlink(target, w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

// repo lays down what git init would, as far as this package looks.
func (w *world) repo(name string) {
	for _, f := range []string{"HEAD", "objects/info/packs", "refs/heads/main"} {
		w.write(name+"/.git/"+f, "x\n")
	}
}

func (w *world) marker(name string) { w.write(name+"/"+Marker, "id = \"p\"\n") }

func (w *world) register(commonDir string) {
	w.t.Helper()
	dir := filepath.Join(w.home, RepoKey(w.path(commonDir)))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ledger.db"), nil, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// linked adds a linked work tree at name to repo.
func (w *world) linked(repo, id, name string) {
	entry := repo + "/.git/worktrees/" + id
	w.write(entry+"/HEAD", "x\n")
	w.write(entry+"/commondir", "../..\n")
	w.write(entry+"/gitdir", w.path(name)+"/.git\n")
	w.write(name+"/.git", "gitdir: "+w.path(entry)+"\n")
}

func TestFind(t *testing.T) {
	type want struct {
		workTree, treeID, common, root string
		registered                     bool
	}
	governed := func(w *world) { w.repo("a"); w.marker("a"); w.register("a/.git") }
	primary := want{"a", ".", "a/.git", "a", true}
	for _, c := range []struct {
		name  string
		build func(w *world)
		path  string
		want  want
	}{
		{"nothing there", func(*world) {}, "a/b", want{}},
		{"a repository that nobody governs", func(w *world) { w.repo("a") }, "a/x", want{workTree: "a", treeID: ".", common: "a/.git"}},
		{"the root", governed, "a", primary},
		{"deep below, not existing", governed, "a/no/such/file", primary},
		{"below a file", func(w *world) { governed(w); w.write("a/f", "") }, "a/f/x", primary},
		{"inside of the git dir", governed, "a/.git/hooks/pre-commit", primary},
		{"a fresh clone without a ledger", func(w *world) { w.repo("a"); w.marker("a") }, "a/x", want{"a", ".", "a/.git", "a", false}},
		{"registered, but the tree lacks .satelle", func(w *world) { w.repo("a"); w.register("a/.git") }, "a/x", want{"a", ".", "a/.git", "", true}},
		{"registered, and .git is damaged", func(w *world) { w.write("a/.git/x", ""); w.register("a/.git") }, "a/x", want{"a", ".", "a/.git", "", true}},
		{"a folder .satelle alone governs nothing", func(w *world) { w.repo("a"); w.write("a/.satelle/config.toml", "") }, "a/x", want{workTree: "a", treeID: ".", common: "a/.git"}},
		{"a nested repository belongs to the governed one around it", func(w *world) { governed(w); w.repo("a/vendor/n") }, "a/vendor/n/x", primary},
		{"a nested repository that is registered stands for itself", func(w *world) { governed(w); w.repo("a/n"); w.register("a/n/.git") }, "a/n/x", want{"a/n", ".", "a/n/.git", "", true}},
		{"a nested repository with its own marker", func(w *world) { governed(w); w.repo("a/n"); w.marker("a/n") }, "a/n/x", want{"a/n", ".", "a/n/.git", "a/n", false}},
		{"a submodule", func(w *world) {
			governed(w)
			w.write("a/.git/modules/m/HEAD", "x")
			w.write("a/m/.git", "gitdir: ../.git/modules/m\n")
		}, "a/m/x", primary},
		{"a marker in a folder without git", func(w *world) { w.marker("p") }, "p/q/x", want{root: "p"}},
		{"a repository below a marker without git", func(w *world) { w.marker("p"); w.repo("p/q") }, "p/q/x", want{root: "p"}},
		{"a marker in a sub-folder of the work tree", func(w *world) { governed(w); w.marker("a/sub") }, "a/sub/x", want{"a", ".", "a/.git", "a/sub", true}},
		{"a linked work tree", func(w *world) { governed(w); w.linked("a", "w1", "elsewhere/w"); w.marker("elsewhere/w") }, "elsewhere/w/x", want{"elsewhere/w", "w1", "a/.git", "elsewhere/w", true}},
		{"a linked work tree of an old commit", func(w *world) { governed(w); w.linked("a", "w1", "w") }, "w/x", want{"w", "w1", "a/.git", "", true}},
		{"a linked work tree inside of the primary one", func(w *world) { governed(w); w.linked("a", "w1", "a/.claude/worktrees/w1") }, "a/.claude/worktrees/w1/x", want{"a/.claude/worktrees/w1", "w1", "a/.git", "", true}},
		{"through a symlink", func(w *world) { governed(w); w.link("../a/src", "l/here") }, "l/here/x", primary},
		{"a symlink that leads out", func(w *world) { governed(w); w.link(w.path("out"), "a/escape") }, "a/escape/x", want{}},
		{"a dangling symlink into the tree", func(w *world) { governed(w); w.link(w.path("a/new"), "l") }, "l", primary},
		{"dot-dot after a symlink goes up from its target", func(w *world) {
			governed(w)
			w.write("out/deep/f", "")
			w.link(w.path("out/deep"), "a/d")
		}, "a/d/../x", want{}},
		{"dot-dot that comes back", governed, "a/../a/x", primary},
		{"a separate git dir", func(w *world) {
			w.write("s/HEAD", "x")
			w.write("a/.git", "gitdir: "+w.path("s"))
			w.register("s")
		}, "a/x", want{"a", ".", "s", "", true}},
		{"a bare repository", func(w *world) {
			w.repo("b")
			if err := os.Rename(w.path("b/.git"), w.path("b.git")); err != nil {
				w.t.Fatal(err)
			}
			w.register("b.git")
		}, "b.git/hooks/x", want{"", ".", "b.git", "", true}},
		{"a forged .git to an unregistered repository governs nothing", func(w *world) { w.repo("a"); w.write("f/.git", "gitdir: "+w.path("a/.git")) }, "f/x", want{workTree: "f", treeID: ".", common: "a/.git"}},
		{"a .git file with other content", func(w *world) { governed(w); w.write("a/n/.git", "hello") }, "a/n/x", primary},
		{"an empty .git folder inside of a governed tree", func(w *world) {
			governed(w)
			if err := os.MkdirAll(w.path("a/n/.git"), 0o755); err != nil {
				w.t.Fatal(err)
			}
		}, "a/n/x", primary},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.build(w)
			got, err := Find(w.home, w.root+"/"+c.path)
			if err != nil {
				t.Fatal(err)
			}
			abs := func(name string) string {
				if name == "" {
					return ""
				}
				return w.path(name)
			}
			want := Place{WorkTree: abs(c.want.workTree), TreeID: c.want.treeID, CommonDir: abs(c.want.common), Registered: c.want.registered, Root: abs(c.want.root)}
			if want.CommonDir != "" {
				want.RepoKey = RepoKey(want.CommonDir)
				want.Dir = filepath.Join(w.home, want.RepoKey)
			}
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if got.Governed() != (c.want.registered || c.want.root != "") {
				t.Errorf("Governed is %v", got.Governed())
			}
		})
	}
}

func TestFindRefusesForgedWorkTrees(t *testing.T) {
	for name, forge := range map[string]func(w *world){
		"the entry of another work tree": func(w *world) {
			w.linked("a", "w1", "w")
			w.write("f/.git", "gitdir: "+w.path("a/.git/worktrees/w1"))
		},
		"inside of another governed tree": func(w *world) {
			w.repo("b")
			w.register("b/.git")
			w.write("b/f/.git", "gitdir: "+w.path("a/.git"))
			w.link("b/f", "f")
		},
		"the primary work tree's own git dir": func(w *world) { w.write("f/.git", "gitdir: "+w.path("a/.git")) },
		"a symlink to another git dir":        func(w *world) { w.write("f/x", ""); w.link(w.path("a/.git"), "f/.git") },
		"an entry without a way back": func(w *world) {
			w.write("a/.git/worktrees/w1/commondir", "../..")
			w.write("f/.git", "gitdir: "+w.path("a/.git/worktrees/w1"))
		},
		"an entry outside of the common dir": func(w *world) {
			w.write("e/commondir", w.path("a/.git"))
			w.write("e/gitdir", w.path("f/.git"))
			w.write("f/.git", "gitdir: "+w.path("e"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.repo("a")
			w.register("a/.git")
			forge(w)
			if p, err := Find(w.home, w.path("f/x")); !errors.Is(err, ErrForged) {
				t.Errorf("got %+v, %v; want ErrForged", p, err)
			}
		})
	}
}

func TestHomeGovernsNotTheUsersHome(t *testing.T) {
	w := newWorld(t)
	w.marker("user")
	w.home = w.path("user/.satelle")
	if p, err := Find(w.home, w.path("user/notes.txt")); err != nil || p.Governed() {
		t.Errorf("got %+v, %v; want ungoverned", p, err)
	}
}

func TestFindErrors(t *testing.T) {
	w := newWorld(t)
	w.link("loop", "loop")
	w.write("long/.git", "gitdir: "+strings.Repeat("x", maxLink))
	for _, path := range []string{"relative", w.path("a\x00b"), w.path("loop/x"), w.path("long/x")} {
		if p, err := Find(w.home, path); err == nil {
			t.Errorf("Find(%q) = %+v, want an error", path, p)
		}
	}
}

func TestHomeDir(t *testing.T) {
	for _, c := range []struct{ satelle, home, want string }{
		{"", "/h", "/h/.satelle"},
		{"/s//x/", "/h", "/s/x"},
		{"/s", "", "/s"},
		{"rel", "/h", ""},
		{"", "", ""},
		{"", "rel", ""},
	} {
		t.Setenv(HomeEnv, c.satelle)
		t.Setenv("HOME", c.home)
		got, err := HomeDir()
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("HomeDir with %+v = %q, %v", c, got, err)
		}
	}
}

func TestRepoKey(t *testing.T) {
	for _, c := range []struct{ dir, base string }{
		{"/x/demo/.git", "demo"},
		{"/x/demo.git", "demo"},
		{"/x/my repo ä/.git", "my-repo---"},
		{"/x/.hidden/.git", "-hidden"},
		{"/.git", "-"},
		{"/" + strings.Repeat("n", 90) + "/.git", strings.Repeat("n", maxBase)},
	} {
		key := RepoKey(c.dir)
		base, digest := key[:len(key)-33], key[len(key)-32:]
		if base != c.base || strings.Trim(digest, "0123456789abcdef") != "" {
			t.Errorf("RepoKey(%q) = %q, want base %q and 32 hex digits", c.dir, key, c.base)
		}
	}
	// Frozen: a changed key would orphan every ledger.
	if got, want := RepoKey("/x/demo/.git"), "demo-6589982d7b98c3117fd6cf0aec53301b"; got != want {
		t.Errorf("RepoKey = %q, want %q", got, want)
	}
	if RepoKey("/x/demo/.git") == RepoKey("/y/demo/.git") {
		t.Error("two clones share a key")
	}
}

func TestAboveTakesNothingForGranted(t *testing.T) {
	w := newWorld(t)
	w.repo("a")
	w.marker("a")
	w.register("a/.git")
	w.repo("a/n")
	w.register("a/n/.git")
	w.marker("a/sub")
	known, err := Find(w.home, w.path("a"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"a", "a/x", "a/n/x", "a/sub/x", "b"} {
		want, err := Find(w.home, w.path(path))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Above(w.home, w.path(path), known); err != nil || got != want {
			t.Errorf("%s: got %+v, %v; want %+v", path, got, err, want)
		}
	}
}
