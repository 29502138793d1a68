package proc

import (
	"bytes"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func selfPath() (string, error) { return "/proc/self/exe", nil }

// adopt makes this process the new parent of every process below it that loses
// its own. A kernel that can't leaves the group, which is killed all the same.
func adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// underSupervision gives a command its own group, and ends it with its
// supervisor.
func underSupervision() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
}

// below is for systems where nothing is adopted.
func below(int) []int { return nil }

// outlive returns when the parent that pid was has ended, be it long ago, and
// never where that can't be followed.
func outlive(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if os.Getppid() != pid { // and so the descriptor may be another's
		return
	}
	for err == nil || errors.Is(err, unix.EINTR) {
		var n int
		if n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1); n > 0 {
			return
		}
	}
	select {}
}

// inherit gives this process the name of its parent, by which others know
// what runs below either.
func inherit() {
	if name, err := os.ReadFile("/proc/" + strconv.Itoa(os.Getppid()) + "/comm"); err == nil {
		if name, err := unix.BytePtrFromString(string(bytes.TrimSpace(name))); err == nil {
			_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(name)), 0, 0, 0)
		}
	}
}

// children yields the processes whose parent is this one, each as soon as it is
// found: one that is killed at once has no time to go on in another.
func children() iter.Seq[int] {
	return func(yield func(int) bool) {
		tasks, _ := filepath.Glob("/proc/self/task/*/children")
		for _, list := range tasks {
			b, _ := os.ReadFile(list)
			for _, f := range bytes.Fields(b) {
				if pid, err := strconv.Atoi(string(f)); err == nil && !yield(pid) {
					return
				}
			}
		}
		if len(tasks) > 0 {
			return
		}
		// A kernel without these lists.
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return
		}
		self := []byte(strconv.Itoa(os.Getpid()))
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil {
				continue
			}
			stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
			if err != nil {
				continue // it has ended
			}
			// The name stands in parentheses and may hold anything, even those.
			fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
			if len(fields) > 1 && bytes.Equal(fields[1], self) && !yield(pid) {
				return
			}
		}
	}
}
