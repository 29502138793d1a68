package main

import (
	"context"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"satelle/internal/fault"
)

// leaseFD is where a judging process finds the lease that it was handed.
const leaseFD = 3

// newJudgeCmd is the process that asks a gate, started by satelle story set
// in a session of its own. Its output is the gate's log, which those who wait
// are shown.
func newJudgeCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "judge ID TOKEN",
		Hidden: true,
		Args:   exactly("ID", "TOKEN"),
		RunE: a.run(func(ctx context.Context, args []string) error {
			// The checks must not inherit the lease: they may leave children.
			unix.CloseOnExec(leaseFD)
			lease := os.NewFile(leaseFD, "lease")
			defer lease.Close() // and not before: a file that nobody keeps is closed
			token, err := strconv.ParseUint(args[1], 10, 53)
			if err != nil {
				return fault.Wrap(err, fault.Usage, "reading the token")
			}
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			if err := e.Judge(ctx, args[0], token, lease, a.stdout); err != nil {
				return err
			}
			lease.Close() // those who wait go on
			a.tell(context.WithoutCancel(ctx), e, args[0], token)
			return nil
		}),
	}
}
