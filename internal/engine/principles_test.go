package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPrinciples(t *testing.T) {
	s := substrate{dir: t.TempDir()}
	if got, err := s.principles(); err != nil || len(got) != 0 {
		t.Errorf("without a folder: %q, %v", got, err)
	}
	dir := filepath.Join(s.dir, "principles")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("b.md", "---\r\nname: b\r\n---\r\nSecond.\r\n")
	write("a.md", "# First\n\n---\nname: kept\n---\n")
	write("c.md", "---\nname: no end\n")
	write("empty.md", "---\nname: e\n---\n")
	write("note.txt", "not one")
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	got, err := s.principles()
	want := []string{"# First\n\n---\nname: kept\n---", "Second.", "---\nname: no end"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	write("d.md", strings.Repeat("x", maxPrinciples))
	if got, err = s.principles(); err != nil || len(got) != 4 || !strings.Contains(got[3], "More principles") {
		t.Errorf("%d, %v", len(got), err)
	}
	write("e.md", "\xff")
	if err := os.Remove(filepath.Join(dir, "d.md")); err != nil {
		t.Fatal(err)
	}
	if _, err = s.principles(); err == nil {
		t.Error("bytes that are no text were taken")
	}
}
