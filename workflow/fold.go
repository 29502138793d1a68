package workflow

import (
	"encoding/json"
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
	projectionVersion = 1
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
		b := decode[lanePinned](r)
		return put(rows, rowsLane, b.SHA256, b.Lane)
	case KindTrusted:
		return put(rows, rowsTrust, decode[trustGranted](r).Digest, r.Seq)
	case KindApproversPinned:
		return put(rows, rowsApprover, "current", decode[approversTrusted](r))
	case KindHalted, KindResumed:
		row := readRow(rows)
		row.Halt = decode[haltSet](r).Why
		if r.Kind == KindHalted && row.Halt == "" {
			row.Halt = "no reason was given"
		}
		return writeRow(rows, row)
	case KindCreated:
		return create(rows, r)
	}
	s, ok := readStory(rows, r.Story)
	if !ok {
		return nil
	}
	before := s
	s.apply(r)
	s.Last, s.Updated = r.Seq, r.Time
	if err := put(rows, rowsStory, s.ID, s); err != nil {
		return err
	}
	return reseat(rows, before, s, r.Time)
}

func create(rows ledger.Rows, r ledger.Record) error {
	b := decode[storyCreated](r)
	if _, exists := readStory(rows, r.Story); exists || r.Story == "" || len(b.Plan.Steps) == 0 {
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

// apply folds one record of the story into it.
func (s *Story) apply(r ledger.Record) {
	switch r.Kind {
	case KindEdited:
		s.edit(decode[storyEdited](r))
	case KindRestamped:
		s.Plan = decode[storyRestamped](r).Plan
		s.stale()
	case KindAttached:
		b := decode[documentAttached](r)
		s.Docs = slices.DeleteFunc(slices.Clone(s.Docs), func(d Doc) bool { return d.Name == b.Name })
		s.Docs = append(s.Docs, Doc{Name: b.Name, Type: b.Type, Ref: b.Ref, Seq: r.Seq})
	case KindRequested:
		t := decode[Transition](r)
		t.Token = r.Seq
		s.Transition = &t
	case KindRefused:
		if b := decode[transitionRefused](r); s.inFlight(b.Token) {
			s.Transition = nil
		}
	case KindAbandoned:
		if b := decode[transitionAbandoned](r); s.inFlight(b.Token) {
			s.Transition = nil
		}
	case KindCommitted:
		if b := decode[transitionCommitted](r); s.inFlight(b.Token) && b.From == s.Status {
			s.move(b)
		}
	case KindApproval:
		a := decode[Approval](r)
		a.Seq = r.Seq
		s.Approval = &a
	case KindSeatSuspended:
		if s.Seat != nil {
			seat := *s.Seat
			seat.Suspended = true
			s.Seat = &seat
		}
	case KindSeatJoined:
		s.join(decode[seatMoved](r).Session)
	}
}

func (s *Story) inFlight(token uint64) bool {
	return s.Transition != nil && s.Transition.Token == token
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
	set(&s.Plan, b.Plan)
	if b.Text != nil {
		s.Text, s.Criteria = *b.Text, b.Criteria
	}
	if b.Stale {
		s.stale()
	}
}

// stale takes back what was accepted of a story that has moved.
func (s *Story) stale() {
	s.Edits++
	s.Approved = false
	s.Approval = nil
	s.Stale = s.Moves > 0
}

func (s *Story) move(b transitionCommitted) {
	s.Transition, s.Approval = nil, nil
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
		s.Seat = nil
		return
	}
	if s.Seat == nil {
		s.Seat = &Seat{WorkTree: b.WorkTree, Base: b.Head}
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
	if before.Seat != nil && row.Seats[before.Seat.WorkTree].Story == s.ID {
		delete(row.Seats, before.Seat.WorkTree)
	}
	if s.Seat != nil {
		if row.Seats == nil {
			row.Seats = map[string]seatread.Seat{}
		}
		if s.Seat.Suspended && row.Seats[s.Seat.WorkTree].Story != "" {
			// Somebody else sits there already.
		} else {
			row.Seats[s.Seat.WorkTree] = seatread.Seat{
				Story: s.ID, Title: s.Title, Step: s.Status, Category: s.Plan.Name, Paths: s.Paths,
				IdleAt: now.Add(seatIdle).Unix(), Suspended: s.Seat.Suspended,
				Substrate: s.Plan.Name == substrateLane && s.Approved,
			}
		}
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
