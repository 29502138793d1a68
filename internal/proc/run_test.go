package proc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func sh(script string) Spec { return Spec{Argv: []string{"sh", "-c", script}} }

func TestRun(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name string
		spec Spec
		want Result
	}{
		{"output and error as they come", sh("echo a; echo b >&2; echo c"), Result{Output: []byte("a\nb\nc\n")}},
		{"exit code", sh("echo no; exit 7"), Result{ExitCode: 7, Output: []byte("no\n")}},
		{"ended by a signal", sh("kill -USR1 $$"), Result{ExitCode: -1, Signal: "SIGUSR1"}},
		{"input", Spec{Argv: []string{"cat"}, Stdin: []byte("payload")}, Result{Output: []byte("payload")}},
		{"no input is an empty one", Spec{Argv: []string{"cat"}}, Result{}},
		{"folder", Spec{Argv: []string{"sh", "-c", "touch here"}, Dir: dir}, Result{}},
		{"environment", Spec{Argv: []string{"/bin/sh", "-c", "echo $A$HOME"}, Env: []string{"A=1"}}, Result{Output: []byte("1\n")}},
		{"the tail is kept", Spec{Argv: []string{"sh", "-c", "echo 123456789"}, OutputCap: 4}, Result{Output: []byte("789\n"), Truncated: true}},
		{"just at the cap", Spec{Argv: []string{"sh", "-c", "echo 123"}, OutputCap: 4}, Result{Output: []byte("123\n")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Run(t.Context(), tt.spec)
			if err != nil {
				t.Fatal(err)
			}
			if got.Elapsed <= 0 {
				t.Error("no time has passed")
			}
			if got.ExitCode != tt.want.ExitCode || got.Signal != tt.want.Signal || got.TimedOut ||
				got.Truncated != tt.want.Truncated || !bytes.Equal(got.Output, tt.want.Output) {
				t.Errorf("got %+v (%q), want %+v", got, got.Output, tt.want)
			}
			if got.OK() != (tt.want.ExitCode == 0) {
				t.Errorf("OK = %v", got.OK())
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "here")); err != nil {
		t.Error(err)
	}
}

func TestRunCannotStart(t *testing.T) {
	for name, spec := range map[string]Spec{
		"nothing":           {},
		"an empty name":     {Argv: []string{""}},
		"no such program":   {Argv: []string{"/no/such/program"}, Stdin: []byte("x")},
		"no such folder":    {Argv: []string{"sh"}, Dir: filepath.Join(t.TempDir(), "gone")},
		"output is watched": {Argv: []string{"/no/such/program"}, Stdout: io.Discard},
	} {
		if res, err := Run(t.Context(), spec); err == nil || res.ExitCode != -1 {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, sh("true")); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// Input that nobody reads and that no pipe can hold must not keep Run.
func TestRunUnreadInput(t *testing.T) {
	big := bytes.Repeat([]byte("x"), 1<<20)
	res, err := Run(t.Context(), Spec{Argv: []string{"true"}, Stdin: big})
	if err != nil || !res.OK() {
		t.Fatalf("%+v, %v", res, err)
	}
	res, err = Run(t.Context(), Spec{Argv: []string{"sh", "-c", "echo up; exec sleep 600"}, Stdin: big, Timeout: 50 * time.Millisecond})
	if err != nil || !res.TimedOut {
		t.Fatalf("%+v, %v", res, err)
	}
}

// A command that leaves when its input ends can be asked, and ended after its
// answer.
func TestRunHeldInput(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	spec := sh(`read a; echo "$a"; cat; echo left`)
	spec.Stdin, spec.HoldStdin = []byte("question\n"), true
	spec.Stdout = writerFunc(func(p []byte) (int, error) {
		defer cancel()
		return out.Write(p)
	})
	if _, err := Run(ctx, spec); !errors.Is(err, context.Canceled) || out.String() != "question\n" {
		t.Errorf("%v, %q", err, out.String())
	}
	if _, err := Run(t.Context(), Spec{Argv: []string{"true"}, HoldStdin: true}); err != nil {
		t.Error(err)
	}
}

func TestRunTimeout(t *testing.T) {
	spec := sh("exec sleep 600")
	spec.Timeout = 50 * time.Millisecond
	res, err := Run(t.Context(), spec)
	if err != nil || !res.TimedOut || res.OK() || res.Signal != "SIGTERM" || res.Elapsed < spec.Timeout {
		t.Fatalf("%+v %q, %v", res, res.Output, err)
	}
}

// The context ends when the command has said that it is ready, so each test
// knows what it interrupts.
func TestRunContext(t *testing.T) {
	tests := []struct {
		name, script string
		want         Result
		printed      string
		least        time.Duration
	}{
		{"asked", "echo up; exec sleep 600", Result{ExitCode: -1, Signal: "SIGTERM"}, "up\n", 0},
		{"asked and answered", "trap 'echo bye; exit 4' TERM; echo up; while :; do sleep 0.01; done", Result{ExitCode: 4}, "up\nbye\n", 0},
		{"forced", "trap '' TERM; echo up; while :; do sleep 0.05; done", Result{ExitCode: -1, Signal: "SIGKILL"}, "up\n", grace},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var out bytes.Buffer
			spec := sh(tt.script)
			spec.Stdout = writerFunc(func(p []byte) (int, error) { cancel(); return out.Write(p) })
			res, err := Run(ctx, spec)
			if !errors.Is(err, context.Canceled) || res.TimedOut || res.ExitCode != tt.want.ExitCode ||
				res.Signal != tt.want.Signal || out.String() != tt.printed || res.Elapsed < tt.least {
				t.Fatalf("%+v %q, %v", res, out.String(), err)
			}
		})
	}
}

// What a command leaves behind in its group is killed, even when the command
// itself was content, and cannot keep Run by holding the output open. The
// orphan holds a named pipe too, which ends when it does.
func TestRunOrphan(t *testing.T) {
	for _, how := range []string{"exit 0", "exit 3", "echo up; sleep 600"} {
		t.Run(how, func(t *testing.T) {
			alive := filepath.Join(t.TempDir(), "alive")
			if err := unix.Mkfifo(alive, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := os.OpenFile(alive, os.O_RDONLY|unix.O_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			spec := sh(`exec 9>"$ALIVE"; echo here >&9; sleep 600 & ` + how)
			spec.Env = append(os.Environ(), "ALIVE="+alive)
			spec.Stdout = writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
			res, err := Run(ctx, spec)
			if ctx.Err() == nil && err != nil || errors.Is(err, os.ErrDeadlineExceeded) || res.Truncated {
				t.Fatalf("%+v, %v", res, err)
			}
			r.SetReadDeadline(time.Now().Add(10 * time.Second))
			if got, err := io.ReadAll(r); err != nil || string(got) != "here\n" {
				t.Errorf("the orphan outlived Run: %q, %v", got, err)
			}
		})
	}
}

// One that left the group is out of reach; Run comes back all the same and
// admits that it did not see the end of the output.
func TestRunEscaped(t *testing.T) {
	spec := Spec{Argv: []string{os.Args[0], "-test.run=^$"}, Env: part("escape")}
	res, err := Run(t.Context(), spec)
	if err != nil || res.ExitCode != 0 || !res.Truncated {
		t.Fatalf("%+v %q, %v", res, res.Output, err)
	}
	pid := firstPID(t, res.Output)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Errorf("the escaped process was expected to live: %v", err)
	}

	var out bytes.Buffer
	spec.Stdout = &out
	if _, err = Run(t.Context(), spec); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a watched output that did not end: err = %v", err)
	}
	_ = unix.Kill(firstPID(t, out.Bytes()), unix.SIGKILL)
}

func TestRunEndlessOutput(t *testing.T) {
	spec := Spec{Argv: []string{"sh", "-c", "exec yes"}, OutputCap: 1000, Timeout: 300 * time.Millisecond}
	res, err := Run(t.Context(), spec)
	if err != nil || !res.TimedOut || !res.Truncated || len(res.Output) != 1000 || cap(res.Output) > 4000 {
		t.Fatalf("%d bytes, cap %d, %+v, %v", len(res.Output), cap(res.Output), res.TimedOut, err)
	}
}

func TestRunStdoutApart(t *testing.T) {
	var out bytes.Buffer
	spec := sh("echo out; echo err >&2")
	spec.Stdout = &out
	res, err := Run(t.Context(), spec)
	if err != nil || out.String() != "out\n" || string(res.Output) != "err\n" {
		t.Fatalf("%q %q %v", out.String(), res.Output, err)
	}
	full := errors.New("full")
	spec = Spec{Argv: []string{"yes"}, Stdout: writerFunc(func([]byte) (int, error) { return 0, full })}
	res, err = Run(t.Context(), spec)
	if !errors.Is(err, full) || res.OK() {
		t.Fatalf("%+v, %v", res, err)
	}
}

func TestTail(t *testing.T) {
	for limit := 1; limit < 9; limit++ {
		for piece := 1; piece < 12; piece++ {
			var all []byte
			tl := &tail{limit: limit}
			for i := range 6 {
				p := bytes.Repeat([]byte{byte('a' + i)}, piece)
				all = append(all, p...)
				if n, err := tl.Write(p); n != piece || err != nil {
					t.Fatal(n, err)
				}
				if len(tl.buf) > 2*limit {
					t.Fatalf("holds %d of %d", len(tl.buf), limit)
				}
			}
			got, lost := tl.bytes()
			want := all[max(0, len(all)-limit):]
			if !bytes.Equal(got, want) || lost != (len(all) > limit) {
				t.Fatalf("limit %d piece %d: %q %v, want %q", limit, piece, got, lost, want)
			}
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// part is the environment in which this test program plays a part; the race
// detector would make it wait for a second before it exits.
func part(name string) []string {
	return append(os.Environ(), "PROC_TEST="+name, "GORACE=atexit_sleep_ms=0")
}

func firstPID(t *testing.T, out []byte) int {
	t.Helper()
	line, _, _ := strings.Cut(string(out), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatalf("no process id in %q", out)
	}
	return pid
}
