package ledger

import (
	"os"

	"golang.org/x/sys/unix"
)

func networkFS(dir string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	switch name := unix.ByteSliceToString(st.Fstypename[:]); name {
	case "nfs", "smbfs", "afpfs", "webdav", "ftp", "cifs", "macfuse", "osxfuse":
		return name, nil
	}
	return "", nil
}
