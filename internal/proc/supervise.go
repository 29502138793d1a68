package proc

import (
	"bytes"
	"crypto/rand"
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

// How long is waited for the first report of a supervisor, which needs milliseconds,
// and for one that a dead supervisor has left in the pipe.
const (
	firstWords = 30 * time.Second
	lastWords  = 100 * time.Millisecond
)

// report is what a supervisor says: a kind and a number. What runs below it can
// write into its pipe, and read there what was said; so the first report and the
// last one bear passes of their own, which the supervisor has read before there was
// anybody else.
type report struct {
	Pass   pass
	Kind   byte
	Number int32
}

type pass [16]byte

func newPass() (p pass) {
	_, _ = rand.Read(p[:]) // never fails, see crypto/rand
	return p
}

const (
	begun   = 'b' // the command's process id
	unbegun = 'u' // errno: it could not be started
	over    = 'o' // its wait status; nothing of it lives
	left    = 'l' // its wait status; something of it does, and is hunted on
)

// orders are what a supervisor gets.
type orders struct {
	first, last pass // of its reports
	extra       int  // how many files to pass on
	path        string
	argv        []string
}

// encode writes the passes and the number of files, then the program and argv, each
// of them ended by a zero byte, after the length of it all.
func (o orders) encode() []byte {
	b := slices.Concat(make([]byte, 4), o.first[:], o.last[:], []byte{byte(o.extra)})
	for _, s := range slices.Concat([]string{o.path}, o.argv) {
		b = append(append(b, s...), 0)
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

func readOrders(r io.Reader) (o orders, err error) {
	var n uint32
	if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
		return o, err
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return o, err
	}
	head := len(o.first) + len(o.last) + 1
	words := bytes.Split(b[min(head, len(b)):], []byte{0})
	if len(words) < 3 {
		return o, errors.New("no command")
	}
	copy(o.first[:], b)
	copy(o.last[:], b[len(o.first):])
	o.extra, o.path = int(b[head-1]), string(words[0])
	for _, w := range words[1 : len(words)-1] {
		o.argv = append(o.argv, string(w))
	}
	return o, nil
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
	o := orders{first: newPass(), last: newPass(), extra: len(cmd.ExtraFiles), path: cmd.Path, argv: cmd.Args}
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
	if _, err := ordersWrite.Write(o.encode()); err != nil {
		return fail(fmt.Errorf("telling the supervisor what to start: %w", err))
	}
	var first report
	_ = reportRead.SetReadDeadline(time.Now().Add(firstWords)) // the command may have stopped it by now
	if err := binary.Read(reportRead, binary.LittleEndian, &first); err != nil {
		return fail(errors.New("the supervisor died before it told what it had started"))
	}
	switch {
	case first.Pass != o.first:
		return fail(errors.New("another than the supervisor reported in its name"))
	case first.Kind != begun:
		return fail(syscall.Errno(first.Number))
	}
	_ = reportRead.SetReadDeadline(time.Time{})
	c.group = int(first.Number)
	c.end = func() { ordersWrite.Close() }
	c.force = func() {
		killGroup(c.group)
		_ = cmd.Process.Kill()
	}
	c.patience = grace + sweepTime + lost
	go func() {
		gone := make(chan error, 1)
		go func() {
			gone <- waitOurs(cmd)
			// What it has said is there; the pipe may be held by others.
			_ = reportRead.SetReadDeadline(time.Now().Add(lastWords))
		}()
		var last report
		err := binary.Read(reportRead, binary.LittleEndian, &last)
		forged := err != nil || last.Pass != o.last
		if forged {
			_ = cmd.Process.Kill()
		}
		if !forged && last.Kind == left {
			c.ended <- end{code: -1, err: errors.New("something that it started can't be ended")}
		}
		died := <-gone
		ordersWrite.Close()
		reportRead.Close()
		switch {
		case !forged && last.Kind == left:
			if died != nil {
				hunt()
			}
		case !forged && died == nil:
			c.ended <- ended(syscall.WaitStatus(last.Number))
		default:
			killGroup(c.group)
			hunt()
			c.ended <- end{code: -1, err: errors.New("its supervisor was killed, and it with that")}
		}
	}()
	return c, nil
}
