package engine

import (
	"os"
	"path/filepath"
	"testing"

	"satelle/workflow"
)

// TestRouteTellsOfDrift: a story follows the lane that it is pinned to, and its
// route says when the repository's is another one by now.
func TestRouteTellsOfDrift(t *testing.T) {
	e := newRepo(t)
	id := created(t, e, workflow.Fields{})
	behind := func(want bool) {
		t.Helper()
		r, err := reopen(t, e.Top()).Route(t.Context(), id)
		if err != nil || r.Behind != want {
			t.Errorf("behind: %v, %v; want %v", r.Behind, err, want)
		}
	}
	behind(false)
	file := filepath.Join(e.Top(), ".satelle", "workflows", "done.md")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(b, "\n## other\n- raised\n- closed\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	behind(false) // another lane is of no concern
	step := filepath.Join(e.Top(), ".satelle", "workflows", "step.md")
	if b, err = os.ReadFile(step); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(step, append(b, "\n## gate structure2\non: done\nfor: *\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	skills := filepath.Join(e.Top(), ".satelle", "skills")
	if err := os.MkdirAll(skills, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(skills, "structure2.md"), []byte("---\nname: structure2\n---\nIs it sound?\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	behind(true)
	if _, err := reopen(t, e.Top()).Restamp(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	behind(false)
}
