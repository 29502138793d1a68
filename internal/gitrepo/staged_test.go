package gitrepo

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"satelle/internal/fault"
)

// TestStaged reads what a commit will hold, whichever index git commits, and
// leaves no trace.
func TestStaged(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			hermetic(t)
			w := work{t, t.TempDir()}
			w.git("init", "--quiet", "--object-format="+format)
			w.write("a.txt", "a\n")
			w.write("gone.txt", "g\n")
			w.commit()
			w.write("a.txt", "b\n")
			w.write("new file", "n\n")
			w.remove("gone.txt")
			w.git("add", "--all")
			w.write("a.txt", "not staged\n")
			before := w.files()
			st, err := w.open().Staged(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			defer st.Discard()
			changed, err := st.Changed(t.Context(), "HEAD")
			if err != nil || !slices.Equal(changed, []string{"a.txt", "gone.txt", "new file"}) {
				t.Errorf("%q, %v", changed, err)
			}
			all, err := st.Changed(t.Context(), "")
			if err != nil || !slices.Equal(all, []string{"a.txt", "new file"}) {
				t.Errorf("from nothing: %q, %v", all, err)
			}
			for path, want := range map[string]bool{"a.txt": true, "gone.txt": false, "new file": true} {
				if has, err := st.Has(t.Context(), path); has != want || err != nil {
					t.Errorf("has %s: %v, %v", path, has, err)
				}
			}
			patch, err := st.Patch(t.Context(), "HEAD")
			if err != nil || patch == "" {
				t.Fatal(patch, err)
			}
			if none, err := st.Patch(t.Context(), st.Tree); err == nil {
				t.Errorf("the tree is not kept, but compares: %q", none)
			}
			if _, err := st.Changed(t.Context(), "nowhere"); !fault.Is(err, fault.NotFound) {
				t.Error(err)
			}
			if !maps.Equal(before, w.files()) {
				t.Error("the repository was touched")
			}

			// Another index, as for `git commit a.txt`.
			index := w.path(".git/next-index")
			b, err := os.ReadFile(w.path(".git/index"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(index, b, 0o600); err != nil {
				t.Fatal(err)
			}
			w.git("commit", "--quiet", "--message", "x")
			if ids, err := w.open().Patches(t.Context(), []string{w.git("rev-parse", "HEAD")}); err != nil || ids[w.git("rev-parse", "HEAD")] != patch {
				t.Errorf("the commit's patch is %v, %v, the staged one was %s", ids, err, patch)
			}
			w.git("rm", "--quiet", "--cached", "a.txt")
			for _, name := range []string{index, ".git/next-index"} {
				other, err := w.open().Staged(t.Context(), name)
				if err != nil || other.Tree != st.Tree {
					t.Fatalf("%s: %v, %v", name, other, err)
				}
				other.Discard()
			}
		})
	}
}

func TestParents(t *testing.T) {
	hermetic(t)
	w := work{t, t.TempDir()}
	w.git("init", "--quiet")
	if p, err := w.open().Parents(t.Context()); len(p) != 0 || err != nil {
		t.Errorf("%q, %v", p, err)
	}
	w.write("a.txt", "a\n")
	w.commit()
	at := grow(w)
	w.git("checkout", "--quiet", "--detach", at["mine"])
	w.failing("merge", "other")
	if p, err := w.open().Parents(t.Context()); err != nil || !slices.Equal(p, []string{at["mine"], at["picked"]}) {
		t.Errorf("%q, %v", p, err)
	}
}

// TestParentsOfMany: those that git makes of a merge of many are asked for
// while it makes the commit.
func TestParentsOfMany(t *testing.T) {
	for _, how := range []string{"--ff", "--no-ff"} {
		w := newWork(t)
		for _, branch := range []string{"one", "two"} {
			w.git("checkout", "--quiet", "-b", branch, "main")
			w.write(branch, "x\n")
			w.commit()
		}
		w.git("checkout", "--quiet", "main")
		heads := w.path("heads")
		w.write(".git/hooks/prepare-commit-msg", "#!/bin/sh\ncp .git/MERGE_HEAD '"+heads+"'\ncp .git/MERGE_MODE '"+heads+".mode'\n")
		if err := os.Chmod(w.path(".git/hooks/prepare-commit-msg"), 0o755); err != nil {
			t.Fatal(err)
		}
		before := w.git("rev-parse", "HEAD")
		w.git("merge", "--quiet", how, "--no-edit", "one", "two")
		want := strings.Fields(w.git("log", "-1", "--format=%P"))
		w.git("reset", "--quiet", "--soft", before)
		for from, to := range map[string]string{heads: "MERGE_HEAD", heads + ".mode": "MERGE_MODE"} {
			if err := os.Rename(from, w.path(".git/"+to)); err != nil {
				t.Fatal(err)
			}
		}
		if p, err := w.open().Parents(t.Context()); err != nil || !slices.Equal(p, want) {
			t.Errorf("%s: %q, %v, want %q", how, p, err, want)
		}
	}
}

// TestAddTrailers puts them where git looks for them, and runs nothing that
// the repository configures.
func TestAddTrailers(t *testing.T) {
	w := newWork(t)
	wire, untouched := w.tripwire()
	w.git("config", "trailer.evil.command", wire)
	w.git("config", "trailer.evil.cmd", wire)
	r := w.open()
	for message, want := range map[string]string{
		"one\n":                        "one\n\nA-b: c\nD-e: f\n",
		"one":                          "one\n\nA-b: c\nD-e: f\n",
		"one\n\nbody\n":                "one\n\nbody\n\nA-b: c\nD-e: f\n",
		"one\n\nSigned-off-by: x\n":    "one\n\nSigned-off-by: x\nA-b: c\nD-e: f\n",
		"fix: x\n":                     "fix: x\n\nA-b: c\nD-e: f\n",
		"one\n\n---\nnot a patch\n":    "one\n\n---\nnot a patch\n\nA-b: c\nD-e: f\n",
		"one\n\n# a comment\n# more\n": "one\n\nA-b: c\nD-e: f\n\n# a comment\n# more\n",
	} {
		got, err := r.AddTrailers(t.Context(), []byte(message), "A-b: c", "D-e: f")
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", message, got, err)
		}
	}
	w.git("config", "core.commentChar", ";")
	got, err := r.AddTrailers(t.Context(), []byte("one\n\n; a comment\n"), "A-b: c")
	if want := "one\n\nA-b: c\n\n; a comment\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	untouched()
}

func TestHooksPath(t *testing.T) {
	w := newWork(t)
	w.git("worktree", "add", "--quiet", "--detach", w.path("../linked tree"))
	linked := work{t, filepath.Join(filepath.Dir(w.dir), "linked tree")}
	home := os.Getenv("HOME")
	for _, tt := range []struct {
		set  string
		in   work
		want string
	}{
		{"", w, w.path(".git/hooks")},
		{"", linked, w.path(".git/hooks")},
		{".husky/_", w, w.path(".husky/_")},
		{".husky/_", linked, linked.path(".husky/_")},
		{"/dev/null", w, "/dev/null"},
		{"~/my hooks", linked, filepath.Join(home, "my hooks")},
	} {
		if tt.set != "" {
			w.git("config", "core.hooksPath", tt.set)
		}
		if got, err := tt.in.open().HooksPath(t.Context()); err != nil || real(got) != real(tt.want) {
			t.Errorf("%q: %s, %v, want %s", tt.set, got, err, tt.want)
		}
	}
}

// real follows the symbolic links of a folder for temporary files.
func real(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path
	}
	return filepath.Join(dir, filepath.Base(path))
}

// TestPublish writes a ref, brings it to a remote, and tells how that fails.
func TestPublish(t *testing.T) {
	w := newWork(t)
	r := w.open()
	remote := filepath.Join(t.TempDir(), "remote git")
	w.git("init", "--quiet", "--bare", remote)
	const ref = "refs/satelle/logs/a/b"
	at := map[string]string{}
	write := func(parent string, files ...File) string {
		t.Helper()
		if err := r.Write(t.Context(), ref, parent, "words\n", epoch, files); err != nil {
			t.Fatal(err)
		}
		refs, err := r.Refs(t.Context(), ref)
		if err != nil || refs[ref] == "" {
			t.Fatal(refs, err)
		}
		return refs[ref]
	}
	at["first"] = write("", File{"checkpoint", []byte("1\n")}, File{"records/000", []byte("a\nb")})
	at["second"] = write(at["first"], File{"checkpoint", []byte("2\n")}, File{"records/001", nil})
	files, err := r.Files(t.Context(), at["second"], ".", 9)
	var got []string
	for _, f := range files {
		got = append(got, f.Path+"="+string(f.Data))
	}
	if err != nil || strings.Join(got, " ") != "checkpoint=2\n records/000=a\nb records/001=" {
		t.Errorf("%q, %v", got, err)
	}
	if err := r.Write(t.Context(), ref, at["first"], "not on top", epoch, nil); err == nil {
		t.Error("the ref was set back")
	}
	if err := r.Push(t.Context(), remote, ref); err != nil {
		t.Fatal(err)
	}
	if err := r.Forget(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	write("", File{"checkpoint", []byte("other\n")})
	if err := r.Push(t.Context(), remote, ref); !errors.Is(err, ErrDiverged) {
		t.Errorf("%v", err)
	}
	if absent, err := r.Fetch(t.Context(), remote, ref, "refs/satelle/fetched/x"); absent || err != nil {
		t.Error(absent, err)
	}
	refs, err := r.Refs(t.Context(), "refs/satelle/fetched/")
	if err != nil || refs["refs/satelle/fetched/x"] != at["second"] {
		t.Errorf("%v, %v", refs, err)
	}
	if absent, err := r.Fetch(t.Context(), remote, "refs/nowhere", "refs/satelle/fetched/x"); !absent || err != nil {
		t.Error(absent, err)
	}
	if err := r.Push(t.Context(), filepath.Join(remote, "none"), ref); !errors.Is(err, ErrUnreachable) {
		t.Errorf("%v", err)
	}
	hook := filepath.Join(remote, "hooks", "pre-receive")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.Point(t.Context(), "refs/satelle/logs/c", at["second"]); err != nil {
		t.Fatal(err)
	}
	if err := r.Push(t.Context(), remote, "refs/satelle/logs/c"); !errors.Is(err, ErrDeclined) {
		t.Errorf("%v", err)
	}
}

var epoch = time.Unix(1_700_000_000, 0)
