//go:build kill && linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fullAt are the system calls that a full disk refuses in the ledger's file and
// in the lease, with what it says.
var fullAt = []string{"pwrite64:error=ENOSPC", "ftruncate:error=ENOSPC", "fdatasync:error=EIO"}

// TestKillFullDisk runs one dispatch again and again, each time with a disk that
// is full from another write on, of every process of it, or for that write alone.
// What can't be recorded then the next request records: the lease is free, nothing
// of the agent lives, the transition has an end in the log, and the same command
// ends the job.
func TestKillFullDisk(t *testing.T) {
	w := newDispatchWorld(t)
	points := 0
	for _, fault := range fullAt {
		call, _, _ := strings.Cut(fault, ":")
		w.restore()
		most := w.callsOf(call)
		w.dispatchSettled(call)
		for _, and := range []string{"", "+"} {
			for k := 1; k <= most; k += 1 + k/4 {
				at := fmt.Sprintf("%s:when=%d%s", fault, k, and)
				w.restore()
				out, reached := w.setFull(call, at)
				if reached {
					points++
				}
				if bytes.Contains(out, []byte("panic")) || bytes.Contains(out, []byte("goroutine ")) {
					t.Fatalf("%s: %s", at, out)
				}
				w.dispatchSettled(at)
				w.transitionsEnded(at)
			}
		}
	}
	t.Logf("full at %d points", points)
	if points < 20 {
		t.Fatalf("only %d points were reached: the injection does not work", points)
	}
}

// setFull moves the story on while a system call fails.
func (w *world) setFull(call, fault string) (out []byte, reached bool) {
	w.t.Helper()
	log := filepath.Join(w.dir, "strace.log")
	cmd := w.command("strace", "-f", "-qq", "-o", log, "-e", "trace="+call, "-e", "signal=none", "-e", "inject="+fault,
		filepath.Join(w.bin, "satelle"), "story", "set", w.id, "--next")
	out, _ = cmd.CombinedOutput() // refused or done: what counts is what it left
	trace, err := os.ReadFile(log)
	if err != nil {
		w.t.Fatalf("strace did not run: %v\n%s", err, out)
	}
	return out, bytes.Contains(trace, []byte("(INJECTED)"))
}

// transitionsEnded holds that every transition of the story has one end in the
// log.
func (w *world) transitionsEnded(at string) {
	w.t.Helper()
	log := w.must("satelle", "ledger", "list", "--story", w.id, "--json")
	begun, ended := strings.Count(log, `"kind":"transition.requested"`), 0
	for _, kind := range []string{"committed", "refused", "abandoned"} {
		ended += strings.Count(log, `"kind":"transition.`+kind+`"`)
	}
	if begun == 0 || begun != ended {
		w.t.Fatalf("%s: %d transitions have begun and %d have ended", at, begun, ended)
	}
}
