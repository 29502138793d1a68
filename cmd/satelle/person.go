package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"satelle/internal/fault"
)

func newApproveCmd(a *app) *cobra.Command {
	var reject bool
	var note string
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "Give a person's verdict on a story's next step",
		Long: long(`Records that a person accepts (or, with --reject, rejects) the next step of a
story whose gate asks for a human. Where .satelle/approvers names somebody, the
verdict is signed with that person's ssh key. Refused in an agent's session.`, 3, 4, 5),
		Example: `  satelle approve sty_7k2m9q4w --note "read and understood"
  satelle approve sty_7k2m9q4w --reject --note "the lock is missing"`,
		Args:              exactly("ID"),
		ValidArgsFunction: a.completeStories,
		RunE: a.run(func(ctx context.Context, args []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			s, err := e.Approve(ctx, args[0], !reject, note)
			if err != nil {
				return err
			}
			return a.object(s.Approval, func(w io.Writer) {
				word := "approved"
				if reject {
					word = "rejected"
				}
				fmt.Fprintf(w, "%s: the move to %s is %s\nnext: satelle story set %s --status %s\n", s.ID, s.Next(), word, s.ID, s.Next())
			})
		}),
	}
	cmd.Flags().BoolVar(&reject, "reject", false, "reject instead of accepting")
	cmd.Flags().StringVar(&note, "note", "", "why, for the record")
	return cmd
}

func newTrustCmd(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Trust what this repository would execute on this machine",
		Long: long(`Shows the checks of this repository that nobody has trusted on this machine yet,
and trusts them once a person has said yes. Trust is by content: a check that
changes has to be trusted again. A change of [gate] in satelle.toml, and one of
.satelle/approvers, is trusted the same way. Refused in an agent's session.`, 3),
		Example: `  satelle trust
  satelle trust --yes`,
		Args: none(),
		RunE: a.run(func(ctx context.Context, _ []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			if err := e.OnlyPerson("trust"); err != nil {
				return err
			}
			p, err := e.Pending(ctx)
			if err != nil {
				return err
			}
			for _, x := range p.Executables {
				fmt.Fprintf(a.stderr, "%s (%s)\n%s\n\n", printable(x.Name), x.Digest[:12], indent(printable(x.Text)))
			}
			n := p.Count()
			if p.Gate != nil {
				fmt.Fprintf(a.stderr, "[gate] of .satelle/satelle.toml: the hooks go by it once it is trusted\n%s\n\n", indent(printable(p.GateText)))
			}
			if p.Approvers != nil {
				fmt.Fprintf(a.stderr, ".satelle/approvers: once it is trusted, only these sign what is a person's\n%s\n\n", indent(printable(string(p.Approvers))))
			}
			if n > 0 && !yes && !a.confirm("trust these? [y/N] ") {
				return fault.Try(fault.New(fault.Refused, "nothing was trusted"), "satelle trust --yes")
			}
			if err := e.Trust(ctx, p); err != nil {
				return err
			}
			return a.object(map[string]any{"trusted": n}, func(w io.Writer) {
				if n > 0 {
					fmt.Fprintf(w, "trusted %d; ", n)
				}
				fmt.Fprintln(w, "nothing of this repository is left to trust here")
			})
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "trust without asking")
	return cmd
}

func newHaltCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "halt WHY",
		Short: "Deny every edit at once, everywhere",
		Long: long(`Denies every call that changes files, in every repository of this machine that
satelle governs, seat or not, until satelle resume. Refused in an agent's session.`, 3),
		Example: `  satelle halt "wrong branch: talk to me first"`,
		Args:    exactly("WHY"),
		RunE: a.run(func(ctx context.Context, args []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			n, err := e.Halt(ctx, args[0])
			if err != nil {
				return err
			}
			return a.object(map[string]any{"halted": n}, func(w io.Writer) {
				fmt.Fprintf(w, "halted: %s\nnext: satelle resume\n", repositories(n))
			})
		}),
	}
}

func newResumeCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "resume",
		Short:   "End a halt",
		Long:    long(`Ends what satelle halt began, in every repository of this machine. Refused in an agent's session.`, 3),
		Example: `  satelle resume`,
		Args:    none(),
		RunE: a.run(func(ctx context.Context, _ []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			n, err := e.Resume(ctx)
			if err != nil {
				return err
			}
			return a.object(map[string]any{"resumed": n}, func(w io.Writer) {
				if n == 0 {
					fmt.Fprintln(w, "nothing is halted")
					return
				}
				fmt.Fprintf(w, "resumed: %s\n", repositories(n))
			})
		}),
	}
}

func repositories(n int) string {
	if n == 1 {
		return "1 repository"
	}
	return fmt.Sprintf("%d repositories", n)
}

// confirm asks a question on stderr; anything but yes is no.
func (a *app) confirm(question string) bool {
	fmt.Fprint(a.stderr, question)
	answer, err := bufio.NewReader(io.LimitReader(a.stdin, 100)).ReadString('\n')
	if err != nil && answer == "" {
		return false
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}
