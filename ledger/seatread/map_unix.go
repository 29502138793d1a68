//go:build unix

package seatread

import (
	"os"
	"syscall"
)

// mapFile maps a file for reading. Unlike bbolt's, the mapping lets the kernel
// read ahead: a check goes through the file from its beginning to its end.
func mapFile(f *os.File) (mem []byte, unmap func(), err error) {
	size, err := osFile{f}.Size()
	if err != nil || size == 0 || int64(int(size)) != size {
		return nil, func() {}, err // pages are read one by one
	}
	mem, err = syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	return mem, func() { _ = syscall.Munmap(mem) }, nil
}
