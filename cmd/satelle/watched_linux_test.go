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
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}, 30_000)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n != 1 {
			t.Errorf("a process goes on: %v", err)
		}
		return
	}
}
