package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	"satelle/ledger"
	"satelle/workflow"
)

// Status is where things stand.
type Status struct {
	Origin  string `json:"origin"`
	Records uint64 `json:"records"`
	// WorkTree is the id of the work tree that was asked from.
	WorkTree string       `json:"work_tree"`
	Halt     string       `json:"halt,omitempty"`
	Seats    []StatusSeat `json:"seats"`
	// Stories counts those that have not ended, by state.
	Stories map[string]int `json:"stories"`
	// Copies are the copies of work trees that agents worked in and that are
	// kept, since something was changed there.
	Copies []Copy `json:"copies"`
	// Untrusted counts what of the repository a person has not trusted yet.
	Untrusted int `json:"untrusted"`
	// Denied are the calls that were denied more than once in the last day.
	Denied []Repeated `json:"denied"`
	// Appeals counts the denials that somebody holds to be wrong.
	Appeals int          `json:"appeals"`
	You     ledger.Actor `json:"you"`
}

// deniedLately is how far back a status looks for denials.
const deniedLately = 24 * time.Hour

// StatusSeat is the seat of one work tree.
type StatusSeat struct {
	WorkTree string `json:"work_tree"`
	Story    string `json:"story"`
	Title    string `json:"title"`
	Step     string `json:"step"`
	// Idle says that edits are denied until somebody joins the story.
	Idle bool `json:"idle"`
	// Lent says that it is the seat of an agent which performs the step alone.
	Lent bool `json:"lent,omitempty"`
	// Judged says that a gate is being asked for the story.
	Judged bool `json:"judged,omitempty"`
}

// Status tells where things stand in the repository.
func (e *Engine) Status(ctx context.Context) (Status, error) {
	s := Status{WorkTree: e.Place.TreeID, Stories: map[string]int{}, Seats: []StatusSeat{}, You: e.Actor(ctx)}
	err := e.with(ctx, func(log *ledger.Log) error {
		head, err := log.Head()
		if err != nil {
			return err
		}
		s.Origin, s.Records = log.Origin(), head.Size
		return log.View(func(rows ledger.Rows) error {
			st := workflow.NewState(rows)
			row := st.Row()
			s.Halt = row.Halt
			s.Appeals = st.Appeals()
			for _, tree := range slices.Sorted(maps.Keys(row.Seats)) {
				seat := row.Seats[tree]
				story, err := st.Story(seat.Story)
				if err != nil {
					return err
				}
				s.Seats = append(s.Seats, StatusSeat{
					WorkTree: tree, Story: seat.Story, Title: seat.Title, Step: seat.Step,
					Idle: seat.Suspended || seat.IdleAt <= e.now().Unix(), Lent: seat.Worker != "", Judged: story.Transition != nil,
				})
			}
			st.Stories(func(story workflow.Story) bool {
				if !story.Terminal() {
					s.Stories[story.Status]++
				}
				return true
			})
			return nil
		})
	})
	if err != nil {
		return s, err
	}
	if s.Denied, err = e.Repeated(ctx, e.now().Add(-deniedLately)); err != nil {
		return s, err
	}
	if s.Copies, err = e.Copies(); err != nil {
		return s, err
	}
	pending, err := e.Pending(ctx)
	s.Untrusted = pending.Count()
	return s, err
}
