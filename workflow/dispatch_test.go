package workflow

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"satelle/internal/fault"
	"satelle/workflow/route"
)

// dispatched is a lane whose middle step is performed by an architect and owes a
// plan.
func dispatched() route.Lane {
	l := lane("*", []string{"check-a"}, nil)
	l.Steps[1].Agent, l.Steps[1].Skills = "architect", []string{"plan"}
	l.Skills["plan"] = contractOf(route.AttemptPolicy{})
	return l
}

func bindings(b Bound) map[string]Bound { return map[string]Bound{"architect": b} }

// onItsWay brings a story to where its gate has accepted.
func onItsWay(t *testing.T) (*memory, Facts, uint64, []Verdict) {
	t.Helper()
	m, l := newMemory(), dispatched()
	m.create(t, "sty_a", l)
	trustAll(t, m, "check-a")
	f := m.facts(l)
	f.Bindings = bindings(Bound{})
	out, err := m.ask(t, "sty_a", "in_progress", f)
	if err != nil || !out.Run {
		t.Fatalf("run %v, %v", out.Run, err)
	}
	return m, f, out.Token, []Verdict{{Skill: "check-a", Decision: Accept}}
}

// start dispatches and appends.
func (m *memory) start(t *testing.T, token uint64, v []Verdict, f Facts) error {
	t.Helper()
	c, refusal, err := m.state().Dispatch("sty_a", Dispatched{Token: token, Step: "in_progress", Binding: "architect"}, v, f, robot)
	if err != nil {
		t.Fatal(err)
	}
	m.append(t, c)
	return refusal
}

func (m *memory) kinds() string {
	var out []string
	for _, r := range m.records {
		out = append(out, r.Kind)
	}
	return strings.Join(out, " ")
}

func TestDispatchable(t *testing.T) {
	no := fault.New(fault.Refused, "no channel")
	stronger := dispatched()
	policy := contractOf(route.AttemptPolicy{EscalateBinding: "strong"})
	stronger.Skills["plan"] = policy
	for _, tt := range []struct {
		name     string
		lane     route.Lane
		bindings map[string]Bound
		refuse   string
	}{
		{"no binding", dispatched(), nil, ".satelle/workflows/agents.toml has no [architect]"},
		{"it can't be started", dispatched(), bindings(Bound{Refusal: no}), `the agent "architect": no channel`},
		{"a reviewer", dispatched(), bindings(Bound{Reviewer: true}), "reviews and performs nothing"},
		{"in-loop", dispatched(), bindings(Bound{InLoop: true, Refusal: no}), ""},
		{"no secondary", dispatched(), bindings(Bound{Secondary: "b"}), `failed over to the agent "b", but`},
		{"a secondary that can't be started", dispatched(), map[string]Bound{"architect": {Secondary: "b"}, "b": {Refusal: no}}, `failed over to the agent "b": no channel`},
		{"a secondary's secondary is not asked", dispatched(), map[string]Bound{"architect": {Secondary: "b"}, "b": {Secondary: "c"}}, ""},
		{"nobody to escalate to", stronger, bindings(Bound{}), `escalated to the agent "strong", but`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			m.create(t, "sty_a", tt.lane)
			trustAll(t, m, "check-a")
			f := m.facts(tt.lane)
			f.Bindings = tt.bindings
			out, err := m.ask(t, "sty_a", "in_progress", f)
			if err != nil {
				t.Fatal(err)
			}
			if tt.refuse == "" {
				if out.Refusal != nil || !out.Run {
					t.Errorf("refused: %v", out.Refusal)
				}
				return
			}
			if !fault.Is(out.Refusal, fault.Refused) || !strings.Contains(out.Refusal.Error(), tt.refuse) {
				t.Errorf("refusal %v, want %q", out.Refusal, tt.refuse)
			}
			s := m.story(t, "sty_a")
			if m.count(KindRefused, "sty_a") != 1 || s.Transition != nil || s.Status != "backlog" {
				t.Errorf("%s in %s with %+v", m.kinds(), s.Status, s.Transition)
			}
		})
	}
}

// TestDispatchOrder: the verdicts stand before the dispatch, once.
func TestDispatchOrder(t *testing.T) {
	const begun = "transition.requested verdict.recorded dispatch.started"
	t.Run("committed", func(t *testing.T) {
		m, f, token, v := onItsWay(t)
		if err := m.start(t, token, v, f); err != nil {
			t.Fatal(err)
		}
		// What the performer makes of the work tree is not its entry gate's.
		f.Tree, f.Head = "tree2", "head2"
		c, err := m.state().Attach("sty_a", "notes", "", []byte("x"), robot)
		if err != nil {
			t.Fatal(err)
		}
		m.append(t, c)
		c, refusal, err := m.state().Commit("sty_a", token, v, &Work{Artifact: &Artifact{Name: "plan", Type: "plan", Body: []byte("x")}}, f, robot)
		if err != nil || refusal != nil {
			t.Fatal(refusal, err)
		}
		m.append(t, c)
		want := begun + " document.attached document.attached document.attached transition.committed"
		if got := m.kinds(); !strings.HasSuffix(got, want) {
			t.Errorf("%s\nwant the end %s", got, want)
		}
		s := m.story(t, "sty_a")
		if s.Status != "in_progress" || len(s.Docs) != 3 {
			t.Errorf("in %s with %v", s.Status, s.Docs)
		}
		if s.Seat == nil || s.Seat.Base != "head1" {
			t.Errorf("what the performer committed is out of sight: %+v", s.Seat)
		}
	})
	t.Run("refused", func(t *testing.T) {
		m, f, token, v := onItsWay(t)
		if err := m.start(t, token, v, f); err != nil {
			t.Fatal(err)
		}
		c, err := m.state().Refuse("sty_a", token, v, fault.New(fault.Refused, "no plan"), robot)
		if err != nil {
			t.Fatal(err)
		}
		m.append(t, c)
		if got := m.kinds(); !strings.HasSuffix(got, begun+" transition.refused") {
			t.Error(got)
		}
		if s := m.story(t, "sty_a"); s.Status != "backlog" || s.Transition != nil || s.Seat != nil {
			t.Errorf("%+v", s)
		}
	})
}

// TestDispatchOnWhatWasJudged: what has changed between the gate and the dispatch
// is nobody's, so nobody is started.
func TestDispatchOnWhatWasJudged(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(t *testing.T, m *memory, f *Facts)
		refuse string
	}{
		"the work tree": {func(_ *testing.T, _ *memory, f *Facts) { f.Tree = "tree2" }, "the work tree changed"},
		"HEAD":          {func(_ *testing.T, _ *memory, f *Facts) { f.Head = "head2" }, "HEAD moved"},
		"a document": {func(t *testing.T, m *memory, _ *Facts) {
			c, err := m.state().Attach("sty_a", "notes", "", []byte("x"), robot)
			if err != nil {
				t.Fatal(err)
			}
			m.append(t, c)
		}, "a document was attached"},
	} {
		t.Run(name, func(t *testing.T) {
			m, f, token, v := onItsWay(t)
			tt.change(t, m, &f)
			if err := m.start(t, token, v, f); err == nil || !strings.Contains(err.Error(), tt.refuse) {
				t.Fatalf("refusal %v", err)
			}
			if got := m.kinds(); !strings.HasSuffix(got, "verdict.recorded transition.refused") || m.count(KindDispatched, "sty_a") > 0 {
				t.Error(got)
			}
			if m.story(t, "sty_a").Transition != nil {
				t.Error("it is still in flight")
			}
		})
	}
	t.Run("taken over", func(t *testing.T) {
		m, f, token, v := onItsWay(t)
		before := m.size()
		if err := m.start(t, token+1, v, f); !fault.Is(err, fault.Refused) || m.size() != before {
			t.Errorf("%v", err)
		}
	})
}

// TestOutputIsJudgedOnLeaving: a step's contract holds for whoever performs it.
func TestOutputIsJudgedOnLeaving(t *testing.T) {
	l := lane("*", nil, nil)
	l.Steps[1].Skills = []string{"plan"}
	contract := contractOf(route.AttemptPolicy{})
	contract.Output.ACCoverage = true
	l.Skills["plan"] = contract
	optional := lane("*", nil, nil)
	optional.Steps[1].Skills = []string{"plan"}
	contract.Output.Required = false
	optional.Skills["plan"] = contract
	doc := func(name, body string) *Artifact { return &Artifact{Name: name, Type: "plan", Body: []byte(body)} }
	for _, tt := range []struct {
		name   string
		lane   route.Lane
		doc    *Artifact
		to     string
		refuse string
	}{
		{"none", l, nil, "done", "step in_progress owes the document \"plan\""},
		{"a valid one", l, doc("plan", "# AC1"), "done", ""},
		{"one that covers nothing", l, doc("plan", "x"), "done", "does not cover AC1"},
		{"none where none is required", optional, nil, "done", ""},
		{"a bad one where none is required", optional, doc("plan", "x"), "done", "does not cover AC1"},
		{"a step back", l, nil, "backlog", ""},
		{"to the park", l, nil, "blocked", ""},
		{"given up", l, nil, "cancelled", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			m.create(t, "sty_a", tt.lane)
			m.mustMove(t, "sty_a", "in_progress", m.facts(tt.lane))
			f := m.facts(tt.lane)
			f.Output = tt.doc
			out, err := m.ask(t, "sty_a", tt.to, f)
			if err != nil {
				t.Fatal(err)
			}
			if (out.Refusal != nil) != (tt.refuse != "") || out.Refusal != nil && !strings.Contains(out.Refusal.Error(), tt.refuse) {
				t.Errorf("refusal %v, want %q", out.Refusal, tt.refuse)
			}
		})
	}
}

// TestLeaseCountsEverybody: another host waits as long as all may take.
func TestLeaseCountsEverybody(t *testing.T) {
	l := dispatched()
	e := Edge{From: "backlog", To: "in_progress", Kind: Advance}
	f := Facts{Lane: l, Bindings: map[string]Bound{
		"architect": {Timeout: time.Hour, Secondary: "b"}, "b": {Timeout: 2 * time.Hour}, "reviewer": {Timeout: time.Minute},
	}}
	gate := []Judge{{Skill: "check-a", Kind: route.KindCheck}, {Skill: "r", Kind: route.KindRubric}}
	for _, tt := range []struct {
		policy route.AttemptPolicy
		work   time.Duration
	}{
		{route.AttemptPolicy{}, 4 * time.Hour},
		{route.AttemptPolicy{RepairMax: 2}, 8 * time.Hour},
		{route.AttemptPolicy{RepairMax: 2, MaxTotal: 2}, 4 * time.Hour},
		{route.AttemptPolicy{RepairMax: 2, TimeBudget: time.Minute}, time.Minute},
	} {
		l.Skills["plan"] = contractOf(tt.policy)
		if got, want := leaseTTL(e, gate, f), leaseSlack+DefaultTimeout+3*time.Minute+tt.work; got != want {
			t.Errorf("%+v: %s, want %s", tt.policy, got, want)
		}
	}
}

// TestBudgetOfATransition: the purse is that of the step which is dispatched.
func TestBudgetOfATransition(t *testing.T) {
	l := dispatched()
	l.Skills["plan"] = contractOf(route.AttemptPolicy{TokenBudget: 7})
	f := Facts{Lane: l, Bindings: bindings(Bound{})}
	to := func(step string) Transition { return Transition{Edge: Edge{From: "backlog", To: step, Kind: Advance}} }
	if got := TokenBudget(to("in_progress"), f); got != 7 {
		t.Errorf("%d", got)
	}
	f.Bindings = bindings(Bound{InLoop: true})
	if got := TokenBudget(to("in_progress"), f) + TokenBudget(to("done"), f); got != 0 {
		t.Errorf("%d where nobody is dispatched", got)
	}
}

// TestSummary is made of records, and of words where a skill gives some.
func TestSummary(t *testing.T) {
	s, tr := Story{ID: "sty_a", Title: "A"}, Transition{Token: 7, Edge: Edge{From: "backlog", To: "in_progress", Kind: Advance}, Dispatched: 9}
	f := Facts{Lane: dispatched(), Bindings: bindings(Bound{})}
	text := string(summary(s, tr, []Verdict{{Skill: summarySkill, Decision: Accept, Notes: "It was\nplanned."}}, f))
	for _, want := range []string{"- request: record 7\n", "- performed by: architect (record 9)\n", "## Summary\n\nIt was\nplanned.\n", "- step-summary: accept"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	tr.Dispatched = 0
	if text := string(summary(s, tr, nil, f)); strings.Contains(text, "performed by") || strings.Contains(text, "## Summary") {
		t.Error(text)
	}
}

// TestNotAttached: a document that can't be attached refuses the move, and nothing
// of it stays.
func TestNotAttached(t *testing.T) {
	m, f, token, v := onItsWay(t)
	if err := m.start(t, token, v, f); err != nil {
		t.Fatal(err)
	}
	s := m.story(t, "sty_a")
	for i := range maxDocs {
		s.Docs = append(s.Docs, Doc{Name: strconv.Itoa(i)})
	}
	if err := put(m, rowsStory, s.ID, s); err != nil {
		t.Fatal(err)
	}
	c, refusal, err := m.state().Commit("sty_a", token, v, &Work{Artifact: &Artifact{Name: "plan", Type: "plan", Body: []byte("x")}}, f, robot)
	if err != nil || !fault.Is(refusal, fault.Refused) || len(c.Drafts) != 1 || c.Drafts[0].Kind != KindRefused {
		t.Fatalf("%v, %v, %+v", refusal, err, c.Drafts)
	}
	m.append(t, c)
	if s := m.story(t, "sty_a"); s.Status != "backlog" || s.Transition != nil || len(s.Docs) != maxDocs {
		t.Errorf("in %s with %d documents", s.Status, len(s.Docs))
	}
}

// TestWhoIsDispatched: whom the route names for the step that is entered, and on
// the ways on which its work is to be done.
func TestWhoIsDispatched(t *testing.T) {
	bound := map[string]Bound{"architect": {}, "executor": {InLoop: true}, "reviewer": {Reviewer: true}, "self": {InLoop: true}}
	for _, tt := range []struct {
		agent, kind, want string
	}{
		{"architect", Advance, "architect"},
		{"architect", Back, "architect"},
		{"architect", Unpark, ""},
		{"architect", Park, ""},
		{"architect", Cancel, ""},
		{"unbound", Advance, "unbound"}, // and refused for it
		{"self", Advance, ""},
		{route.AgentExecutor, Advance, ""},
		{route.AgentReviewer, Advance, ""},
		{"", Advance, ""},
	} {
		l := dispatched()
		l.Steps[1].Agent, l.Advisors = tt.agent, []string{"architect"}
		got := Performer(Transition{Edge: Edge{From: "backlog", To: "in_progress", Kind: tt.kind}}, Facts{Lane: l, Bindings: bound})
		if got != tt.want {
			t.Errorf("%s on %s: %q, want %q", tt.agent, tt.kind, got, tt.want)
		}
	}
}
