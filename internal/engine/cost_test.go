package engine

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"satelle/ledger"
	"satelle/workflow"
)

// append appends a record as a decision would, and returns its position.
func (e *Engine) append(t *testing.T, kind, story string, body any) (seq uint64) {
	t.Helper()
	err := e.with(t.Context(), func(log *ledger.Log) error {
		head, err := log.Head()
		if err != nil {
			return err
		}
		seq = head.Size
		_, _, err = log.Append(t.Context(), head.Size, []ledger.Draft{{Kind: kind, Story: story, Schema: workflow.Schema, Actor: e.self(), Body: body}}, nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

// attempts makes the records of a transition whose agents did these.
func (e *Engine) attempts(t *testing.T, story, to, end string, all ...workflow.Attempt) {
	t.Helper()
	edge := workflow.Edge{From: "backlog", To: to, Kind: workflow.Advance}
	token := e.append(t, workflow.KindRequested, story, workflow.Transition{Edge: edge})
	for i, a := range all {
		a.Token, a.Number = token, i+1
		e.append(t, workflow.KindAsked, story, a.Asked)
		if a.Interface != "" {
			e.append(t, workflow.KindAttempt, story, a)
		}
	}
	switch end {
	case workflow.KindAbandoned:
		e.append(t, end, story, map[string]any{"token": token, "why": "x"})
	case workflow.KindRefused:
		e.append(t, end, story, map[string]any{"token": token, "from": edge.From, "to": to, "kind": edge.Kind, "reason": ledger.BlobRef{}})
	}
}

func ran(role, binding, phase string, ms int64, class string, u workflow.Usage) workflow.Attempt {
	return workflow.Attempt{
		Asked:     workflow.Asked{Role: role, Binding: binding, Phase: phase},
		Interface: "command", ElapsedMS: ms, Class: class, Usage: u, UsageAvailable: u.Available(),
	}
}

// TestCost: unknown is not zero, cents are rounded up for each attempt, and an
// attempt that never reported is one.
func TestCost(t *testing.T) {
	e := newRepo(t)
	id := created(t, e, workflow.Fields{Title: ptr("A"), Criteria: &[]string{"a"}})
	other := created(t, e, workflow.Fields{Title: ptr("B"), Criteria: &[]string{"a"}})
	full := workflow.Usage{Input: ptr[int64](100), CacheRead: ptr[int64](50), Output: ptr[int64](20), CostMicros: ptr[int64](4000)}
	lost := workflow.Attempt{Asked: workflow.Asked{Role: "agent", Binding: "planner", Phase: workflow.PhaseRepair}}
	e.attempts(t, id, "in_progress", workflow.KindAbandoned,
		ran("agent", "planner", workflow.PhaseInitial, 1000, "", full),
		ran("agent", "planner", workflow.PhaseInitial, 500, "", full),
		ran("agent", "planner", workflow.PhaseInitial, 250, "unavailable", workflow.Usage{}),
		lost,
	)
	e.attempts(t, id, "done", workflow.KindAbandoned, ran("reviewer", "reviewer", workflow.PhaseInitial, 10, "", workflow.Usage{Total: ptr[int64](0)}))
	e.attempts(t, other, "done", workflow.KindAbandoned, ran("reviewer", "reviewer", workflow.PhaseInitial, 99, "", full))
	got, err := e.Cost(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	want := Cost{
		Story: id,
		Rows: []CostOfOne{
			{"in_progress", "agent", workflow.PhaseInitial, "planner", "", Spend{
				Attempts: 3, Failures: 1, ElapsedMS: 1750, Tokens: ptr[int64](340), Input: ptr[int64](300), Output: ptr[int64](40),
				CostMicros: ptr[int64](8000), CostCents: ptr[int64](2), UsageUnknown: 1, CostUnknown: 1,
			}},
			{"done", "reviewer", workflow.PhaseInitial, "reviewer", "", Spend{Attempts: 1, ElapsedMS: 10, Tokens: ptr[int64](0), CostUnknown: 1}},
			{"in_progress", "agent", workflow.PhaseRepair, "planner", "", Spend{Attempts: 1, Failures: 1, Unreported: 1, UsageUnknown: 1, CostUnknown: 1}},
		},
		Total: Spend{
			Attempts: 5, Failures: 2, Unreported: 1, ElapsedMS: 1760, Tokens: ptr[int64](340), Input: ptr[int64](300), Output: ptr[int64](40),
			CostMicros: ptr[int64](8000), CostCents: ptr[int64](2), UsageUnknown: 2, CostUnknown: 3,
		},
	}
	if !reflect.DeepEqual(got, want) {
		g, _ := json.MarshalIndent(got, "", " ")
		t.Errorf("got %s", g)
	}
	b, _ := json.Marshal(got.Rows[2])
	for _, key := range []string{"tokens\"", "cost_cents", "cost_microusd"} {
		if strings.Contains(string(b), key) {
			t.Errorf("%s of nothing in %s", key, b)
		}
	}
}

// TestStats: what was asked, spent, judged and waited for, by name.
func TestStats(t *testing.T) {
	e := newRepo(t)
	id := created(t, e, workflow.Fields{Title: ptr("A"), Criteria: &[]string{"a"}})
	u := workflow.Usage{Output: ptr[int64](5), CostMicros: ptr[int64](10_001)}
	lost := workflow.Attempt{Asked: workflow.Asked{Role: "agent", Binding: "planner", Phase: workflow.PhaseInitial}}
	for _, class := range []string{"", "rate_limited", "unavailable", "unavailable"} {
		e.attempts(t, id, "planned", workflow.KindRefused, ran("agent", "planner", workflow.PhaseInitial, 100, class, u), lost)
	}
	e.attempts(t, id, "planned", workflow.KindAbandoned)
	for i, decision := range []string{workflow.Accept, workflow.Reject, workflow.Accept} {
		e.append(t, workflow.KindVerdict, id, map[string]any{"token": 1, "skill": "plan-review", "decision": decision, "notes": ledger.BlobRef{}, "mandatory": true, "elapsed_ms": 10 * i})
	}
	s, err := e.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gate := slices.IndexFunc(s.Gates, func(g GateStats) bool { return g.Skill == "plan-review" })
	move := slices.IndexFunc(s.Moves, func(m MoveStats) bool { return m.To == "planned" })
	if len(s.Bindings) != 1 || gate < 0 || move < 0 {
		t.Fatalf("%+v", s)
	}
	b := s.Bindings[0]
	if b.Binding != "planner" || b.Attempts != 8 || b.Failures != 7 || *b.Tokens != 20 || *b.CostMicros != 40_004 || *b.CostCents != 8 || b.CostUnknown != 4 {
		t.Errorf("%+v", b)
	}
	if want := map[string]int{"rate_limited": 1, "unavailable": 2, unreported: 4}; !reflect.DeepEqual(b.Classes, want) {
		t.Errorf("classes %v", b.Classes)
	}
	if g := s.Gates[gate]; g.Accepted != 2 || g.Rejected != 1 || g.MaxMS != 20 || g.Mean().Milliseconds() != 10 {
		t.Errorf("%+v", g)
	}
	if m := s.Moves[move]; m.Refused != 4 || m.Abandoned != 1 || m.Committed != 0 {
		t.Errorf("%+v", m)
	}
	if s.Stories == 0 || s.Records == 0 || s.Bytes == 0 || s.Origin == "" {
		t.Errorf("%+v", s)
	}
}

// TestStatsHoldNames: however many names a ledger has, counting it holds a
// bounded number.
func TestStatsHoldNames(t *testing.T) {
	m := map[string]*int{}
	for i := range 3 * mostNames {
		*named(m, string(rune(0x4e00+i)))++
	}
	if len(m) != mostNames+1 || *m[others] != 2*mostNames {
		t.Errorf("%d names, %d others", len(m), *m[others])
	}
}
