package ledger

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

func tryLock(f *os.File) (bool, error) {
	err := lockFile(f, windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func waitLock(f *os.File) error { return lockFile(f, 0) }

func lockFile(f *os.File, flags uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), flags|windows.LOCKFILE_EXCLUSIVE_LOCK,
		0, math.MaxUint32, math.MaxUint32, new(windows.Overlapped))
}

// unlock has nothing to do: closing the file frees its lock.
func unlock(*os.File) {}

// syncDir does nothing: Windows has no such call.
func syncDir(string) error { return nil }
