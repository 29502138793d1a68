package workflow

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"satelle/internal/spool"
	"satelle/ledger"
	"satelle/ledger/seatread"
	"satelle/workflow/route"
)

// life is a log with every kind of record of which the fold writes something.
func life(t failer) *memory {
	m := newMemory()
	l := lane("substrate", []string{route.Human}, []string{"check-a", route.Structure})
	m.create(t, "sty_a", l)
	do := func(c Change, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%v", err)
		}
		m.append(t, c)
	}
	move := func(to string) Outcome {
		t.Helper()
		out, err := m.ask(t, "sty_a", to, m.facts(l))
		if err != nil {
			t.Fatalf("%v", err)
		}
		return out
	}
	do(m.state().Trust([]Executable{{Name: "check-a", Digest: "digest-check-a"}}, nil, nil, person))
	do(m.state().Halt("why", person))
	do(m.state().Resume(person))
	do(m.state().Approve("sty_a", true, "go on", "tree1", person))
	move("in_progress")
	do(m.state().Edit("sty_a", Fields{Title: ptr("B"), Tags: &[]string{"x"}}, Text{}, l, robot))
	do(m.state().Restamp("sty_a", l, person))
	do(m.state().Attach("sty_a", "plan", "plan", []byte("x"), robot))
	do(m.state().Comment("sty_a", "plan", []byte("x"), robot))
	do(m.state().Join("sty_a", ".", m.clock, robot))
	do(m.state().Approve("sty_a", true, "", "tree1", person))
	do(m.state().Abandon("sty_a", move("done").Token, "why", robot))
	t0 := move("done").Token
	m.append(t, m.state().Asking("sty_a", Asked{Token: t0, Number: 1, Role: "agent", Phase: PhaseInitial, Binding: "architect"}, robot))
	m.append(t, m.state().Attempted("sty_a", Attempt{Asked: Asked{Token: t0, Number: 1}}, []string{"AC1 is not covered"}, robot))
	c, refusal, err := m.state().Dispatch("sty_a", Dispatched{Token: t0, Step: "done", Binding: "architect"}, nil, m.facts(l), robot)
	if refusal != nil {
		t.Fatalf("refused: %v", refusal)
	}
	do(c, err)
	do(m.state().Abandon("sty_a", t0, "why", robot))
	token := move("done").Token
	c, refusal, err = m.state().Commit("sty_a", token, []Verdict{{Skill: "check-a", Decision: Reject}}, nil, m.facts(l), robot)
	if refusal == nil {
		t.Fatalf("not refused")
	}
	do(c, err)
	m.clock = m.clock.Add(2 * seatIdle)
	m.create(t, "sty_b", lane("*", nil, nil))
	if out, err := m.ask(t, "sty_b", "in_progress", m.facts(lane("*", nil, nil))); err != nil || out.Refusal != nil {
		t.Fatalf("%v %v", err, out.Refusal)
	}
	do(m.state().Trust(nil, &seatread.Gate{Readers: [][]string{{"make", "test"}}}, nil, person))
	do(m.state().Trust(nil, nil, []byte("ada ssh-ed25519 AAAA\n"), person))
	var lines []spool.Line
	for i, kind := range []string{spool.Denied, spool.Warned, spool.Edit, spool.Done} {
		lines = append(lines, spool.Line{N: uint64(2 + i), Time: m.clock.UnixMilli(), Kind: kind, Session: "s1", ID: "t1", Tool: "Write", Targets: []string{"a"}, Tree: ".", Story: "sty_a"})
	}
	m.append(t, m.state().Observe(spool.Batch{Lines: lines, Torn: 1, To: spool.Position{File: 1, Offset: 9}}, nil, "h1", m.clock))
	denial := m.records[slices.IndexFunc(m.records, func(r ledger.Record) bool { return r.Kind == KindDenied })]
	do(m.state().Adopt("sty_b", Adopted{WorkTree: ".", Tree: "t1"}, m.clock, robot))
	m.append(t, m.state().Prepare("sty_b", Prepared{WorkTree: ".", Tree: "t1", Parents: []string{"c0"}, Patch: "p1", Amend: &Replaced{}, Replays: []LogPoint{{"o", 3}}}, robot))
	m.append(t, m.state().Rewrite(Rewritten{WorkTree: ".", How: "amend", Pairs: [][2]string{{"c1", "c2"}}}, m.clock, robot))
	do(m.state().Appeal(denial, "gate", "v1", "it only reads", robot))
	return m
}

func TestLifeHasEveryKind(t *testing.T) {
	m := life(t)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if !slices.ContainsFunc(m.records, func(r ledger.Record) bool { return r.Kind == kind }) {
			t.Errorf("no %s", kind)
		}
	}
}

func (m *memory) clone() *memory {
	c := &memory{rows: map[string]map[string][]byte{}, clock: m.clock}
	for b, rows := range m.rows {
		c.rows[b] = maps.Clone(rows)
	}
	return c
}

// TestOddRecords replays a log up to a record and folds that one with a body
// that does not fit. Whatever it is, nothing panics, nothing errs, and nothing
// changes: half a record is no record. Only a halt counts, since it denies.
func TestOddRecords(t *testing.T) {
	whole := life(t)
	rapid.Check(t, func(t *rapid.T) {
		m := &memory{rows: map[string]map[string][]byte{}, clock: whole.clock}
		n := rapid.IntRange(1, len(whole.records)-1).Draw(t, "record")
		for _, r := range whole.records[:n] {
			if err := (Fold{}).Apply(m, r); err != nil {
				t.Fatal(err)
			}
		}
		before, r := m.clone(), whole.records[n]
		r.Body = odd(t, r.Body)
		if err := (Fold{}).Apply(m, r); err != nil {
			t.Fatalf("folding %s %s: %v", r.Kind, r.Body, err)
		}
		if r.Kind == KindHalted {
			if m.state().Row().Halt == "" {
				t.Fatalf("%s did not halt", r.Body)
			}
			return
		}
		if r.Kind == KindCommented {
			return
		}
		if !reflect.DeepEqual(m.rows, before.rows) {
			t.Fatalf("%s %s changed something", r.Kind, r.Body)
		}
	})
}

// odd makes a body that does not fit: no object, or a field of a wrong type.
func odd(t *rapid.T, body []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || len(fields) == 0 || rapid.Bool().Draw(t, "no object") {
		return []byte(rapid.SampledFrom([]string{``, `{`, `[]`, `"x"`, `7`, `true`, `[{}]`}).Draw(t, "body"))
	}
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(fields))).Draw(t, "field")
	wrong := `[[7]]`
	if fields[name][0] == '[' {
		wrong = `{"a":7}`
	}
	fields[name] = json.RawMessage(wrong)
	b, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestForeignRecords: fields that nobody knows mean nothing, and a schema out
// of range is not read.
func TestForeignRecords(t *testing.T) {
	whole := life(t)
	again := &memory{rows: map[string]map[string][]byte{}}
	for _, r := range whole.records {
		newer := r
		for _, newer.Schema = range []int{-1, 0, Schema + 1} {
			if r.Seq > 0 {
				before := again.clone()
				if err := (Fold{}).Apply(again, newer); err != nil || !reflect.DeepEqual(again.rows, before.rows) {
					t.Fatalf("schema %d of %s: %v", newer.Schema, r.Kind, err)
				}
			}
		}
		if string(r.Body) == "{}" {
			r.Body = []byte(`{"later":1}`)
		} else {
			r.Body = append([]byte(`{"later":{"accept":true},`), r.Body[1:]...)
		}
		if err := (Fold{}).Apply(again, r); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(again.rows, whole.rows) {
		t.Error("unknown fields changed the state")
	}
}

// TestForgedMoves: a commit moves a story only on the edge that its request
// named, and only while that is an edge.
func TestForgedMoves(t *testing.T) {
	for _, tt := range []struct{ name, request, commit string }{
		{"another target", `{"from":"in_progress","to":"done","kind":"advance","work_tree":".","host":"h1","expires":0}`, `"from":"in_progress","to":"backlog","kind":"back"`},
		{"no edge", `{"from":"in_progress","to":"shipped","kind":"advance","work_tree":".","host":"h1","expires":0}`, `"from":"in_progress","to":"shipped","kind":"advance"`},
		{"a false kind", `{"from":"in_progress","to":"done","kind":"park","work_tree":".","host":"h1","expires":0}`, `"from":"in_progress","to":"done","kind":"park"`},
		{"from elsewhere", `{"from":"backlog","to":"in_progress","kind":"advance","work_tree":".","host":"h1","expires":0}`, `"from":"backlog","to":"in_progress","kind":"advance"`},
	} {
		m := newMemory()
		l := lane("*", nil, nil)
		m.create(t, "sty_a", l)
		m.mustMove(t, "sty_a", "in_progress", m.facts(l))
		token := m.size()
		m.append(t, Change{Drafts: []ledger.Draft{
			{Kind: KindRequested, Story: "sty_a", Schema: 1, Body: json.RawMessage(tt.request)},
			{Kind: KindCommitted, Story: "sty_a", Schema: 1, Body: json.RawMessage(`{"token":` + jsonOf(token) + `,` + tt.commit + `,"work_tree":"."}`)},
		}})
		if s := m.story(t, "sty_a"); s.Status != "in_progress" || s.Moves != 1 {
			t.Errorf("%s: in %s after %d moves", tt.name, s.Status, s.Moves)
		}
	}
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
