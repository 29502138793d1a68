package workflow

import (
	"time"

	"satelle/internal/fault"
	"satelle/ledger"
)

// Adopted is the body of a story.adopted record: what the work tree held when
// the story took it in, and the commit that it differed from.
type Adopted struct {
	Tree     string `json:"tree"`
	Base     string `json:"base"`
	WorkTree string `json:"work_tree"`
}

// Adopt records that a story takes in what is changed in its work tree. It must
// hold the seat there, or be able to take it with its next step; the mark comes
// before the seat, so that nothing is taken in without it.
func (st State) Adopt(id string, a Adopted, now time.Time, actor ledger.Actor) (Change, error) {
	var c Change
	s, err := st.Story(id)
	if err != nil {
		return c, err
	}
	switch next := s.Next(); {
	case s.lends():
		return c, s.lent()
	case s.Seat != nil && s.Seat.WorkTree != a.WorkTree:
		return c, fault.Try(fault.New(fault.Refused, "story %s sits in another work tree (%s) of this repository: adopt it there", id, s.Seat.WorkTree), "satelle status")
	case s.Seat == nil && (next == "" || !s.Plan.Performs(next)):
		return c, fault.Try(fault.New(fault.Refused, "story %s is in %s, from where no seat can be taken", id, s.Status), "satelle story route "+id)
	}
	if _, err := st.vacate(s, a.WorkTree, now, actor); err != nil {
		return c, err
	}
	c.add(KindAdopted, id, actor, a)
	return c, nil
}
