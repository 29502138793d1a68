package proc

import (
	"errors"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// child is a command that runs, itself or under a supervisor.
type child struct {
	group    int           // the group that its first process leads
	end      func()        // asks it to end, and insists after the grace
	force    func()        // leaves nothing that can be reached
	patience time.Duration // how long end may take until force
	ended    chan end      // gets one value, when all that can be reached has ended
}

// end is how the first process ended.
type end struct {
	code   int
	signal string
	err    error
}

// ended takes a wait status apart.
func ended(ws syscall.WaitStatus) end {
	if ws.Signaled() {
		return end{code: -1, signal: unix.SignalName(ws.Signal())}
	}
	return end{code: ws.ExitStatus()}
}

// alone starts the command itself.
func alone(cmd *exec.Cmd) (*child, error) {
	if err := startOurs(cmd); err != nil {
		return nil, err
	}
	c := &child{group: cmd.Process.Pid, patience: grace, ended: make(chan end, 1)}
	c.end = func() { termGroup(c.group) }
	c.force = func() { killGroup(c.group) }
	go func() {
		err := waitOurs(cmd)
		// The group's number stays taken as long as a process bears it, so this
		// reaches what the first process left behind and nothing else.
		killGroup(c.group)
		e := end{code: -1}
		if cmd.ProcessState != nil {
			if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
				e = ended(ws)
			}
		}
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			e.err = err
		}
		c.ended <- e
	}()
	return c, nil
}

// stop ends the command and returns how it ended.
func (c *child) stop() end {
	c.end()
	timer := time.NewTimer(c.patience)
	defer timer.Stop()
	select {
	case e := <-c.ended:
		return e
	case <-timer.C:
		c.force()
		return <-c.ended
	}
}
