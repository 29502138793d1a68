package main

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const needed = 4

// cell is one with n good runs of that time and those tokens (0: not reported).
func cell(name string, n int, wall, tokens int64, diagnostics int) Cell {
	c := Cell{Name: name, Diagnostics: &diagnostics}
	for range n {
		s := Sample{Correct: true, Faithful: true, WallMS: wall}
		if tokens > 0 {
			s.Tokens = &tokens
		}
		c.Samples = append(c.Samples, s)
	}
	return c
}

// Each of the eight ways in which the challenger can win or not.
func TestDecideNeedsTwoWins(t *testing.T) {
	for i := range 8 {
		wall, tokens, diagnostics := int64(1000), int64(500), 1
		var wins []string
		if i&1 != 0 {
			wall, wins = 700, append(wins, "wall time")
		}
		if i&2 != 0 {
			tokens, wins = 499, append(wins, "tokens")
		}
		if i&4 != 0 {
			diagnostics, wins = 2, append(wins, "diagnostics")
		}
		d := Decide(cell("claude", needed, 1000, 500, 1), cell("grok", needed, wall, tokens, diagnostics), needed)
		if !slices.Equal(d.Wins, wins) || d.Change != (len(wins) >= 2) || (d.Keep == "grok") != d.Change {
			t.Errorf("%d: %+v", i, d)
		}
	}
}

func TestDecideAtItsBounds(t *testing.T) {
	office := func(n int) Cell { return cell("claude", n, 1000, 500, 1) }
	better := func(n int) Cell { return cell("grok", n, 800, 499, 2) }
	spoil := func(c Cell, change func(*Sample)) Cell {
		change(&c.Samples[0])
		return c
	}
	for _, tc := range []struct {
		name               string
		office, challenger Cell
		least              int
		change             bool
		reason             string
	}{
		{"a fifth faster, and diagnostics", office(4), cell("grok", 4, 800, 500, 2), 4, true, ""},
		{"19.9 % faster, and diagnostics", office(4), cell("grok", 4, 801, 500, 2), 4, false, "wins 1 of 3"},
		{"tokens and time", office(4), cell("grok", 4, 800, 499, 1), 4, true, ""},
		{"the same tokens", office(4), cell("grok", 4, 800, 500, 1), 4, false, "wins 1 of 3"},
		{"no tokens of the challenger", office(4), cell("grok", 4, 800, 0, 1), 4, false, "tokens: n/a for grok"},
		{"no tokens in office", cell("claude", 4, 1000, 0, 1), cell("grok", 4, 800, 1, 1), 4, false, "tokens: n/a for claude"},
		{"no tokens, and both other wins", office(4), cell("grok", 4, 800, 0, 2), 4, true, ""},
		{"worse diagnostics", office(4), cell("grok", 4, 800, 500, 0), 4, false, "wins 1 of 3"},
		{"99 % correct", office(100), spoil(better(100), func(s *Sample) { s.Correct = false }), 4, false, "correct artifact in 99 of 100"},
		{"99 % faithful", office(100), spoil(better(100), func(s *Sample) { s.Faithful = false }), 4, false, "policy in 99 of 100"},
		{"one more failure", office(100), spoil(better(100), func(s *Sample) { s.Failed = true }), 4, false, "failed in 1 of 100"},
		{"those in office may be wrong", spoil(office(4), func(s *Sample) { s.Correct, s.Faithful = false, false }), better(4), 4, true, ""},
		{"as many runs as are needed", office(4), better(4), 4, true, ""},
		{"one run too few", office(4), better(3), 4, false, "under-powered: grok answered 3 of at least 4"},
		{"one run too few in office", office(3), better(4), 4, false, "under-powered: claude"},
		{"no run at all", office(0), better(0), 0, false, "under-powered"},
		{"one run without tokens", office(4), spoil(better(4), func(s *Sample) { s.Tokens = nil }), 4, true, "tokens: n/a for grok"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := Decide(tc.office, tc.challenger, tc.least)
			if d.Change != tc.change || !strings.Contains(strings.Join(d.Reasons, "\n"), tc.reason) {
				t.Errorf("%+v", d)
			}
			if want := map[bool]string{false: "claude", true: "grok"}[tc.change]; d.Keep != want {
				t.Errorf("recommended: %s", d.Keep)
			}
		})
	}
	unseen := better(4)
	unseen.Diagnostics = nil
	if d := Decide(office(4), unseen, 4); !d.Change || slices.Contains(d.Wins, "diagnostics") {
		t.Errorf("diagnostics that nobody saw: %+v", d)
	}
}

// Whatever was seen: a change rests on perfect runs that fail no more often and
// on two wins, and it is taken back when a run is spoiled.
func TestDecideChangesForTwoWinsOnly(t *testing.T) {
	draw := func(t *rapid.T, name string) Cell {
		c := Cell{Name: name}
		if rapid.Bool().Draw(t, "probed") {
			n := rapid.IntRange(0, 3).Draw(t, "diagnostics")
			c.Diagnostics = &n
		}
		for range rapid.IntRange(0, 6).Draw(t, "runs") {
			odd := func(label string) bool { return rapid.IntRange(0, 9).Draw(t, label) == 0 }
			s := Sample{Correct: !odd("wrong"), Faithful: !odd("unfaithful"), WallMS: rapid.Int64Range(0, 100).Draw(t, "wall")}
			s.Failed = odd("failed")
			if !odd("silent") {
				n := rapid.Int64Range(1, 10).Draw(t, "tokens")
				s.Tokens = &n
			}
			c.Samples = append(c.Samples, s)
		}
		return c
	}
	rapid.Check(t, func(t *rapid.T) {
		office, challenger := draw(t, "claude"), draw(t, "grok")
		d := Decide(office, challenger, 2)
		if !d.Change {
			if d.Keep != office.Name || len(d.Reasons) == 0 {
				t.Fatalf("%+v", d)
			}
			return
		}
		if len(d.Wins) < NeededWins || len(challenger.Samples) < 2 {
			t.Fatalf("%+v", d)
		}
		for i := range challenger.Samples {
			for _, spoil := range []func(*Sample){
				func(s *Sample) { s.Correct = false },
				func(s *Sample) { s.Faithful = false },
			} {
				spoiled := challenger
				spoiled.Samples = slices.Clone(challenger.Samples)
				spoil(&spoiled.Samples[i])
				if Decide(office, spoiled, 2).Change {
					t.Fatalf("spoiled run %d of %+v", i, challenger)
				}
			}
		}
	})
}
