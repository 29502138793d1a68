package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// A supervised command runs below a supervisor, which is this very program
// started anew. It adopts what the command leaves behind wherever that moved to,
// so all of it can be found and killed, and what another run has started is
// never touched. It waits on its first pipe for the command, and on the second
// it reports what became of it. The end of the first pipe ends the command: so
// it does not outlive a caller that was killed, either. Should the supervisor be
// killed, this process adopts what it had, and hunts that down itself.

// supervisorName is the argv[0] by which this program knows that it supervises.
const supervisorName = "satelle-supervisor"

// Descriptors of a supervisor.
const (
	ordersFD = 3 + iota
	reportFD
	passedFD // Spec.Extra
)

// lost is how long a supervisor may take, beyond the grace and its sweep, to
// report the end of a command that it was told to end.
const lost = 3 * time.Second

// report is what a supervisor says: a kind and a number.
type report struct {
	Kind   byte
	Number int32
}

const (
	begun   = 'b' // the command's process id
	unbegun = 'u' // errno: it could not be started
	over    = 'o' // its wait status; nothing of it lives
	left    = 'l' // its wait status; something of it does, and is hunted on
)

// orders are what a supervisor is to start: how many files to pass on, the
// program, then argv, each of them ended by a zero byte, after their length.
func orders(extra int, path string, argv []string) []byte {
	b := append(make([]byte, 4, 4+len(path)+1), byte(extra))
	for _, s := range slices.Concat([]string{path}, argv) {
		b = append(append(b, s...), 0)
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

func readOrders(r io.Reader) (extra int, path string, argv []string, err error) {
	var n uint32
	if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
		return 0, "", nil, err
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return 0, "", nil, err
	}
	words := bytes.Split(b[min(1, len(b)):], []byte{0})
	if len(words) < 3 {
		return 0, "", nil, errors.New("no command")
	}
	for _, w := range words[1 : len(words)-1] {
		argv = append(argv, string(w))
	}
	return int(b[0]), string(words[0]), argv, nil
}

// supervised starts the command under a supervisor, whose process id registered
// gets before there is anything else.
func supervised(cmd *exec.Cmd, registered func(pid int) error) (*child, error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	self, err := selfPath()
	if err != nil {
		return nil, err
	}
	ordersRead, ordersWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	reportRead, reportWrite, err := os.Pipe()
	if err != nil {
		ordersRead.Close()
		ordersWrite.Close()
		return nil, err
	}
	words := orders(len(cmd.ExtraFiles), cmd.Path, cmd.Args)
	cmd.Path, cmd.Args = self, []string{supervisorName}
	cmd.ExtraFiles = slices.Concat([]*os.File{ordersRead, reportWrite}, cmd.ExtraFiles)
	// No terminal, and no way into this process's own group.
	cmd.SysProcAttr = ownSession()
	adopt()
	err = startOurs(cmd)
	ordersRead.Close()
	reportWrite.Close()
	if err != nil {
		ordersWrite.Close()
		reportRead.Close()
		return nil, err
	}

	c := &child{ended: make(chan end, 1)}
	fail := func(err error) (*child, error) {
		ordersWrite.Close()
		_ = cmd.Process.Kill()
		_ = waitOurs(cmd)
		reportRead.Close()
		hunt() // the command may be there already, and have spoken or killed first
		return nil, err
	}
	if err := registered(cmd.Process.Pid); err != nil {
		return fail(err)
	}
	if _, err := ordersWrite.Write(words); err != nil {
		return fail(fmt.Errorf("telling the supervisor what to start: %w", err))
	}
	var first report
	if err := binary.Read(reportRead, binary.LittleEndian, &first); err != nil {
		return fail(errors.New("the supervisor died before it told what it had started"))
	}
	switch first.Kind {
	case begun:
	case unbegun:
		return fail(syscall.Errno(first.Number))
	default:
		return fail(errors.New("another than the supervisor reported in its name"))
	}
	c.group = int(first.Number)
	c.end = func() { ordersWrite.Close() }
	c.force = func() {
		killGroup(c.group)
		_ = cmd.Process.Kill()
	}
	c.patience = grace + sweepTime + lost
	go func() {
		var last report
		err := binary.Read(reportRead, binary.LittleEndian, &last)
		if err == nil && last.Kind == left {
			c.ended <- end{code: -1, err: errors.New("something that it started can't be ended")}
		}
		died := waitOurs(cmd)
		ordersWrite.Close()
		reportRead.Close()
		switch {
		case err == nil && last.Kind == left:
		case err == nil && last.Kind == over && died == nil: // what a dead supervisor has reported, others may have written
			c.ended <- ended(syscall.WaitStatus(last.Number))
		default:
			killGroup(c.group)
			hunt()
			c.ended <- end{code: -1, err: errors.New("its supervisor was killed, and it with that")}
		}
	}()
	return c, nil
}
