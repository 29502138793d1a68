package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/errors"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow"
	"satelle/workflow/route"
)

// maxDiff bounds what [Engine.Diff] returns.
const maxDiff = 8 << 20

// Stories returns the stories that keep accepts, the one that moved last
// first.
func (e *Engine) Stories(ctx context.Context, keep func(workflow.Story) bool) ([]workflow.Story, error) {
	var out []workflow.Story
	err := e.View(ctx, func(st workflow.State, _ Lookup) error {
		st.Stories(func(s workflow.Story) bool {
			if keep(s) {
				out = append(out, s)
			}
			return true
		})
		return nil
	})
	slices.SortFunc(out, func(a, b workflow.Story) int { return cmp.Compare(b.Last, a.Last) })
	return out, err
}

// Detail is a story with its prose and discussion.
type Detail struct {
	workflow.Story
	Body               string    `json:"body"`
	AcceptanceCriteria []string  `json:"acceptance_criteria"`
	Children           []string  `json:"children"`
	Comments           []Comment `json:"comments"`
}

// Comment is what somebody said of a story.
type Comment struct {
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	By   string    `json:"by"`
	Kind string    `json:"kind"`
	Body string    `json:"body"`
}

// Detail returns a story in full.
func (e *Engine) Detail(ctx context.Context, id string) (Detail, error) {
	d := Detail{Comments: []Comment{}, Children: []string{}}
	var err error
	if d.Story, err = e.Story(ctx, id); err != nil {
		return d, err
	}
	var said []ledger.Record
	err = ledger.Scan(ctx, e.cfg, ledger.Query{Story: id, Kinds: []string{workflow.KindCommented}}, func(r ledger.Record) error {
		said = append(said, r)
		return nil
	})
	if err != nil {
		return d, err
	}
	err = e.with(ctx, func(log *ledger.Log) error {
		look := Lookup{log}
		text, err := look.Text(d.Story)
		if err != nil {
			return err
		}
		d.Body, d.AcceptanceCriteria = text.Body, text.Criteria
		for _, r := range said {
			c, err := comment(look, r)
			if err != nil {
				return err
			}
			d.Comments = append(d.Comments, c)
		}
		return log.View(func(rows ledger.Rows) error {
			for _, c := range workflow.NewState(rows).Children(id) {
				d.Children = append(d.Children, c.ID)
			}
			return nil
		})
	})
	return d, err
}

func comment(look Lookup, r ledger.Record) (Comment, error) {
	var b struct {
		Kind string         `json:"kind"`
		Body ledger.BlobRef `json:"body"`
	}
	c := Comment{Seq: r.Seq, Time: r.Time, By: r.Actor.Name}
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return c, fault.Wrap(err, fault.Integrity, "reading record %d", r.Seq)
	}
	c.Kind = b.Kind
	text, err := look.Blob(b.Body)
	if errors.Is(err, ledger.ErrRedacted) {
		text, err = []byte("[redacted]"), nil
	}
	c.Body = string(text)
	return c, fault.Wrap(err, nil, "reading comment %d", r.Seq)
}

// Lane is a lane of the route, as people read it.
type Lane struct {
	Name     string      `json:"lane"`
	Steps    []RouteStep `json:"steps"`
	Park     string      `json:"park,omitempty"`
	Cancel   string      `json:"cancel,omitempty"`
	Advisors []string    `json:"advisors,omitempty"`
}

// StoryRoute is a story's route: what is planned and how it went.
type StoryRoute struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Lane
	Ways []workflow.Edge `json:"ways"`
	// Behind says that the repository's lane has changed since the story was
	// pinned to it.
	Behind bool `json:"behind"`
	// Refused is why the last transition was refused, "" if it was not.
	Refused string `json:"refused,omitempty"`
}

// RouteStep is one step of a [Lane].
type RouteStep struct {
	Name  string   `json:"name"`
	Agent string   `json:"agent,omitempty"`
	Gate  []string `json:"gate,omitempty"`
	// Passed says that the story has been here.
	Passed bool `json:"passed"`
	// Outcomes are the verdicts on entry, in a line each.
	Outcomes []string `json:"outcomes,omitempty"`
}

// Route returns a story's route.
func (e *Engine) Route(ctx context.Context, id string) (StoryRoute, error) {
	var out StoryRoute
	s, lane, err := e.pinned(ctx, id)
	if err != nil {
		return out, err
	}
	out = StoryRoute{ID: id, Status: s.Status, Lane: laneOf(lane), Ways: s.Edges()}
	to := map[uint64]string{}
	step := func(name string) *RouteStep {
		i := slices.IndexFunc(out.Steps, func(s RouteStep) bool { return s.Name == name })
		if i < 0 {
			return &RouteStep{}
		}
		return &out.Steps[i]
	}
	if len(out.Steps) > 0 {
		out.Steps[0].Passed = true
	}
	if today, err := e.sub.lane(s.Category, s.Tags); err == nil && !s.Terminal() { // a route that does not hold is workflow validate's to tell
		digest, _ := workflow.LaneDigest(today)
		out.Behind = digest != s.Plan.Lane
	}
	var refused ledger.BlobRef
	err = ledger.Scan(ctx, e.cfg, ledger.Query{Story: id}, func(r ledger.Record) error {
		var b struct {
			Token    uint64 `json:"token"`
			To       string `json:"to"`
			Skill    string `json:"skill"`
			Decision string `json:"decision"`
		}
		if err := json.Unmarshal(r.Body, &b); err != nil {
			return fault.Wrap(err, fault.Integrity, "reading record %d", r.Seq)
		}
		switch r.Kind {
		case workflow.KindRequested:
			to[r.Seq], refused = b.To, ledger.BlobRef{}
		case workflow.KindVerdict:
			st := step(to[b.Token])
			st.Outcomes = append(st.Outcomes, fmt.Sprintf("%s %s: %s (record %d)", stampOf(r.Time), b.Skill, b.Decision, r.Seq))
		case workflow.KindRefused:
			var why struct {
				Reason ledger.BlobRef `json:"reason"`
			}
			if err := json.Unmarshal(r.Body, &why); err != nil {
				return fault.Wrap(err, fault.Integrity, "reading record %d", r.Seq)
			}
			refused = why.Reason
		case workflow.KindCommitted:
			step(b.To).Passed = true
		}
		return nil
	})
	if err != nil || refused.Digest == "" {
		return out, err
	}
	return out, e.with(ctx, func(log *ledger.Log) error {
		b, err := log.Blob(refused)
		if errors.Is(err, ledger.ErrRedacted) {
			b, err = []byte("[redacted]"), nil
		}
		out.Refused = strings.TrimSpace(string(b))
		return err
	})
}

func stampOf(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func laneOf(lane route.Lane) Lane {
	out := Lane{Name: lane.Category, Cancel: lane.Cancel, Advisors: lane.Advisors}
	if lane.Park != nil {
		out.Park = lane.Park.State
	}
	for _, st := range lane.Steps {
		rs := RouteStep{Name: st.Name, Agent: st.Agent, Gate: slices.Clone(st.Reviewers)}
		for _, g := range st.Gates {
			if !slices.Contains(rs.Gate, g.Skill) {
				rs.Gate = append(rs.Gate, g.Skill)
			}
		}
		out.Steps = append(out.Steps, rs)
	}
	return out
}

// Diff returns what has changed since the story took its seat.
func (e *Engine) Diff(ctx context.Context, id string) ([]byte, error) {
	s, err := e.Story(ctx, id)
	if err != nil {
		return nil, err
	}
	if s.Seat == nil {
		return nil, fault.Try(fault.New(fault.Refused, "story %s is in %s and holds no seat whose change could be shown", id, s.Status),
			"satelle story docs "+id)
	}
	if s.Seat.WorkTree != e.Place.TreeID {
		return nil, fault.New(fault.Refused, "story %s sits in another work tree (%s) of this repository", id, s.Seat.WorkTree)
	}
	b, cut, err := e.repo.Diff(ctx, s.Seat.Base, maxDiff)
	if cut {
		b = append(b, "\n[cut at 8 MiB]\n"...)
	}
	return b, fault.Wrap(err, nil, "reading the difference")
}

// Lane returns the lane of a category as the route stands today.
func (e *Engine) Lane(category string) (Lane, error) {
	lane, err := e.sub.lane(category, nil)
	if err != nil {
		return Lane{}, err
	}
	return laneOf(lane), nil
}

// Categories lists the lanes of today's route, or says what is wrong with it.
func (e *Engine) Categories() ([]string, error) {
	r, err := e.sub.route()
	if err != nil {
		return nil, err
	}
	return r.Categories(), nil
}
