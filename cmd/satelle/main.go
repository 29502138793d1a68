package main

import (
	"context"
	"errors"
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
		if <-signals == os.Interrupt {
			end(errInterrupt)
		}
		end(nil)
	}()
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, tty: isTerminal(os.Stdout)}
	return a.execute(ctx, os.Args[1:])
}
