package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(run()) }

// errInterrupt is the cause of a context that Ctrl-C ended.
var errInterrupt = errors.New("interrupted")

// run is main for tests, which call it as a program of their own.
func run() int {
	ctx, end := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		first := <-signals
		signal.Reset(os.Interrupt, syscall.SIGTERM) // a second one does not wait for anything
		if first == os.Interrupt {
			end(errInterrupt)
		}
		end(nil)
	}()
	a := &app{stdin: patient{ctx, os.Stdin}, stdout: os.Stdout, stderr: os.Stderr, tty: isTerminal(os.Stdout)}
	return a.execute(ctx, os.Args[1:])
}

// patient is an input that is waited for until somebody has lost patience.
type patient struct {
	ctx context.Context
	in  io.Reader
}

// Read implements [io.Reader].
func (r patient) Read(p []byte) (int, error) {
	type got struct {
		b   []byte
		err error
	}
	came := make(chan got, 1)
	go func() {
		b := make([]byte, len(p)) // p is the caller's again when Read has returned
		n, err := r.in.Read(b)
		came <- got{b[:n], err}
	}()
	select {
	case g := <-came:
		return copy(p, g.b), g.err
	case <-r.ctx.Done():
		return 0, context.Cause(r.ctx)
	}
}

// open opens a file to read. A pipe is waited for until somebody writes there, or
// has lost patience.
func open(ctx context.Context, name string) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	came := make(chan opened, 1)
	go func() {
		f, err := os.Open(name)
		came <- opened{f, err}
	}()
	select {
	case o := <-came:
		return o.f, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
