package main

import (
	"fmt"
	"slices"
)

// What a cell needs before the rule looks at it.
const (
	// LeastRuns is how often each fixture has to be answered in a cell.
	LeastRuns = 3
	// NeededWins is how many of the three comparisons the challenger has to win.
	NeededWins = 2
)

// Sample is one run as the rule sees it.
type Sample struct {
	Correct, Faithful, Failed bool
	WallMS                    int64
	Tokens                    *int64 // nil: not reported
}

// Cell is all that was seen of one binding.
type Cell struct {
	Name    string
	Samples []Sample
	// Diagnostics is how much the transport told of a run that was cut short,
	// nil if that was not seen.
	Diagnostics *int
}

// Decision is what the rule says, and why.
type Decision struct {
	// Change says that the challenger should become the binding. Somebody has to
	// do it by hand: nothing is rewritten.
	Change  bool     `json:"change"`
	Keep    string   `json:"recommended"` // the cell whose binding is recommended
	Wins    []string `json:"wins"`
	Reasons []string `json:"reasons"`
}

// Decide says whether the challenger's binding should take the place of the
// one in office, which stays unless everything speaks against it. (Seed 001,
// "Planner transport evidence".)
//
// The challenger has to be correct and faithful in every run, must fail no more
// often, and has to win at least two of: a median time that is lower by a fifth,
// a lower median of tokens, strictly better diagnostics. What was not reported
// wins nothing. least is how many runs of each cell the rule wants to see.
func Decide(office, challenger Cell, least int) Decision {
	d := Decision{Keep: office.Name, Wins: []string{}}
	say := func(format string, args ...any) { d.Reasons = append(d.Reasons, fmt.Sprintf(format, args...)) }
	for _, c := range []Cell{office, challenger} {
		if n := answered(c); n < least || n == 0 {
			say("under-powered: %s answered %d of at least %d runs", c.Name, n, least)
		}
	}
	all := len(challenger.Samples)
	if n := count(challenger, func(s Sample) bool { return s.Correct }); n < all {
		say("%s handed back a correct artifact in %d of %d runs", challenger.Name, n, all)
	}
	if n := count(challenger, func(s Sample) bool { return s.Faithful }); n < all {
		say("%s kept to the policy in %d of %d runs", challenger.Name, n, all)
	}
	failed := func(s Sample) bool { return s.Failed }
	lost, had := count(challenger, failed), count(office, failed)
	if lost*len(office.Samples) > had*all {
		say("%s failed in %d of %d runs, %s in %d of %d", challenger.Name, lost, all, office.Name, had, len(office.Samples))
	}
	if len(d.Reasons) > 0 {
		return d
	}

	was, now := median(walls(office)), median(walls(challenger))
	if now*5 <= was*4 {
		d.Wins = append(d.Wins, "wall time")
	}
	say("median wall time: %s %.1f ms, %s %.1f ms", office.Name, was, challenger.Name, now)
	if had, ok := tokens(office); !ok {
		say("tokens: n/a for %s", office.Name)
	} else if has, ok := tokens(challenger); !ok {
		say("tokens: n/a for %s", challenger.Name)
	} else {
		if median(has) < median(had) {
			d.Wins = append(d.Wins, "tokens")
		}
		say("median tokens: %s %.1f, %s %.1f", office.Name, median(had), challenger.Name, median(has))
	}
	if office.Diagnostics == nil || challenger.Diagnostics == nil {
		say("diagnostics: n/a")
	} else {
		if *challenger.Diagnostics > *office.Diagnostics {
			d.Wins = append(d.Wins, "diagnostics")
		}
		say("diagnostics: %s %d, %s %d", office.Name, *office.Diagnostics, challenger.Name, *challenger.Diagnostics)
	}
	if len(d.Wins) < NeededWins {
		say("%s wins %d of 3, and needs %d", challenger.Name, len(d.Wins), NeededWins)
		return d
	}
	d.Change, d.Keep = true, challenger.Name
	return d
}

func count(c Cell, is func(Sample) bool) (n int) {
	for _, s := range c.Samples {
		if is(s) {
			n++
		}
	}
	return n
}

func answered(c Cell) int { return count(c, func(s Sample) bool { return !s.Failed }) }

// walls are the times of the runs that were answered.
func walls(c Cell) (ms []int64) {
	for _, s := range c.Samples {
		if !s.Failed {
			ms = append(ms, s.WallMS)
		}
	}
	return ms
}

// tokens are those of the runs that were answered; ok is false where one of
// them did not report any, since the others need not stand for it.
func tokens(c Cell) (all []int64, ok bool) {
	for _, s := range c.Samples {
		if s.Failed {
			continue
		}
		if s.Tokens == nil {
			return nil, false
		}
		all = append(all, *s.Tokens)
	}
	return all, len(all) > 0
}

// median is the middle value, or the mean of the two in the middle.
func median(values []int64) float64 {
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	if n%2 == 1 {
		return float64(values[n/2])
	}
	return float64(values[n/2-1]+values[n/2]) / 2
}
