package proc

import (
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ours are the processes that this package has started and not yet waited for.
// The lock is held for reading while one starts, so that a hunt never meets one
// that is not in here yet.
var ours = struct {
	starting sync.RWMutex
	pids     sync.Map
}{}

func startOurs(cmd *exec.Cmd) error {
	ours.starting.RLock()
	defer ours.starting.RUnlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	ours.pids.Store(cmd.Process.Pid, true)
	return nil
}

func waitOurs(cmd *exec.Cmd) error {
	defer ours.pids.Delete(cmd.Process.Pid)
	return cmd.Wait()
}

// hunt kills the children of this process that nobody here has started: a
// supervisor that was killed has left them. What is of this process's own group
// is left alone, since others may start processes here without a group of their
// own.
func hunt() {
	ours.starting.Lock()
	defer ours.starting.Unlock()
	own := unix.Getpgrp()
	none := 0 // looks in a row that found nobody: one may miss a process while another ends
	for deadline := time.Now().Add(sweepTime); time.Now().Before(deadline); time.Sleep(pause) {
		left := false
		for pid := range children() {
			if _, known := ours.pids.Load(pid); known {
				continue
			}
			if group, err := unix.Getpgid(pid); err != nil || group == own {
				continue
			}
			left = true
			_ = unix.Kill(pid, unix.SIGKILL)
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
		if left {
			none = 0
		} else {
			none++
		}
		if none == 3 {
			return
		}
	}
}
