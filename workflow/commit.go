package workflow

import (
	"slices"
	"time"

	"satelle/ledger"
)

// What git's hooks saw comes into the log as records on which no rule of the
// workflow rests: they say which content was committed under which seat, so
// that whoever has the log can tell whose work a commit is.

// The trailers of a commit that was recorded: its story, and the head of the
// log whose last record is the commit's, as `ORIGIN SIZE ROOT`.
const (
	TrailerStory  = "Satelle-Story"
	TrailerLedger = "Satelle-Ledger"
)

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
	// Amend is what the commit is if it takes the place of HEAD. Git does not
	// always say so beforehand; a commit.rewritten record does afterwards.
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
	// Replays are the heads that HEAD's own message names.
	Replays []LogPoint `json:"replays,omitempty"`
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

// Holder is the story that may change a work tree now, "" if none may, and the
// commit that its change counts from.
func (st State) Holder(workTree string, now time.Time) (story, base string) {
	s, ok := st.Seated(workTree)
	if !ok || st.idle(workTree, now) {
		return "", ""
	}
	base, known := s.ChangedFrom()
	if !known && s.Transition != nil {
		base = s.Transition.Head // it is lent, to the first of the story who changes anything
	}
	return s.ID, base
}

// Prepare records a commit that is about to be made. Its story is the holder
// of the seat, or the one that the very same patch was recorded for before.
func (st State) Prepare(story string, p Prepared, actor ledger.Actor) Change {
	var c Change
	c.add(KindPrepared, story, actor, p)
	return c
}

// Rewrite records commits that were made anew out of older ones.
func (st State) Rewrite(r Rewritten, now time.Time, actor ledger.Actor) Change {
	var c Change
	story, _ := st.Holder(r.WorkTree, now)
	for pairs := range slices.Chunk(r.Pairs, maxPairs) {
		c.add(KindRewritten, story, actor, Rewritten{How: r.How, Pairs: pairs, WorkTree: r.WorkTree})
	}
	return c
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
