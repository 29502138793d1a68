package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newAppealCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "appeal WHY",
		Short: "Say that the last denial was wrong",
		Long: long(`Records that the last call that satelle denied should have been allowed, with what
the decision rested on and why you think so: in an agent's session the last denial
of that session, else the last one in the repository. It changes no decision; a
person reads the appeals (satelle status counts them) and may change [gate] in
.satelle/satelle.toml.`, 3, 4, 5, 6),
		Example: `  satelle appeal "make lint only reads, it has no --fix"
  satelle ledger list --kind appeal.filed`,
		Args: exactly("WHY"),
		RunE: a.run(func(ctx context.Context, args []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			r, b, err := e.Appeal(ctx, args[0], version)
			if err != nil {
				return err
			}
			return a.object(map[string]any{"seq": r.Seq, "denial": b.Denial, "tool": b.Tool, "target": b.Target(), "rule": b.Rule}, func(w io.Writer) {
				fmt.Fprintf(w, "filed by record %d: the denial of %s (record %d) was wrong\nnext: satelle ledger show %d\n", r.Seq, inLine(call(b.Tool, b.Target())), b.Denial, r.Seq)
			})
		}),
	}
}
