package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newAgentCmd(a *app) *cobra.Command {
	cmd := parent("agent", "The bindings: which agent runs how",
		"A binding in .satelle/workflows/agents.toml says how an agent runs. The route says\nwho is asked, the binding how.",
		`  satelle agent list
  satelle agent validate`)
	cmd.AddCommand(newAgentListCmd(a), newAgentValidateCmd(a))
	return cmd
}

func newAgentListCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the bindings",
		Long:    long("Lists the bindings of .satelle/workflows/agents.toml.", 3, 4),
		Example: `  satelle agent list --json`,
		Args:    none(),
		RunE: a.run(func(ctx context.Context, _ []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			bindings, _, err := e.Bindings()
			if err != nil {
				return err
			}
			var rows [][]string
			for _, b := range bindings {
				if a.json {
					if err := a.line(b); err != nil {
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

func newAgentValidateCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "validate",
		Short:   "Check the bindings",
		Long:    long("Reads agents.toml strictly and names what is wrong by file and line.", 3, 4),
		Example: `  satelle agent validate`,
		Args:    none(),
		RunE: a.run(func(ctx context.Context, _ []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			bindings, warnings, err := e.Bindings()
			if err != nil {
				return err
			}
			for _, w := range warnings {
				fmt.Fprintf(a.stderr, "warning: %s\n", w)
			}
			return a.object(map[string]any{"valid": true, "bindings": len(bindings), "warnings": warnings}, func(w io.Writer) {
				fmt.Fprintf(w, "agents.toml holds: %d bindings\n", len(bindings))
			})
		}),
	}
}
