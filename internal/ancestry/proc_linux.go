package ancestry

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

var errStat = errors.New("unreadable process status")

// lookup reads /proc/<pid>/stat. The program's name stands in parentheses and
// may hold anything, so the fields count from the last one.
func lookup(pid int) (process, error) {
	b, err := head("/proc/"+strconv.Itoa(pid)+"/stat", 1<<10)
	if err != nil {
		return process{}, err
	}
	i := strings.LastIndexByte(b, ')')
	if i < 0 || !strings.HasPrefix(b, strconv.Itoa(pid)+" (") { // another's may be mounted there
		return process{}, errStat
	}
	fields := strings.Fields(b[i+1:])
	const ppid, starttime = 4 - 3, 22 - 3 // proc_pid_stat(5) counts from 1; two fields are cut off
	if len(fields) <= starttime {
		return process{}, errStat
	}
	parent, err := strconv.Atoi(fields[ppid])
	if err != nil {
		return process{}, errStat
	}
	comm := b[strings.IndexByte(b[:i+1], '(')+1 : i]
	return process{pid: pid, parent: parent, start: fields[starttime], comm: comm}, nil
}

// parent is the parent of this process, as /proc shows it: in a namespace of
// processes below the one that /proc is of, the system call does not know it.
func parent() (int, error) {
	b, err := head("/proc/self/stat", 1<<10)
	if err != nil {
		return 0, err
	}
	id, _, _ := strings.Cut(b, " ")
	pid, err := strconv.Atoi(id)
	if err != nil {
		return 0, errStat
	}
	p, err := lookup(pid)
	return p.parent, err
}

// TakeMark gives this process the mark of a home. It is the name that ps shows.
func TakeMark(home string) error { return os.WriteFile("/proc/self/comm", []byte(Mark(home)), 0) }

// runsHook reports whether pid runs the installed hook command.
func runsHook(pid int) (bool, error) {
	b, err := head("/proc/"+strconv.Itoa(pid)+"/cmdline", 4<<10)
	if err != nil {
		return false, err
	}
	return ours(strings.Split(b, "\x00")), nil
}

func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

// terminal reports whether a file is a terminal.
func terminal(fd int) bool {
	var state syscall.Termios
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TCGETS, uintptr(unsafe.Pointer(&state)))
	return errno == 0
}

// wholeMachine reports whether process 1 is the machine's, and not a
// container's: the kernel gives its first namespace of processes a fixed number.
func wholeMachine() bool {
	var of syscall.Statfs_t
	if syscall.Statfs("/proc/self/ns", &of) != nil || of.Type != procfs {
		return false
	}
	name, err := os.Readlink("/proc/self/ns/pid")
	return err == nil && name == "pid:[4026531836]"
}

// alone reports whether this process lives in namespaces that somebody without
// rights has made: of processes, and of users with a single one in it. A container
// has many users, or none of its own.
func alone() bool {
	if wholeMachine() {
		return false
	}
	b, err := head("/proc/self/uid_map", 1<<10)
	return err != nil || lone(b)
}

// lone reports whether a map of users has one line of one user, or is that of
// somebody outside, whose users are none here.
func lone(text string) bool {
	const nobody = "4294967295"
	fields := strings.Fields(text)
	return len(fields) == 3 && (fields[2] == "1" || fields[1] == nobody)
}

// procfs is the kernel's number for what /proc is: whoever can mount there can put
// files of its own in its place.
const procfs = 0x9fa0

var errForged = errors.New("it is no file of the kernel's")

// head reads the beginning of a file below /proc, past package os, which would register
// it with the poller: this runs on every tool call.
func head(path string, limit int) (string, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "", &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd)
	var of syscall.Statfs_t
	if err = syscall.Fstatfs(fd, &of); err == nil && of.Type != procfs {
		err = errForged
	}
	if err != nil {
		return "", &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	buf := make([]byte, limit)
	n := 0
	for n < limit {
		m, err := syscall.Read(fd, buf[n:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return "", &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if m <= 0 {
			break
		}
		n += m
	}
	return string(buf[:n]), nil
}
