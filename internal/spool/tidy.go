package spool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// closeAt is how much is taken from a file before it is closed.
	closeAt = 256 << 10
	// countLife is how long the count of a session is kept that does nothing
	// any more.
	countLife = 30 * 24 * time.Hour
)

// Tidy closes the open file to writers once much of it was taken, and removes
// what was taken whole. All before at must be in the ledger for good.
//
// No line is lost. A writer that has the file open writes before the mark is
// set, and then the next Read finds its line behind at; or afterwards, and then
// it sees the mark and writes again, to the new file.
func Tidy(dir string, at Position) error {
	closed, err := closedFiles(dir)
	if err != nil {
		return err
	}
	for _, number := range closed {
		if number >= at.File {
			return nil // not taken to its end
		}
		if err := os.Remove(closedPath(dir, number)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	open := filepath.Join(dir, linesName)
	if at.Offset < closeAt {
		return nil
	}
	if info, err := os.Lstat(open); err != nil || info.Size() < at.Offset {
		return nil // it is not the file that was taken from
	}
	to := closedPath(dir, at.File)
	if err := os.Rename(open, to); err != nil {
		return err
	}
	return os.Chmod(to, closedMode)
}

// A Count is how many lines a session has begun to write.
type Count struct {
	Session string
	Lines   uint64
	Last    time.Time // when it began the last one
}

// Counts returns the counts of a spool, and removes those whose session has
// been gone for long.
func Counts(dir string, now time.Time) ([]Count, error) {
	var out []Count
	folder := filepath.Join(dir, countsName)
	err := entries(folder, func(name string) error {
		session, ok := strings.CutPrefix(name, countPrefix)
		if !ok || session != Name(session) {
			return nil
		}
		info, err := os.Lstat(filepath.Join(folder, name))
		if err != nil || !info.Mode().IsRegular() {
			return nil // gone, or none of ours
		}
		if now.Sub(info.ModTime()) > countLife {
			return os.Remove(filepath.Join(folder, name))
		}
		out = append(out, Count{Session: session, Lines: uint64(info.Size()), Last: info.ModTime()})
		return nil
	})
	return out, err
}
