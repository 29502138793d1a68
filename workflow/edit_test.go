package workflow

import (
	"strings"
	"testing"

	"satelle/internal/fault"
	"satelle/workflow/route"
)

func TestStaleAcceptsAreAskedAgain(t *testing.T) {
	m := newMemory()
	l := lane("*", []string{route.Structure}, nil)
	m.create(t, "sty_a", l)
	m.mustMove(t, "sty_a", "in_progress", m.facts(l))
	c, err := m.state().Edit("sty_a", Fields{Criteria: &[]string{""}}, Text{}, route.Lane{}, robot)
	if err != nil {
		t.Fatal(err)
	}
	m.append(t, c)
	if !m.story(t, "sty_a").Stale {
		t.Fatal("the accept of structure is not stale")
	}
	f := m.facts(l)
	f.Text.Criteria = []string{""}
	out, err := m.ask(t, "sty_a", "done", f)
	if err != nil || out.Refusal == nil || !strings.Contains(out.Refusal.Error(), "AC1 is empty") {
		t.Fatalf("done was not asked for structure again: %v %v", out.Refusal, err)
	}
	m.mustMove(t, "sty_a", "done", m.facts(l))
	if m.story(t, "sty_a").Stale {
		t.Error("still stale after the gates accepted again")
	}
}

func TestEditBeforeTheFirstGate(t *testing.T) {
	m := newMemory()
	m.create(t, "sty_a", lane("*", nil, nil))
	c, err := m.state().Edit("sty_a", Fields{Title: ptr("B"), Category: ptr("docs")}, Text{}, lane("docs", nil, []string{route.ProseOnly}), robot)
	if err != nil {
		t.Fatal(err)
	}
	m.append(t, c)
	if s := m.story(t, "sty_a"); s.Stale || s.Title != "B" || s.Plan.Name != "docs" {
		t.Errorf("story = %+v", s)
	}
}

func TestRestamp(t *testing.T) {
	m := newMemory()
	old := lane("*", nil, nil)
	m.create(t, "sty_a", old)
	m.mustMove(t, "sty_a", "in_progress", m.facts(old))
	today := lane("*", nil, []string{route.Human})
	c, err := m.state().Restamp("sty_a", today, person)
	if err != nil {
		t.Fatal(err)
	}
	m.append(t, c)
	s := m.story(t, "sty_a")
	if s.Plan.Lane == "" || !s.Stale || s.Status != "in_progress" {
		t.Errorf("story = %+v", s)
	}
	renamed := today
	renamed.Steps = []route.Step{{Name: "todo"}, {Name: "finished"}}
	if _, err := m.state().Restamp("sty_a", renamed, person); !fault.Is(err, fault.Refused) {
		t.Errorf("a lane without the step: %v", err)
	}
}

// TestForeignText is refused where it would make a record say something else
// than it shows, or where its bytes could not be given back.
func TestForeignText(t *testing.T) {
	m := newMemory()
	l := lane("*", nil, nil)
	m.create(t, "sty_a", l)
	for name, bad := range map[string]string{
		"line break": "a\nb", "carriage return": "a\rb", "escape": "a\x1b[2Jb", "NUL": "a\x00b", "C1": "a\u009bb",
		"line separator": "a\u2028b", "turned around": "a\u202eb", "isolated": "a\u2066b", "no UTF-8": "a\xffb", "huge": strings.Repeat("x", 1<<20),
	} {
		words := map[string]Fields{
			"title": {Title: &bad}, "category": {Title: ptr("t"), Category: &bad}, "tag": {Title: ptr("t"), Tags: &[]string{bad}},
			"parent": {Title: ptr("t"), Parent: &bad}, "priority": {Title: ptr("t"), Priority: &bad}, "due": {Title: ptr("t"), Due: &bad},
			"project": {Title: ptr("t"), Project: &bad}, "assignee": {Title: ptr("t"), Assignee: &bad}, "path": {Title: ptr("t"), Paths: &[]string{bad}},
		}
		for field, f := range words {
			if _, err := m.state().Create("sty_b", f, l, robot); !fault.Is(err, fault.Usage) {
				t.Errorf("%s in the %s: %v", name, field, err)
			}
		}
		if _, err := m.state().Halt(bad, person); !fault.Is(err, fault.Usage) {
			t.Errorf("%s in a halt: %v", name, err)
		}
		if _, err := m.state().Attach("sty_a", bad, "", nil, robot); !fault.Is(err, fault.Usage) {
			t.Errorf("%s in a document's name: %v", name, err)
		}
		if _, err := m.state().Attach("sty_a", "n", bad, nil, robot); !fault.Is(err, fault.Usage) {
			t.Errorf("%s in a document's type: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"body": func() error {
			_, err := m.state().Create("sty_b", Fields{Title: ptr("t"), Body: ptr("a\xff")}, l, robot)
			return err
		}(),
		"criterion": func() error {
			_, err := m.state().Create("sty_b", Fields{Title: ptr("t"), Criteria: &[]string{"a\xff"}}, l, robot)
			return err
		}(),
		"comment": func() error { _, err := m.state().Comment("sty_a", "comment", []byte("a\xff"), robot); return err }(),
		"note":    func() error { _, err := m.state().Approve("sty_a", true, "a\xff", "", person); return err }(),
	} {
		if !fault.Is(err, fault.Usage) {
			t.Errorf("no UTF-8 in the %s: %v", name, err)
		}
	}
	for _, name := range []string{"summary-01-done", "Summary-01-done", "SUMMARY-x"} {
		if _, err := m.state().Attach("sty_a", name, "", nil, robot); !fault.Is(err, fault.Refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
