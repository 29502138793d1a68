//go:build unix

package decide

import "syscall"

// ownGroup makes a process the first of a group of its own.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a process that Wait has not been called for, and what it
// started.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
