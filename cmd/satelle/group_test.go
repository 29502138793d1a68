package main

import (
	"os/exec"
	"syscall"
	"testing"
)

// killable gives a command a process group of its own.
func killable(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killAll kills a command with its whole group, as a shell call that ran out
// of time is.
func killAll(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}
