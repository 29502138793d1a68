package workflow

import (
	"slices"
	"time"

	"satelle/internal/fault"
	"satelle/ledger"
)

// Story is a unit of governed work, as the fold over its records left it.
// Foreign text (body, criteria, documents, comments) is kept in blobs.
type Story struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Category string   `json:"category"`
	Tags     []string `json:"tags,omitempty"`
	Parent   string   `json:"parent,omitempty"`
	Priority string   `json:"priority,omitempty"`
	Due      string   `json:"due,omitempty"`
	Project  string   `json:"project,omitempty"`
	Assignee string   `json:"assignee,omitempty"`
	// Paths are the globs that the story's edits are confined to; none: the
	// whole work tree.
	Paths []string `json:"paths,omitempty"`
	// Text holds the body and the acceptance criteria ([Text]).
	Text ledger.BlobRef `json:"text"`
	// Criteria is the number of acceptance criteria.
	Criteria int    `json:"criteria"`
	Plan     Plan   `json:"plan"`
	Status   string `json:"status"`
	// ParkedFrom is the step that a parked story returns to.
	ParkedFrom string `json:"parked_from,omitempty"`
	// Edits counts the edits that made earlier accepts stale.
	Edits int `json:"edits,omitempty"`
	// Stale says that an edit came after an accept: the next advance asks the
	// gates that were passed once more.
	Stale bool `json:"stale,omitempty"`
	// Approved says that a person accepted the story's entry to a performing
	// step, and nothing that was accepted has been edited since.
	Approved bool `json:"approved,omitempty"`
	// Approval is a person's latest verdict that no transition has used yet.
	Approval *Approval `json:"approval,omitempty"`
	// Accepts are those of agents since the story's last move, by skill: a retry
	// on the same grounds takes them again.
	Accepts map[string]Accepted `json:"accepts,omitempty"`
	// Transition is the one in flight, if any.
	Transition *Transition `json:"transition,omitempty"`
	// Seat is what the story holds while it stands in a performing step.
	Seat *Seat `json:"seat,omitempty"`
	// Base is the base of a seat that the story gave up with more than prose
	// changed, where its lane asks for prose only: until that is gone, the
	// story's change counts from there, whatever seat it takes next.
	Base *string `json:"base,omitempty"`
	Docs []Doc   `json:"docs,omitempty"`
	// Moves counts committed transitions.
	Moves int `json:"moves"`
	// First and Last are the positions of the story's first and latest record.
	First   uint64    `json:"first"`
	Last    uint64    `json:"last"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// Plan is the outline of a story's lane, fixed at creation. The whole lane,
// with its skills and checks, is pinned under the digest Lane.
type Plan struct {
	// Lane is the hex SHA-256 of the pinned lane.
	Lane string `json:"lane"`
	// Name is the lane's section in done.md, `*` or a category.
	Name   string     `json:"name"`
	Steps  []PlanStep `json:"steps"`
	Park   string     `json:"park,omitempty"`
	Cancel string     `json:"cancel,omitempty"`
}

// PlanStep is one step in the order that the route derived.
type PlanStep struct {
	Name string `json:"name"`
	// Performs says that a story holds the seat in this step.
	Performs bool `json:"performs,omitempty"`
}

// Text is a story's prose.
type Text struct {
	Body     string   `json:"body"`
	Criteria []string `json:"criteria"`
}

// Doc is an attached document.
type Doc struct {
	Name string         `json:"name"`
	Type string         `json:"type"`
	Ref  ledger.BlobRef `json:"ref"`
	Seq  uint64         `json:"seq"`
}

// Seat is the right to change one work tree.
type Seat struct {
	// WorkTree is the work tree's id: "." or its name in the git common dir.
	WorkTree string `json:"work_tree"`
	// Base is the commit that HEAD named when the seat was taken; "" before
	// the first commit.
	Base string `json:"base,omitempty"`
	// Sessions are those that use the seat, in the order they came.
	Sessions  []string `json:"sessions,omitempty"`
	Suspended bool     `json:"suspended,omitempty"`
}

// Approval is a person's verdict on the story's next step.
type Approval struct {
	Seq    uint64         `json:"seq"`
	To     string         `json:"to"`
	Accept bool           `json:"accept"`
	Note   ledger.BlobRef `json:"note"`
	// Tree is the tree hash that the person saw; a step that was performed is
	// approved for exactly this content.
	Tree  string `json:"tree,omitempty"`
	Edits int    `json:"edits"`
	// After is the position of the story's latest record when it was given, so
	// that a signature serves at that point of its life and at no other.
	After uint64 `json:"after"`
	By    string `json:"by"`
}

// Accepted is an agent's accept that has not led to a move yet.
type Accepted struct {
	Seq uint64 `json:"seq"`
	// Bound is the digest of what it rests on ([Verdict]).
	Bound string `json:"bound"`
}

// Edge kinds.
const (
	Advance = "advance"
	Back    = "back"
	Park    = "park"
	Unpark  = "unpark"
	Cancel  = "cancel"
)

// Edge is one way out of the state that a story is in.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Kind string `json:"kind"`
}

func (p Plan) index(step string) int {
	return slices.IndexFunc(p.Steps, func(s PlanStep) bool { return s.Name == step })
}

// Performs reports whether a story holds the seat in the state.
func (p Plan) Performs(state string) bool {
	i := p.index(state)
	return i >= 0 && p.Steps[i].Performs
}

// performed reports whether somebody performs the state or a step before it.
func (p Plan) performed(state string) bool {
	return slices.ContainsFunc(p.Steps[:p.index(state)+1], func(s PlanStep) bool { return s.Performs })
}

// ends reports whether a story ends in the state.
func (p Plan) ends(state string) bool {
	return p.Cancel != "" && state == p.Cancel || len(p.Steps) > 0 && state == p.Steps[len(p.Steps)-1].Name
}

// Terminal reports whether the story has ended: it is done or cancelled.
func (s Story) Terminal() bool { return s.Plan.ends(s.Status) }

// ChangedFrom is the commit that the story's change counts from, if there is
// something to count: it sits, or has left a change behind. "" is a repository
// without a commit.
func (s Story) ChangedFrom() (base string, ok bool) {
	switch {
	case s.Seat != nil:
		return s.Seat.Base, true
	case s.Base != nil:
		return *s.Base, true
	}
	return "", false
}

// Parked reports whether the story stands aside.
func (s Story) Parked() bool { return s.Plan.Park != "" && s.Status == s.Plan.Park }

// Next is the step that an advance leads to, or "": a parked story's next is
// where it came from.
func (s Story) Next() string {
	if s.Parked() {
		return s.ParkedFrom
	}
	i := s.Plan.index(s.Status)
	if i < 0 || i+1 >= len(s.Plan.Steps) || s.Terminal() {
		return ""
	}
	return s.Plan.Steps[i+1].Name
}

// Edges lists the ways out of the story's state, the way on first.
func (s Story) Edges() []Edge {
	if s.Terminal() {
		return nil
	}
	var edges []Edge
	add := func(to, kind string) {
		if to != "" {
			edges = append(edges, Edge{From: s.Status, To: to, Kind: kind})
		}
	}
	if s.Parked() {
		add(s.ParkedFrom, Unpark)
		add(s.Plan.Cancel, Cancel)
		return edges
	}
	add(s.Next(), Advance)
	if i := s.Plan.index(s.Status); i > 0 {
		add(s.Plan.Steps[i-1].Name, Back)
	}
	add(s.Plan.Park, Park)
	add(s.Plan.Cancel, Cancel)
	return edges
}

// edge finds the way to a state, or refuses with the ways there are.
func (s Story) edge(to string) (Edge, error) {
	edges := s.Edges()
	for _, e := range edges {
		if e.To == to {
			return e, nil
		}
	}
	if len(edges) == 0 {
		return Edge{}, fault.Try(
			fault.New(fault.Refused, "story %s is %s: it has ended and moves no more", s.ID, s.Status),
			"satelle story create --title \"…\" --parent "+s.ID)
	}
	names := make([]string, len(edges))
	for i, e := range edges {
		names[i] = e.To
	}
	return Edge{}, fault.Try(
		fault.New(fault.Refused, "the route of story %s leads from %s to %s, not to %q", s.ID, s.Status, list(names), to),
		"satelle story set "+s.ID+" --status "+edges[0].To)
}

// list joins words for a sentence: "a", "a or b", "a, b or c".
func list(words []string) string {
	switch len(words) {
	case 0:
		return "nowhere"
	case 1:
		return words[0]
	}
	out := words[0]
	for _, w := range words[1 : len(words)-1] {
		out += ", " + w
	}
	return out + " or " + words[len(words)-1]
}
