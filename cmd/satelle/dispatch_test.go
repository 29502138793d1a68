//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// plannedRoute is a route whose step plan is performed by an agent.
var plannedRoute = map[string]string{
	"workflows/done.md": "---\nname: done\ntype: workflow\n---\n\n## *\n- raised\n- planned\n- closed\npark: blocked\ncancel: cancelled\n",
	"workflows/step.md": "---\nname: step\ntype: workflow\n---\n\n## backlog\nprovides: raised\n\n## plan\nagent: planner\nskills: plan\nprovides: planned\nrequires: raised\n\n" +
		"## done\nprovides: closed\nrequires: planned\n",
	"skills/plan.md": "---\nname: plan\noutput_name: plan\noutput_required: true\nattempt_repair_max: 2\n---\nPlan.\n",
	"workflows/agents.toml": "[executor]\ncommand = \"in-loop\"\n\n[planner]\ncommand = \"sh ../agent.sh {system}\"\n" +
		"tools = \"Bash(satelle:*)\"\n",
}

// valid is an agent's answer.
const valid = `{"artifact":{"name":"plan","type":"plan","body":"# Plan"}}`

// dispatching is a scratch whose stories are planned by a script; files are
// paths below .satelle that differ from [plannedRoute].
func dispatching(t *testing.T, script string, files map[string]string) *scratch {
	t.Helper()
	s := newScratch(t, nil)
	all := map[string]string{}
	for name, text := range plannedRoute {
		all[name] = text
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		path := filepath.Join(s.repo, ".satelle", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.repo, "..", "agent.sh"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	s.must("satelle", "trust", "--yes")
	s.must("git", "add", "-A")
	s.must("git", "commit", "-qm", "route")
	return s
}

func (s *scratch) create() string {
	s.t.Helper()
	out := s.must("satelle", "story", "create", "--title", "A", "--ac", "a")
	return out[strings.Index(out, "sty_"):][:12]
}

// blocking is an agent that tells its process ids and a child's, once, and then
// waits for ever; asked again it answers.
const blocking = `
echo asked >> ../asked
if test -e ../pids; then printf '%s' '` + valid + `'; exit 0; fi
sleep 600 &
printf '%s %s' $$ $! > ../pids.tmp && mv ../pids.tmp ../pids
echo started > ../started
wait
`

// begin lets a story be planned by the blocking agent and returns once that runs.
func (s *scratch) begin(id string) (cmd *exec.Cmd, out *bytes.Buffer, pids []int) {
	s.t.Helper()
	s.must("mkfifo", "../started")
	cmd, out = s.command("satelle", "story", "set", id, "--next"), &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(s.repo, "..", "started"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.ReadAll(f); err != nil {
		s.t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(s.repo, "..", "pids"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, word := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			s.t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return cmd, out, pids
}

// judge is the process that judges a story, by its lease.
func (s *scratch) judge(id string) int {
	s.t.Helper()
	leases, err := filepath.Glob(filepath.Join(s.repo, "..", "home", ".satelle", "*", "leases", id))
	if err != nil || len(leases) != 1 {
		s.t.Fatalf("leases %v: %v", leases, err)
	}
	b, err := os.ReadFile(leases[0])
	if err != nil {
		s.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		s.t.Fatal(err)
	}
	return pid
}

func (s *scratch) asked() int {
	b, err := os.ReadFile(filepath.Join(s.repo, "..", "asked"))
	if err != nil {
		return 0
	}
	return strings.Count(string(b), "\n")
}

func alive(pid int) bool {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(b), ") Z ") // a zombie is dead
}

// TestInterruptStopsThePerformer: Ctrl-C in the first attempt of three leaves
// nobody alive, makes no second call and frees the lease.
func TestInterruptStopsThePerformer(t *testing.T) {
	s := dispatching(t, blocking, nil)
	id := s.create()
	cmd, out, pids := s.begin(id)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(out.String(), "the transition was given up: it was stopped") {
		t.Errorf("code %d: %s", code, out)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
	if n := s.asked(); n != 1 {
		t.Errorf("%d calls", n)
	}
	if list := s.must("satelle", "ledger", "list", "--story", id); !strings.Contains(list, "transition.abandoned") || !strings.Contains(list, "class=cancelled") {
		t.Errorf("the records:\n%s", list)
	}
	if out := s.must("satelle", "story", "set", id, "--next"); !strings.Contains(out, "backlog → plan") {
		t.Errorf("asked again: %s", out)
	}
}

// TestTerminatedCallerLeavesThePerformer: only Ctrl-C stops what it waits for.
func TestTerminatedCallerLeavesThePerformer(t *testing.T) {
	s := dispatching(t, blocking, nil)
	id := s.create()
	cmd, _, pids := s.begin(id)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 5 || !alive(pids[0]) {
		t.Errorf("code %d, alive %v", code, alive(pids[0]))
	}
	again := s.command("satelle", "story", "set", id, "--next") // attaches
	said, err := again.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := said.Read(make([]byte, 1)); err != nil { // the log, so it waits
		t.Fatal(err)
	}
	if err := again.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, said)
	_ = again.Wait()
	if code := again.ProcessState.ExitCode(); code != 1 || alive(pids[0]) || alive(pids[1]) {
		t.Errorf("code %d, alive %v %v", code, alive(pids[0]), alive(pids[1]))
	}
}

// TestKilledJudge: a judge that is killed in the middle of a dispatch takes its
// agents with it, leaves the story where it was and its seat free, and asking
// again does the work.
func TestKilledJudge(t *testing.T) {
	s := dispatching(t, blocking, nil)
	id := s.create()
	cmd, out, pids := s.begin(id)
	gone := make([]*watched, len(pids))
	for i, pid := range pids {
		gone[i] = watch(t, pid)
	}
	if err := unix.Kill(s.judge(id), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(out.String(), "is gone; nothing has changed") {
		t.Errorf("code %d: %s", code, out)
	}
	for _, w := range gone {
		w.ends(t)
	}
	if out := s.must("satelle", "story", "get", id); !strings.Contains(out, "backlog") {
		t.Errorf("the story: %s", out)
	}
	other := s.must("satelle", "story", "create", "--title", "B", "--ac", "b") // and its seat is free
	if out := s.must("satelle", "story", "set", other[strings.Index(other, "sty_"):][:12], "--next"); !strings.Contains(out, "backlog → plan") {
		t.Errorf("another story: %s", out)
	}
	s.must("satelle", "story", "set", other[strings.Index(other, "sty_"):][:12], "--next")
	if out := s.must("satelle", "story", "set", id, "--next"); !strings.Contains(out, "backlog → plan") {
		t.Errorf("asked again: %s", out)
	}
	s.must("satelle", "ledger", "verify", "--full")
}

// TestManyDispatches lets many stories be dispatched at once on one ledger, each
// in a work tree of its own: nothing is lost.
func TestManyDispatches(t *testing.T) {
	const n = 100
	s := dispatching(t, "cat > /dev/null; printf '%s' '"+valid+"'\n", map[string]string{
		// The last step takes no seat, so one work tree holds them all.
		"workflows/done.md": "---\nname: done\ntype: workflow\n---\n\n## *\n- raised\n- planned\npark: blocked\ncancel: cancelled\n",
		"workflows/step.md": "---\nname: step\ntype: workflow\n---\n\n## backlog\nprovides: raised\n\n## plan\nagent: planner\nskills: plan\nprovides: planned\nrequires: raised\n",
	})
	ids := make([]string, n)
	for i := range ids {
		ids[i] = s.create()
	}
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() {
			if out, err := s.command("satelle", "story", "set", id, "--next").CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", id, err, out)
			}
		})
	}
	wg.Wait()
	for _, kind := range []string{"dispatch.started", "agent.asked", "agent.attempt", "transition.committed"} {
		list := s.must("satelle", "ledger", "list", "--kind", kind, "--limit", "1000")
		for _, id := range ids {
			if c := strings.Count(list, id); c != 1 {
				t.Errorf("%s has %d records %s", id, c, kind)
			}
		}
	}
	s.must("satelle", "ledger", "verify", "--full")
}
