package ledger

import "testing"

func TestFuseSubtype(t *testing.T) {
	const mountinfo = `22 1 253:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
36 22 0:45 / /home/a/far rw,nosuid shared:20 - fuse.sshfs a@b:/ rw,user_id=1000
37 22 0:46 / /home/a/vault rw shared:21 - fuse.gocryptfs /home/a/.vault rw
38 22 0:47 / /mnt/x rw - fuse /dev/fuse rw
broken line
`
	for _, tt := range []struct {
		minor uint32
		want  string
	}{{45, "sshfs"}, {46, "gocryptfs"}, {47, "fuse"}, {48, ""}} {
		if got := fuseSubtype(mountinfo, 0, tt.minor); got != tt.want {
			t.Errorf("0:%d is %q, want %q", tt.minor, got, tt.want)
		}
	}
}

func TestLocalDisk(t *testing.T) {
	if name, err := networkFS(t.TempDir()); err != nil || name != "" {
		t.Errorf("a temporary folder lies on %q (%v)", name, err)
	}
	if _, err := networkFS("/nonexistent"); err == nil {
		t.Error("no error for a folder that is not there")
	}
}
