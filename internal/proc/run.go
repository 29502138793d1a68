package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

const (
	// DefaultOutputCap bounds Result.Output where the Spec sets no bound.
	DefaultOutputCap = 64 << 10
	// grace is what a group gets between SIGTERM and SIGKILL.
	grace = 2 * time.Second
	// drain is how long the pipes may stay open after the whole group has been
	// killed: only a process that left the group can still hold them then.
	drain = time.Second
)

// Spec says what to run. Argv[0] is looked up on PATH.
type Spec struct {
	Argv []string
	Dir  string   // "" is the caller's
	Env  []string // nil is the caller's
	// Stdin is given to the command, which need not read it.
	Stdin []byte
	// HoldStdin keeps the input open, after Stdin, until the command has ended:
	// for one that takes the end of its input as a reason to leave.
	HoldStdin bool
	// Input, if set, is the command's standard input instead, for a talk that goes
	// on. The caller closes it, and the other end of it.
	Input *os.File
	// Extra, if set, is the command's descriptor [ExtraFD]. The caller closes it.
	Extra *os.File
	// Timeout bounds the run; 0 leaves it to the context.
	Timeout time.Duration
	// OutputCap bounds the bytes kept in Result.Output; 0 is DefaultOutputCap.
	OutputCap int
	// Stdout, if set, takes the command's standard output, so that
	// Result.Output holds standard error alone. It is never called after Run has
	// returned. When a Write fails, the command finds its output closed and Run
	// returns that error; Run also fails when it cannot know that Stdout got all.
	Stdout io.Writer
	// Registered, if set, puts the command under a supervisor: it is called with
	// the process id of that, under which everything of the command will run and
	// nothing runs yet; an error ends the run. When Run returns, then every process
	// that the command has started has been killed, on Linux also those that left
	// its group; on macOS of those only what still hung together with the command
	// when it was made to end. They do not outlive this process, either.
	Registered func(pid int) error
}

// Result is how a command ended.
type Result struct {
	// ExitCode is the command's own, or -1 if a signal ended it.
	ExitCode int
	// Output is what was printed, standard output and error as they came. Of
	// output beyond the cap the last bytes are kept.
	Output    []byte
	Truncated bool   // Output is not all of it
	TimedOut  bool   // Spec.Timeout ended the command
	Signal    string // the signal that ended it, such as SIGKILL; "" if none
	Elapsed   time.Duration
}

// OK reports whether the command ended by itself and with exit code 0.
func (r Result) OK() bool { return r.ExitCode == 0 && r.Signal == "" && !r.TimedOut }

// Run runs a command and returns when it has ended. An exit code other than 0
// is no error, and neither is a timeout; an error means that the command could
// not be started, that its output could not be taken, or that ctx ended (then
// it is the context's error). The Result is filled in as far as it is known.
//
// When Run returns, every process of the command's group has ended or been
// killed. One that moved itself to another group lives on, unless
// [Spec.Registered] is set; Run does not wait for it, not even if it holds the
// output open.
func Run(ctx context.Context, spec Spec) (Result, error) {
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return Result{ExitCode: -1}, errors.New("no command to run")
	}
	if err := ctx.Err(); err != nil {
		return Result{ExitCode: -1}, err
	}
	cmd := exec.Command(spec.Argv[0], spec.Argv[1:]...)
	cmd.Dir, cmd.Env = spec.Dir, spec.Env
	cmd.SysProcAttr = ownGroup()
	if spec.Extra != nil {
		cmd.ExtraFiles = []*os.File{spec.Extra}
	}

	// The pipes are ours and not exec's: exec's Wait returns only when they are
	// closed, which a process left behind can put off for ever.
	wires, err := wire(cmd, spec)
	if err != nil {
		return Result{ExitCode: -1}, fmt.Errorf("running %s: %w", spec.Argv[0], err)
	}
	begin := time.Now()
	start := alone
	if spec.Registered != nil {
		start = func(cmd *exec.Cmd) (*child, error) { return supervised(cmd, spec.Registered) }
	}
	c, err := start(cmd)
	if err != nil {
		wires.abandon()
		return Result{ExitCode: -1}, fmt.Errorf("running %s: %w", spec.Argv[0], err)
	}
	wires.flow(spec.Stdin, spec.HoldStdin)

	var timeout <-chan time.Time
	if spec.Timeout > 0 {
		timer := time.NewTimer(spec.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	var res Result
	var gaveUp error
	var last end
	select {
	case last = <-c.ended:
	case <-timeout:
		res.TimedOut = true
		last = c.stop()
	case <-ctx.Done():
		gaveUp = ctx.Err()
		last = c.stop()
	}
	outErr := wires.close()
	res.Elapsed = time.Since(begin)
	res.Output, res.Truncated = wires.tail.bytes()
	res.ExitCode, res.Signal = last.code, last.signal

	switch {
	case gaveUp != nil:
		return res, gaveUp
	case outErr != nil:
		return res, fmt.Errorf("taking the output of %s: %w", spec.Argv[0], outErr)
	case last.err != nil:
		return res, fmt.Errorf("waiting for %s: %w", spec.Argv[0], last.err)
	}
	return res, nil
}

// wires are the pipes between a command and us.
type wires struct {
	childEnds []*os.File
	stdin     *os.File // our end; nil if the command reads /dev/null
	sources   []source
	tail      *tail
	copied    chan error
	fed       chan struct{}
}

type source struct {
	from *os.File
	to   io.Writer
}

func wire(cmd *exec.Cmd, spec Spec) (*wires, error) {
	limit := spec.OutputCap
	if limit <= 0 {
		limit = DefaultOutputCap
	}
	w := &wires{tail: &tail{limit: limit}}
	out := func(to io.Writer) (*os.File, error) {
		r, c, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		w.childEnds = append(w.childEnds, c)
		w.sources = append(w.sources, source{r, to})
		return c, nil
	}
	errEnd, err := out(w.tail)
	if err != nil {
		return nil, err
	}
	cmd.Stderr, cmd.Stdout = errEnd, errEnd
	if spec.Stdout != nil {
		outEnd, err := out(spec.Stdout)
		if err != nil {
			w.abandon()
			return nil, err
		}
		cmd.Stdout = outEnd
	}
	switch {
	case spec.Input != nil:
		cmd.Stdin = spec.Input
	case len(spec.Stdin) > 0 || spec.HoldStdin:
		c, p, err := os.Pipe()
		if err != nil {
			w.abandon()
			return nil, err
		}
		w.childEnds = append(w.childEnds, c)
		w.stdin = p
		cmd.Stdin = c
	}
	return w, nil
}

// abandon closes everything of a command that did not start.
func (w *wires) abandon() {
	for _, f := range w.childEnds {
		f.Close()
	}
	for _, s := range w.sources {
		s.from.Close()
	}
	if w.stdin != nil {
		w.stdin.Close()
	}
}

// flow starts to move bytes; the command has its ends by now.
func (w *wires) flow(stdin []byte, hold bool) {
	for _, f := range w.childEnds {
		f.Close()
	}
	w.copied = make(chan error, len(w.sources))
	for _, s := range w.sources {
		go func() {
			_, err := io.Copy(s.to, s.from)
			s.from.Close()
			if s.to == w.tail && errors.Is(err, os.ErrDeadlineExceeded) {
				w.tail.lost, err = true, nil
			}
			w.copied <- err
		}()
	}
	w.fed = make(chan struct{})
	go func() {
		defer close(w.fed)
		if w.stdin != nil {
			// A command that does not read its input is in its right.
			_, _ = io.Copy(w.stdin, bytes.NewReader(stdin))
			if !hold {
				w.stdin.Close()
			}
		}
	}()
}

// close returns when all output has been taken, or when it has waited for long
// enough for a pipe that somebody else still holds.
func (w *wires) close() error {
	deadline := time.Now().Add(drain)
	if w.stdin != nil {
		w.stdin.SetWriteDeadline(time.Now())
	}
	<-w.fed
	if w.stdin != nil {
		w.stdin.Close() // closed already, unless it was held
	}
	for _, s := range w.sources {
		s.from.SetReadDeadline(deadline)
	}
	var errs []error
	for range w.sources {
		errs = append(errs, <-w.copied)
	}
	return errors.Join(errs...)
}
