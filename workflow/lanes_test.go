package workflow

import (
	"strings"
	"testing"

	"satelle/internal/fault"
	"satelle/workflow/route"
)

// steps makes a lane of bare steps.
func steps(name string, states ...string) route.Lane {
	l := route.Lane{Category: name, Park: &route.Park{State: "blocked"}, Cancel: "cancelled", Skills: map[string]route.Skill{}}
	for _, s := range states {
		l.Steps = append(l.Steps, route.Step{Name: s})
	}
	return l
}

// gated makes a step ask for a person.
func gated(l route.Lane, step string) route.Lane {
	for i := range l.Steps {
		if l.Steps[i].Name == step {
			l.Steps[i].Reviewers = []string{route.Human}
			l.Skills[route.Human] = route.Skill{Name: route.Human, Kind: route.KindBuiltin}
		}
	}
	return l
}

// TestLaneSwapGrantsNoStep puts stories on lanes in which the name of their
// step stands behind gates, or at the end.
func TestLaneSwapGrantsNoStep(t *testing.T) {
	edit := func(f Fields) func(State, route.Lane) (Change, error) {
		return func(st State, l route.Lane) (Change, error) { return st.Edit("sty_a", f, Text{}, l, robot) }
	}
	restamp := func(st State, l route.Lane) (Change, error) { return st.Restamp("sty_a", l, person) }
	for _, tt := range []struct {
		name   string
		path   []string
		other  route.Lane
		swap   func(State, route.Lane) (Change, error)
		want   string
		refuse string
	}{
		{"a category where its step comes later", nil, gated(steps("x", "drafted", "backlog", "done"), "backlog"), edit(Fields{Category: ptr("x")}), "drafted", ""},
		{"a category where its step ends it", nil, steps("x", "drafted", "backlog"), edit(Fields{Category: ptr("x")}), "drafted", ""},
		{"tags where its step comes later", nil, gated(steps("*", "drafted", "backlog", "done"), "backlog"), edit(Fields{Tags: &[]string{"surface:ui"}}), "drafted", ""},
		{"tags after the first move", []string{"in_progress"}, steps("*", "in_progress", "done"), edit(Fields{Tags: &[]string{"surface:ui"}}), "in_progress", ""},
		{"a category after the first move", []string{"in_progress"}, steps("x", "in_progress", "done"), edit(Fields{Category: ptr("x")}), "", "its category picked its lane"},
		{"a restamp before the first move", nil, gated(steps("*", "drafted", "backlog", "done"), "backlog"), restamp, "drafted", ""},
		{"a restamp to where its step ends it", []string{"in_progress"}, steps("*", "backlog", "in_progress"), restamp, "", "is where a story ends"},
		{"a restamp to where its parked step ends it", []string{"in_progress", "blocked"}, steps("*", "backlog", "in_progress"), restamp, "", "is where a story ends"},
		{"a restamp to where its step cancels it", []string{"in_progress"}, func() route.Lane {
			l := steps("*", "backlog", "in_progress", "done")
			l.Cancel = "in_progress"
			return l
		}(), restamp, "", "is where a story ends"},
		{"a restamp to where nobody performs its step", []string{"in_progress"}, steps("*", "backlog", "in_progress", "done"), restamp, "in_progress", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			l := lane("*", nil, nil)
			m.create(t, "sty_a", l)
			for _, p := range tt.path {
				m.mustMove(t, "sty_a", p, m.facts(l))
			}
			c, err := tt.swap(m.state(), tt.other)
			if tt.refuse != "" {
				if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), tt.refuse) {
					t.Fatalf("err = %v, want %q", err, tt.refuse)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			m.append(t, c)
			s := m.story(t, "sty_a")
			if s.Status != tt.want || s.Terminal() {
				t.Fatalf("it is in %s, want %s", s.Status, tt.want)
			}
			if s.Plan.Performs(s.Status) != (s.Seat != nil) {
				t.Errorf("performs %v with seat %+v", s.Plan.Performs(s.Status), s.Seat)
			}
			if _, sits := m.state().Row().Seats["."]; sits != (s.Seat != nil) {
				t.Errorf("the hook reads seat %v, the story has %+v", sits, s.Seat)
			}
		})
	}
}

func TestRestampIntoPerformingNeedsASeat(t *testing.T) {
	m := newMemory()
	l := steps("*", "backlog", "in_progress", "done")
	m.create(t, "sty_a", l)
	m.mustMove(t, "sty_a", "in_progress", m.facts(l))
	_, err := m.state().Restamp("sty_a", lane("*", nil, nil), person)
	if !fault.Is(err, fault.Refused) || fault.TryOf(err) != "satelle story set sty_a --status blocked" {
		t.Fatalf("err = %v, try %q", err, fault.TryOf(err))
	}
	m.mustMove(t, "sty_a", "blocked", m.facts(l))
	c, err := m.state().Restamp("sty_a", lane("*", nil, nil), person)
	if err != nil {
		t.Fatal(err)
	}
	m.append(t, c)
	m.mustMove(t, "sty_a", "in_progress", m.facts(lane("*", nil, nil)))
	if m.story(t, "sty_a").Seat == nil {
		t.Error("it performs without a seat")
	}
}

// TestGivenUpFromEverywhere: the work tree of a story may be gone.
func TestGivenUpFromEverywhere(t *testing.T) {
	m := newMemory()
	l := lane("*", nil, nil)
	m.create(t, "sty_a", l)
	m.mustMove(t, "sty_a", "in_progress", m.facts(l))
	f := m.facts(l)
	f.WorkTree = "wt2"
	for _, to := range []string{"backlog", "blocked", "done"} {
		if _, err := m.ask(t, "sty_a", to, f); !fault.Is(err, fault.Refused) {
			t.Errorf("%s from another work tree: %v", to, err)
		}
	}
	m.mustMove(t, "sty_a", "cancelled", f)
	if len(m.state().Row().Seats) != 0 {
		t.Error("the seat is left")
	}
}

// TestProseOnly follows a story of a lane for prose past every way to lose
// sight of code that it has changed.
func TestProseOnly(t *testing.T) {
	l := lane("docs", nil, []string{route.ProseOnly})
	start := func(t *testing.T) *memory {
		m := newMemory()
		m.create(t, "sty_a", l)
		m.mustMove(t, "sty_a", "in_progress", m.facts(l))
		return m
	}
	for _, tt := range []struct {
		name   string
		facts  func(*Facts)
		refuse bool
	}{
		{"prose", func(f *Facts) { f.Changed = []string{"a.md", "LICENSE"} }, false},
		{"code", func(f *Facts) { f.Changed = []string{"a.md", "main.go"} }, true},
		{"a link named like prose", func(f *Facts) { f.Changed, f.NotFiles = []string{"a.md"}, []string{"a.md"} }, true},
		{"prose that governs", func(f *Facts) { f.Changed = []string{".satelle/workflows/step.md"} }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := start(t)
			f := m.facts(l)
			tt.facts(&f)
			out, err := m.ask(t, "sty_a", "done", f)
			if err != nil || (out.Refusal != nil) != tt.refuse {
				t.Fatalf("%v %v", out.Refusal, err)
			}
		})
	}
	for _, away := range []string{"blocked", "backlog"} {
		t.Run("code that was committed before "+away, func(t *testing.T) {
			m := start(t)
			f := m.facts(l)
			f.Changed = []string{"main.go"}
			m.mustMove(t, "sty_a", away, f)
			back := m.facts(l)
			back.Head = "head2"
			m.mustMove(t, "sty_a", m.story(t, "sty_a").Next(), back)
			if base, _ := m.story(t, "sty_a").ChangedFrom(); base != "head1" {
				t.Errorf("its change counts from %s", base)
			}
			// What others commit meanwhile is theirs, once its own is gone.
			f.Changed = []string{"a.md"}
			m.mustMove(t, "sty_a", away, f)
			m.mustMove(t, "sty_a", m.story(t, "sty_a").Next(), back)
			if base, _ := m.story(t, "sty_a").ChangedFrom(); base != "head2" {
				t.Errorf("its change counts from %s", base)
			}
		})
	}
}

// TestApprovalBindsTheTree where a step lies between the work and the end.
func TestApprovalBindsTheTree(t *testing.T) {
	m := newMemory()
	l := lane("*", nil, []string{route.Human})
	l.Steps = append(l.Steps[:2:2], route.Step{Name: "review", Agent: route.AgentReviewer}, l.Steps[2])
	m.create(t, "sty_a", l)
	m.mustMove(t, "sty_a", "in_progress", m.facts(l))
	m.mustMove(t, "sty_a", "review", m.facts(l))
	approve(t, m, true, "tree1")
	f := m.facts(l)
	f.Tree = "tree2"
	out, err := m.ask(t, "sty_a", "done", f)
	if err != nil || out.Refusal == nil || !strings.Contains(out.Refusal.Error(), "changed since it was approved") {
		t.Fatalf("%v %v", out.Refusal, err)
	}
	m.mustMove(t, "sty_a", "done", m.facts(l))
}

// TestApprovalIsSpent: an approval serves one move, at one point of a story's
// life.
func TestApprovalIsSpent(t *testing.T) {
	l := lane("substrate", []string{route.Human}, []string{route.Human})
	refused := func(t *testing.T, m *memory, to string) {
		t.Helper()
		out, err := m.ask(t, "sty_a", to, m.facts(l))
		if err != nil || out.Refusal == nil {
			t.Fatalf("moved to %s: %v", to, err)
		}
	}
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, m *memory)
		to   string
	}{
		{"approved for another step", func(t *testing.T, m *memory) { m.mustMove(t, "sty_a", "in_progress", m.facts(l)) }, "done"},
		{"parked and back", func(t *testing.T, m *memory) {
			m.mustMove(t, "sty_a", "blocked", m.facts(l))
			m.mustMove(t, "sty_a", "backlog", m.facts(l))
		}, "in_progress"},
		{"approved while parked", func(t *testing.T, m *memory) {
			m.mustMove(t, "sty_a", "blocked", m.facts(l))
			approve(t, m, true, "tree1")
			m.mustMove(t, "sty_a", "backlog", m.facts(l))
		}, "in_progress"},
		{"entered and gone back", func(t *testing.T, m *memory) {
			m.mustMove(t, "sty_a", "in_progress", m.facts(l))
			m.mustMove(t, "sty_a", "backlog", m.facts(l))
		}, "in_progress"},
		{"other path scopes", func(t *testing.T, m *memory) {
			c, err := m.state().Edit("sty_a", Fields{Paths: &[]string{"**"}}, Text{}, l, robot)
			if err != nil {
				t.Fatal(err)
			}
			m.append(t, c)
		}, "in_progress"},
		{"other tags", func(t *testing.T, m *memory) {
			c, err := m.state().Edit("sty_a", Fields{Tags: &[]string{"x"}}, Text{}, l, robot)
			if err != nil {
				t.Fatal(err)
			}
			m.append(t, c)
		}, "in_progress"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			m.create(t, "sty_a", l)
			approve(t, m, true, "tree1")
			tt.do(t, m)
			refused(t, m, tt.to)
		})
	}
}
