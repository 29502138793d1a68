package workflow

import (
	"encoding/json"

	"satelle/ledger"
	"satelle/ledger/seatread"
)

// Kinds of the records that the fold reads. Those that rules rest on are
// appended with the crit bit, so that a satelle which does not know them
// decides nothing.
const (
	KindLanePinned      = "lane.pinned"
	KindCreated         = "story.created"
	KindEdited          = "story.edited"
	KindRestamped       = "story.restamped"
	KindCommented       = "story.commented"
	KindAttached        = "document.attached"
	KindRequested       = "transition.requested"
	KindVerdict         = "verdict.recorded"
	KindCommitted       = "transition.committed"
	KindRefused         = "transition.refused"
	KindAbandoned       = "transition.abandoned"
	KindSeatSuspended   = "seat.suspended"
	KindSeatJoined      = "seat.joined"
	KindApproval        = "approval.given"
	KindTrusted         = "trust.granted"
	KindApproversPinned = "approvers.trusted"
	KindGateTrusted     = "gate.trusted"
	KindHalted          = "halt.set"
	KindResumed         = "halt.ended"
	KindPrepared        = "commit.prepared"
	KindRewritten       = "commit.rewritten"
	KindAdopted         = "story.adopted"
)

// kinds maps each kind to whether rules rest on it.
var kinds = map[string]bool{
	KindLanePinned:      true,
	KindCreated:         true,
	KindEdited:          true,
	KindRestamped:       true,
	KindCommented:       false,
	KindAttached:        true,
	KindRequested:       true,
	KindVerdict:         true,
	KindCommitted:       true,
	KindRefused:         true,
	KindAbandoned:       true,
	KindSeatSuspended:   true,
	KindSeatJoined:      true,
	KindApproval:        true,
	KindTrusted:         true,
	KindApproversPinned: true,
	KindGateTrusted:     true,
	KindHalted:          true,
	KindResumed:         true,
	KindPrepared:        false,
	KindRewritten:       false,
	KindAdopted:         false,
	KindDispatched:      true,
	KindAsked:           false,
	KindAttempt:         false,
	KindDenied:          false,
	KindWarned:          false,
	KindChanges:         false,
	KindDone:            false,
	KindGap:             false,
	KindAppeal:          false,
}

// Schema is the version of the record bodies below.
const Schema = 1

// Known reports whether this satelle knows what a record of the kind means.
func Known(kind string, schema int) bool {
	_, ok := kinds[kind]
	return ok && 1 <= schema && schema <= Schema
}

type lanePinned struct {
	SHA256 string         `json:"sha256"`
	Lane   ledger.BlobRef `json:"lane"`
}

type storyCreated struct {
	Title    string         `json:"title"`
	Category string         `json:"category"`
	Tags     []string       `json:"tags,omitempty"`
	Parent   string         `json:"parent,omitempty"`
	Priority string         `json:"priority,omitempty"`
	Due      string         `json:"due,omitempty"`
	Project  string         `json:"project,omitempty"`
	Assignee string         `json:"assignee,omitempty"`
	Paths    []string       `json:"paths,omitempty"`
	Text     ledger.BlobRef `json:"text"`
	Criteria int            `json:"criteria"`
	Plan     Plan           `json:"plan"`
}

// storyEdited holds the fields that changed; a nil one stayed.
type storyEdited struct {
	Title    *string         `json:"title,omitempty"`
	Category *string         `json:"category,omitempty"`
	Tags     *[]string       `json:"tags,omitempty"`
	Priority *string         `json:"priority,omitempty"`
	Due      *string         `json:"due,omitempty"`
	Project  *string         `json:"project,omitempty"`
	Assignee *string         `json:"assignee,omitempty"`
	Paths    *[]string       `json:"paths,omitempty"`
	Text     *ledger.BlobRef `json:"text,omitempty"`
	Criteria int             `json:"criteria,omitempty"`
	Plan     *Plan           `json:"plan,omitempty"`
	Stale    bool            `json:"stale"`
}

type storyRestamped struct {
	Plan Plan `json:"plan"`
	// After is as in [Approval].
	After uint64 `json:"after"`
}

type storyCommented struct {
	Kind string         `json:"kind"`
	Body ledger.BlobRef `json:"body"`
}

type documentAttached struct {
	Name string         `json:"name"`
	Type string         `json:"type"`
	Ref  ledger.BlobRef `json:"ref"`
}

// Transition is a move in flight. Its fencing token is the position of its
// record, which the record itself does not hold.
type Transition struct {
	Token uint64 `json:"token,omitempty"`
	Edge
	// Gate is what has to be judged, in list order.
	Gate []Judge `json:"gate,omitempty"`
	// Tree and Head are the content that is judged.
	Tree string `json:"tree,omitempty"`
	Head string `json:"head,omitempty"`
	// WorkTree is its id, Host of the machine that judges.
	WorkTree string `json:"work_tree"`
	Host     string `json:"host"`
	// Expires, in Unix seconds of the sequencer's clock, is when another host
	// may take over.
	Expires int64 `json:"expires"`
	// Dispatched is the position of the record by which the performer started;
	// 0 before. Worker is whose the seat is from then on. The record itself holds
	// neither.
	Dispatched uint64 `json:"dispatched,omitempty"`
	Worker     string `json:"worker,omitempty"`
}

type verdictRecorded struct {
	Token     uint64         `json:"token"`
	Skill     string         `json:"skill"`
	Decision  string         `json:"decision"`
	Notes     ledger.BlobRef `json:"notes"`
	Mandatory bool           `json:"mandatory"`
	ElapsedMS int64          `json:"elapsed_ms"`
	// Binding, Bound and Reused are as in [Verdict].
	Binding string `json:"binding,omitempty"`
	Bound   string `json:"bound,omitempty"`
	Reused  uint64 `json:"reused,omitempty"`
}

type transitionCommitted struct {
	Token uint64 `json:"token"`
	Edge
	Tree     string `json:"tree,omitempty"`
	Head     string `json:"head,omitempty"`
	WorkTree string `json:"work_tree"`
	// Session is the one that asked.
	Session string `json:"session,omitempty"`
	// Approved says that a person's accept was among the verdicts.
	Approved bool `json:"approved,omitempty"`
	// Rejudged says that stale accepts were asked for again and given.
	Rejudged bool `json:"rejudged,omitempty"`
	// Base is the commit from which the story's change is still counted, though
	// the move gives up the seat ([Story.Base]).
	Base *string `json:"base,omitempty"`
}

type transitionRefused struct {
	Token uint64 `json:"token"`
	Edge
	Reason ledger.BlobRef `json:"reason"`
	// Try is the command that leads on, "" where there is none of its own.
	Try string `json:"try,omitempty"`
}

type transitionAbandoned struct {
	Token uint64 `json:"token"`
	Why   string `json:"why"`
}

type seatMoved struct {
	WorkTree string `json:"work_tree"`
	Session  string `json:"session,omitempty"`
}

type trustGranted struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

type approversTrusted struct {
	Digest  string         `json:"digest"`
	Content ledger.BlobRef `json:"content"`
}

type gateTrusted struct {
	Gate seatread.Gate `json:"gate"`
}

type haltSet struct {
	Why string `json:"why"`
}

type nothing struct{}

// decode reads a record's body, all of it or nothing: half of a body that does
// not fit would mean something that nobody decided.
func decode[T any](r ledger.Record) (v T, ok bool) {
	if json.Unmarshal(r.Body, &v) != nil {
		var none T
		return none, false
	}
	return v, true
}
