//go:build unix

package spool

import (
	"errors"
	"io"
	"io/fs"
	"syscall"
)

// The files go straight to the kernel: package os would register each with the
// poller, which costs more than the write.

// maxTries bounds how often a line is written anew because its file was closed
// meanwhile. A reader closes one in a quarter of a megabyte.
const maxTries = 8

var (
	errIrregular = errors.New("it is no regular file")
	errClosing   = errors.New("its files are closed faster than they can be written")
)

// Append numbers a line within its session and writes it, at once and whole. It
// never waits for another process, and not for the disk. Where it fails, the
// line's number is used up as a rule, so that the ledger will show a gap.
func Append(dir string, l *Line) error {
	l.Session = Name(l.Session)
	n, err := count(dir, l.Session)
	if err != nil {
		return err
	}
	l.N = n
	b := encode(l)
	for range maxTries {
		open, err := write(dir+"/"+linesName, b)
		if err != nil || open {
			return err
		}
	}
	return errClosing
}

// count takes the next number of a session: the byte that it appends lands at
// a place that no other process gets.
func count(dir, session string) (uint64, error) {
	path := dir + "/" + countsName + "/" + countPrefix + session
	fd, err := openAppend(path)
	if errors.Is(err, fs.ErrNotExist) {
		for _, d := range [...]string{dir, dir + "/" + countsName} {
			if err := syscall.Mkdir(d, 0o700); err != nil && err != syscall.EEXIST {
				return 0, &fs.PathError{Op: "mkdir", Path: d, Err: err}
			}
		}
		fd, err = openAppend(path)
	}
	if err != nil {
		return 0, err
	}
	defer syscall.Close(fd)
	if err := writeOnce(fd, []byte{'.'}); err != nil {
		return 0, &fs.PathError{Op: "write", Path: path, Err: err}
	}
	// The place in an open file is this process's own: behind its byte.
	at, err := syscall.Seek(fd, 0, io.SeekCurrent)
	if err != nil {
		return 0, &fs.PathError{Op: "seek", Path: path, Err: err}
	}
	return uint64(at), nil
}

// write appends to the file of lines. It reports whether the file was still
// open to writers afterwards: in one that was not, the line may have come too
// late for the reader that closed it.
func write(path string, b []byte) (open bool, err error) {
	fd, err := openAppend(path)
	if err != nil {
		return false, err
	}
	defer syscall.Close(fd)
	return writeLine(fd, path, b)
}

// writeLine is write into a file that is open.
func writeLine(fd int, path string, b []byte) (open bool, err error) {
	if err := writeOnce(fd, b); err != nil {
		return false, &fs.PathError{Op: "write", Path: path, Err: err}
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return false, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return false, &fs.PathError{Op: "write", Path: path, Err: errIrregular}
	}
	return st.Mode&closedBit == 0 && st.Nlink > 0, nil
}

// openAppend opens a file of the spool, or makes it. What stands there must be
// a file: a pipe would make the hook wait, and a link lead elsewhere.
func openAppend(path string) (int, error) {
	const flags = syscall.O_WRONLY | syscall.O_APPEND | syscall.O_CREAT | syscall.O_CLOEXEC | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	fd, err := syscall.Open(path, flags, 0o600)
	for err == syscall.EINTR {
		fd, err = syscall.Open(path, flags, 0o600)
	}
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// writeOnce writes with one call. A part of it is an error: the rest could no
// longer be joined to it.
func writeOnce(fd int, b []byte) error {
	n, err := syscall.Write(fd, b)
	for err == syscall.EINTR && n <= 0 {
		n, err = syscall.Write(fd, b)
	}
	switch {
	case err != nil:
		return err
	case n != len(b):
		return syscall.ENOSPC // what a short write to a file means
	}
	return nil
}
