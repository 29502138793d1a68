//go:build kill

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// killAt are the system calls by which a transition can leave a trace.
var killAt = []string{"pwrite64", "fdatasync", "fsync", "flock", "renameat", "write", "ftruncate", "unlinkat", "execve", "clone3"}

// TestKillTransition runs one gated transition again and again, each time
// killed at another system call, and holds after each: verify holds, the story
// is before or after the move, the dead holder's lease is free, and the same
// command ends the job. strace follows the judging process, too.
func TestKillTransition(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Fatal("the kill suite needs strace")
	}
	w := newWorld(t)
	points := 0
	for _, call := range killAt {
		survived := 0
		for k := 1; survived < 2; k++ {
			w.restore()
			killed := w.setKilled(call, k)
			if killed {
				survived = 0
				points++
			} else {
				survived++
			}
			w.settled(fmt.Sprintf("%s #%d", call, k))
		}
	}
	t.Logf("killed at %d points", points)
	if points < 30 {
		t.Fatalf("only %d points were reached: the injection does not work", points)
	}
}

// world is a repository with a story before its last gate, and a copy of it.
type world struct {
	t          *testing.T
	dir, bin   string
	repo, home string
	id         string
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, dir: t.TempDir()}
	w.repo, w.home, w.bin = filepath.Join(w.dir, "live", "repo"), filepath.Join(w.dir, "live", "home"), filepath.Join(w.dir, "bin")
	for _, d := range []string{w.repo, w.home, w.bin} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", w.bin, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	w.must("git", "init", "-q", "-b", "main")
	w.must("git", "commit", "-q", "--allow-empty", "-m", "one")
	w.must("satelle", "init")
	out := w.must("satelle", "story", "start", "--title", "A", "--ac", "a")
	w.id = out[strings.Index(out, "sty_"):][:12]
	w.copy("live", "kept")
	return w
}

func (w *world) env() []string {
	return []string{
		"PATH=" + w.bin + ":" + os.Getenv("PATH"), "HOME=" + w.home, "SATELLE_HOME=" + filepath.Join(w.home, ".satelle"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org", "GOMAXPROCS=1",
	}
}

func (w *world) command(args ...string) *exec.Cmd {
	path := args[0]
	if path == "satelle" {
		path = filepath.Join(w.bin, "satelle")
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir, cmd.Env = w.repo, w.env()
	return cmd
}

func (w *world) must(args ...string) string {
	w.t.Helper()
	out, err := w.command(args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (w *world) copy(from, to string) {
	w.t.Helper()
	if err := os.RemoveAll(filepath.Join(w.dir, to)); err != nil {
		w.t.Fatal(err)
	}
	out, err := exec.Command("cp", "-a", filepath.Join(w.dir, from), filepath.Join(w.dir, to)).CombinedOutput()
	if err != nil {
		w.t.Fatalf("copying: %v\n%s", err, out)
	}
}

func (w *world) restore() { w.copy("kept", "live") }

// setKilled moves the story on and kills whatever process makes the k-th such
// call of its own; it reports whether one was.
func (w *world) setKilled(call string, k int) bool {
	w.t.Helper()
	log := filepath.Join(w.dir, "strace.log")
	cmd := w.command("strace", "-f", "-qq", "-o", log, "-e", "trace="+call,
		"-e", "inject="+call+":signal=SIGKILL:when="+strconv.Itoa(k),
		filepath.Join(w.bin, "satelle"), "story", "set", w.id, "--next")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // killed or refused or done: what counts is what it left
	trace, err := os.ReadFile(log)
	if err != nil {
		w.t.Fatalf("strace did not run: %v\n%s", err, out.String())
	}
	return bytes.Contains(trace, []byte("killed by SIGKILL"))
}

// settled holds the laws after a kill.
func (w *world) settled(at string) {
	w.t.Helper()
	_ = w.command("satelle", "story", "wait", w.id).Run() // an orphaned judge may still be at it
	if out, err := w.command("satelle", "ledger", "verify", "--full").CombinedOutput(); err != nil {
		w.t.Fatalf("%s: verify: %v\n%s", at, err, out)
	}
	status := w.status()
	if status != "in_progress" && status != "done" {
		w.t.Fatalf("%s: the story is in %q", at, status)
	}
	if status == "in_progress" {
		if out, err := w.command("satelle", "story", "set", w.id, "--status", "done").CombinedOutput(); err != nil {
			w.t.Fatalf("%s: the same command afterwards: %v\n%s", at, err, out)
		}
	}
	if got := w.status(); got != "done" {
		w.t.Fatalf("%s: ended in %q", at, got)
	}
	if out, err := w.command("satelle", "ledger", "verify", "--full").CombinedOutput(); err != nil {
		w.t.Fatalf("%s: verify at the end: %v\n%s", at, err, out)
	}
}

func (w *world) status() string {
	w.t.Helper()
	out := w.must("satelle", "story", "get", w.id, "--json")
	_, rest, _ := strings.Cut(out, `"status":"`)
	status, _, _ := strings.Cut(rest, `"`)
	return status
}
