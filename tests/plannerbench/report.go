package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"satelle/agents/event"
)

// Report is what a bench came to.
type Report struct {
	Schema   int            `json:"schema"`
	Bench    string         `json:"bench"`
	Mode     string         `json:"mode"`
	Cells    []CellSummary  `json:"cells"`
	Decision *Decision      `json:"decision"` // null unless both cells ran
	Outcomes map[string]int `json:"outcomes"`
}

// CellSummary sums up a cell; a figure that nobody reported is null.
type CellSummary struct {
	Cell         string   `json:"cell"`
	Runs         int      `json:"runs"`
	Answered     int      `json:"answered"`
	Correct      int      `json:"correct"`
	Faithful     int      `json:"faithful"`
	MedianMS     *float64 `json:"median_ms"`
	MedianTokens *float64 `json:"median_tokens"`
	// TokensProvenance says where the tokens come from, or why there are none.
	TokensProvenance string `json:"tokens_provenance"`
	Diagnostics      *int   `json:"diagnostics"`
}

func summary(c Cell, records []Record) CellSummary {
	s := CellSummary{
		Cell: c.Name, Runs: len(c.Samples), Answered: answered(c), Diagnostics: c.Diagnostics,
		Correct:  count(c, func(s Sample) bool { return s.Correct }),
		Faithful: count(c, func(s Sample) bool { return s.Faithful }),
	}
	if ms := walls(c); len(ms) > 0 {
		m := median(ms)
		s.MedianMS = &m
	}
	all, ok := tokens(c)
	if ok {
		m := median(all)
		s.MedianTokens = &m
	}
	for _, r := range records {
		if r.Cell == c.Name && !r.Probe && r.UsageAvailable == ok {
			s.TokensProvenance = r.UsageProvenance
			break
		}
	}
	return s
}

// print shows a report to a person.
func (r Report) print(w io.Writer, records []Record) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "cell\truns\tanswered\tcorrect\tfaithful\tmedian ms\tmedian tokens\tdiagnostics")
	for _, c := range r.Cells {
		diagnostics := "n/a"
		if c.Diagnostics != nil {
			diagnostics = fmt.Sprint(*c.Diagnostics)
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", c.Cell, c.Runs, c.Answered, c.Correct, c.Faithful, figure(c.MedianMS), figure(c.MedianTokens), diagnostics)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, c := range r.Cells {
		fmt.Fprintf(w, "tokens of %s: %s\n", c.Cell, c.TokensProvenance)
	}
	for _, rec := range records {
		if rec.Outcome != Poor {
			continue
		}
		for _, c := range rec.Criteria {
			if !c.Met {
				fmt.Fprintf(w, "%s, %s, run %d: %s: %s: %s\n", rec.Cell, rec.Fixture, rec.Number, c.Group, c.Name, event.InLine(c.Reason))
			}
		}
	}
	if d := r.Decision; d != nil {
		for _, reason := range d.Reasons {
			fmt.Fprintln(w, reason)
		}
		fmt.Fprintf(w, "recommended: the binding of %s; nothing was changed\n", d.Keep)
	}
	return nil
}

func figure(f *float64) string {
	if f == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.1f", *f)
}
