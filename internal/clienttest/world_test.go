//go:build clients

package clienttest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"satelle/internal/proc"
)

// How long one run of a client may take. It takes seconds; the bound is for a
// client that hangs.
const patience = 3 * time.Minute

var (
	programs string // folder of satelle and satelle-hook, built once
	clients  string // folder of the clients
)

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		serveMCP(os.Stdin, os.Stdout)
		os.Exit(0)
	}
	os.Exit(setUp(m))
}

func setUp(m *testing.M) int {
	root, err := filepath.Abs("../..")
	if err != nil {
		return fatal(err)
	}
	clients = filepath.Join(root, ".clients", "bin")
	if _, err := os.Stat(clients); err != nil {
		return fatal(fmt.Errorf("the clients are not installed: run `make clients` (%w)", err))
	}
	if programs, err = os.MkdirTemp("", "satelle-programs-"); err != nil {
		return fatal(err)
	}
	defer os.RemoveAll(programs)
	// Codex's sandbox puts empty folders by these names into /tmp, to mount
	// something over them. Whoever looks for git afterwards finds one there.
	for _, name := range []string{".git", ".agents", ".codex"} {
		if _, err := os.Lstat("/tmp/" + name); err != nil {
			defer os.Remove("/tmp/" + name)
		}
	}
	build := exec.Command("go", "build", "-o", programs, "./cmd/satelle", "./cmd/satelle-hook")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fatal(fmt.Errorf("building the programs: %w\n%s", err, out))
	}
	if err := os.WriteFile(filepath.Join(programs, "pwsh"), []byte(powerShell), 0o755); err != nil {
		return fatal(err)
	}
	return m.Run()
}

// powerShell stands in for PowerShell, as far as the tests use it.
const powerShell = `#!/bin/sh
for word; do last=$word; done
case $last in *"Set-Content "*)
	set -- ${last#*Set-Content }
	echo "$2" >"$1"
esac
`

func fatal(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// world is a machine with a home, satelle installed in it, and one governed
// repository, in which no story holds the seat.
type world struct {
	t               *testing.T
	dir, home, repo string
	cwd             string // where the client starts
	prompt          string // what it is told, "" for the usual words

	kept   map[string][]byte // satelle's files as they have to be, by path
	whole  []byte            // the engine
	ledger string
	writer *os.File // holds the ledger
	around []string // starts the client
}

func newWorld(t *testing.T, harness string, install ...string) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, home: filepath.Join(dir, "home"), repo: filepath.Join(dir, "my repo")}
	w.cwd = w.repo
	for _, d := range []string{w.home, w.repo, filepath.Join(dir, "tmp"), filepath.Join(w.repo, "sub folder")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.run(nil, "git", "init", "-q", "-b", "main")
	for _, who := range []string{"main", "sub"} {
		w.write(who+"-old.txt", "old\n")
		w.write(who+"-book.ipynb", notebook)
	}
	w.satelle("init")
	w.satelle(append([]string{"agents", "install", harness}, install...)...)
	w.run(nil, "git", "add", ".")
	w.run(nil, "git", "-c", "user.name=A Person", "-c", "user.email=person@example.org", "commit", "-q", "-m", "Set up satelle")
	return w
}

const notebook = `{"cells": [{"cell_type": "code", "execution_count": null, "id": "c1", "metadata": {}, "outputs": [], "source": ["1"]}],
 "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
`

// env is all that a program of this world sees.
func (w *world) env(more ...string) []string {
	return append([]string{
		"PATH=" + filepath.Join(w.home, ".satelle", "bin") + ":" + programs + ":/usr/local/bin:/usr/bin:/bin",
		"HOME=" + w.home, "TMPDIR=" + filepath.Join(w.dir, "tmp"), "LANG=C.UTF-8", "IS_SANDBOX=1",
	}, more...)
}

// run runs a program to its end, in a process group of its own that is killed
// then, and fails the test if it fails.
func (w *world) run(env []string, argv ...string) string {
	w.t.Helper()
	code, out := w.try(env, argv...)
	if code != 0 {
		w.t.Fatalf("%q: exit %d\n%s", argv, code, out)
	}
	return out
}

// try runs a program to its end and returns its exit code and output.
func (w *world) try(env []string, argv ...string) (int, string) {
	w.t.Helper()
	r, err := proc.Run(context.Background(), proc.Spec{Argv: argv, Dir: w.cwd, Env: w.env(env...), Timeout: patience, OutputCap: 4 << 20})
	if err != nil || r.TimedOut || r.ExitCode < 0 {
		w.t.Fatalf("%q: %+v, %v\n%s", argv, r, err, r.Output)
	}
	return r.ExitCode, string(r.Output)
}

// asks is what the client is told.
func (w *world) asks() string {
	if w.prompt == "" {
		return "MAIN go"
	}
	return w.prompt
}

// start runs a client to its end.
func (w *world) start(env []string, argv ...string) (int, string) {
	w.t.Helper()
	return w.try(env, append(w.around[:len(w.around):len(w.around)], argv...)...)
}

// satelle runs it as a person does. It may be called between two turns of a
// session, where nothing can end the test.
func (w *world) satelle(args ...string) string {
	w.t.Helper()
	code, out := w.try(nil, append([]string{filepath.Join(programs, "satelle")}, args...)...)
	if code != 0 {
		w.t.Errorf("satelle %q: exit %d\n%s", args, code, out)
	}
	return out
}

// takeSeat starts a story, as a person does.
func (w *world) takeSeat() {
	w.t.Helper()
	w.satelle("story", "start", "--title", "Try the seat", "--ac", "The files change")
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.repo, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// files are those of the work tree.
func (w *world) files() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(w.repo, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		text, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, w.repo+"/")] = string(text)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// untouched expects the work tree as it was.
func (w *world) untouched(before map[string]string) {
	w.t.Helper()
	now := w.files()
	for name, text := range now {
		if old, was := before[name]; !was || old != text {
			w.t.Errorf("%s was written: %q", name, text)
		}
	}
	for name := range before {
		if _, is := now[name]; !is {
			w.t.Errorf("%s is gone", name)
		}
	}
}

// wrote expects a file of the work tree, which may come a moment later, with
// that text in it.
func (w *world) wrote(name, text string) {
	w.t.Helper()
	got, err := await(filepath.Join(w.repo, name))
	if err != nil || !strings.Contains(got, text) {
		w.t.Errorf("%s: %q, %v", name, got, err)
	}
}

// await reads a file that another process is about to write.
func await(path string) (string, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(30 * time.Second)
	for {
		text, err := os.ReadFile(path)
		if err == nil && len(text) > 0 {
			return string(text), nil
		}
		select {
		case <-tick.C:
		case <-late:
			return "", fmt.Errorf("%s did not appear: %w", path, err)
		}
	}
}

// start is the command that a denial names, with satelle by its name or by its
// full path.
const start = `satelle story start --title "WHAT" --ac "WHEN IT IS DONE"`

// denied expects that the model was told no for each call of a turn, with the
// command that leads on.
func denied(t *testing.T, model *Server, conversation, turn int) {
	t.Helper()
	for i := range model.Calls(conversation, turn) {
		r, found := model.Result(conversation, turn, i)
		if !found || !strings.Contains(r.Text, strings.TrimPrefix(start, "satelle")) {
			t.Errorf("%s was not denied with a reason that leads on: %q", r.Call.Tool, r.Text)
		}
	}
}
