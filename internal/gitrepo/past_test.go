package gitrepo

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"satelle/internal/fault"
)

func TestPast(t *testing.T) {
	hermetic(t)
	w := work{t, t.TempDir()}
	w.git("init", "--quiet")
	w.write("a.txt", "a\n")
	w.commit()
	at := grow(w)
	r := w.open()
	treeOf := func(name string) string { return w.git("rev-parse", at[name]+"^{tree}") }

	latest, err := r.Latest(t.Context(), at["main"], 1)
	if err != nil || len(latest) != 1 || latest[0].ID != at["main"] || latest[0].Tree != treeOf("main") {
		t.Errorf("%+v %v", latest, err)
	}
	if latest, err = r.Latest(t.Context(), at["main"], 9); err != nil || len(latest) != 2 || latest[0].ID != at["first"] {
		t.Errorf("%+v %v", latest, err)
	}

	for path, want := range map[string]string{"side.txt": at["side"], "main.txt": at["main"], "none": ""} {
		if got, err := r.FirstWith(t.Context(), at["merge"], path); err != nil || got != want {
			t.Errorf("%s came with %s, want %s (%v)", path, got, want, err)
		}
	}

	had, err := r.HadTrees(t.Context(), []string{at["main"], at["side"]}, []string{treeOf("first"), treeOf("side"), treeOf("merge")})
	if err != nil || !had[treeOf("first")] || !had[treeOf("side")] || had[treeOf("merge")] {
		t.Errorf("%v %v", had, err)
	}

	tips, err := r.TipTrees(t.Context())
	if err != nil || !slices.Contains(tips[treeOf("resolved")], at["resolved"]) || tips[treeOf("first")] != nil {
		t.Errorf("%v %v", tips, err)
	}
}

func TestOpenHistory(t *testing.T) {
	hermetic(t)
	w := work{t, t.TempDir()}
	w.git("init", "--quiet")
	w.write("a.txt", "a\n")
	w.commit()
	head := w.git("rev-parse", "HEAD")
	bare := filepath.Join(t.TempDir(), "bare.git")
	w.git("clone", "--quiet", "--bare", ".", bare)
	for _, dir := range []string{w.dir, bare, filepath.Join(bare, "refs")} {
		r, err := OpenHistory(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		rng, err := r.Resolve(t.Context(), "HEAD")
		if err != nil || !slices.Equal(rng.Tips, []string{head}) {
			t.Errorf("%s: %+v %v", dir, rng, err)
		}
		ids, err := r.Patches(t.Context(), rng.Tips)
		if err != nil || ids[head] == "" {
			t.Errorf("%s: %v %v", dir, ids, err)
		}
		if shallow, err := r.Shallow(t.Context()); err != nil || shallow {
			t.Errorf("%s: %v %v", dir, shallow, err)
		}
	}
	empty := t.TempDir()
	for _, dir := range []string{empty, filepath.Join(w.dir, ".git"), filepath.Join(empty, "none")} {
		if _, err := OpenHistory(t.Context(), dir); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if err := os.WriteFile(filepath.Join(empty, ".git"), []byte("gitdir: nowhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenHistory(t.Context(), empty); err == nil {
		t.Error("a repository that is nowhere")
	}
}

// TestParseCommit reads what git reads, whatever else is in the object.
func TestParseCommit(t *testing.T) {
	hermetic(t)
	w := work{t, t.TempDir()}
	w.git("init", "--quiet")
	w.write("a.txt", "a\n")
	w.commit()
	good := w.git("rev-parse", "HEAD^{tree}")
	w.write("a.txt", "evil\n")
	w.commit()
	evil := w.git("rev-parse", "HEAD^{tree}")
	parent := w.git("rev-parse", "HEAD")
	const who = "A <a@example.org> 1700000000 +0000"
	object := "tree " + evil + "\nparent " + parent + "\nauthor " + who + "\ncommitter " + who +
		"\ntree " + good + "\nparent " + good + "\nauthor B <b@example.org> 1 +0000\ngpgsig x\n y\n \n tree " + good + "\n\nSubject\n\ntree " + good + "\n"
	id := w.input(object, "hash-object", "-t", "commit", "-w", "--literally", "--stdin")
	if tree := w.git("rev-parse", id+"^{tree}"); tree != evil {
		t.Fatalf("git reads the tree %s", tree)
	}
	commits, err := w.open().Read(t.Context(), []string{id})
	if err != nil {
		t.Fatal(err)
	}
	c := commits[0]
	if c.Tree != evil || !slices.Equal(c.Parents, []string{parent}) || c.Author != "A <a@example.org>" || c.Message != "Subject\n\ntree "+good+"\n" {
		t.Errorf("%+v", c)
	}
}
