package workflow

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"satelle/workflow/route"
)

// TestMachine drives stories at random through two work trees and holds the
// laws of the machine after every step.
func TestMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMemory()
		l := lane("*", []string{route.Structure}, []string{"check-a", route.Structure})
		performed := rapid.Bool().Draw(t, "performed")
		if performed {
			l.Steps[1].Agent = "architect"
		}
		c, err := m.state().Trust([]Executable{{Name: "check-a", Digest: "digest-check-a"}}, nil, nil, person)
		if err != nil {
			t.Fatalf("trusting: %v", err)
		}
		m.append(t, c)
		var ids []string
		story := func() string { return rapid.SampledFrom(ids).Draw(t, "story") }
		facts := func() Facts {
			f := m.facts(l)
			f.WorkTree = rapid.SampledFrom([]string{".", "wt2"}).Draw(t, "work tree")
			f.Tree = rapid.SampledFrom([]string{"tree1", "tree2"}).Draw(t, "tree")
			f.Alive = rapid.Bool().Draw(t, "alive")
			f.Bindings = bindings(Bound{Timeout: time.Hour})
			return f
		}
		t.Repeat(map[string]func(*rapid.T){
			"create": func(t *rapid.T) {
				if len(ids) < 4 {
					ids = append(ids, fmt.Sprintf("sty_%d", len(ids)))
					m.create(t, ids[len(ids)-1], l)
				}
			},
			"request": func(t *rapid.T) {
				if len(ids) == 0 {
					return
				}
				to := rapid.SampledFrom([]string{"", "backlog", "in_progress", "done", "blocked", "cancelled", "nowhere"}).Draw(t, "to")
				_, _ = m.ask(t, story(), to, facts())
			},
			"commit": func(t *rapid.T) {
				if len(ids) == 0 {
					return
				}
				s := m.story(t, story())
				token := uint64(rapid.IntRange(0, int(m.size())).Draw(t, "token"))
				if s.Transition != nil && rapid.Bool().Draw(t, "own token") {
					token = s.Transition.Token
				}
				v := Verdict{Skill: "check-a", Decision: rapid.SampledFrom([]string{Accept, Reject, "maybe"}).Draw(t, "decision")}
				c, _, err := m.state().Commit(s.ID, token, []Verdict{v}, nil, facts(), robot)
				if err != nil {
					t.Fatalf("committing: %v", err)
				}
				m.append(t, c)
			},
			"dispatch": func(t *rapid.T) {
				if len(ids) == 0 || !performed {
					return
				}
				s := m.story(t, story())
				token := uint64(rapid.IntRange(0, int(m.size())).Draw(t, "token"))
				if s.Transition != nil && rapid.Bool().Draw(t, "own token") {
					token = s.Transition.Token
					if Performer(*s.Transition, facts()) == "" {
						return
					}
				}
				d := Dispatched{Token: token, Binding: "architect", Worker: fmt.Sprintf("worker%d", m.size())}
				c, _, err := m.state().Dispatch(s.ID, d, nil, facts(), robot)
				if err != nil {
					t.Fatalf("dispatching: %v", err)
				}
				m.append(t, c)
			},
			"abandon": func(t *rapid.T) {
				if len(ids) == 0 {
					return
				}
				s := m.story(t, story())
				if s.Transition != nil {
					c, err := m.state().Abandon(s.ID, s.Transition.Token, "test", robot)
					if err != nil {
						t.Fatalf("abandoning: %v", err)
					}
					m.append(t, c)
				}
			},
			"join": func(t *rapid.T) {
				if len(ids) == 0 {
					return
				}
				if c, err := m.state().Join(story(), facts().WorkTree, m.clock, robot); err == nil {
					m.append(t, c)
				}
			},
			"edit": func(t *rapid.T) {
				if len(ids) == 0 {
					return
				}
				if c, err := m.state().Edit(story(), Fields{Title: ptr("new")}, Text{}, route.Lane{}, robot); err == nil {
					m.append(t, c)
				}
			},
			"wait": func(*rapid.T) { m.clock = m.clock.Add(3 * time.Hour) },
			"":     func(t *rapid.T) { laws(t, m, ids) },
		})
		replays(t, m)
	})
}

func laws(t *rapid.T, m *memory, ids []string) {
	row := m.state().Row()
	for tree, seat := range row.Seats {
		s := m.story(t, seat.Story)
		if tr := s.Transition; seat.Worker != "" {
			if tr == nil || tr.Worker != seat.Worker || tr.WorkTree != tree || tr.Expires != seat.IdleAt || !s.Plan.Performs(tr.To) {
				t.Fatalf("the row lends the seat of %s to %s, the story says %+v", tree, seat.Worker, tr)
			}
			continue
		}
		if s.Seat == nil || s.Seat.WorkTree != tree || s.Seat.Suspended != seat.Suspended {
			t.Fatalf("the row seats %s in %s, the story says %+v", seat.Story, tree, s.Seat)
		}
	}
	for _, id := range ids {
		s := m.story(t, id)
		if s.Plan.Performs(s.Status) != (s.Seat != nil) {
			t.Fatalf("%s in %s with seat %+v", id, s.Status, s.Seat)
		}
		if s.lends() && m.clock.Unix() < s.Transition.Expires && row.Seats[s.Transition.WorkTree].Worker != s.Transition.Worker {
			t.Fatalf("%s has lent the seat of %s to %s, the row to %+v", id, s.Transition.WorkTree, s.Transition.Worker, row.Seats[s.Transition.WorkTree])
		}
		if s.Seat != nil && !s.Seat.Suspended && row.Seats[s.Seat.WorkTree].Story != id {
			t.Fatalf("%s sits awake in %s, the row seats %q", id, s.Seat.WorkTree, row.Seats[s.Seat.WorkTree].Story)
		}
		if s.Plan.index(s.Status) < 0 && !s.Parked() && s.Status != s.Plan.Cancel {
			t.Fatalf("%s is in the unknown state %s", id, s.Status)
		}
		if s.Moves != m.count(KindCommitted, id) {
			t.Fatalf("%s moved %d times on %d commits", id, s.Moves, m.count(KindCommitted, id))
		}
		commitsAreEarned(t, m, id)
	}
}

func replays(t *rapid.T, m *memory) {
	again := &memory{rows: map[string]map[string][]byte{}}
	for _, r := range m.records {
		if err := (Fold{}).Apply(again, r); err != nil {
			t.Fatalf("replaying: %v", err)
		}
	}
	if !reflect.DeepEqual(m.rows, again.rows) {
		t.Fatal("a replay gives other rows")
	}
}

// commitsAreEarned holds every commit against the verdicts of its token.
func commitsAreEarned(t *rapid.T, m *memory, id string) {
	accepts := map[uint64]map[string]string{}
	gates := map[uint64][]Judge{}
	for _, r := range m.records {
		if r.Story != id {
			continue
		}
		switch r.Kind {
		case KindRequested:
			var tr Transition
			if err := json.Unmarshal(r.Body, &tr); err != nil {
				t.Fatalf("reading a request: %v", err)
			}
			gates[r.Seq] = tr.Gate
		case KindVerdict:
			v, _ := decode[verdictRecorded](r)
			if accepts[v.Token] == nil {
				accepts[v.Token] = map[string]string{}
			}
			accepts[v.Token][v.Skill] = v.Decision
		case KindCommitted:
			b, _ := decode[transitionCommitted](r)
			for _, j := range gates[b.Token] {
				if j.Mandatory && accepts[b.Token][j.Skill] != Accept {
					t.Fatalf("record %d moved %s to %s without the accept of %s", r.Seq, id, b.To, j.Skill)
				}
			}
		}
	}
}

func TestOverlayShowsWhatWillBe(t *testing.T) {
	m := newMemory()
	l := lane("*", nil, nil)
	c, err := m.state().Create("sty_a", Fields{Title: ptr("A")}, l, robot)
	if err != nil {
		t.Fatal(err)
	}
	after := m.state().After(c, m.size(), m.clock)
	if _, err := m.state().Story("sty_a"); err == nil {
		t.Error("the story is there before it was appended")
	}
	planned, err := after.Story("sty_a")
	if err != nil {
		t.Fatal(err)
	}
	m.append(t, c)
	if got := m.story(t, "sty_a"); !reflect.DeepEqual(got, planned) {
		t.Errorf("planned %+v, became %+v", planned, got)
	}
}
