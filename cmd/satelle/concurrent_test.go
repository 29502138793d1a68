package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// scratch is a repository of its own for tests that need more than a script.
type scratch struct {
	t    *testing.T
	repo string
	env  []string
}

func newScratch(t *testing.T, files map[string]string) *scratch {
	t.Helper()
	dir := t.TempDir()
	s := &scratch{t: t, repo: filepath.Join(dir, "repo")}
	home := filepath.Join(dir, "home")
	for _, d := range []string{s.repo, home} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.repo, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SATELLE_HOME=" + filepath.Join(home, ".satelle"), "GIT_CONFIG_NOSYSTEM=1", "GORACE=atexit_sleep_ms=0",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org",
	}
	s.must("git", "init", "-q", "-b", "main")
	s.must("git", "commit", "-q", "--allow-empty", "-m", "one")
	s.must("satelle", "init")
	return s
}

func (s *scratch) command(args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = s.repo, s.env
	return cmd
}

func (s *scratch) must(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (s *scratch) start() string {
	s.t.Helper()
	out := s.must("satelle", "story", "start", "--title", "A", "--ac", "a")
	return out[strings.Index(out, "sty_"):][:12]
}

// TestTwoProcessesAdvanceOneStory lets many ask for the same move at once: the
// gate is paid once, the story moves once, nobody moves it twice.
func TestTwoProcessesAdvanceOneStory(t *testing.T) {
	s := newScratch(t, map[string]string{"Makefile": "test:\n\techo paid >> ../paid\n"})
	id := s.start()
	const n = 8
	var wg sync.WaitGroup
	outs := make([]bytes.Buffer, n)
	codes := make([]int, n)
	for i := range n {
		wg.Go(func() {
			cmd := s.command("satelle", "story", "set", id, "--status", "done")
			cmd.Stdout, cmd.Stderr = &outs[i], &outs[i]
			if err := cmd.Run(); err != nil {
				codes[i] = cmd.ProcessState.ExitCode()
			}
		})
	}
	wg.Wait()
	for i, c := range codes {
		if c != 0 && c != 3 {
			t.Errorf("process %d ended with %d: %s", i, c, outs[i].String())
		}
	}
	if list := s.must("satelle", "ledger", "list", "--story", id, "--kind", "transition.committed"); strings.Count(list, "to=done") != 1 {
		t.Errorf("commits:\n%s", list)
	}
	if paid, err := os.ReadFile(filepath.Join(s.repo, "..", "paid")); err != nil || strings.Count(string(paid), "paid") != 1 {
		t.Errorf("the gate was paid %q times: %v", paid, err)
	}
	s.must("satelle", "ledger", "verify", "--full")
}

// TestManyProcessesAppend lets many processes append at once: nothing is lost.
func TestManyProcessesAppend(t *testing.T) {
	s := newScratch(t, nil)
	id := s.start()
	const n = 24
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			out, err := s.command("satelle", "story", "comment", id, "--body", fmt.Sprintf("note %d", i)).CombinedOutput()
			if err != nil {
				t.Errorf("comment %d: %v\n%s", i, err, out)
			}
		})
	}
	wg.Wait()
	text := s.must("satelle", "story", "get", id)
	for i := range n {
		if !strings.Contains(text, fmt.Sprintf("note %d\n", i)) {
			t.Errorf("note %d is lost", i)
		}
	}
	s.must("satelle", "ledger", "verify", "--full")
}

// TestGateOutlivesItsCaller kills the shell that asked, with all that it
// started: the gate goes on, is paid once, and ends.
func TestGateOutlivesItsCaller(t *testing.T) {
	s := newScratch(t, map[string]string{"Makefile": "test:\n\techo paid >> ../paid; cat ../gate > /dev/null\n"})
	s.must("mkfifo", "../gate")
	id := s.start()
	shell := s.command("sh", "-c", "satelle story set "+id+" --status done; echo not reached")
	killable(shell)
	progress, err := shell.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 256)
	n, err := progress.Read(buf)
	if err != nil || !strings.Contains(string(buf[:n]), "asking done-check") {
		t.Fatalf("progress %q: %v", buf[:n], err)
	}
	killAll(t, shell)
	if out, err := s.command("satelle", "story", "set", id, "--status", "blocked").CombinedOutput(); err == nil || !strings.Contains(string(out), "on its way") {
		t.Fatalf("the transition ended with its caller: %s", out)
	}
	gate, err := os.OpenFile(filepath.Join(s.repo, "..", "gate"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	gate.Close()
	if out := s.must("satelle", "story", "wait", id); !strings.Contains(out, "in_progress → done") {
		t.Errorf("wait said %q", out)
	}
	if paid, err := os.ReadFile(filepath.Join(s.repo, "..", "paid")); err != nil || strings.Count(string(paid), "paid") != 1 {
		t.Errorf("the gate was paid %q times: %v", paid, err)
	}
}

// TestInterruptedWaitLeavesTheGate: who stops waiting is told how to go on, and
// the gate does.
func TestInterruptedWaitLeavesTheGate(t *testing.T) {
	s := newScratch(t, map[string]string{"Makefile": "test:\n\tcat ../gate > /dev/null\n"})
	s.must("mkfifo", "../gate")
	id := s.start()
	s.must("satelle", "story", "set", id, "--next", "--detach")
	cmd := s.command("satelle", "story", "wait", id)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 256)
	if n, err := out.Read(said); err != nil || !strings.Contains(string(said[:n]), "asking done-check") {
		t.Fatalf("progress %q: %v", said[:n], err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 5 || !strings.Contains(string(rest), "try: satelle story wait "+id) {
		t.Errorf("code %d: %s", code, rest)
	}
	gate, err := os.OpenFile(filepath.Join(s.repo, "..", "gate"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	gate.Close()
	if out := s.must("satelle", "story", "wait", id); !strings.Contains(out, "in_progress → done") {
		t.Errorf("wait said %q", out)
	}
}

// TestInterruptedInput: Ctrl-C ends who waits for what is typed, or for a pipe, and
// nothing of it is taken.
func TestInterruptedInput(t *testing.T) {
	s := newScratch(t, nil)
	id := s.start()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"-", pipe} {
		cmd := s.command("satelle", "story", "attach", id, "--name", "note", "--file", file)
		var in io.WriteCloser
		var err error
		if file == "-" {
			in, err = cmd.StdinPipe()
		} else {
			in, err = os.OpenFile(pipe, os.O_RDWR, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// More than a pipe holds: so it reads.
		if _, err := in.Write(make([]byte, 256<<10)); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		in.Close()
		if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(said.String(), "interrupted") {
			t.Errorf("%s: code %d: %s", file, code, said.String())
		}
		if out := s.must("satelle", "story", "docs", id); strings.Contains(out, "note") {
			t.Errorf("%s: attached: %s", file, out)
		}
	}
	// One that nobody has opened to write yet is waited for.
	cmd := s.command("satelle", "story", "attach", id, "--name", "note", "--file", pipe)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for wrote := false; !wrote; {
		in, err := os.OpenFile(pipe, os.O_WRONLY|unix.O_NONBLOCK, 0)
		switch {
		case err == nil:
			_, err = in.WriteString("late")
			wrote = true
			in.Close()
		case errors.Is(err, unix.ENXIO): // nobody reads there yet
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if ended <- err; !wrote {
				t.Fatal("it did not wait for who writes: ", err)
			}
		default:
			runtime.Gosched()
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if out := s.must("satelle", "story", "doc", id, "note"); out != "late" {
		t.Errorf("%q", out)
	}
}
