package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"satelle/hooks/decide"
)

func newHookCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "hook EVENT",
		Short: "Answer a hook call, as satelle-hook does",
		Long: long(`Reads one hook call of a coding agent on stdin and answers it on stdout, by the
same function as the installed satelle-hook. It exits with 0 and a decision, or
with 2 and a reason on stderr where an agent wants that.`),
		Example: `  satelle hook PreToolUse < call.json`,
		Args:    exactly("EVENT"),
		RunE: a.run(func(context.Context, []string) error {
			if code := decide.Run(a.stdin, a.stdout, a.stderr, decide.System()); code != 0 {
				os.Exit(code)
			}
			return nil
		}),
	}
}
