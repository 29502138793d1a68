//go:build linux || darwin

package ancestry

import (
	"os"
	"syscall"
	"time"
)

// hold locks a registration for as long as this process lives, or until it lets
// go. The kernel knows of the lock in every namespace of processes.
func hold(path string) (release func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	for range probing {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return func() { f.Close() }, nil
		}
		time.Sleep(time.Millisecond) // somebody looks whether it is held
	}
	f.Close()
	return nil, err
}

// probing is how often a lock is tried, a millisecond apart.
const probing = 1000

// held reports whether somebody holds a registration. Those who ask at once don't
// take one another for a holder.
func held(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == syscall.EWOULDBLOCK
}
