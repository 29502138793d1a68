package workflow

import (
	"encoding/json"
	"strings"
	"testing"

	"satelle/internal/fault"
	"satelle/ledger"
)

// TestRewriteInBatches keeps every pair, in records that a ledger takes.
func TestRewriteInBatches(t *testing.T) {
	m := newMemory()
	pairs := make([][2]string, 2*maxPairs+1)
	for i := range pairs {
		pairs[i] = [2]string{strings.Repeat("a", 64), strings.Repeat("b", 64)}
	}
	c := m.state().Rewrite(Rewritten{How: "rebase", Pairs: pairs, WorkTree: "."}, m.clock, robot)
	n := 0
	for _, d := range c.Drafts {
		b, err := json.Marshal(d.Body)
		if err != nil || len(b) > ledger.MaxRecord-4096 {
			t.Fatalf("a body of %d bytes, %v", len(b), err)
		}
		n += len(d.Body.(Rewritten).Pairs)
	}
	if len(c.Drafts) != 3 || n != len(pairs) {
		t.Errorf("%d records with %d pairs", len(c.Drafts), n)
	}
}

// TestPrepareNamesTheHolder puts a commit under the story that may change the
// work tree at that time, and under none otherwise.
func TestPrepareNamesTheHolder(t *testing.T) {
	l := lane("*", nil, nil)
	m := newMemory()
	prepare := func(workTree string) string {
		t.Helper()
		story, _ := m.state().Holder(workTree, m.clock)
		m.append(t, m.state().Prepare(story, Prepared{Tree: "t", Patch: "p", WorkTree: workTree}, robot))
		r := m.records[len(m.records)-1]
		if p, ok := ReadPrepared(r); !ok || p.Tree != "t" || p.Patch != "p" || p.WorkTree != workTree {
			t.Fatalf("%s reads as %+v", r.Body, p)
		}
		return r.Story
	}
	if s := prepare("."); s != "" {
		t.Errorf("nobody sits, but %s", s)
	}
	m.create(t, "sty_a", l)
	if _, err := m.ask(t, "sty_a", "in_progress", m.facts(l)); err != nil {
		t.Fatal(err)
	}
	if s := prepare("."); s != "sty_a" {
		t.Errorf("sty_a sits, but %q", s)
	}
	if s := prepare("other"); s != "" {
		t.Errorf("nobody sits there, but %s", s)
	}
	m.clock = m.clock.Add(2 * seatIdle)
	if s := prepare("."); s != "" {
		t.Errorf("the seat is idle, but %s", s)
	}
}

// TestAdopt lets a story take in a dirty tree that sits there, or can.
func TestAdopt(t *testing.T) {
	l := lane("*", nil, nil)
	m := newMemory()
	m.create(t, "sty_a", l)
	m.create(t, "sty_b", l)
	adopt := func(id, tree string) error {
		c, err := m.state().Adopt(id, Adopted{WorkTree: tree, Tree: "t"}, m.clock, robot)
		if err == nil {
			m.append(t, c)
		}
		return err
	}
	if err := adopt("sty_a", "."); err != nil {
		t.Errorf("before the seat: %v", err)
	}
	if _, err := m.ask(t, "sty_a", "in_progress", m.facts(l)); err != nil {
		t.Fatal(err)
	}
	if err := adopt("sty_a", "."); err != nil {
		t.Errorf("in the seat: %v", err)
	}
	for _, tt := range []struct{ id, tree string }{{"sty_a", "other"}, {"sty_b", "."}} {
		if err := adopt(tt.id, tt.tree); !fault.Is(err, fault.Refused) {
			t.Errorf("%s in %s: %v", tt.id, tt.tree, err)
		}
	}
	if err := adopt("sty_c", "."); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	if _, err := m.ask(t, "sty_a", "done", m.facts(l)); err != nil {
		t.Fatal(err)
	}
	if err := adopt("sty_a", "."); !fault.Is(err, fault.Refused) {
		t.Errorf("after the end: %v", err)
	}
}
