//go:build kill

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
