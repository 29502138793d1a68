package workflow

import (
	"strings"
	"testing"

	"satelle/internal/fault"
	"satelle/workflow/route"
)

// TestMayCommit decides over commits: who sits, what the commit changes, who
// makes it.
func TestMayCommit(t *testing.T) {
	type world = func(t *testing.T, m *memory)
	plain := lane("*", nil, nil)
	started := func(paths ...string) world {
		return func(t *testing.T, m *memory) {
			m.create(t, "sty_a", plain)
			if len(paths) > 0 {
				c, err := m.state().Edit("sty_a", Fields{Paths: &paths}, Text{}, plain, robot)
				if err != nil {
					t.Fatal(err)
				}
				m.append(t, c)
			}
			if out, err := m.ask(t, "sty_a", "in_progress", m.facts(plain)); err != nil || out.Refusal != nil {
				t.Fatal(err, out.Refusal)
			}
		}
	}
	substrate := func(t *testing.T, m *memory) {
		l := lane("substrate", []string{route.Human}, nil)
		m.create(t, "sty_a", l)
		c, err := m.state().Approve("sty_a", true, "", "tree1", person)
		if err != nil {
			t.Fatal(err)
		}
		m.append(t, c)
		if out, err := m.ask(t, "sty_a", "in_progress", m.facts(l)); err != nil || out.Refusal != nil {
			t.Fatal(err, out.Refusal)
		}
	}
	halted := func(t *testing.T, m *memory) {
		started()(t, m)
		c, err := m.state().Halt("why", person)
		if err != nil {
			t.Fatal(err)
		}
		m.append(t, c)
	}
	idle := func(t *testing.T, m *memory) {
		started()(t, m)
		m.clock = m.clock.Add(2 * seatIdle)
	}
	for _, tt := range []struct {
		name     string
		world    world
		paths    string
		founding bool
		person   bool
		refused  string // "" if it may
		try      string
	}{
		{"nobody sits", func(*testing.T, *memory) {}, "a", false, false, "no story holds the seat", "satelle story start"},
		{"nobody sits, a person", func(*testing.T, *memory) {}, "a", false, true, "--no-verify", "satelle story start"},
		{"a story waits", func(t *testing.T, m *memory) { m.create(t, "sty_a", plain) }, "a", false, false, "satelle story adopt sty_a", "satelle story start"},
		{"an agent founds", func(*testing.T, *memory) {}, ".satelle/satelle.toml", true, false, "no story holds the seat", "satelle story start"},
		{"a person founds", func(*testing.T, *memory) {}, ".satelle/satelle.toml", true, true, "", ""},
		{"seated", started(), "a b/c", false, false, "", ""},
		{"suspended", idle, "a", false, false, "suspended", "satelle story join sty_a"},
		{"in scope", started("src"), "src/a src/b/c", false, false, "", ""},
		{"out of scope", started("src"), "src/a docs/x", false, false, "docs/x is outside", "git restore --staged -- 'docs/x'"},
		{"governance", started(), "a .satelle/satelle.toml", false, false, ".satelle/satelle.toml belongs", "--category substrate"},
		{"governance within scope", started(".satelle"), ".satelle/x", false, false, "governance", "--category substrate"},
		{"governance in capitals", started(), ".SATELLE/x", false, false, "governance", "--category substrate"},
		{"nearly governance", started(), ".satelle.md a/.satelle/x", false, false, "", ""},
		{"a substrate story", substrate, ".satelle/x", false, false, "", ""},
		{"halted", halted, "a", false, false, "halted: why", "satelle status"},
		{"halted, a person", halted, "a", false, true, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			tt.world(t, m)
			actor := robot
			if tt.person {
				actor = person
			}
			err := m.state().MayCommit(Committing{Now: m.clock, WorkTree: ".", Paths: strings.Fields(tt.paths), Founding: tt.founding}, actor)
			if tt.refused == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), tt.refused) || !strings.Contains(fault.TryOf(err), tt.try) {
				t.Errorf("%v\ntry: %s", err, fault.TryOf(err))
			}
			if strings.Contains(err.Error(), "--no-verify") != tt.person {
				t.Errorf("--no-verify is a person's: %v", err)
			}
		})
	}
}
