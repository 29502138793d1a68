package engine

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"satelle/ledger"
	"satelle/workflow"
)

// mostNames bounds the bindings, skills and kinds that are told apart: names
// beyond it are summed under the last.
const (
	mostNames = 1000
	others    = "(others)"
)

// Stats counts what the ledger holds.
type Stats struct {
	Origin  string      `json:"origin"`
	Records uint64      `json:"records"`
	Bytes   int64       `json:"bytes"`
	Stories int         `json:"stories"`
	Kinds   []KindCount `json:"kinds"`
	// Bindings are the agents that were asked.
	Bindings []BindingStats `json:"bindings"`
	// Gates are the skills that judged, Moves the states that stories were to
	// be moved to.
	Gates []GateStats `json:"gates"`
	Moves []MoveStats `json:"moves"`
	// Denied are the calls that were denied more than once.
	Denied []Repeated `json:"denied"`
}

// KindCount is the number of records of a kind.
type KindCount struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// BindingStats is what a binding was asked and has spent.
type BindingStats struct {
	Binding string `json:"binding"`
	Spend
	// Classes counts the failures by their class.
	Classes map[string]int `json:"classes,omitempty"`
}

// GateStats is how a skill has judged.
type GateStats struct {
	Skill    string `json:"skill"`
	Accepted int    `json:"accepted"`
	Rejected int    `json:"rejected"`
	Wait
}

// MoveStats is how the moves to a state went.
type MoveStats struct {
	To        string `json:"to"`
	Committed int    `json:"committed"`
	Refused   int    `json:"refused"`
	Abandoned int    `json:"abandoned"`
	Wait
}

// Wait is how long somebody waited.
type Wait struct {
	times int64
	MS    int64 `json:"wait_ms"`
	MaxMS int64 `json:"max_wait_ms"`
}

func (w *Wait) add(ms int64) {
	w.times++
	w.MS += ms
	w.MaxMS = max(w.MaxMS, ms)
}

// Mean is the mean of what was waited.
func (w Wait) Mean() time.Duration {
	return time.Duration(w.MS/max(w.times, 1)) * time.Millisecond
}

// Max is the longest wait.
func (w Wait) Max() time.Duration { return time.Duration(w.MaxMS) * time.Millisecond }

// Origin names the repository's log.
func (e *Engine) Origin(ctx context.Context) (origin string, err error) {
	err = e.with(ctx, func(log *ledger.Log) error {
		origin = log.Origin()
		return nil
	})
	return origin, err
}

// Stats reads the ledger once, in chunks, and holds no more of it than names.
func (e *Engine) Stats(ctx context.Context) (Stats, error) {
	var s Stats
	err := e.with(ctx, func(log *ledger.Log) error {
		head, err := log.Head()
		s.Origin, s.Records = log.Origin(), head.Size
		return err
	})
	if err != nil {
		return s, err
	}
	if fi, err := os.Stat(e.cfg.Path); err == nil {
		s.Bytes = fi.Size()
	}
	c := counter{
		kinds: map[string]*int{}, bindings: map[string]*BindingStats{}, gates: map[string]*GateStats{},
		moves: map[string]*MoveStats{}, flying: map[uint64]flight{},
	}
	if err := ledger.Scan(ctx, e.cfg, ledger.Query{}, c.count); err != nil {
		return s, err
	}
	c.result(&s)
	s.Denied, err = e.Repeated(ctx, time.Time{})
	return s, err
}

// counter is what counting holds.
type counter struct {
	kinds    map[string]*int
	bindings map[string]*BindingStats
	gates    map[string]*GateStats
	moves    map[string]*MoveStats
	flying   map[uint64]flight
}

// flight is a transition that has not ended: at most one for each story.
type flight struct {
	to    string
	since time.Time
	open  map[int]string // attempts that were not reported, and their bindings
}

func named[T any](m map[string]*T, name string) *T {
	if m[name] == nil && len(m) >= mostNames {
		name = others
	}
	if m[name] == nil {
		m[name] = new(T)
	}
	return m[name]
}

func (c *counter) count(r ledger.Record) error {
	*named(c.kinds, r.Kind)++
	switch r.Kind {
	case workflow.KindRequested:
		var t workflow.Transition
		if err := body(r, &t); err != nil {
			return err
		}
		c.flying[r.Seq] = flight{to: t.To, since: r.Time, open: map[int]string{}}
	case workflow.KindCommitted, workflow.KindRefused, workflow.KindAbandoned:
		return c.landed(r)
	case workflow.KindVerdict:
		var v struct {
			Skill     string `json:"skill"`
			Decision  string `json:"decision"`
			ElapsedMS int64  `json:"elapsed_ms"`
		}
		if err := body(r, &v); err != nil {
			return err
		}
		g := named(c.gates, v.Skill)
		if v.Decision == workflow.Accept {
			g.Accepted++
		} else {
			g.Rejected++
		}
		g.Wait.add(v.ElapsedMS)
	case workflow.KindAsked:
		var a workflow.Asked
		if err := body(r, &a); err != nil {
			return err
		}
		if f, ok := c.flying[a.Token]; ok && len(f.open) < mostNames {
			f.open[a.Number] = a.Binding
		}
	case workflow.KindAttempt:
		var a workflow.Attempt
		if err := body(r, &a); err != nil {
			return err
		}
		if f, ok := c.flying[a.Token]; ok {
			delete(f.open, a.Number)
		}
		b := named(c.bindings, a.Binding)
		b.Spend.add(a)
		b.failed(a.Class)
	}
	return nil
}

func (b *BindingStats) failed(class string) {
	if class == "" {
		return
	}
	if b.Classes == nil {
		b.Classes = map[string]int{}
	}
	if _, ok := b.Classes[class]; !ok && len(b.Classes) >= mostNames {
		class = others
	}
	b.Classes[class]++
}

// unreported is the class of an attempt that never told how it ended.
const unreported = "unreported"

// landed ends a transition.
func (c *counter) landed(r ledger.Record) error {
	var t struct {
		Token uint64 `json:"token"`
	}
	if err := body(r, &t); err != nil {
		return err
	}
	f, ok := c.flying[t.Token]
	if !ok {
		return nil
	}
	delete(c.flying, t.Token)
	m := named(c.moves, f.to)
	switch r.Kind {
	case workflow.KindCommitted:
		m.Committed++
	case workflow.KindRefused:
		m.Refused++
	default:
		m.Abandoned++
	}
	// The times of records order nothing: a clock that was set back waits for nobody.
	m.Wait.add(max(0, r.Time.Sub(f.since).Milliseconds()))
	for _, name := range f.open {
		b := named(c.bindings, name)
		b.Spend.lost()
		b.failed(unreported)
	}
	return nil
}

func (c *counter) result(s *Stats) {
	s.Bindings, s.Gates, s.Moves = []BindingStats{}, []GateStats{}, []MoveStats{}
	for k, n := range c.kinds {
		s.Kinds = append(s.Kinds, KindCount{k, *n})
	}
	slices.SortFunc(s.Kinds, func(a, b KindCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind))
	})
	if n := c.kinds[workflow.KindCreated]; n != nil {
		s.Stories = *n
	}
	for _, name := range slices.Sorted(maps.Keys(c.bindings)) {
		c.bindings[name].Binding = name
		s.Bindings = append(s.Bindings, *c.bindings[name])
	}
	for _, name := range slices.Sorted(maps.Keys(c.gates)) {
		c.gates[name].Skill = name
		s.Gates = append(s.Gates, *c.gates[name])
	}
	for _, name := range slices.Sorted(maps.Keys(c.moves)) {
		c.moves[name].To = name
		s.Moves = append(s.Moves, *c.moves[name])
	}
}
