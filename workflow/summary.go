package workflow

import (
	"bytes"
	"fmt"
	"strings"
)

// TypeSummary is the document type of step summaries.
const TypeSummary = "step-summary"

// summarySkill is the skill whose verdict tells the step in words: where the
// route has it as a gate, its notes are in the summary in full.
const summarySkill = "step-summary"

// summaryName numbers a story's summaries in the order of its moves.
func summaryName(s Story, t Transition) string {
	return fmt.Sprintf("summary-%02d-%s", s.Moves+1, t.To)
}

// summary tells what a transition rested on. It is made of the records and the
// diff; nobody is asked, unless the route's gate step-summary asks.
func summary(s Story, t Transition, verdicts []Verdict, f Facts) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s → %s\n\n", t.From, t.To)
	fmt.Fprintf(&b, "Story %s: %s\n\n", s.ID, s.Title)
	if f.Head != "" {
		fmt.Fprintf(&b, "- commit: %s\n", f.Head)
	}
	if f.Tree != "" {
		fmt.Fprintf(&b, "- tree: %s\n", f.Tree)
	}
	fmt.Fprintf(&b, "- request: record %d\n", t.Token)
	if t.Dispatched > 0 {
		fmt.Fprintf(&b, "- performed by: %s (record %d)\n", Performer(t, f), t.Dispatched)
	}
	for _, v := range verdicts {
		if v.Skill == summarySkill && v.Notes != "" {
			fmt.Fprintf(&b, "\n## Summary\n\n%s\n", strings.TrimSpace(v.Notes))
		}
	}
	b.WriteString("\n## Verdicts\n\n")
	for _, v := range verdicts {
		fmt.Fprintf(&b, "- %s: %s", v.Skill, v.Decision)
		if note := firstLine(v.Notes); note != "" {
			fmt.Fprintf(&b, " — %s", note)
		}
		b.WriteByte('\n')
	}
	if len(f.Text.Criteria) > 0 {
		b.WriteString("\n## Acceptance criteria\n\n")
		for i, c := range f.Text.Criteria {
			fmt.Fprintf(&b, "- AC%d %s\n", i+1, firstLine(c))
		}
	}
	if f.DiffStat != "" {
		fmt.Fprintf(&b, "\n## Changed since the seat was taken\n\n```\n%s\n```\n", strings.TrimRight(f.DiffStat, "\n"))
	}
	return b.Bytes()
}

func firstLine(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if more {
		line += " …"
	}
	return line
}
