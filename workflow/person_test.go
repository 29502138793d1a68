package workflow

import (
	"testing"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow/route"
)

func TestPersonOnly(t *testing.T) {
	m := newMemory()
	m.create(t, "sty_a", lane("*", nil, nil))
	verbs := map[string]func(ledger.Actor) error{
		"approve": func(a ledger.Actor) error { _, err := m.state().Approve("sty_a", true, "", "t", a); return err },
		"trust":   func(a ledger.Actor) error { _, err := m.state().Trust(nil, nil, nil, a); return err },
		"halt":    func(a ledger.Actor) error { _, err := m.state().Halt("why", a); return err },
		"resume":  func(a ledger.Actor) error { _, err := m.state().Resume(a); return err },
		"restamp": func(a ledger.Actor) error { return m.state().Person("restamp", a) },
	}
	signed := person
	signed.Auth = ledger.AuthSSH
	asserted := person
	asserted.Auth = ledger.AuthAsserted
	for name, verb := range verbs {
		if err := verb(robot); !fault.Is(err, fault.Refused) {
			t.Errorf("%s by a session: %v", name, err)
		}
		if err := verb(asserted); !fault.Is(err, fault.Refused) {
			t.Errorf("%s by somebody whom nothing shows: %v", name, err)
		}
		if err := verb(person); err != nil {
			t.Errorf("%s by a person: %v", name, err)
		}
	}
	c, err := m.state().Trust(nil, nil, []byte("ada ssh-ed25519 AAAA\n"), person)
	if err != nil {
		t.Fatal(err)
	}
	m.append(t, c)
	for name, verb := range verbs {
		if err := verb(person); !fault.Is(err, fault.Refused) {
			t.Errorf("%s without a signature, where approvers are set: %v", name, err)
		}
		if err := verb(signed); err != nil {
			t.Errorf("%s with a signature: %v", name, err)
		}
	}
}

func TestSubstrateNeedsApproval(t *testing.T) {
	m := newMemory()
	l := lane("substrate", []string{route.Human}, []string{route.Human})
	m.create(t, "sty_a", l)
	approve(t, m, true, "")
	m.mustMove(t, "sty_a", "in_progress", m.facts(l))
	if !m.state().Row().Seats["."].Substrate {
		t.Fatal("an approved substrate story may not change .satelle/")
	}
	c, err := m.state().Edit("sty_a", Fields{Body: ptr("something else")}, Text{}, route.Lane{}, robot)
	if err != nil {
		t.Fatal(err)
	}
	m.append(t, c)
	if m.state().Row().Seats["."].Substrate {
		t.Error("the approval outlived an edit of what was approved")
	}
	ungated := lane("substrate", nil, nil)
	m.create(t, "sty_b", ungated)
	f := m.facts(ungated)
	f.WorkTree = "wt2"
	m.mustMove(t, "sty_b", "in_progress", f)
	if m.state().Row().Seats["wt2"].Substrate {
		t.Error("a substrate lane without the human gate opens .satelle/")
	}
}
