//go:build codexlive

package codexlive

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"satelle/internal/proc"
)

// patience bounds one turn of a real model.
const patience = 5 * time.Minute

// asked is what the model is told. It is told not to look for a way around, since
// the refusal itself names the command that leads on.
const asked = "This is a test of a hook. Run exactly this one shell command and nothing else: echo smoke > smoke.txt . " +
	"If it is refused, do not try anything else: say so and stop."

// Without a seat the person's own Codex is refused a change, by the hook; with
// one it makes it.
func TestCodexSmoke(t *testing.T) {
	if err := Prerequisite(t.Context()); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	// Beside the person's configuration: not below a temporary folder, where
	// Codex's sandbox lets everything through.
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(cache, "satelle-smoke-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	repo, programs := filepath.Join(dir, "repo"), filepath.Join(dir, "programs")
	for _, d := range []string{repo, programs} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "SATELLE_HOME="+filepath.Join(dir, "home"), "PATH="+programs+":"+os.Getenv("PATH"))
	run := func(in string, argv ...string) string {
		t.Helper()
		// Not the test's context: what was installed has to be taken away after
		// it has ended.
		r, err := proc.Run(context.Background(), proc.Spec{Argv: argv, Dir: in, Env: env, Timeout: patience})
		if err != nil || !r.OK() {
			t.Fatalf("%q: %+v, %v\n%s", argv, r, err, r.Output)
		}
		return string(r.Output)
	}
	run(root, "go", "build", "-o", programs, "./cmd/satelle", "./cmd/satelle-hook")
	satelle := filepath.Join(programs, "satelle")
	run(repo, "git", "init", "-q", "-b", "main")
	run(repo, satelle, "init")
	// It records in the person's configuration that this repository and its hooks
	// are trusted, and takes that away again.
	run(repo, satelle, "agents", "install", "codex", "--trust")
	t.Cleanup(func() { run(repo, satelle, "agents", "remove", "codex") })

	file := filepath.Join(repo, "smoke.txt")
	said := run(repo, "codex", "exec", "-s", "workspace-write", asked)
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("without a seat the file was written: %v\n%s", err, said)
	}
	if denials := run(repo, satelle, "ledger", "list", "--kind", "observed.denied"); !strings.Contains(denials, "smoke.txt") && !strings.Contains(denials, "Bash") {
		t.Errorf("the hook has denied nothing; did the model try at all?\n%s\n%s", denials, said)
	}

	run(repo, satelle, "story", "start", "--title", "Smoke", "--ac", "smoke.txt holds smoke")
	said = run(repo, "codex", "exec", "-s", "workspace-write", asked)
	if b, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(b)) != "smoke" {
		t.Errorf("with the seat: %q, %v\n%s", b, err, said)
	}
}
