package workflow

import (
	"time"

	"satelle/internal/fault"
	"satelle/ledger"
)

// seat decides whether the story may sit where the edge leads, and returns
// what has to be recorded so that it can: an idle holder is suspended.
func (st State) seat(s Story, e Edge, f Facts, actor ledger.Actor) (Change, error) {
	var c Change
	// A story can be given up from everywhere: its work tree may be gone.
	if s.Seat != nil && s.Seat.WorkTree != f.WorkTree && e.Kind != Cancel {
		return c, fault.Try(
			fault.New(fault.Refused, "story %s sits in another work tree (%s) of this repository: move it from there", s.ID, s.Seat.WorkTree),
			"satelle status")
	}
	if !s.Plan.Performs(e.To) {
		return c, nil
	}
	return st.vacate(s, f.WorkTree, f.Now, actor)
}

// vacate frees a work tree's seat for a story, or refuses by the holder's name.
func (st State) vacate(s Story, workTree string, now time.Time, actor ledger.Actor) (Change, error) {
	var c Change
	holder, held := st.Seated(workTree)
	if !held || holder.ID == s.ID {
		return c, nil
	}
	if !st.idle(workTree, now) && holder.lends() {
		return c, holder.lent()
	}
	if !st.idle(workTree, now) {
		return c, fault.Try(
			fault.New(fault.Refused, "story %s (%q) holds the seat of this work tree; one story at a time", holder.ID, holder.Title),
			"satelle story join "+holder.ID)
	}
	if !st.Row().Seats[workTree].Suspended {
		c.add(KindSeatSuspended, holder.ID, actor, seatMoved{WorkTree: workTree})
	}
	return c, nil
}

// lent is why the seat of a story that lends it is nobody else's.
func (s Story) lent() error {
	return fault.Try(
		fault.New(fault.Refused, "the seat is lent to the agent that performs step %s of story %s (%q), until that transition ends", s.Transition.To, s.ID, s.Title),
		"satelle story wait "+s.ID)
}

// Join records that a session takes part in a story's seat. It wakes a
// suspended or idle seat, if no other story has taken the work tree since.
func (st State) Join(id, workTree string, now time.Time, actor ledger.Actor) (Change, error) {
	var c Change
	s, err := st.Story(id)
	if err != nil {
		return c, err
	}
	if s.lends() {
		return c, s.lent()
	}
	if s.Seat == nil {
		try := "satelle story route " + id
		if next := s.Next(); next != "" {
			try = "satelle story set " + id + " --status " + next
		}
		return c, fault.Try(fault.New(fault.Refused, "story %s is in %s and holds no seat to join", id, s.Status), try)
	}
	if s.Seat.WorkTree != workTree {
		return c, fault.New(fault.Refused, "story %s sits in another work tree (%s) of this repository: join it there", id, s.Seat.WorkTree)
	}
	if c, err = st.vacate(s, workTree, now, actor); err != nil {
		return c, err
	}
	c.add(KindSeatJoined, id, actor, seatMoved{WorkTree: workTree, Session: actor.Session})
	return c, nil
}
