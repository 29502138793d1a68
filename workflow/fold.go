package workflow

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"satelle/ledger"
	"satelle/ledger/seatread"
)

// Buckets of the projection.
const (
	rowsStory    = "story"
	rowsLane     = "lane"
	rowsChild    = "child"
	rowsTrust    = "trust"
	rowsApprover = "approver"
	rowsSeat     = "seat"
)

const (
	// projectionVersion changes with every change of what Fold writes; a
	// ledger of another version is folded anew when it is opened.
	projectionVersion = 8
	// seatIdle is how long a seat lives without a record of its story.
	seatIdle = 8 * time.Hour
	// openShown is how many open stories a denial may name.
	openShown = 3
)

// Fold is the projection of the workflow's records: pure, total, and the same
// whether it runs in the append or on replay. It implements
// [ledger.Projection].
type Fold struct{}

// Version implements [ledger.Projection].
func (Fold) Version() int { return projectionVersion }

// Apply implements [ledger.Projection]. A record that does not fit the state
// changes nothing: the rules are kept when records are made, not here.
func (Fold) Apply(rows ledger.Rows, r ledger.Record) error {
	if !Known(r.Kind, r.Schema) {
		if r.Seq == 0 {
			return writeRow(rows, seatread.Row{})
		}
		return nil
	}
	switch r.Kind {
	case KindLanePinned:
		if b, ok := decode[lanePinned](r); ok {
			return put(rows, rowsLane, b.SHA256, b.Lane)
		}
		return nil
	case KindTrusted:
		if b, ok := decode[trustGranted](r); ok {
			return put(rows, rowsTrust, b.Digest, r.Seq)
		}
		return nil
	case KindApproversPinned:
		if b, ok := decode[approversTrusted](r); ok {
			return put(rows, rowsApprover, "current", b)
		}
		return nil
	case KindGateTrusted:
		if b, ok := decode[gateTrusted](r); ok && CheckGate(b.Gate) == nil {
			row := readRow(rows)
			row.Gate = b.Gate
			return writeRow(rows, row)
		}
		return nil
	case KindHalted:
		// The one record that takes effect whatever it says: it denies.
		b, _ := decode[haltSet](r)
		if b.Why == "" {
			b.Why = "no reason was given"
		}
		return halt(rows, b.Why)
	case KindResumed:
		if _, ok := decode[nothing](r); ok {
			return halt(rows, "")
		}
		return nil
	case KindCreated:
		return create(rows, r)
	case KindDenied, KindWarned, KindChanges, KindDone, KindGap, KindAppeal:
		return observe(rows, r)
	}
	s, ok := readStory(rows, r.Story)
	if !ok {
		return nil
	}
	before := s
	if !s.apply(r) {
		return nil
	}
	s.Last, s.Updated = r.Seq, r.Time
	if err := put(rows, rowsStory, s.ID, s); err != nil {
		return err
	}
	return reseat(rows, before, s, r.Time)
}

func halt(rows ledger.Rows, why string) error {
	row := readRow(rows)
	row.Halt = why
	return writeRow(rows, row)
}

func create(rows ledger.Rows, r ledger.Record) error {
	b, ok := decode[storyCreated](r)
	if _, exists := readStory(rows, r.Story); !ok || exists || r.Story == "" || len(b.Plan.Steps) == 0 {
		return nil
	}
	s := Story{
		ID: r.Story, Title: b.Title, Category: b.Category, Tags: b.Tags, Parent: b.Parent,
		Priority: b.Priority, Due: b.Due, Project: b.Project, Assignee: b.Assignee, Paths: b.Paths,
		Text: b.Text, Criteria: b.Criteria, Plan: b.Plan, Status: b.Plan.Steps[0].Name,
		First: r.Seq, Last: r.Seq, Created: r.Time, Updated: r.Time,
	}
	if s.Parent != "" {
		rows.Put(rowsChild, s.Parent+"/"+s.ID, []byte{})
	}
	if err := put(rows, rowsStory, s.ID, s); err != nil {
		return err
	}
	return reseat(rows, Story{}, s, r.Time)
}

// apply folds one record of the story into it, and reports whether the record
// fits.
func (s *Story) apply(r ledger.Record) bool {
	switch r.Kind {
	case KindCommented:
		return true // kept beside the story; it is alive, that is all
	case KindEdited:
		return fold(r, s.edit)
	case KindRestamped:
		return fold(r, s.restamp)
	case KindAttached:
		return fold(r, func(b documentAttached) {
			s.Docs = slices.DeleteFunc(slices.Clone(s.Docs), func(d Doc) bool { return d.Name == b.Name })
			s.Docs = append(s.Docs, Doc{Name: b.Name, Type: b.Type, Ref: b.Ref, Seq: r.Seq})
		})
	case KindRequested:
		return fold(r, func(t Transition) {
			t.Token = r.Seq
			s.Transition = &t
		})
	case KindVerdict:
		return fold(r, func(b verdictRecorded) { s.heard(b, r.Seq) })
	case KindDispatched:
		return fold(r, func(b Dispatched) {
			if s.inFlight(b.Token) {
				t := *s.Transition
				t.Dispatched, t.Worker = r.Seq, b.Worker
				s.Transition = &t
			}
		})
	case KindAsked:
		return fold(r, func(Asked) {}) // it is alive, that is all
	case KindAttempt:
		return fold(r, func(Attempt) {})
	case KindRefused:
		return fold(r, func(b transitionRefused) { s.end(b.Token) })
	case KindAbandoned:
		return fold(r, func(b transitionAbandoned) { s.end(b.Token) })
	case KindCommitted:
		return fold(r, func(b transitionCommitted) {
			if s.inFlight(b.Token) && b.Edge == s.Transition.Edge && slices.Contains(s.Edges(), b.Edge) {
				s.move(b)
			}
		})
	case KindApproval:
		return fold(r, func(a Approval) {
			a.Seq = r.Seq
			s.Approval = &a
		})
	case KindSeatSuspended:
		return fold(r, func(seatMoved) {
			if s.Seat != nil {
				seat := *s.Seat
				seat.Suspended = true
				s.Seat = &seat
			}
		})
	case KindSeatJoined:
		return fold(r, func(b seatMoved) { s.join(b.Session) })
	}
	return false
}

// fold gives a record's body to fn if it fits.
func fold[T any](r ledger.Record, fn func(T)) bool {
	b, ok := decode[T](r)
	if ok {
		fn(b)
	}
	return ok
}

func (s *Story) inFlight(token uint64) bool {
	return s.Transition != nil && s.Transition.Token == token
}

// end ends the transition of the token without a move.
func (s *Story) end(token uint64) {
	if s.inFlight(token) {
		s.Transition = nil
	}
}

// heard keeps an agent's accept, and forgets it when the same skill rejects.
func (s *Story) heard(b verdictRecorded, seq uint64) {
	if b.Reused != 0 {
		return
	}
	accepts := maps.Clone(s.Accepts)
	delete(accepts, b.Skill)
	if b.Decision == Accept && b.Bound != "" {
		if accepts == nil {
			accepts = map[string]Accepted{}
		}
		accepts[b.Skill] = Accepted{Seq: seq, Bound: b.Bound}
	}
	s.Accepts = accepts
}

func (s *Story) edit(b storyEdited) {
	set(&s.Title, b.Title)
	set(&s.Category, b.Category)
	set(&s.Tags, b.Tags)
	set(&s.Priority, b.Priority)
	set(&s.Due, b.Due)
	set(&s.Project, b.Project)
	set(&s.Assignee, b.Assignee)
	set(&s.Paths, b.Paths)
	if b.Text != nil {
		s.Text, s.Criteria = *b.Text, b.Criteria
	}
	if b.Plan != nil && s.Moves == 0 {
		s.follow(*b.Plan)
	}
	if b.Stale {
		s.stale()
	}
}

func (s *Story) restamp(b storyRestamped) {
	s.follow(b.Plan)
	s.stale()
}

// follow puts the story on another lane. One that has not moved yet stands in
// the lane's first step, whatever that is called there; one that has keeps its
// state, and its seat if somebody performs that.
func (s *Story) follow(p Plan) {
	if len(p.Steps) == 0 {
		return
	}
	s.Plan = p
	if s.Moves == 0 {
		s.Status = p.Steps[0].Name
	}
	if !p.Performs(s.Status) {
		s.Seat = nil
	}
}

// stale takes back what was accepted of a story that has moved.
func (s *Story) stale() {
	s.Edits++
	s.Approved = false
	s.Approval = nil
	s.Accepts = nil
	s.Stale = s.Moves > 0
}

func (s *Story) move(b transitionCommitted) {
	base := b.Head
	if s.Transition.Dispatched > 0 {
		base = s.Transition.Head // what its performer has committed is its change, too
	}
	s.Transition, s.Approval, s.Accepts = nil, nil, nil
	s.Status = b.To
	s.Moves++
	switch b.Kind {
	case Advance:
		s.Stale = false
		s.Approved = b.Approved
	case Park:
		s.ParkedFrom = b.From
	case Unpark:
		s.ParkedFrom = ""
	}
	if !s.Plan.Performs(b.To) {
		if s.Seat != nil {
			s.Base = b.Base
		}
		s.Seat = nil
		return
	}
	if s.Seat == nil {
		s.Seat = &Seat{WorkTree: b.WorkTree, Base: base}
		set(&s.Seat.Base, s.Base)
	}
	s.join(b.Session)
}

// join records a session at the story's seat and wakes the seat.
func (s *Story) join(session string) {
	if s.Seat == nil {
		return
	}
	seat := *s.Seat
	seat.Suspended = false
	if session != "" && !slices.Contains(seat.Sessions, session) {
		seat.Sessions = append(slices.Clone(seat.Sessions), session)
	}
	s.Seat = &seat
}

// reseat keeps the row that the hook reads in step with the story.
func reseat(rows ledger.Rows, before, s Story, now time.Time) error {
	row := readRow(rows)
	for _, tree := range before.sits() {
		if row.Seats[tree].Story == s.ID {
			delete(row.Seats, tree)
		}
	}
	for _, tree := range s.sits() {
		if row.Seats == nil {
			row.Seats = map[string]seatread.Seat{}
		}
		seat := seatread.Seat{
			Story: s.ID, Title: s.Title, Step: s.Status, Category: s.Plan.Name, Paths: s.Paths,
			IdleAt: now.Add(seatIdle).Unix(), Substrate: s.Plan.Name == substrateLane && s.Approved,
		}
		late := false // somebody else may have taken the seat
		if t := s.Transition; s.lends() && t.WorkTree == tree {
			seat.Step, seat.Worker, seat.IdleAt = t.To, t.Worker, t.Expires
			late = before.lends()
		} else {
			seat.Suspended = s.Seat.Suspended
			late = seat.Suspended
		}
		if late && row.Seats[tree].Story != "" {
			continue
		}
		row.Seats[tree] = seat
	}
	row.Open = slices.DeleteFunc(row.Open, func(o seatread.Open) bool { return o.Story == s.ID })
	if next := s.Next(); next != "" && s.Plan.Performs(next) && s.Seat == nil && s.Plan.Name != substrateLane {
		row.Open = append([]seatread.Open{{Story: s.ID, Title: s.Title, Next: next}}, row.Open...)
		if len(row.Open) > openShown {
			row.Open = row.Open[:openShown]
		}
	}
	return writeRow(rows, row)
}

// lends reports whether the story has lent the seat to a worker: while a
// dispatch is in flight whose step holds one. (Decision Q14.)
func (s Story) lends() bool {
	return s.Transition != nil && s.Transition.Worker != "" && s.Plan.Performs(s.Transition.To)
}

// sits lists the work trees of which the story has the seat.
func (s Story) sits() (trees []string) {
	if s.Seat != nil {
		trees = append(trees, s.Seat.WorkTree)
	}
	if s.lends() && !slices.Contains(trees, s.Transition.WorkTree) {
		trees = append(trees, s.Transition.WorkTree)
	}
	return trees
}

// substrateLane is the lane under which `.satelle/` itself may be changed.
const substrateLane = "substrate"

func readRow(rows reader) seatread.Row {
	row, err := seatread.Decode(rows.Get(rowsSeat, seatread.Key))
	if err != nil {
		return seatread.Row{}
	}
	return row
}

func writeRow(rows ledger.Rows, row seatread.Row) error {
	row.Format, row.Projection = seatread.Format, projectionVersion
	return put(rows, rowsSeat, seatread.Key, row)
}

func readStory(rows reader, id string) (Story, bool) {
	raw := rows.Get(rowsStory, id)
	var s Story
	if raw == nil || json.Unmarshal(raw, &s) != nil {
		return Story{}, false
	}
	return s, true
}

func put(rows ledger.Rows, bucket, key string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	rows.Put(bucket, key, b)
	return nil
}

func set[T any](dst, src *T) {
	if src != nil {
		*dst = *src
	}
}

// childOf returns the story id in a key of the child bucket.
func childOf(key string) string {
	_, id, _ := strings.Cut(key, "/")
	return id
}
