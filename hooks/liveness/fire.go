package liveness

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const (
	// defaultPatience is how long a hook command may take: longer than the
	// engine's own deadline, and the shortest of the harnesses' (Grok's default).
	defaultPatience = 5 * time.Second
	// lingering is how long the output may stay open after the command ended,
	// before somebody counts as holding it.
	lingering = 250 * time.Millisecond
	// maxAnswer bounds what is read of an answer.
	maxAnswer = 64 << 10
)

// shot is one run of a hook command.
type shot struct {
	argv    []string
	dir     string
	env     []string
	payload []byte
}

// outcome is how it ended.
type outcome struct {
	err    error // it could not be started
	code   int   // -1 if a signal ended it
	late   bool  // it ran out of patience
	held   bool  // something that it left behind holds its output
	writes int   // in how many writes the output came; 0 where that can't be told
	stdout []byte
	stderr []byte
	took   time.Duration
}

// fire runs a hook command. Nothing of it is left when it returns, but for a
// process that moved itself to another group.
func fire(ctx context.Context, s shot, patience time.Duration) outcome {
	out := outcome{code: -1}
	from, to, packets, err := answerPipe()
	if err != nil {
		return outcome{err: err}
	}
	defer from.Close()
	in, feed, err := os.Pipe()
	if err != nil {
		to.Close()
		return outcome{err: err}
	}
	defer in.Close()
	// A payload fits into a pipe, so nobody has to wait with it.
	_, err = feed.Write(s.payload)
	err = errors.Join(err, feed.Close())
	if err != nil {
		to.Close()
		return outcome{err: err}
	}
	errs, errEnd, err := os.Pipe()
	if err != nil {
		to.Close()
		return outcome{err: err}
	}
	defer errs.Close()

	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, to, errEnd
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	begin := time.Now()
	err = cmd.Start()
	to.Close()
	errEnd.Close()
	if err != nil {
		return outcome{err: err}
	}
	heard := make(chan []byte, 1)
	go func() { heard <- head(errs) }()
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, maxAnswer)
		for len(out.stdout) < maxAnswer {
			n, err := from.Read(buf)
			out.stdout = append(out.stdout, buf[:n]...)
			if n > 0 && packets {
				out.writes++
			}
			if err != nil {
				out.held = errors.Is(err, os.ErrDeadlineExceeded)
				return
			}
		}
	}()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		out.late = true
	case <-ctx.Done():
		out.late = true
	}
	out.took = time.Since(begin)
	if out.late {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
	for _, f := range []*os.File{from, errs} {
		if err := f.SetReadDeadline(time.Now().Add(lingering)); err != nil {
			f.Close()
		}
	}
	<-read
	out.stderr = <-heard
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind
	out.code = cmd.ProcessState.ExitCode()
	return out
}

// head reads to the end and keeps the first bytes.
func head(from *os.File) []byte {
	const most = 2048
	var kept []byte
	buf := make([]byte, most)
	for {
		n, err := from.Read(buf)
		kept = append(kept, buf[:min(n, most-len(kept))]...)
		if err != nil {
			return bytes.TrimSpace(kept)
		}
	}
}
