package workflow

import (
	"errors"
	"strings"
	"testing"

	"satelle/internal/fault"
	"satelle/workflow/route"
)

func TestEdges(t *testing.T) {
	l := lane("*", nil, nil)
	for _, tt := range []struct {
		name   string
		path   []string
		to     string
		refuse string
	}{
		{"on", nil, "in_progress", ""},
		{"two steps at once", nil, "done", "leads from backlog to in_progress, blocked or cancelled"},
		{"an unknown state", nil, "shipped", `not to "shipped"`},
		{"where it stands", nil, "backlog", `not to "backlog"`},
		{"back", []string{"in_progress"}, "backlog", ""},
		{"to the end", []string{"in_progress"}, "done", ""},
		{"park at the start", nil, "blocked", ""},
		{"from the park to where it came from", []string{"in_progress", "blocked"}, "in_progress", ""},
		{"from the park past where it came from", []string{"blocked"}, "in_progress", "leads from blocked to backlog or cancelled"},
		{"from the park to the end", []string{"in_progress", "blocked"}, "done", "leads from blocked to in_progress or cancelled"},
		{"cancel from the park", []string{"blocked"}, "cancelled", ""},
		{"out of done", []string{"in_progress", "done"}, "in_progress", "it has ended"},
		{"out of cancelled", []string{"cancelled"}, "backlog", "it has ended"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			m.create(t, "sty_a", l)
			for _, p := range tt.path {
				m.mustMove(t, "sty_a", p, m.facts(l))
			}
			out, err := m.ask(t, "sty_a", tt.to, m.facts(l))
			if tt.refuse == "" {
				if err != nil || out.Refusal != nil {
					t.Fatalf("refused: %v %v", err, out.Refusal)
				}
				return
			}
			if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), tt.refuse) {
				t.Fatalf("err = %v, want a refusal with %q", err, tt.refuse)
			}
		})
	}
}

// TestGates asks each built-in judge for a yes and a no.
func TestGates(t *testing.T) {
	for _, tt := range []struct {
		name    string
		gate    string
		arrange func(t *testing.T, m *memory, f *Facts)
		refuse  string
	}{
		{"structure holds", route.Structure, nil, ""},
		{"structure without criteria", route.Structure, func(_ *testing.T, _ *memory, f *Facts) { f.Text.Criteria = nil }, "no acceptance criterion"},
		{"structure with an empty criterion", route.Structure, func(_ *testing.T, _ *memory, f *Facts) { f.Text.Criteria = []string{"a", " "} }, "AC2 is empty"},
		{"prose", route.ProseOnly, func(_ *testing.T, _ *memory, f *Facts) { f.Changed = []string{"README.md", "docs/a.TXT"} }, ""},
		{"code", route.ProseOnly, func(_ *testing.T, _ *memory, f *Facts) { f.Changed = []string{"README.md", "main.go"} }, `"main.go"`},
		{"no children", route.Children, nil, "no children"},
		{"an open child", route.Children, func(t *testing.T, m *memory, _ *Facts) { child(t, m, "sty_c") }, "sty_c (backlog)"},
		{"resolved children", route.Children, func(t *testing.T, m *memory, f *Facts) {
			child(t, m, "sty_c")
			m.mustMove(t, "sty_c", "cancelled", m.facts(lane("*", nil, nil)))
		}, ""},
		{"nobody approved", route.Human, nil, "no person has approved"},
		{"approved", route.Human, func(t *testing.T, m *memory, f *Facts) { approve(t, m, true, "tree1") }, ""},
		{"rejected", route.Human, func(t *testing.T, m *memory, f *Facts) { approve(t, m, false, "tree1") }, "a person rejected"},
		{"approved another tree", route.Human, func(t *testing.T, m *memory, f *Facts) { approve(t, m, true, "tree0") }, "has changed since it was approved"},
		{"edited after the approval", route.Human, func(t *testing.T, m *memory, f *Facts) {
			approve(t, m, true, "tree1")
			c, err := m.state().Edit("sty_a", Fields{Title: ptr("Another title")}, f.Text, route.Lane{}, robot)
			if err != nil {
				t.Fatal(err)
			}
			m.append(t, c)
		}, "no person has approved"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			l := lane("*", nil, []string{tt.gate})
			m.create(t, "sty_a", l)
			m.mustMove(t, "sty_a", "in_progress", m.facts(l))
			f := m.facts(l)
			if tt.arrange != nil {
				tt.arrange(t, m, &f)
			}
			out, err := m.ask(t, "sty_a", "done", f)
			if err != nil {
				t.Fatal(err)
			}
			s := m.story(t, "sty_a")
			if s.Transition != nil {
				t.Error("a transition is left in flight")
			}
			if tt.refuse == "" {
				if out.Refusal != nil || s.Status != "done" {
					t.Fatalf("refused: %v; status %s", out.Refusal, s.Status)
				}
				if len(s.Docs) != 1 || s.Docs[0].Type != TypeSummary {
					t.Errorf("documents = %v, want one step summary", s.Docs)
				}
				return
			}
			if !fault.Is(out.Refusal, fault.Refused) || !strings.Contains(out.Refusal.Error(), tt.refuse) {
				t.Fatalf("refusal = %v, want %q", out.Refusal, tt.refuse)
			}
			if s.Status != "in_progress" || len(s.Docs) != 0 {
				t.Errorf("a refused move left status %s and %d documents", s.Status, len(s.Docs))
			}
			if m.count(KindRefused, "sty_a") != 1 {
				t.Error("the refusal is no record")
			}
		})
	}
}

func child(t *testing.T, m *memory, id string) {
	t.Helper()
	c, err := m.state().Create(id, Fields{Title: ptr("child"), Parent: ptr("sty_a")}, lane("*", nil, nil), robot)
	if err != nil {
		t.Fatal(err)
	}
	m.append(t, c)
}

func approve(t *testing.T, m *memory, accept bool, tree string) {
	t.Helper()
	c, err := m.state().Approve("sty_a", accept, "seen", tree, person)
	if err != nil {
		t.Fatal(err)
	}
	m.append(t, c)
}

func trustAll(t *testing.T, m *memory, names ...string) {
	t.Helper()
	var xs []Executable
	for _, n := range names {
		xs = append(xs, Executable{Name: n, Digest: "digest-" + n})
	}
	c, err := m.state().Trust(xs, nil, nil, person)
	if err != nil {
		t.Fatal(err)
	}
	m.append(t, c)
}

// inFlight brings a story to a gate with one check and leaves it there.
func inFlight(t *testing.T) (*memory, route.Lane, Outcome) {
	t.Helper()
	m := newMemory()
	l := lane("*", nil, []string{"check-a", route.Structure})
	m.create(t, "sty_a", l)
	m.mustMove(t, "sty_a", "in_progress", m.facts(l))
	trustAll(t, m, "check-a")
	out, err := m.ask(t, "sty_a", "done", m.facts(l))
	if err != nil || !out.Run {
		t.Fatalf("run=%v err=%v", out.Run, err)
	}
	return m, l, out
}

func TestCommit(t *testing.T) {
	yes := []Verdict{{Skill: "check-a", Decision: Accept}}
	for _, tt := range []struct {
		name     string
		verdicts []Verdict
		token    uint64
		facts    func(*Facts)
		refuse   string
	}{
		{"accepted", yes, 0, nil, ""},
		{"rejected", []Verdict{{Skill: "check-a", Decision: Reject, Notes: "2 tests failed"}}, 0, nil, "2 tests failed"},
		{"no verdict", nil, 0, nil, "it gave no verdict"},
		{"a verdict of another", []Verdict{{Skill: "check-b", Decision: Accept}}, 0, nil, "it gave no verdict"},
		{"an old token", yes, 1, nil, "was taken over"},
		{"the tree changed", yes, 0, func(f *Facts) { f.Tree = "tree2" }, "work tree changed"},
		{"HEAD moved", yes, 0, func(f *Facts) { f.Head = "head2" }, "HEAD moved"},
		{"a built-in judge rejects", yes, 0, func(f *Facts) { f.Text.Criteria = nil }, "no acceptance criterion"},
		{"from another work tree", yes, 0, func(f *Facts) { f.WorkTree = "wt2" }, "sits in another work tree"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, l, out := inFlight(t)
			f := m.facts(l)
			if tt.facts != nil {
				tt.facts(&f)
			}
			token := out.Token
			if tt.token != 0 {
				token = tt.token
			}
			c, refusal, err := m.state().Commit("sty_a", token, tt.verdicts, nil, f, robot)
			if err != nil {
				t.Fatal(err)
			}
			m.append(t, c)
			s := m.story(t, "sty_a")
			if tt.refuse == "" {
				if refusal != nil || s.Status != "done" || s.Seat != nil || s.Transition != nil {
					t.Fatalf("refusal=%v story=%+v", refusal, s)
				}
				return
			}
			if refusal == nil || !strings.Contains(refusal.Error(), tt.refuse) {
				t.Fatalf("refusal = %v, want %q", refusal, tt.refuse)
			}
			if s.Status != "in_progress" {
				t.Errorf("status = %s", s.Status)
			}
			if (s.Transition != nil) != (tt.token != 0) {
				t.Errorf("in flight: %v", s.Transition)
			}
		})
	}
}

func TestUntrustedCheckIsNotAsked(t *testing.T) {
	m := newMemory()
	l := lane("*", nil, []string{"check-a"})
	m.create(t, "sty_a", l)
	m.mustMove(t, "sty_a", "in_progress", m.facts(l))
	_, err := m.ask(t, "sty_a", "done", m.facts(l))
	if !fault.Is(err, fault.Refused) || fault.TryOf(err) != "satelle trust" {
		t.Fatalf("err = %v, try %q", err, fault.TryOf(err))
	}
}

func TestSecondRequest(t *testing.T) {
	m, l, out := inFlight(t)
	f := m.facts(l)
	f.Alive = true
	var same *ErrInFlight
	if _, err := m.ask(t, "sty_a", "done", f); !errors.As(err, &same) || same.Transition.Token != out.Token || !fault.Is(err, fault.Busy) {
		t.Errorf("the same move: %v", err)
	}
	if _, err := m.ask(t, "sty_a", "blocked", f); !fault.Is(err, fault.Busy) {
		t.Errorf("another move: %v", err)
	}
	f.Alive = false
	again, err := m.ask(t, "sty_a", "done", f)
	if err != nil || again.Token <= out.Token {
		t.Fatalf("taking over: %v, token %d after %d", err, again.Token, out.Token)
	}
	c, refusal, err := m.state().Commit("sty_a", out.Token, []Verdict{{Skill: "check-a", Decision: Accept}}, nil, m.facts(l), robot)
	if err != nil || refusal == nil {
		t.Fatalf("the late holder committed: %v %v", refusal, err)
	}
	m.append(t, c)
	if s := m.story(t, "sty_a"); s.Status != "in_progress" || s.Transition == nil || s.Transition.Token != again.Token {
		t.Errorf("the late refusal disturbed the new holder: %+v", s)
	}
}

// TestLeaseOfAnotherHost is judged by the sequencer's clock.
func TestLeaseOfAnotherHost(t *testing.T) {
	m, l, _ := inFlight(t)
	f := m.facts(l)
	f.Host = "h2"
	var same *ErrInFlight
	if _, err := m.ask(t, "sty_a", "done", f); !errors.As(err, &same) {
		t.Fatalf("before it expires: %v", err)
	}
	f.Now = f.Now.Add(leaseSlack + 2*DefaultTimeout)
	if out, err := m.ask(t, "sty_a", "done", f); err != nil || !out.Run {
		t.Fatalf("after it expired: %v", err)
	}
}

// TestDocumentsOfAGate: what is attached while judges speak was not judged.
func TestDocumentsOfAGate(t *testing.T) {
	m, l, out := inFlight(t)
	c, err := m.state().Attach("sty_a", "plan", "", []byte("another plan"), robot)
	if err != nil {
		t.Fatal(err)
	}
	m.append(t, c)
	_, refusal, err := m.state().Commit("sty_a", out.Token, []Verdict{{Skill: "check-a", Decision: Accept}}, nil, m.facts(l), robot)
	if err != nil || refusal == nil || !strings.Contains(refusal.Error(), "a document was attached") {
		t.Fatalf("%v %v", refusal, err)
	}
}
