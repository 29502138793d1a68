package workflow

import (
	"slices"
	"time"

	"satelle/internal/fault"
	"satelle/ledger"
)

// What git's hooks saw comes into the log as records on which no rule of the
// workflow rests: they say which content was committed under which seat, so
// that whoever has the log can tell whose work a commit is.

// maxPairs bounds the pairs in one record of commits made anew.
const maxPairs = 500

// Prepared is the body of a commit.prepared record. Its record names the story
// that held the seat of the work tree, or none, and is the last of its append:
// the size that a commit's trailer names is one more than its position.
type Prepared struct {
	// Tree is the tree that is committed, Parents the commits it follows on.
	Tree    string   `json:"tree"`
	Parents []string `json:"parents"`
	// Patch is the id of the change against the first parent, "" where there
	// is none or where several commits are merged.
	Patch string `json:"patch_id"`
	// Whole is the id of the story's whole change, from the commit at which it
	// took the seat to Tree; "" where it is not known.
	Whole string `json:"whole_id,omitempty"`
	// Amend is set where the commit takes the place of HEAD, or may do so.
	Amend *Replaced `json:"amend,omitempty"`
	// Replays are the heads that the message named before: it comes from other
	// commits, by amend, rebase or cherry-pick.
	Replays []LogPoint `json:"replays,omitempty"`
	// Source is git's word for where the message came from.
	Source   string `json:"source,omitempty"`
	WorkTree string `json:"work_tree"`
}

// Replaced says what a commit is if it takes the place of HEAD.
type Replaced struct {
	Parents []string `json:"parents"`
	Patch   string   `json:"patch_id"`
}

// LogPoint is a size of a log.
type LogPoint struct {
	Origin string `json:"origin"`
	Size   uint64 `json:"size"`
}

// Rewritten is the body of a commit.rewritten record.
type Rewritten struct {
	// How is git's word for what did it: amend or rebase.
	How string `json:"how"`
	// Pairs hold the old commit and the new one.
	Pairs    [][2]string `json:"pairs"`
	WorkTree string      `json:"work_tree"`
}

// Adopted is the body of a story.adopted record: what the work tree held when
// the story took it in, and the commit that it differed from.
type Adopted struct {
	Tree     string `json:"tree"`
	Base     string `json:"base"`
	WorkTree string `json:"work_tree"`
}

// Prepare records a commit that is about to be made, under the story that
// holds the seat of its work tree at that time.
func (st State) Prepare(p Prepared, now time.Time, actor ledger.Actor) Change {
	var c Change
	c.add(KindPrepared, st.holder(p.WorkTree, now), actor, p)
	return c
}

// Rewrite records commits that were made anew out of older ones.
func (st State) Rewrite(r Rewritten, now time.Time, actor ledger.Actor) Change {
	var c Change
	for pairs := range slices.Chunk(r.Pairs, maxPairs) {
		c.add(KindRewritten, st.holder(r.WorkTree, now), actor, Rewritten{How: r.How, Pairs: pairs, WorkTree: r.WorkTree})
	}
	return c
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

// holder names the story that may change a work tree, "" if none may.
func (st State) holder(workTree string, now time.Time) string {
	s, ok := st.Seated(workTree)
	if !ok || st.idle(workTree, now) {
		return ""
	}
	return s.ID
}

// ReadPrepared reads the body of a commit.prepared record.
func ReadPrepared(r ledger.Record) (Prepared, bool) {
	if r.Kind != KindPrepared || !Known(r.Kind, r.Schema) {
		return Prepared{}, false
	}
	return decode[Prepared](r)
}

// ReadRewritten reads the body of a commit.rewritten record.
func ReadRewritten(r ledger.Record) (Rewritten, bool) {
	if r.Kind != KindRewritten || !Known(r.Kind, r.Schema) {
		return Rewritten{}, false
	}
	return decode[Rewritten](r)
}
