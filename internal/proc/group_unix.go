//go:build unix

package proc

import (
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
