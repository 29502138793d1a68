//go:build linux

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"satelle/hooks/dialect"
	"satelle/internal/place"
)

// broken are the states in which the engine can be, by how to bring it about.
var broken = map[string]func(t *testing.T, s *site){
	"the engine is there": func(t *testing.T, s *site) {
		program, err := engine()
		if err != nil {
			t.Fatal(err)
		}
		s.write(filepath.Join(s.bin(), "satelle-hook"), program, 0o755)
	},
	"only the wrapper is there": func(*testing.T, *site) {},
	"nothing is there": func(t *testing.T, s *site) {
		if err := os.RemoveAll(s.bin()); err != nil {
			t.Fatal(err)
		}
	},
}

// start prepares the installed command under a shell line that sets limits or
// redirects; "$@" is the command.
func (s *site) start(around, payload string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", around, "sh", "sh", "-c", dialect.Command(dialect.Deny))
	cmd.Dir = s.repo
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + s.home}
	cmd.Stdin = strings.NewReader(payload)
	return cmd
}

// TestUnwrittenAnswersBlock takes away the standard output: what can't be said
// is exit code 2 with a reason on standard error, which blocks as well.
func TestUnwrittenAnswersBlock(t *testing.T) {
	for name, build := range broken {
		for _, out := range []string{">/dev/full", ">&-"} {
			if out == ">&-" && name == "the engine is there" {
				continue // Go opens the null device in place of a closed output
			}
			t.Run(name+" "+out, func(t *testing.T) {
				s := newSite(t)
				build(t, s)
				for _, call := range []string{s.payload("Write", map[string]any{"file_path": "x"}), s.payload("Bash", map[string]any{"command": "rm x"}), ""} {
					cmd := s.start(`"$@" `+out, call)
					var errs bytes.Buffer
					cmd.Stderr = &errs
					err := cmd.Run()
					if code := cmd.ProcessState.ExitCode(); code != 2 || strings.TrimSpace(errs.String()) == "" {
						t.Errorf("%.40q: %v, exit code %d, %q", call, err, code, errs.String())
					}
				}
			})
		}
	}
}

// TestLimitsDeny runs the command with as little memory, room and descriptors
// as a shell still starts with: edits stay denied, in one object.
func TestLimitsDeny(t *testing.T) {
	s := newSite(t)
	broken["the engine is there"](t, s)
	s.ledger(t, nil)
	for _, limit := range []string{"ulimit -v 40000", "ulimit -f 0", "ulimit -n 4", "ulimit -t 1", "ulimit -s 64"} {
		for _, call := range []string{s.payload("Write", map[string]any{"file_path": "x"}), s.payload("mcp__a__b", map[string]any{"x": strings.Repeat("y", 1<<20)})} {
			cmd := s.start(limit+`; "$@"`, call)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			_ = cmd.Run()
			code := cmd.ProcessState.ExitCode()
			if !denies(out.String(), code) && (code != 2 || errs.Len() == 0) {
				t.Errorf("%s, %.60q: exit code %d, %q, %q", limit, call, code, out.String(), errs.String())
			}
		}
	}
}

// ledger puts a file where the ledger of the site's repository is looked for.
func (s *site) ledger(t *testing.T, content []byte) string {
	t.Helper()
	git, err := filepath.EvalSymlinks(filepath.Join(s.repo, ".git"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.home, ".satelle", place.RepoKey(git), "ledger.db")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(file, content, 0o600)
	return file
}

// TestDamagedLedgersDeny puts in the ledger's place what is none.
func TestDamagedLedgersDeny(t *testing.T) {
	garbage := bytes.Repeat([]byte("garbage "), 8192)
	for name, change := range map[string]func(t *testing.T, file string){
		"empty":   func(*testing.T, string) {},
		"garbage": func(t *testing.T, file string) { must(t, os.WriteFile(file, garbage, 0o600)) },
		"zeros":   func(t *testing.T, file string) { must(t, os.WriteFile(file, make([]byte, 1<<16), 0o600)) },
		"a folder": func(t *testing.T, file string) {
			must(t, os.Remove(file))
			must(t, os.Mkdir(file, 0o700))
		},
		"a pipe": func(t *testing.T, file string) {
			must(t, os.Remove(file))
			must(t, syscall.Mkfifo(file, 0o600))
		},
		"a link to itself": func(t *testing.T, file string) {
			must(t, os.Remove(file))
			must(t, os.Symlink(file, file))
		},
		"a device without end": func(t *testing.T, file string) {
			must(t, os.Remove(file))
			must(t, os.Symlink("/dev/zero", file))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			broken["the engine is there"](t, s)
			change(t, s.ledger(t, nil))
			for call, denied := range map[string]bool{
				s.payload("Write", map[string]any{"file_path": "x"}):   true,
				s.payload("Bash", map[string]any{"command": "rm x"}):   true,
				s.payload("Read", map[string]any{"file_path": "x"}):    false,
				s.payload("Bash", map[string]any{"command": "ls -la"}): false,
			} {
				out, code := s.run("/bin/sh", dialect.Deny, call)
				if denied && !denies(out, code) || !denied && (out != "" || code != 0) {
					t.Errorf("%.120q: exit code %d, %q", call, code, out)
				}
			}
		})
	}
}

// TestOneWrite looks at the answer as the kernel saw it: one message, and
// nobody left who holds the other end.
func TestOneWrite(t *testing.T) {
	for name, build := range broken {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			build(t, s)
			fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET, 0)
			must(t, err)
			ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
			defer ours.Close()
			cmd := s.start(`"$@"`, s.payload("Write", map[string]any{"file_path": strings.Repeat("long/", 200)}))
			cmd.Stdout = theirs
			must(t, cmd.Run())
			must(t, theirs.Close())
			b := make([]byte, 1<<16)
			n, err := ours.Read(b)
			if err != nil || !denies(string(b[:n]), 0) {
				t.Fatalf("%v: %q", err, b[:n])
			}
			if n, err := ours.Read(b); n != 0 || err != io.EOF {
				t.Errorf("a second message, or somebody holds the end: %v, %q", err, b[:n])
			}
		})
	}
}

// TestUnendingInput sends a payload that never ends: the engine's own deadline
// answers.
func TestUnendingInput(t *testing.T) {
	s := newSite(t)
	broken["the engine is there"](t, s)
	in, feed, err := os.Pipe()
	must(t, err)
	defer feed.Close()
	_, err = feed.WriteString(`{"hook_event_name":"PreToolUse",`)
	must(t, err)
	cmd := s.start(`"$@"`, "")
	cmd.Stdin = in
	var out bytes.Buffer
	cmd.Stdout = &out
	must(t, cmd.Start())
	must(t, in.Close())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil || !denies(out.String(), cmd.ProcessState.ExitCode()) {
			t.Errorf("%v: %q", err, out.String())
		}
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		t.Error("no answer while the input stays open")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
