package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
)

func newStatusCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show where things stand and who sits where",
		Long: long(`Shows the seat of each work tree, the stories under way, a halt, what is not
trusted yet, what was denied more than once in the last day, how many appeals were
filed, the copies of work trees that agents left changed, and who this command takes
you for.`, 3, 4, 5),
		Example: `  satelle status
  satelle status --json`,
		Args: none(),
		RunE: a.run(func(ctx context.Context, _ []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			a.observe(ctx, e)
			s, err := e.Status(ctx)
			if err != nil {
				return err
			}
			return a.object(s, func(w io.Writer) {
				fmt.Fprintf(w, "%s  %d records\n", s.Origin, s.Records)
				if s.Halt != "" {
					fmt.Fprintf(w, "halted: %s (a person ends it: satelle resume)\n", inLine(s.Halt))
				}
				here := false
				for _, seat := range s.Seats {
					where := "work tree " + seat.WorkTree
					if seat.WorkTree == s.WorkTree {
						where, here = "this work tree", true
					}
					state := seat.Step
					switch {
					case seat.Lent:
						state += ", lent to the agent that performs it: satelle story wait " + seat.Story + " follows it"
					case seat.Judged:
						state += ", being judged: satelle story wait " + seat.Story + " follows it"
					case seat.Idle:
						state += ", suspended: satelle story join " + seat.Story + " wakes it"
					}
					fmt.Fprintf(w, "%s: %s %q (%s)\n", where, seat.Story, seat.Title, state)
				}
				if !here {
					fmt.Fprintln(w, "this work tree: nobody holds the seat (satelle story start --title \"…\" --ac \"…\")")
				}
				states := make([]string, 0, len(s.Stories))
				for st := range s.Stories {
					states = append(states, st)
				}
				slices.Sort(states)
				for _, st := range states {
					fmt.Fprintf(w, "%4d %s\n", s.Stories[st], st)
				}
				for _, c := range s.Copies {
					story := cmp.Or(printable(c.Story), "a person's run")
					fmt.Fprintf(w, "kept copy of %s (%s), changed by its agent and merged by nobody: %s\n", story, printable(c.Binding), inLine(c.Path))
				}
				if len(s.Copies) > 0 {
					copied := shellWord(s.Copies[0].Path)
					fmt.Fprintf(w, "      git -C %s status shows what it holds, git worktree remove --force %s drops it\n", copied, copied)
				}
				if s.Untrusted > 0 {
					fmt.Fprintf(w, "not trusted on this machine: %d of what this repository brings (satelle trust shows it)\n", s.Untrusted)
				}
				a.repeated(w, s.Denied)
				if s.Appeals > 0 {
					fmt.Fprintf(w, "appeals against denials: %d (satelle ledger list --kind appeal.filed)\n", s.Appeals)
				}
				fmt.Fprintf(w, "you are: %s %s", s.You.Kind, inLine(s.You.Name))
				if s.You.Session != "" {
					fmt.Fprintf(w, " (%s)", inLine(s.You.Session))
				}
				fmt.Fprintln(w)
			})
		}),
	}
}
