package ledger

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// networkMagic holds the file systems of statfs(2) that are refused.
var networkMagic = map[int64]string{
	0x6969:     "nfs",
	0xff534d42: "cifs",
	0xfe534d42: "smb2",
	0x517b:     "smb",
	0x01021997: "9p",
	0x00c36400: "ceph",
	0x5346414f: "afs",
	0x6b414653: "afs",
	0x73757245: "coda",
	0x0bd00bd0: "lustre",
	0x7461636f: "ocfs2",
	0x01161970: "gfs2",
	0x47504653: "gpfs",
	0x19830326: "fhgfs",
}

const fuseMagic = 0x65735546

// networkFUSE holds subtypes of fuse that are network file systems. Others,
// such as those of containers and encrypted folders, are local.
var networkFUSE = []string{"sshfs", "rclone", "s3fs", "gcsfuse", "glusterfs", "davfs", "curlftpfs", "smbnetfs", "goofys", "blobfuse", "juicefs", "gvfsd-fuse", "ntfs-cloud"}

func networkFS(dir string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	magic := int64(uint32(st.Type)) // the width of Type differs between platforms
	if magic != fuseMagic {
		return networkMagic[magic], nil
	}
	var file unix.Stat_t
	if err := unix.Stat(dir, &file); err != nil {
		return "", &os.PathError{Op: "stat", Path: dir, Err: err}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	sub := fuseSubtype(string(mounts), unix.Major(uint64(file.Dev)), unix.Minor(uint64(file.Dev)))
	for _, n := range networkFUSE {
		if sub == n {
			return "fuse." + n, nil
		}
	}
	return "", nil
}

// fuseSubtype finds the type of the mount with the given device in the text of
// mountinfo: "36 35 98:0 /root /mnt opts - fuse.sshfs source super".
func fuseSubtype(mountinfo string, major, minor uint32) string {
	dev := deviceName(major, minor)
	for line := range strings.Lines(mountinfo) {
		left, right, ok := strings.Cut(line, " - ")
		f := strings.Fields(left)
		if !ok || len(f) < 3 || f[2] != dev {
			continue
		}
		fstype, _, _ := strings.Cut(right, " ")
		return strings.TrimPrefix(fstype, "fuse.")
	}
	return ""
}

func deviceName(major, minor uint32) string {
	return strconv.FormatUint(uint64(major), 10) + ":" + strconv.FormatUint(uint64(minor), 10)
}
