package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// ExtraFD is the descriptor under which a detached process finds the extra file.
const ExtraFD = 3

// Detach starts a command that outlives its starter: it has a session of its
// own, reads /dev/null, prints to log (nil discards), and inherits extra (nil
// is none) as descriptor ExtraFD. An flock on extra is thus held until both its
// starter has closed it and the process has ended. Detach does not wait; it
// returns the process id. Of the Spec only Argv, Dir and Env are used.
func Detach(spec Spec, log, extra *os.File) (int, error) {
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return 0, errors.New("no command to start")
	}
	cmd := exec.Command(spec.Argv[0], spec.Argv[1:]...)
	cmd.Dir, cmd.Env = spec.Dir, spec.Env
	if log != nil {
		cmd.Stdout, cmd.Stderr = log, log
	}
	if extra != nil {
		cmd.ExtraFiles = []*os.File{extra}
	}
	cmd.SysProcAttr = ownSession()
	if err := startOurs(cmd); err != nil {
		return 0, fmt.Errorf("starting %s: %w", spec.Argv[0], err)
	}
	// Somebody has to take its exit status while the starter lives on; what it
	// was concerns nobody here.
	go func() { _ = waitOurs(cmd) }()
	return cmd.Process.Pid, nil
}
