package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"satelle/internal/engine"
)

func newStoryCostCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "cost ID",
		Short: "Sum what the agents of a story have spent",
		Long: long(`Sums the attempts of a story's reviewers and performers by step, phase and binding:
how many, how long, tokens and cost. n/a is what no agent reported, which is not zero;
a number behind it says how many attempts are in no sum. Each attempt's cost is rounded
up to a cent; --json also has micro-dollars. What its children have spent is not in it.`, 3, 4, 5, 6),
		Example: `  satelle story cost sty_7k2m9q4w`,
		Args:    exactly("ID"),
		RunE: a.run(func(ctx context.Context, args []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			c, err := e.Cost(ctx, args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.line(c)
			}
			var rows [][]string
			for _, r := range c.Rows {
				rows = append(rows, append([]string{r.Step, r.Phase, r.Role, r.Binding, cmp.Or(r.Model, "-")}, spent(r.Spend)...))
			}
			rows = append(rows, append([]string{"total", "", "", "", ""}, spent(c.Total)...))
			return a.table([]string{"STEP", "PHASE", "ROLE", "BINDING", "MODEL", "ATTEMPTS", "FAILED", "ELAPSED", "TOKENS", "CENTS"}, rows)
		}),
	}
}

// spent is a sum in columns.
func spent(s engine.Spend) []string {
	return []string{
		strconv.Itoa(s.Attempts), strconv.Itoa(s.Failures), millis(s.ElapsedMS).String(),
		known(s.Tokens, s.UsageUnknown), known(s.CostCents, s.CostUnknown),
	}
}

// known is a sum of what was reported, and says what was not.
func known(sum *int64, unknown int) string {
	switch {
	case sum == nil:
		return "n/a"
	case unknown == 0:
		return strconv.FormatInt(*sum, 10)
	}
	return fmt.Sprintf("%d + n/a (%d)", *sum, unknown)
}

func millis(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

func newLedgerStatsCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "stats",
		Short: "Count records, verdicts, attempts and what they cost",
		Long: long(`Counts the records of the ledger by kind; sums what each binding was asked and has
spent, with its failures by class, how often each skill accepted, how the moves to
each state went and how long both took; and names the calls that were denied more than
once. n/a is what no agent reported, which is not zero.`, 3, 4, 5, 6),
		Example: `  satelle ledger stats
  satelle ledger stats --json`,
		Args: none(),
		RunE: a.run(func(ctx context.Context, _ []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			a.observe(ctx, e)
			s, err := e.Stats(ctx)
			if err != nil {
				return err
			}
			if a.json {
				return a.line(s)
			}
			return a.stats(a.stdout, s)
		}),
	}
}

// stats prints what a ledger holds as a few tables.
func (a *app) stats(w io.Writer, s engine.Stats) error {
	fmt.Fprintf(w, "%s\n%d records, %d bytes on disk, %d stories\n", s.Origin, s.Records, s.Bytes, s.Stories)
	var rows [][]string
	for _, k := range s.Kinds {
		rows = append(rows, []string{k.Kind, strconv.Itoa(k.Count)})
	}
	if err := a.table([]string{"KIND", "RECORDS"}, rows); err != nil {
		return err
	}
	section := func(title string, head []string, rows [][]string) error {
		if len(rows) == 0 {
			return nil
		}
		fmt.Fprintf(w, "\n%s\n", title)
		return grid(w, head, rows)
	}
	rows = nil
	for _, b := range s.Bindings {
		var classes []string
		for _, c := range slices.Sorted(maps.Keys(b.Classes)) {
			classes = append(classes, fmt.Sprintf("%s %d", c, b.Classes[c]))
		}
		rows = append(rows, append(append([]string{b.Binding}, spent(b.Spend)...), cmp.Or(strings.Join(classes, ", "), "-")))
	}
	if err := section("agents", []string{"BINDING", "ATTEMPTS", "FAILED", "ELAPSED", "TOKENS", "CENTS", "FAILURES"}, rows); err != nil {
		return err
	}
	rows = nil
	for _, g := range s.Gates {
		n := g.Accepted + g.Rejected
		rows = append(rows, []string{
			g.Skill, strconv.Itoa(n), strconv.Itoa(g.Accepted), fmt.Sprintf("%d%%", 100*g.Accepted/max(n, 1)), g.Mean().String(), g.Max().String(),
		})
	}
	if err := section("verdicts", []string{"SKILL", "VERDICTS", "ACCEPTED", "RATE", "MEAN", "MAX"}, rows); err != nil {
		return err
	}
	rows = nil
	for _, m := range s.Moves {
		rows = append(rows, []string{
			m.To, strconv.Itoa(m.Committed), strconv.Itoa(m.Refused), strconv.Itoa(m.Abandoned), m.Mean().String(), m.Max().String(),
		})
	}
	if err := section("moves", []string{"TO", "COMMITTED", "REFUSED", "ABANDONED", "MEAN", "MAX"}, rows); err != nil {
		return err
	}
	a.repeated(w, s.Denied)
	return nil
}
