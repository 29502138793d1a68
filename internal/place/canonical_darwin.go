package place

import (
	"bytes"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// canonical spells the existing prefix of path as the file system stores it,
// so that on a volume that ignores case /Repo and /repo are one place.
func canonical(existing, path string) (string, error) {
	fd, err := unix.Open(existing, unix.O_EVTONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	var buf [unix.PathMax]byte
	if _, _, errno := unix.Syscall(unix.SYS_FCNTL, uintptr(fd), uintptr(unix.F_GETPATH), uintptr(unsafe.Pointer(&buf[0]))); errno != 0 {
		return "", errno
	}
	stored := buf[:]
	if i := bytes.IndexByte(stored, 0); i >= 0 {
		stored = stored[:i]
	}
	return string(stored) + strings.TrimPrefix(path, strings.TrimSuffix(existing, "/")), nil
}
