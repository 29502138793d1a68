package ancestry

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

var errGone = errors.New("no such process")

// lookup asks the kernel for the process's entry.
func lookup(pid int) (process, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		// An empty answer, which the kernel gives for an id without a
		// process, arrives as EIO.
		if errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) {
			return process{}, errGone
		}
		return process{}, err
	}
	t := info.Proc.P_starttime
	return process{
		pid:    pid,
		parent: int(info.Eproc.Ppid),
		start:  strconv.FormatInt(t.Sec, 10) + "." + strconv.FormatInt(int64(t.Usec), 10),
	}, nil
}

// parent is the parent of this process.
func parent() (int, error) { return os.Getppid(), nil }

// TakeMark does nothing: no process of macOS can change its name.
func TakeMark(string) error { return nil }

// runsHook reports whether pid runs the installed hook command. The kernel
// answers with the argument count, the executable, padding and the arguments.
func runsHook(pid int) (bool, error) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 {
		return false, err
	}
	argc := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
	_, args, _ := strings.Cut(string(b[4:]), "\x00")
	argv := strings.SplitN(strings.TrimLeft(args, "\x00"), "\x00", argc+1)
	if len(argv) > argc {
		argv = argv[:argc]
	}
	return ours(argv), nil
}

func gone(err error) bool { return errors.Is(err, errGone) }

// terminal reports whether a file is a terminal.
func terminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TIOCGETA)
	return err == nil
}

// alone reports whether this process can't see what is above it: each can.
func alone() bool { return false }

// wholeMachine reports whether process 1 is the machine's: there are no
// containers of processes here.
func wholeMachine() bool { return true }
