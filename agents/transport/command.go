package transport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"satelle/agents"
	"satelle/agents/event"
	"satelle/internal/proc"
)

// maxStderr bounds the end of standard error that is kept.
const maxStderr = 64 << 10

// registered tells whoever wants to know; without anybody, the supervision that
// it brings is wanted all the same.
func (inv Invocation) registered(pid int) error {
	if inv.Started == nil {
		return nil
	}
	return inv.Started(pid)
}

// sink is where the events go, if only to nowhere.
func (inv Invocation) sink() event.Sink {
	if inv.Events == nil {
		return func(event.Event) {}
	}
	return inv.Events
}

// runCommand starts a command with its full argv. The work item is always on its
// standard input, whether it is in argv as well, and whether it is read at all.
func runCommand(ctx context.Context, inv Invocation) (Result, error) {
	tell := inv.sink()
	r, err := command(ctx, inv, tell)
	if r.Usage.Available() || r.Usage.CostMicros != nil {
		tell(event.Event{Kind: event.Usage, Usage: &r.Usage})
	}
	if err != nil {
		err.ExitCode = r.ExitCode
		tell(event.Event{Kind: event.Failure, Class: err.Class, Text: err.Message})
		return r, err
	}
	tell(event.Event{Kind: event.Completion})
	return r, nil
}

func command(ctx context.Context, inv Invocation, tell event.Sink) (Result, *Failure) {
	argv := inv.Binding.Argv(agents.Values{System: inv.System, Payload: string(inv.Payload)})
	if len(argv) == 0 {
		return Result{}, &Failure{Class: Missing, Message: "the binding names no program"}
	}
	if f := tooLong(argv, inv); f != nil {
		return Result{}, f
	}
	program, f := lookUp(argv[0], inv)
	if f != nil {
		return Result{}, f
	}
	run, end := context.WithCancelCause(ctx)
	defer end(nil)
	out := &reader{tell: tell, raw: inv.Raw, endless: func() { end(errEndless) }}
	res, err := proc.Run(run, proc.Spec{
		Argv: append([]string{program}, argv[1:]...), Dir: inv.Dir, Env: inv.Env, Stdin: inv.Payload, Timeout: inv.Timeout,
		OutputCap: maxStderr, Stdout: out,
		Registered: func(pid int) error {
			if err := inv.registered(pid); err != nil {
				return err
			}
			tell(event.Event{Kind: event.Start})
			return nil
		},
	})
	said := out.end()
	r := Result{Program: program, Usage: said.usage, Elapsed: res.Elapsed, ExitCode: max(res.ExitCode, 0)}
	switch {
	case out.size > maxOutput || errors.Is(context.Cause(run), errEndless) || errors.Is(err, errEndless):
		return r, &Failure{Class: Protocol, Message: fmt.Sprintf("it printed more than an agent may: %d MiB in all, %d MiB in one text", maxOutput>>20, maxLine>>20)}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return r, &Failure{Class: TimedOut, Message: "it did not answer in the time that was left"}
	case ctx.Err() != nil:
		return r, &Failure{Class: Cancelled, Message: "it was cancelled"}
	case res.TimedOut:
		return r, &Failure{Class: TimedOut, Message: "it did not answer within " + inv.Timeout.String()}
	case err != nil:
		return r, notStarted(argv[0], err)
	}
	text, f := judge(said, res)
	r.Text = text
	return r, f
}

// judge decides what an ended process has answered. Its result message outweighs
// its exit code (decision Q57); only where there is none does the code decide.
func judge(said outcome, res proc.Result) (string, *Failure) {
	switch {
	case said.failure != nil && !(said.doubtful && res.OK()):
		return "", said.failure
	case said.answered:
	case !res.OK():
		return "", exited(said, res)
	case !said.plain && !said.doubtful:
		return "", &Failure{Class: Protocol, Message: "it ended without a final message"}
	}
	if said.text == "" {
		return "", &Failure{Class: Protocol, Message: "its final message is empty"}
	}
	return said.text, nil
}

// exited is why a process failed that gave no result.
func exited(said outcome, res proc.Result) *Failure {
	message := lastError(string(res.Output))
	if message == "" && said.plain { // some print their error where the answer belongs
		message, _ = markedError(said.text)
	}
	f := &Failure{Class: classOfText(message), Message: message}
	if res.ExitCode == 126 || res.ExitCode == 127 { // a shell that did not find it
		f.Class = Missing
	}
	how := fmt.Sprintf("it ended with exit code %d", res.ExitCode)
	if res.Signal != "" {
		how = "it was ended by " + res.Signal
	}
	f.Message = strings.TrimSuffix(how+": "+f.Message, ": ")
	return f
}

// notStarted is why there was no process, or none that could be spoken to.
func notStarted(program string, err error) *Failure {
	switch {
	case errors.Is(err, syscall.E2BIG):
		return &Failure{Class: TooLong, Message: "the system refuses so long a command: " + wayOut}
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		return &Failure{Class: Missing, Message: fmt.Sprintf("the program %q can't be started: %v", program, errno(err))}
	}
	return &Failure{Class: Failed, Message: err.Error()}
}

// errno is the system's own word for an error.
func errno(err error) error {
	var n syscall.Errno
	if errors.As(err, &n) {
		return n
	}
	return err
}
