package install

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"satelle/internal/fault"
)

// world is a machine with a home, an installed program and one repository; all
// paths hold spaces.
type world struct {
	t *testing.T
	Options
	root string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: filepath.Join(dir, "my repo")}
	w.Options = Options{
		Home:        filepath.Join(dir, "home dir"),
		SatelleHome: filepath.Join(dir, "home dir", ".satelle"),
		Repo:        filepath.Join(w.root, "sub", "folder"),
		Program:     filepath.Join(dir, "built here", "satelle"),
		Targets:     []string{"all"},
	}
	w.write("my repo/.git/HEAD", "ref: refs/heads/main\n")
	w.write("my repo/sub/folder/code.go", "package code\n")
	w.write("home dir/.profile", "\n")
	for _, program := range []string{"satelle", "satelle-hook"} {
		w.write("built here/"+program, "#!/bin/sh\necho "+program+"\n")
		if err := os.Chmod(filepath.Join(dir, "built here", program), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) path(name string) string { return filepath.Join(filepath.Dir(w.root), name) }

func (w *world) write(name, text string) {
	w.t.Helper()
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.t.Helper()
	doc, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(doc)
}

// snapshot is every file, folder and symlink with its mode and content.
func (w *world) snapshot() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(filepath.Dir(w.root), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := []byte{}
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			var to string
			to, err = os.Readlink(path)
			content = []byte(to)
		case d.Type().IsRegular():
			content, err = os.ReadFile(path)
		}
		all[path] = info.Mode().String() + " " + string(content)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// same reports the differences of two snapshots as failures.
func (w *world) same(got, want map[string]string, what string) {
	w.t.Helper()
	for _, d := range differences(got, want) {
		w.t.Errorf("%s: %s", what, d)
	}
}

func differences(got, want map[string]string) []string {
	var out []string
	for path, text := range want {
		if got[path] != text {
			out = append(out, fmt.Sprintf("%s is\n%s\nwant\n%s", path, got[path], text))
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			out = append(out, path+" is new")
		}
	}
	return out
}

func (w *world) install() Report {
	w.t.Helper()
	r, err := Install(w.Options)
	if err != nil {
		w.t.Fatalf("install: %v", err)
	}
	return r
}

func (w *world) remove() Report {
	w.t.Helper()
	r, err := Remove(w.Options)
	if err != nil {
		w.t.Fatalf("remove: %v", err)
	}
	return r
}

// refused expects that neither verb does anything, for a reason of that class.
func (w *world) refused(class error) error {
	w.t.Helper()
	before := w.snapshot()
	_, err := Install(w.Options)
	if err == nil || !fault.Is(err, class) {
		w.t.Errorf("install: error = %v, want one of the class %v", err, class)
	}
	w.same(w.snapshot(), before, "after a refused install")
	return err
}

// without drops what stays on the machine after Remove.
func (w *world) without(all map[string]string) map[string]string {
	for _, name := range []string{"", "/bin", "/bin/" + engineName, "/bin/" + wrapperName, "/bin/" + programName} {
		delete(all, w.SatelleHome+name)
	}
	return all
}
