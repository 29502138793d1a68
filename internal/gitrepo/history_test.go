package gitrepo

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"satelle/internal/fault"
)

// grow makes a history with a merge, a conflict that somebody resolved and a
// cherry-pick, and returns commits by name.
func grow(w work) map[string]string {
	w.Helper()
	at := map[string]string{}
	mark := func(name string) { at[name] = w.git("rev-parse", "HEAD") }
	mark("first")
	w.git("checkout", "--quiet", "-b", "side")
	w.write("side.txt", "s\n")
	w.write("a b.txt", "blank\n")
	w.commit()
	mark("side")
	w.git("checkout", "--quiet", "main")
	w.write("main.txt", "m\n")
	w.commit()
	mark("main")
	w.git("merge", "--quiet", "--no-edit", "side")
	mark("merge")
	w.git("checkout", "--quiet", "-b", "other", at["main"])
	w.write("a.txt", "other\n")
	w.commit()
	mark("other")
	w.git("cherry-pick", at["side"])
	mark("picked")
	w.git("checkout", "--quiet", "main")
	w.write("a.txt", "mine\n")
	w.commit()
	mark("mine")
	w.failing("merge", "other")
	w.write("a.txt", "both\n")
	w.commit()
	mark("resolved")
	return at
}

func TestHistory(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			hermetic(t)
			w := work{t, t.TempDir()}
			w.git("init", "--quiet", "--object-format="+format)
			w.write("a.txt", "a\n")
			w.commit()
			at := grow(w)
			r := w.open()
			before := w.files()

			rng, err := r.Resolve(t.Context(), at["first"]+"..main")
			if err != nil {
				t.Fatal(err)
			}
			commits, behind, err := r.Commits(t.Context(), rng)
			if err != nil || len(commits) != 7 || !slices.Equal(behind, []string{at["first"]}) {
				t.Fatalf("%d commits, behind %q, %v", len(commits), behind, err)
			}
			last := commits[len(commits)-1]
			if last.ID != at["resolved"] || last.Tree != w.git("rev-parse", "HEAD^{tree}") || len(last.Parents) != 2 ||
				last.Author != "n <n@example.com>" || last.Message != "x\n" {
				t.Errorf("%+v", last)
			}

			paths, err := r.ChangedBy(t.Context(), []string{at["first"], at["side"], at["main"]})
			want := map[string][]string{at["first"]: {"a.txt"}, at["side"]: {"a b.txt", "side.txt"}, at["main"]: {"main.txt"}}
			if err != nil || !maps.EqualFunc(paths, want, slices.Equal) {
				t.Errorf("%v, %v", paths, err)
			}

			ids, err := r.Patches(t.Context(), []string{at["side"], at["picked"], at["main"]})
			if err != nil || ids[at["side"]] == "" || ids[at["side"]] != ids[at["picked"]] || ids[at["main"]] == ids[at["side"]] {
				t.Errorf("%v, %v", ids, err)
			}

			pairs := []string{at["main"] + " " + at["side"], at["mine"] + " " + at["other"], at["main"] + " " + at["side"]}
			err = r.Merges(t.Context(), pairs, func(anew *Repo, merges []Merge) error {
				clean := w.git("rev-parse", at["merge"]+"^{tree}")
				if len(merges) != 3 || merges[0] != (Merge{Tree: clean}) || merges[2] != merges[0] || !merges[1].Conflicts {
					t.Errorf("%+v, want %s", merges, clean)
				}
				change := merges[1].Tree + " " + last.Tree
				paths, err := anew.ChangedBy(t.Context(), []string{change})
				if err != nil || !slices.Contains(paths[change], "a.txt") {
					t.Errorf("%v, %v", paths, err)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(before, w.files()) {
				t.Error("the repository was touched")
			}
		})
	}
}

func TestResolve(t *testing.T) {
	w := newWork(t)
	at := grow(w)
	r := w.open()
	for text, want := range map[string]string{
		"HEAD":                             at["resolved"] + " |",
		at["first"] + "..side":             at["side"] + " |" + at["first"],
		"main...side":                      "2|1",
		"side..":                           at["resolved"] + " |" + at["side"],
		strings.Repeat("0", 40) + "..HEAD": at["resolved"] + " |",
		strings.Repeat("0", 64) + "...":    at["resolved"] + " |",
		"":                                 "usage",
		"--all":                            "usage",
		"-n1":                              "usage",
		"nowhere":                          "none",
		"nowhere..HEAD":                    "none",
		"HEAD..nowhere":                    "none",
		strings.Repeat("1", 40):            "none",
		"HEAD\n^" + at["first"]:            "usage",
		"HEAD --not " + at["first"]:        "none",
	} {
		rng, err := r.Resolve(t.Context(), text)
		got := strings.Join(rng.Tips, " ") + " |" + strings.Join(rng.Below, " ")
		switch {
		case fault.Is(err, fault.Usage):
			got = "usage"
		case fault.Is(err, fault.NotFound):
			got = "none"
		case err != nil:
			got = err.Error()
		case want == "2|1":
			got = fmt.Sprintf("%d|%d", len(rng.Tips), len(rng.Below))
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestPatchID: a patch is itself wherever it is applied, and a single blank
// makes it another.
func TestPatchID(t *testing.T) {
	w := newWork(t)
	many := strings.Repeat("line\n", 50)
	base := func(first string) {
		w.git("checkout", "--quiet", "--force", "--detach", "main")
		w.write("code", first+many+"def f():\n    x\n    y\n"+many)
		w.write("bin", "\x00\x01")
		w.commit()
	}
	id := func(text, bin string) string {
		t.Helper()
		w.write("code", strings.Replace(w.git("show", "HEAD:code")+"\n", "    x\n", text, 1))
		w.write("bin", bin)
		w.commit()
		head := w.git("rev-parse", "HEAD")
		ids, err := w.open().Patches(t.Context(), []string{head})
		if err != nil || ids[head] == "" {
			t.Fatal(ids, err)
		}
		return ids[head]
	}
	base("")
	one := id("    x\n    z\n", "\x00\x01")
	base("something before\n")
	if got := id("    x\n    z\n", "\x00\x01"); got != one {
		t.Error("the place counts")
	}
	for _, other := range []string{"    x\nz\n", "    x\n     z\n", "    x\n    z\r\n", "    x\n\tz\n"} {
		base("")
		if id(other, "\x00\x01") == one {
			t.Errorf("%q has the same id", other)
		}
	}
	base("")
	two := id("    x\n    z\n", "\x00\x02")
	base("")
	if two == one || id("    x\n    z\n", "\x00\x03") == two {
		t.Error("what is no text does not count")
	}
}

// TestPatchText: a line of a file that looks like a header is none.
func TestPatchText(t *testing.T) {
	head := strings.Repeat("1", 40)
	patch := func(lines ...string) string {
		return head + "\ndiff --git a/x b/x\nindex " + head + ".." + head + " 100644\n--- a/x\n+++ b/x\n" + strings.Join(lines, "\n") + "\n"
	}
	sum := func(text string) (ids []string) {
		t.Helper()
		if err := readPatches(strings.NewReader(text), func(line, id string) { ids = append(ids, line+id) }); err != nil {
			t.Fatalf("%v of\n%s", err, text)
		}
		return ids
	}
	a := sum(patch("@@ -1,2 +1 @@ f", " x", "--- a/y"))
	b := sum(patch("@@ -7,2 +9 @@ g", " x", "--- a/y"))
	if len(a) != 1 || !slices.Equal(a, b) {
		t.Errorf("%q\n%q", a, b)
	}
	if c := sum(patch("@@ -1,2 +1 @@", " x", "--- a/z")); slices.Equal(a, c) {
		t.Error("a deleted line does not count")
	}
	if two := sum(patch("@@ -1 +1 @@", "-"+head, "+"+head) + patch("@@ -0,0 +1 @@", "+x", `\ No newline at end of file`)); len(two) != 2 {
		t.Errorf("%q", two)
	}
	for _, bad := range []string{"@@ -1 +1", "@@ -1,x +1 @@", "@@ -1 +1 @@\n?", "@@ -1 +1 @@\n-x", "@@ -1,2 +1 @@\n x\n x", "@@ 1 1 @@"} {
		if err := readPatches(strings.NewReader(patch(bad)), func(string, string) {}); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
