package workflow

import (
	"strings"
	"testing"
	"time"

	"satelle/internal/fault"
)

func TestSeats(t *testing.T) {
	l := lane("*", nil, nil)
	m := newMemory()
	m.create(t, "sty_a", l)
	m.create(t, "sty_b", l)
	m.mustMove(t, "sty_a", "in_progress", m.facts(l))

	_, err := m.ask(t, "sty_b", "in_progress", m.facts(l))
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "sty_a") {
		t.Fatalf("a second story in the work tree: %v", err)
	}
	other := m.facts(l)
	other.WorkTree = "wt2"
	m.mustMove(t, "sty_b", "in_progress", other)
	if row := m.state().Row(); row.Seats["."].Story != "sty_a" || row.Seats["wt2"].Story != "sty_b" {
		t.Fatalf("row = %+v", row)
	}
	m.mustMove(t, "sty_a", "blocked", m.facts(l))
	if row := m.state().Row(); len(row.Seats) != 1 {
		t.Fatalf("a parked story keeps its seat: %+v", row)
	}
	m.mustMove(t, "sty_a", "in_progress", m.facts(l))

	// An idle seat goes to the next story; the first is told to wait its turn.
	m.create(t, "sty_c", l)
	m.clock = m.clock.Add(seatIdle + time.Minute)
	m.mustMove(t, "sty_c", "in_progress", m.facts(l))
	if s := m.story(t, "sty_a"); s.Seat == nil || !s.Seat.Suspended {
		t.Fatalf("the idle seat was not suspended: %+v", s.Seat)
	}
	if _, err := m.state().Join("sty_a", ".", m.clock, robot); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "sty_c") {
		t.Fatalf("joining while another sits: %v", err)
	}
	m.mustMove(t, "sty_c", "done", m.facts(l))
	c, err := m.state().Join("sty_a", ".", m.clock, robot)
	if err != nil {
		t.Fatal(err)
	}
	m.append(t, c)
	if row := m.state().Row(); row.Seats["."].Story != "sty_a" || row.Seats["."].Suspended {
		t.Fatalf("the seat did not wake: %+v", row)
	}
	if got := m.story(t, "sty_a").Seat.Sessions; len(got) != 1 || got[0] != "s1" {
		t.Errorf("sessions = %v", got)
	}
}
