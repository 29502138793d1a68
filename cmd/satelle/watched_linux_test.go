package main

import (
	"testing"

	"golang.org/x/sys/unix"
)

// watched is a process whose end can be waited for.
type watched struct{ fd int }

func watch(t *testing.T, pid int) *watched {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return &watched{fd}
}

// ends waits for the end of the process, and fails where it goes on.
func (w *watched) ends(t *testing.T) {
	t.Helper()
	if !over(w.fd) {
		t.Error("a process goes on")
	}
}

// endsSoon waits for the end of a process, if there is one.
func endsSoon(pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return true
	}
	defer unix.Close(fd)
	return over(fd)
}

func over(fd int) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 30_000)
		if err == unix.EINTR {
			continue
		}
		return err == nil && n == 1
	}
}
