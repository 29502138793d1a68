//go:build differ && linux

package shell

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// node is a file as a snapshot holds it.
type node struct {
	mode, uid, gid uint32
	size           int64
	ino            uint64
	mtime, ctime   syscall.Timespec
	data           string // its content, or where a link leads
}

// tree is all below a folder, with contents, so that it can be put back.
type tree struct {
	root    string
	nodes   map[string]*node
	indexes map[string]string // git's indexes by what they say, apart from times
}

func newTree(root string) *tree {
	t := &tree{root: root, nodes: map[string]*node{}, indexes: map[string]string{}}
	t.walk(root, func(path string, st *syscall.Stat_t) {
		t.nodes[path] = nodeOf(path, st, true)
		if filepath.Base(path) == "index" {
			t.indexes[path] = index(path)
		}
	})
	return t
}

func nodeOf(path string, st *syscall.Stat_t, content bool) *node {
	n := &node{mode: st.Mode, uid: st.Uid, gid: st.Gid, size: st.Size, ino: st.Ino, mtime: st.Mtim, ctime: st.Ctim}
	if content {
		n.data = contentOf(path, st.Mode)
	}
	return n
}

func contentOf(path string, mode uint32) string {
	switch mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		b, err := os.ReadFile(path)
		if err != nil {
			return err.Error()
		}
		return string(b)
	case syscall.S_IFLNK:
		to, _ := os.Readlink(path)
		return to
	}
	return ""
}

func (t *tree) walk(dir string, visit func(path string, st *syscall.Stat_t)) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return // made unreadable, which the folder's own mode shows
	}
	for _, name := range names {
		path := dir + "/" + name.Name()
		var st syscall.Stat_t
		if syscall.Lstat(path, &st) != nil {
			continue
		}
		visit(path, &st)
		if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
			t.walk(path, visit)
		}
	}
}

// changes lists what differs from the snapshot, times apart, and whether
// anything has to be put back at all. Where a status is as it was, and older
// than since, the content is, too; the clock of a file system ticks slowly.
func (t *tree) changes(since time.Time) (found []string, touched bool) {
	seen := make(map[string]bool, len(t.nodes))
	tick := syscall.NsecToTimespec(since.Add(-20 * time.Millisecond).UnixNano())
	t.walk(t.root, func(path string, st *syscall.Stat_t) {
		seen[path] = true
		was := t.nodes[path]
		if was == nil {
			found = append(found, "created "+t.short(path))
			return
		}
		if was.ino == st.Ino && was.ctime == st.Ctim && was.mode == st.Mode && was.size == st.Size && earlier(st.Ctim, tick) {
			return
		}
		switch {
		case was.mode != st.Mode || was.uid != st.Uid || was.gid != st.Gid:
			found = append(found, "mode "+t.short(path))
		case st.Mode&syscall.S_IFMT == syscall.S_IFDIR:
		case was.data != contentOf(path, st.Mode):
			if said, ok := t.indexes[path]; ok && said == index(path) {
				touched = true
				return
			}
			found = append(found, "changed "+t.short(path))
		case was.mtime != st.Mtim || was.ino != st.Ino:
			touched = true
		}
	})
	for path := range t.nodes {
		if !seen[path] && !hidden(path) {
			found = append(found, "removed "+t.short(path))
		}
	}
	sort.Strings(found)
	return found, touched || len(found) > 0
}

// hidden reports whether a path lies in a folder that can't be read any more,
// so that nothing is known of it.
func hidden(path string) bool {
	for {
		path = filepath.Dir(path)
		if path == "/" {
			return false
		}
		if info, err := os.Lstat(path); err == nil {
			return info.IsDir() && info.Mode().Perm()&0o500 != 0o500 || hidden(path)
		}
	}
}

func (t *tree) short(path string) string { return strings.TrimPrefix(path, t.root+"/") }

func earlier(a, b syscall.Timespec) bool {
	return a.Sec < b.Sec || a.Sec == b.Sec && a.Nsec < b.Nsec
}

// restore puts everything back, times included.
func (t *tree) restore() error {
	paths := make([]string, 0, len(t.nodes))
	for path := range t.nodes {
		paths = append(paths, path)
	}
	sort.Strings(paths) // a folder before what it holds
	for _, path := range paths {
		n := t.nodes[path]
		if n.mode&syscall.S_IFMT == syscall.S_IFDIR {
			if err := restoreDir(path, n); err != nil {
				return err
			}
		}
	}
	var extra []string
	t.walk(t.root, func(path string, st *syscall.Stat_t) {
		if t.nodes[path] == nil {
			extra = append(extra, path)
			_ = os.Chmod(path, 0o700)
		}
	})
	for _, path := range extra {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	for _, path := range paths {
		if n := t.nodes[path]; n.mode&syscall.S_IFMT != syscall.S_IFDIR {
			if err := restoreFile(path, n); err != nil {
				return err
			}
		}
		var st syscall.Stat_t
		if err := syscall.Lstat(path, &st); err != nil {
			return err
		}
		data := t.nodes[path].data
		t.nodes[path] = nodeOf(path, &st, false)
		t.nodes[path].data = data
	}
	return nil
}

func restoreDir(path string, n *node) error {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err == nil && st.Mode != n.mode && st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	return syscall.Chmod(path, n.mode&0o7777)
}

func restoreFile(path string, n *node) error {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) == nil {
		if st.Ino == n.ino && st.Ctim == n.ctime && st.Mtim == n.mtime && contentOf(path, st.Mode) == n.data {
			return nil
		}
		if st.Mode != n.mode || contentOf(path, st.Mode) != n.data {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	if n.mode&syscall.S_IFMT == syscall.S_IFLNK {
		if err := os.Symlink(n.data, path); err != nil && !os.IsExist(err) {
			return err
		}
	} else if _, err := os.Lstat(path); err != nil {
		if err := os.WriteFile(path, []byte(n.data), 0o600); err != nil {
			return err
		}
		if err := syscall.Chmod(path, n.mode&0o7777); err != nil {
			return err
		}
	}
	return setTime(path, n.mtime)
}

// setTime sets when a file, or a link itself, was changed.
func setTime(path string, at syscall.Timespec) error {
	const (
		atFdcwd    = -100
		noFollow   = 0x100
		sysUtimens = syscall.SYS_UTIMENSAT
	)
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	times := [2]syscall.Timespec{at, at}
	dir := atFdcwd
	_, _, errno := syscall.Syscall6(sysUtimens, uintptr(dir), uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(&times)), noFollow, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// index is what an index of git says, apart from the times it holds.
func index(path string) string {
	cmd := exec.Command("git", "--git-dir="+boxRepo+"/.git", "ls-files", "-s", "-v", "--debug")
	cmd.Env = append(boxEnv(), "GIT_INDEX_FILE="+path)
	out, err := cmd.Output()
	if err != nil {
		return err.Error()
	}
	var said bytes.Buffer
	for _, line := range bytes.SplitAfter(out, []byte("\n")) {
		_, flags, ok := bytes.Cut(line, []byte("flags:"))
		switch {
		case ok:
			said.Write(flags)
		case !bytes.HasPrefix(line, []byte("  ")):
			said.Write(line)
		}
	}
	return said.String()
}
