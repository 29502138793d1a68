package gitrepo

import (
	"strings"
	"testing"
)

// FuzzReadPatches reads whatever there is, and gives the same id twice.
func FuzzReadPatches(f *testing.F) {
	head := strings.Repeat("a", 40)
	f.Add(head + "\ndiff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@ f\n x\n-y\n\\ No newline at end of file\n")
	f.Add(head + " " + head + "\ndiff --git a/x b/x\nold mode 100644\nnew mode 100755\nindex 1..2\nBinary files a/x and b/x differ\n")
	f.Add("diff --git a/x b/x\n@@ -0,0 +1,2 @@\n+" + head + "\n+--- a/y\n")
	f.Fuzz(func(t *testing.T, text string) {
		read := func() (all []string, err error) {
			err = readPatches(strings.NewReader(text), func(line, id string) {
				if len(id) != 64 || line != "" && !heading([]byte(line)) {
					t.Errorf("%q has the id %q", line, id)
				}
				all = append(all, line+id)
			})
			return all, err
		}
		a, errA := read()
		b, errB := read()
		if strings.Join(a, "\n") != strings.Join(b, "\n") || (errA == nil) != (errB == nil) {
			t.Errorf("%q, %v and %q, %v", a, errA, b, errB)
		}
	})
}

// FuzzParseCommit reads whatever a commit object may hold.
func FuzzParseCommit(f *testing.F) {
	f.Add("tree a\nparent b\nparent c\nauthor n <e> 1 +0000\ncommitter n <e> 1 +0000\ngpgsig -----\n parent d\n\nmessage\n\nmore")
	f.Add("author\n\n")
	f.Fuzz(func(t *testing.T, data string) {
		c := parseCommit("id", data)
		if _, message, _ := strings.Cut(data, "\n\n"); c.Message != message || c.ID != "id" {
			t.Errorf("%+v", c)
		}
	})
}
