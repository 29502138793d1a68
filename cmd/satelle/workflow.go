package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"satelle/internal/engine"
	"satelle/internal/fault"
	"satelle/workflow/route"
)

func newWorkflowCmd(a *app) *cobra.Command {
	cmd := parent("workflow", "The route that stories take",
		"The route is written in .satelle/workflows/done.md (what done means, by category)\nand step.md (which step provides what, who performs it, who gates it).",
		`  satelle workflow validate
  satelle workflow show --category docs`)
	cmd.AddCommand(newWorkflowValidateCmd(a), newWorkflowShowCmd(a))
	return cmd
}

func newWorkflowValidateCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "validate",
		Short: "Check the route, the skills and the bindings",
		Long: long(`Reads the route, the skills and agents.toml, and names each problem by file, line
and mend. Every move is refused until none is left.`, 3, 4),
		Example: `  satelle workflow validate`,
		Args:    none(),
		RunE: a.run(func(ctx context.Context, _ []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			v, err := e.Validate()
			for _, w := range v.Warnings {
				fmt.Fprintf(a.stderr, "warning: %s\n", printable(w))
			}
			var problems route.Problems
			if errors.As(err, &problems) {
				if a.json {
					if err := a.line(map[string]any{"valid": false, "problems": problems, "warnings": v.Warnings}); err != nil {
						return err
					}
				}
				return fault.Wrap(problems, fault.Refused, "the route has to be mended")
			}
			if err != nil {
				return err
			}
			return a.object(map[string]any{"valid": true, "categories": v.Categories, "warnings": v.Warnings}, func(w io.Writer) {
				fmt.Fprintf(w, "the route holds: %d lanes\n", len(v.Categories))
			})
		}),
	}
}

func newWorkflowShowCmd(a *app) *cobra.Command {
	var category string
	cmd := &cobra.Command{
		Use:   "show [--category C]",
		Short: "Show the route, in the order that follows from it",
		Long:  long("Shows each lane with its steps in derived order, who performs them and which gates\nstand before them.", 3, 4),
		Example: `  satelle workflow show
  satelle workflow show --category docs --json`,
		Args: none(),
	}
	cmd.Flags().StringVar(&category, "category", "", "only the lane of this category")
	cmd.RunE = a.run(func(ctx context.Context, _ []string) error {
		e, err := a.engine(ctx)
		if err != nil {
			return err
		}
		categories, err := e.Categories()
		if err != nil {
			return err
		}
		if category != "" {
			categories = []string{category}
		}
		for _, c := range categories {
			lane, err := e.Lane(c)
			if err != nil {
				return err
			}
			if a.json {
				if err := a.line(lane); err != nil {
					return err
				}
				continue
			}
			printLane(a.stdout, lane)
		}
		return nil
	})
	return cmd
}

func printLane(w io.Writer, lane engine.Lane) {
	fmt.Fprintf(w, "lane %s\n", lane.Name)
	for _, s := range lane.Steps {
		printStep(w, " ", s)
	}
	if lane.Park != "" {
		fmt.Fprintf(w, "  park: %s\n", lane.Park)
	}
	if lane.Cancel != "" {
		fmt.Fprintf(w, "  cancel: %s\n", lane.Cancel)
	}
	for _, adv := range lane.Advisors {
		fmt.Fprintf(w, "  advisor: %s\n", adv)
	}
}
