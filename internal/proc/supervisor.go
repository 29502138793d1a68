//go:build unix

package proc

import (
	"encoding/binary"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sweepTime bounds how long somebody waits for the end of what a command left
// behind. Only a process that can't be killed, or that multiplies faster than it
// is found, outlives it.
const sweepTime = 3 * time.Second

// pause is between two looks at what is left, where the last one has changed
// nothing.
const pause = time.Millisecond

// A program that has this package can be the supervisor; that is settled before
// its main function, so that tests need no main function for it.
func init() {
	if len(os.Args) == 1 && os.Args[0] == supervisorName {
		// Not os.Exit, which makes the race detector wait for a second.
		syscall.Exit(supervise())
	}
}

// supervise starts the command that it reads and returns when nothing of it is
// left. It runs on the first thread, as any init does: the command's death
// signal hangs on the thread that starts it.
func supervise() int {
	caller := os.Getppid()
	files := []uintptr{0, 1, 2}
	for _, fd := range []int{ordersFD, reportFD} {
		unix.CloseOnExec(fd)
	}
	reports := os.NewFile(reportFD, "report")
	say := func(p pass, kind byte, n int) {
		_ = binary.Write(reports, binary.LittleEndian, report{p, kind, int32(n)})
	}
	in := os.NewFile(ordersFD, "orders")
	o, err := readOrders(in)
	if err != nil {
		return 1 // whoever started this has given up
	}
	for i := range o.extra {
		unix.CloseOnExec(passedFD + i)
		files = append(files, uintptr(passedFD+i))
	}
	adopt()
	inherit()
	told := make(chan os.Signal, 1)
	signal.Notify(told, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	pid, err := syscall.ForkExec(o.path, o.argv, &syscall.ProcAttr{Env: os.Environ(), Files: files, Sys: underSupervision()})
	if err != nil {
		errno := unix.EINVAL
		errors.As(err, &errno)
		say(o.first, unbegun, int(errno))
		return 1
	}
	letGo(o.extra)
	say(o.first, begun, pid)

	stop := make(chan struct{}, 2)
	go func() {
		_, _ = in.Read(make([]byte, 1))
		stop <- struct{}{}
	}()
	go func() { // whose end the pipe does not tell if somebody else holds that open
		outlive(caller)
		stop <- struct{}{}
	}()
	first := make(chan syscall.WaitStatus, 1)
	go func() { first <- await(pid) }()
	var status syscall.WaitStatus
	var known []int
	select {
	case status = <-first:
	case <-stop:
		known = below(pid)
		status = endFirst(pid, first)
	case <-told:
		known = below(pid)
		status = endFirst(pid, first)
	}
	killGroup(pid)
	for _, p := range known {
		_ = unix.Kill(p, unix.SIGKILL)
	}
	if sweep(time.Now().Add(sweepTime)) {
		say(o.last, over, int(status))
		return 0
	}
	// Below this process it is known for what it is, so this one stays.
	say(o.last, left, int(status))
	for !sweep(time.Now().Add(sweepTime)) {
	}
	return 0
}

// letGo closes what belongs to the command alone: a pipe that is held here
// would never end.
func letGo(extra int) {
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		for fd := range 3 {
			_ = unix.Dup2(int(null.Fd()), fd)
		}
		null.Close()
	}
	for i := range extra {
		unix.Close(passedFD + i)
	}
}

// await waits for one process, and takes the status of all others that end
// meanwhile: those were adopted.
func await(pid int) syscall.WaitStatus {
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, 0, nil)
		if got == pid || err != nil && !errors.Is(err, syscall.EINTR) {
			return status
		}
	}
}

func endFirst(pid int, first <-chan syscall.WaitStatus) syscall.WaitStatus {
	termGroup(pid)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case status := <-first:
		return status
	case <-timer.C:
		killGroup(pid)
		return <-first
	}
}

// sweep kills the processes below this one until there are none, which it
// reports, or until a deadline: those whose parent was killed become children of
// this one.
func sweep(deadline time.Time) bool {
	for time.Now().Before(deadline) {
		ended := false
		for {
			got, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if errors.Is(err, syscall.ECHILD) {
				return true
			}
			if got == 0 && err == nil {
				break
			}
			ended = true
		}
		for pid := range children() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		if !ended {
			time.Sleep(pause)
		}
	}
	return false
}
