package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"satelle/internal/engine"
	"satelle/internal/fault"
)

func newInitCmd(a *app) *cobra.Command {
	var ephemeral bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set satelle up in this repository",
		Long: long(`Writes the governance files that are missing under .satelle/, makes the ledger
and its key under $SATELLE_HOME, and proposes the check that the gate to done
asks, read off the repository's manifests. What is there is left alone, so a
second run changes nothing. Commit .satelle/ afterwards.

--ephemeral is for machines that are thrown away, as those of CI: the log and its key
live as long as $SATELLE_HOME does, and no file of the work tree is written. The key
that it prints is what an audit has to be handed (satelle audit --key).`, 3, 4, 6),
		Example: `  satelle init
  git add .satelle && git commit -m "Set up satelle"`,
		Args: none(),
		RunE: a.run(func(ctx context.Context, _ []string) error {
			dir, err := os.Getwd()
			if err != nil {
				return fault.Wrap(err, nil, "finding the current directory")
			}
			if ephemeral {
				return a.initEphemeral(ctx, dir)
			}
			rep, err := engine.Init(ctx, dir)
			if err != nil {
				return err
			}
			return a.object(rep, func(w io.Writer) { printInit(w, rep) })
		}),
	}
	cmd.Flags().BoolVar(&ephemeral, "ephemeral", false, "a log to be thrown away; write nothing into the work tree")
	return cmd
}

// newMigrateCmd is init by the older name of what it does with bare presets.
func newMigrateCmd(a *app) *cobra.Command {
	cmd := newInitCmd(a)
	cmd.Use, cmd.Hidden = "migrate", true
	return cmd
}

func (a *app) initEphemeral(ctx context.Context, dir string) error {
	rep, err := engine.InitEphemeral(ctx, dir)
	if err != nil {
		return err
	}
	return a.object(rep, func(w io.Writer) {
		fmt.Fprintf(w, "satelle is set up in %s for as long as this machine lives\nledger: %s\nkey: %s\n", rep.Top, rep.Origin, rep.Key)
		if rep.Untrusted > 0 {
			fmt.Fprintf(w, "not trusted on this machine yet: %d of what this repository brings (satelle trust shows it)\n", rep.Untrusted)
		}
	})
}

func printInit(w io.Writer, rep engine.InitReport) {
	if len(rep.Created) == 0 && !rep.Expanded {
		fmt.Fprintf(w, "satelle is set up in %s; nothing was missing\n", rep.Top)
	} else {
		fmt.Fprintf(w, "satelle is set up in %s\n", rep.Top)
		for _, f := range rep.Created {
			fmt.Fprintf(w, "  created %s\n", f)
		}
	}
	if rep.Expanded {
		fmt.Fprintln(w, "  changed .satelle/workflows/agents.toml: a command that was a bare name is the full template now")
	}
	if rep.Story != "" {
		fmt.Fprintf(w, "  story %s, which you approve by this, covers the change of .satelle\n", rep.Story)
	}
	fmt.Fprintf(w, "ledger: %s\n", rep.Origin)
	switch {
	case rep.From != "":
		fmt.Fprintf(w, "done asks: %s (from %s; change it in .satelle/satelle.toml)\n", inLine(rep.DoneCheck), rep.From)
	case rep.DoneCheck != "":
		fmt.Fprintf(w, "done asks: %s ([checks] done in .satelle/satelle.toml)\n", inLine(rep.DoneCheck))
	default:
		fmt.Fprintln(w, "done asks nothing yet: set [checks] done in .satelle/satelle.toml")
	}
	if len(rep.Readers) > 0 {
		fmt.Fprintf(w, "runs without a story: %s ([gate] readers)\n", inLine(strings.Join(rep.Readers, ", ")))
	}
	if rep.Reviewer != "" && rep.Missing {
		fmt.Fprintf(w, "reviewer: %s, which this machine does not have; the shipped route never calls it\n", rep.Reviewer)
	}
	if rep.Untrusted > 0 {
		fmt.Fprintf(w, "not trusted on this machine yet: %d of what this repository brings (satelle trust shows it)\n", rep.Untrusted)
	}
	if len(rep.Created) > 0 {
		fmt.Fprintln(w, "next: satelle agents install all")
	}
}
