package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/cockroachdb/errors"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow"
	"satelle/workflow/route"
)

const (
	// maxDiffStat bounds the diff in a step summary.
	maxDiffStat = 8 << 10
	// maxPayloadDoc bounds a document in the payload of a judge.
	maxPayloadDoc = 64 << 10
)

// SetOptions are those of [Engine.Set].
type SetOptions struct {
	// To is the state to move to; "" is the next one.
	To string
	// DryRun asks what would be asked, and appends nothing.
	DryRun bool
	// Detach returns once the judges have been started.
	Detach bool
	// Progress receives what happens while one waits; nil for nothing.
	Progress io.Writer
}

// Moved is what came of a transition.
type Moved struct {
	workflow.Outcome
	Story workflow.Story
	// Running says that the judges are still at it ([SetOptions.Detach]).
	Running bool
}

// Set asks for a move of a story and, unless told to detach, waits until its
// gate has spoken. A gate that runs checks outlives this process: its work is
// done by a process of its own, and asking again attaches to it.
func (e *Engine) Set(ctx context.Context, id string, opts SetOptions) (Moved, error) {
	s, lane, err := e.pinned(ctx, id)
	if err != nil {
		return Moved{}, err
	}
	to := opts.To
	if to == "" {
		to = s.Next()
	}
	if to == s.Next() && !s.Parked() {
		// A pinned story follows its own lane; but while today's route cannot
		// be read, nothing advances (contract §2).
		if _, err := e.sub.route(); err != nil {
			return Moved{}, err
		}
	}
	lease, err := tryLease(e.leasePath(id))
	if err != nil {
		return Moved{}, err
	}
	if lease == nil {
		if t := s.Transition; t != nil && !opts.DryRun {
			if t.To != to {
				return Moved{}, fault.Try(fault.New(fault.Busy, "story %s is on its way from %s to %s", id, t.From, t.To), "satelle story wait "+id)
			}
			return e.attach(ctx, s, opts)
		}
		if lease, err = waitLease(ctx, e.leasePath(id)); err != nil {
			return Moved{}, err
		}
	}
	defer lease.Close()
	facts, err := e.facts(ctx, s, lane)
	if err != nil {
		return Moved{}, err
	}
	actor := e.Actor(ctx)
	var out workflow.Outcome
	_, err = e.decide(ctx, func(st workflow.State, look Lookup, seq uint64) (c workflow.Change, err error) {
		if facts.Text, err = look.Text(s); err != nil {
			return c, err
		}
		c, out, err = st.Request(id, to, facts, actor, seq)
		if opts.DryRun {
			c = workflow.Change{}
		}
		return c, err
	})
	if err != nil {
		return Moved{Outcome: out}, err
	}
	switch {
	case opts.DryRun:
		return Moved{Outcome: out, Story: s}, out.Refusal
	case out.Run:
		if err := e.startJudging(ctx, id, out.Token, lease); err != nil {
			return Moved{Outcome: out}, err
		}
		lease.Close() // the judging process holds the lock from now on
		return e.attach(ctx, s, opts)
	}
	if err := e.Mirror(ctx, id); err != nil {
		return Moved{Outcome: out}, err
	}
	s, err = e.Story(ctx, id)
	if err == nil {
		err = out.Refusal
	}
	return Moved{Outcome: out, Story: s}, err
}

// attach follows the transition in flight of a story.
func (e *Engine) attach(ctx context.Context, s workflow.Story, opts SetOptions) (Moved, error) {
	if opts.Detach {
		now, err := e.Story(ctx, s.ID)
		return Moved{Story: now, Running: true}, err
	}
	return e.Wait(ctx, s.ID, opts.Progress)
}

// pinned reads a story and its lane.
func (e *Engine) pinned(ctx context.Context, id string) (s workflow.Story, lane route.Lane, err error) {
	err = e.View(ctx, func(st workflow.State, look Lookup) error {
		if s, err = st.Story(id); err != nil {
			return err
		}
		lane, err = look.Lane(st, s)
		return err
	})
	return s, lane, err
}

// facts collects what a decision about the story rests on.
func (e *Engine) facts(ctx context.Context, s workflow.Story, lane route.Lane) (workflow.Facts, error) {
	f := workflow.Facts{Now: e.now(), WorkTree: e.Place.TreeID, Host: e.host, Lane: lane}
	var err error
	if f.Bindings, err = e.sub.inLoop(); err != nil {
		return f, err
	}
	if f.Head, err = e.repo.Head(ctx); err != nil {
		return f, fault.Wrap(err, nil, "reading HEAD")
	}
	if f.Tree, err = e.repo.Tree(ctx); err != nil {
		return f, fault.Wrap(err, nil, "hashing the work tree")
	}
	if s.Seat == nil {
		return f, nil
	}
	changes, err := e.repo.Changed(ctx, s.Seat.Base)
	if err != nil {
		return f, fault.Wrap(err, nil, "listing what has changed since the seat was taken")
	}
	for _, c := range changes {
		f.Changed = append(f.Changed, c.Path)
	}
	stat, _, err := e.repo.DiffStat(ctx, s.Seat.Base, maxDiffStat)
	if err != nil {
		return f, fault.Wrap(err, nil, "summing up what has changed")
	}
	f.DiffStat = string(stat)
	return f, nil
}

// Judge does the slow part of a transition: it asks the checks and reviewers
// and commits or refuses. It runs in the process that holds the lease.
func (e *Engine) Judge(ctx context.Context, id string, token uint64, progress io.Writer) error {
	var (
		s         workflow.Story
		questions []workflow.Question
		lane      route.Lane
		text      workflow.Text
	)
	err := e.View(ctx, func(st workflow.State, look Lookup) (err error) {
		if s, err = st.Story(id); err != nil {
			return err
		}
		if s.Transition == nil || s.Transition.Token != token {
			return fault.New(fault.Refused, "the transition %d of story %s is not in flight", token, id)
		}
		if lane, err = look.Lane(st, s); err != nil {
			return err
		}
		if text, err = look.Text(s); err != nil {
			return err
		}
		questions, err = e.questions(look, s, lane, text)
		return err
	})
	if err != nil {
		return err
	}
	parallel := parallelOf(lane, s.Transition.To)
	verdicts := workflow.Ask(ctx, questions, parallel, checker{e, progress}, nil)
	if err := ctx.Err(); err != nil {
		return e.abandon(id, token, "it was stopped: "+err.Error())
	}
	facts, err := e.facts(ctx, s, lane)
	if err != nil {
		return errors.CombineErrors(err, e.abandon(id, token, "the work tree could not be read again"))
	}
	facts.Text = text
	actor := e.self()
	var refusal error
	_, err = e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (c workflow.Change, err error) {
		c, refusal, err = st.Commit(id, token, slices.Clone(verdicts), facts, actor)
		return c, err
	})
	if err != nil {
		return err
	}
	if refusal != nil && progress != nil {
		fmt.Fprintf(progress, "refused\n") // why is in the record, which those who wait read
	}
	return e.Mirror(ctx, id)
}

func (e *Engine) abandon(id string, token uint64, why string) error {
	ctx := context.Background() // the caller's may have ended, which is why
	_, err := e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		return st.Abandon(id, token, why, e.self())
	})
	return err
}

func parallelOf(lane route.Lane, to string) *int {
	for _, step := range lane.Steps {
		if step.Name == to {
			return step.Parallel
		}
	}
	return nil
}

// Payload is the work item that a check or an agent receives on stdin.
// (Seed 001, "The dispatch contract": story, from, to, review_skill; docs are
// pushed to reviewers.)
type Payload struct {
	Story       PayloadStory `json:"story"`
	From        string       `json:"from"`
	To          string       `json:"to"`
	ReviewSkill string       `json:"review_skill"`
	Docs        []PayloadDoc `json:"docs"`
}

// PayloadStory is the story in a payload.
type PayloadStory struct {
	ID                 string   `json:"id"`
	Title              string   `json:"title"`
	Body               string   `json:"body"`
	AcceptanceCriteria []string `json:"acceptance_criteria"`
	Category           string   `json:"category"`
	Tags               []string `json:"tags"`
}

// PayloadDoc is a document in a payload; a long body is cut and marked so.
type PayloadDoc struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Body      string `json:"body"`
	Truncated bool   `json:"truncated,omitempty"`
}

// questions puts a transition's slow judges into questions.
func (e *Engine) questions(look Lookup, s workflow.Story, lane route.Lane, text workflow.Text) ([]workflow.Question, error) {
	t := s.Transition
	docs := []PayloadDoc{}
	for _, d := range s.Docs {
		b, err := look.Blob(d.Ref)
		if errors.Is(err, ledger.ErrRedacted) {
			b = []byte("[redacted]")
		} else if err != nil {
			return nil, fault.Wrap(err, nil, "reading document %s", d.Name)
		}
		doc := PayloadDoc{Name: d.Name, Type: d.Type, Body: string(b)}
		if len(b) > maxPayloadDoc {
			doc.Body, doc.Truncated = string(b[:maxPayloadDoc]), true
		}
		docs = append(docs, doc)
	}
	var out []workflow.Question
	for _, j := range t.Gate {
		if j.Kind == route.KindBuiltin {
			continue
		}
		payload, err := json.Marshal(Payload{
			Story: PayloadStory{
				ID: s.ID, Title: s.Title, Body: text.Body, AcceptanceCriteria: text.Criteria,
				Category: s.Category, Tags: s.Tags,
			},
			From: t.From, To: t.To, ReviewSkill: j.Skill, Docs: docs,
		})
		if err != nil {
			return nil, fault.Wrap(err, nil, "writing the payload")
		}
		out = append(out, workflow.Question{Judge: j, Skill: lane.Skills[j.Skill], Payload: payload})
	}
	return out, nil
}
