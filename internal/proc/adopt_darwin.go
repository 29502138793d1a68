package proc

import (
	"iter"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func selfPath() (string, error) { return os.Executable() }

// adopt does nothing: no process of macOS can take the place of a lost parent.
func adopt() {}

// underSupervision gives a command its own group.
func underSupervision() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// below are the processes that descend from pid and have lost no parent on the
// way: all that can be known of those that left the group.
func below(pid int) []int {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	kids := map[int][]int{}
	for _, p := range all {
		kids[int(p.Eproc.Ppid)] = append(kids[int(p.Eproc.Ppid)], int(p.Proc.P_pid))
	}
	found := []int{}
	for next := kids[pid]; len(next) > 0; {
		p := next[0]
		next = append(next[1:], kids[p]...)
		found = append(found, p)
	}
	return found
}

// outlive never returns: the pipe alone tells that the parent has ended.
func outlive(int) { select {} }

// inherit does nothing: no process of macOS can change its name.
func inherit() {}

// children has nothing to find where nothing is adopted.
func children() iter.Seq[int] { return func(func(int) bool) {} }
