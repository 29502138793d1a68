package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"satelle/agents"
	"satelle/internal/engine"
	"satelle/internal/fault"
	"satelle/internal/place"
)

func newAgentCmd(a *app) *cobra.Command {
	cmd := parent("agent", "The bindings: which agent runs how",
		"A binding in .satelle/workflows/agents.toml says how an agent runs. The route says\nwho is asked, the binding how.",
		`  satelle agent list
  satelle agent validate
  satelle agent use codex`)
	cmd.AddCommand(newAgentListCmd(a), newAgentValidateCmd(a), newAgentUseCmd(a), newAgentRunCmd(a))
	return cmd
}

func newAgentListCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the bindings",
		Long: long(`Lists the bindings of .satelle/workflows/agents.toml and what config.toml of
$SATELLE_HOME adds to them. Values that may be credentials are not shown.`, 3, 4),
		Example: `  satelle agent list --json`,
		Args:    none(),
		RunE: a.run(func(ctx context.Context, _ []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			bindings, err := e.Bindings()
			if err != nil {
				return err
			}
			var rows [][]string
			for _, b := range bindings {
				b = b.Shown()
				if a.json {
					if err := a.line(shownBinding{b, b.Timeout.String()}); err != nil {
						return err
					}
					continue
				}
				rows = append(rows, []string{b.Name, b.Role, b.Interface, b.Model, b.Command})
			}
			if a.json {
				return nil
			}
			return a.table([]string{"NAME", "ROLE", "INTERFACE", "MODEL", "COMMAND"}, rows)
		}),
	}
}

// shownBinding is a binding in JSON, with its time as agents.toml has it.
type shownBinding struct {
	agents.Binding
	Timeout string `json:"timeout"`
}

func newAgentValidateCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "validate",
		Short: "Check the bindings",
		Long: long(`Reads agents.toml strictly and names what is wrong by file and line: what can't
run as it is written, a performer without a way to its context, a reviewer that
could write, flags that turn an agent's own hooks off. What still works and is
better written otherwise is a warning. No agent is started.`, 3, 4),
		Example: `  satelle agent validate`,
		Args:    none(),
		RunE: a.run(func(ctx context.Context, _ []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			bindings, warnings, err := e.CheckBindings()
			for _, w := range warnings {
				fmt.Fprintf(a.stderr, "warning: %s\n", printable(w))
			}
			if err != nil {
				return err
			}
			return a.object(map[string]any{"valid": true, "bindings": len(bindings), "warnings": warnings}, func(w io.Writer) {
				fmt.Fprintf(w, "agents.toml holds: %d bindings\n", len(bindings))
			})
		}),
	}
}

func newAgentUseCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "use CLI",
		Short: "Choose the CLI that reviews by default on this machine",
		Long: long(`Writes [agent] cli into config.toml of $SATELLE_HOME. A [reviewer] without a
command runs that CLI's template, and init proposes it. No repository is changed.
CLI is claude, codex, grok or opencode. Where "satelle agents install" has made a
launcher for the CLI's ACP server, the binding CLI-acp is written beside it.`, 3),
		Example: `  satelle agent use codex`,
		Args:    exactly("CLI"),
		RunE: a.run(func(_ context.Context, args []string) error {
			home, err := place.HomeDir()
			if err != nil {
				return fault.Wrap(err, nil, "finding $SATELLE_HOME")
			}
			dir, err := os.Getwd()
			if err != nil {
				return fault.Wrap(err, nil, "finding the current directory")
			}
			if err := engine.OnlyPerson(home, dir, "choosing the machine's CLI"); err != nil {
				return err
			}
			path, err := engine.UseCLI(home, args[0])
			if err != nil {
				return err
			}
			return a.object(map[string]any{"cli": args[0], "file": path}, func(w io.Writer) {
				fmt.Fprintf(w, "%s reviews wherever a repository names no command (%s)\n", args[0], path)
			})
		}),
	}
}

// maxRunPayload bounds what a person hands to an agent.
const maxRunPayload = 1 << 20

func newAgentRunCmd(a *app) *cobra.Command {
	var story string
	cmd := &cobra.Command{
		Use:   "run NAME [--story ID]",
		Short: "Run a binding once",
		Long: long(`Starts the agent of a binding on what comes on stdin, or on a story, shows its
progress on stderr and prints its final answer on stdout. No story moves. A
person's: no agent starts another by it.`, 3, 4),
		Example: `  echo "What does this repository do?" | satelle agent run reviewer
  satelle agent run retrospective --story 01JZ0000000000000000000000`,
		Args: exactly("NAME"),
	}
	cmd.Flags().StringVar(&story, "story", "", "hand the agent this story instead of stdin")
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		e, err := a.engine(ctx)
		if err != nil {
			return err
		}
		var payload []byte
		if story == "" {
			if payload, err = io.ReadAll(io.LimitReader(a.stdin, maxRunPayload+1)); err != nil {
				return fault.Wrap(err, nil, "reading stdin")
			}
			if len(payload) == 0 || len(payload) > maxRunPayload {
				return fault.Try(fault.New(fault.Usage, "stdin must hold 1 to %d bytes, or --story name a story", maxRunPayload), "satelle agent run --help")
			}
		}
		answer, err := e.RunAgent(ctx, args[0], story, payload, a.stderr)
		if err != nil {
			return err
		}
		return a.object(map[string]any{"binding": args[0], "answer": answer}, func(io.Writer) { a.foreign([]byte(answer + "\n")) })
	})
	return cmd
}
