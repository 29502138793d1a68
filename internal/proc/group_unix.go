//go:build unix

package proc

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup makes the command the first process of a new group.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// ownSession makes it the first process of a new session: no terminal, and no
// signal that goes to the starter's group reaches it.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// A group that is gone already is all that is wanted, so the errors of both
// say nothing.
func termGroup(pid int) { _ = unix.Kill(-pid, unix.SIGTERM) }

func killGroup(pid int) { _ = unix.Kill(-pid, unix.SIGKILL) }

// status takes a process state apart; -1 and no signal if there is none.
func status(state *os.ProcessState) (code int, signal string) {
	if state == nil {
		return -1, ""
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -1, unix.SignalName(ws.Signal())
	}
	return state.ExitCode(), ""
}
