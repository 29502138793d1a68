package transport

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"

	"satelle/agents"
	"satelle/internal/proc"
)

// registered tells whoever wants to know; without anybody, the supervision that
// it brings is wanted all the same.
func (inv Invocation) registered(pid int) error {
	if inv.Started == nil {
		return nil
	}
	return inv.Started(pid)
}

func runCommand(ctx context.Context, inv Invocation) (Result, error) {
	argv := inv.Binding.Argv(agents.Values{System: inv.System, Payload: string(inv.Payload)})
	var out bytes.Buffer
	res, err := proc.Run(ctx, proc.Spec{
		Argv: argv, Dir: inv.Dir, Env: inv.Env, Stdin: inv.Payload, Timeout: inv.Timeout, Stdout: &out, Registered: inv.registered,
	})
	r := Result{Text: strings.TrimSpace(out.String()), Elapsed: res.Elapsed}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return r, &Failure{Class: Missing, Message: argv[0] + " is not on PATH"}
	case ctx.Err() != nil:
		return r, &Failure{Class: Cancelled, Message: ctx.Err().Error()}
	case err != nil:
		return r, &Failure{Class: Failed, Message: err.Error()}
	case res.TimedOut:
		return r, &Failure{Class: TimedOut, Message: "it did not answer within " + inv.Timeout.String()}
	case !res.OK():
		return r, &Failure{Class: Failed, Message: string(res.Output), ExitCode: res.ExitCode}
	}
	return r, nil
}
