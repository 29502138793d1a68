//go:build kill && linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// leaving is an agent that answers and leaves a process of its group and one of a
// session of its own.
const leaving = "sleep 600 & setsid sleep 601 & cat > /dev/null; printf '%s' '" + valid + "'\n"

// TestKillDispatch runs one dispatch again and again, each time with another
// process of it killed at another system call: the command that asked, the
// judge, the supervisor, the agent. After each nothing of the agent lives, the
// ledger verifies, the story is before or after the move, and the same command
// ends the job.
func TestKillDispatch(t *testing.T) {
	w := newDispatchWorld(t)
	points := 0
	for _, call := range []string{"pwrite64", "fdatasync", "flock", "write", "renameat", "execve", "clone3", "clone", "wait4", "waitid", "kill", "pidfd_open"} {
		w.restore()
		most := w.callsOf(call)
		w.dispatchSettled(call)
		for k := 1; k <= most; k += 1 + k/5 { // each of the first, then fewer
			w.restore()
			w.setKilled(call, k)
			points++
			w.dispatchSettled(fmt.Sprintf("%s #%d", call, k))
		}
	}
	t.Logf("killed at %d points", points)
	if points < 30 {
		t.Fatalf("only %d points were reached: the injection does not work", points)
	}
}

// newDispatchWorld is a repository with a story whose next step is an agent's.
func newDispatchWorld(t *testing.T) *world {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Fatal("the kill suite needs strace")
	}
	w := newWorld(t)
	for name, text := range plannedRoute {
		path := filepath.Join(w.repo, ".satelle", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(w.repo, "..", "agent.sh"), []byte(leaving), 0o600); err != nil {
		t.Fatal(err)
	}
	w.must("satelle", "trust", "--yes")
	w.must("satelle", "story", "set", w.id, "--status", "cancelled")
	out := w.must("satelle", "story", "create", "--title", "A", "--ac", "a")
	w.id = out[strings.Index(out, "sty_"):][:12]
	w.copy("live", "kept")
	return w
}

// callsOf is how often the process of a dispatch that makes a system call most
// often makes it.
func (w *world) callsOf(call string) int {
	w.t.Helper()
	log := filepath.Join(w.dir, "calls.log")
	cmd := w.command("strace", "-f", "-qq", "-o", log, "-e", "trace="+call, "-e", "signal=none",
		filepath.Join(w.bin, "satelle"), "story", "set", w.id, "--next")
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("counting %s: %v\n%s", call, err, out)
	}
	trace, err := os.ReadFile(log)
	if err != nil {
		w.t.Fatal(err)
	}
	calls, most := map[string]int{}, 0
	for line := range strings.Lines(string(trace)) {
		pid, what, _ := strings.Cut(line, " ")
		if strings.HasPrefix(strings.TrimSpace(what), call+"(") {
			calls[pid]++
			most = max(most, calls[pid])
		}
	}
	return most
}

func (w *world) dispatchSettled(at string) {
	w.t.Helper()
	_ = w.command("satelle", "story", "wait", w.id).Run()
	w.nobodyLeft(at)
	if status := w.status(); status != "backlog" && status != "plan" {
		w.t.Fatalf("%s: the story is in %q", at, status)
	} else if status == "backlog" {
		if out, err := w.command("satelle", "story", "set", w.id, "--next").CombinedOutput(); err != nil {
			w.t.Fatalf("%s: the same command afterwards: %v\n%s", at, err, out)
		}
	}
	w.nobodyLeft(at + ", then in peace")
	if doc := w.must("satelle", "story", "doc", w.id, "plan"); !strings.Contains(doc, "# Plan") {
		w.t.Fatalf("%s: the document is %q", at, doc)
	}
	if out, err := w.command("satelle", "ledger", "verify", "--full").CombinedOutput(); err != nil {
		w.t.Fatalf("%s: verify: %v\n%s", at, err, out)
	}
}

// nobodyLeft waits for the end of every process that works in the repository.
func (w *world) nobodyLeft(at string) {
	w.t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, link := range links {
		where, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(where, w.repo) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		if !endsSoon(pid) {
			w.t.Fatalf("%s: process %d (%q) goes on", at, pid, line)
		}
	}
}
