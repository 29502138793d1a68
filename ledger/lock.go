package ledger

import (
	"context"
	"errors"
	"os"
	"time"

	"satelle/internal/fault"
)

// A fileLock is an exclusive lock on a file of its own beside the ledger. It
// stands before bbolt's lock, which is polled every 50 ms without any order
// among those who wait; the kernel wakes ours in turn.
type fileLock struct{ f *os.File }

// lockWait bounds the wait for the lock. Nobody holds it for long: who waits so
// long waits for a process that was stopped, or hangs.
const lockWait = time.Minute

var errHeld = errors.New("another process of satelle has held it for so long that it must be stopped or hang: a person ends that process")

// acquire waits for the lock, until ctx ends or the time is up.
func acquire(ctx context.Context, path string, most time.Duration) (*fileLock, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, most, errHeld)
	defer cancel()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if ok, err := tryLock(f); ok || err != nil {
		return locked(f, err)
	}
	// The wait in the kernel cannot be called off. Who gives up leaves it to
	// the goroutine to pass the lock on once it comes.
	done := make(chan error)
	go func() {
		err := waitLock(f)
		select {
		case done <- err:
		case <-ctx.Done():
			_ = f.Close()
		}
	}()
	select {
	case err := <-done:
		return locked(f, err)
	case <-ctx.Done():
		return nil, fault.Wrap(context.Cause(ctx), fault.Busy, "waiting for the ledger's lock")
	}
}

func locked(f *os.File, err error) (*fileLock, error) {
	if err != nil {
		return nil, errors.Join(&os.PathError{Op: "lock", Path: f.Name(), Err: err}, f.Close())
	}
	return &fileLock{f}, nil
}

// release frees the lock; so does the kernel when the process dies.
func (l *fileLock) release() error { return l.f.Close() }
