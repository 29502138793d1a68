package proc

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain is also what the tests start: PROC_TEST says which part to play.
func TestMain(m *testing.M) {
	switch os.Getenv("PROC_TEST") {
	case "":
		os.Exit(m.Run())
	case "escape": // leaves a process in a session of its own, with our output
		cmd := exec.Command("sleep", "600")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(cmd.Process.Pid)
	case "caller": // runs what its arguments say, and stays
		_, err := Run(context.Background(), Spec{Argv: os.Args[1:], Registered: func(int) error { return nil }})
		fmt.Println(err)
	case "detached": // tells where it is, on its output and on the extra file
		in, err := io.ReadAll(os.Stdin)
		fmt.Printf("input %d %v\n", len(in), err)
		fmt.Fprintln(os.Stderr, "session", leads())
		extra := os.NewFile(ExtraFD, "extra")
		fmt.Fprintln(extra, "extra reached")
	}
	os.Exit(0)
}

func TestDetach(t *testing.T) {
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	// The reading end sees EOF when the detached process has ended: no clock.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	pid, err := Detach(Spec{Argv: []string{os.Args[0]}, Dir: dir, Env: part("detached")}, log, w)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if pid <= 0 || pid == os.Getpid() {
		t.Errorf("pid %d", pid)
	}
	got, err := io.ReadAll(r)
	if err != nil || string(got) != "extra reached\n" {
		t.Errorf("extra: %q, %v", got, err)
	}
	printed, err := os.ReadFile(log.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"input 0 <nil>\n", "session true\n"} {
		if !strings.Contains(string(printed), want) {
			t.Errorf("log %q lacks %q", printed, want)
		}
	}
}

func TestDetachCannotStart(t *testing.T) {
	for _, argv := range [][]string{nil, {""}, {"/no/such/program"}} {
		if _, err := Detach(Spec{Argv: argv}, nil, nil); err == nil {
			t.Errorf("%q started", argv)
		}
	}
}

// leads reports whether this process leads a session.
func leads() bool {
	sid, err := unix.Getsid(0)
	return err == nil && sid == os.Getpid()
}
