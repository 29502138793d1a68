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
same function as the installed satelle-hook, but registers no session: it is for
asking what an agent would hear. It exits with 0 and a decision, or
with 2 and a reason on stderr where an agent wants that.`),
		Example: `  satelle hook PreToolUse < call.json`,
		Args:    exactly("EVENT"),
		RunE: a.run(func(context.Context, []string) error {
			env := decide.System()
			env.Register, env.Observe = nil, nil // who asks here is no agent's session
			if code := decide.Run(a.stdin, a.stdout, a.stderr, env); code != 0 {
				os.Exit(code)
			}
			return nil
		}),
	}
}
