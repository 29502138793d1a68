package engine

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/errors"

	"satelle/agents"
	"satelle/internal/fault"
	"satelle/workflow"
	"satelle/workflow/route"
)

// maxDiffStat bounds the diff in a step summary.
const maxDiffStat = 8 << 10

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
	s, err := e.Story(ctx, id)
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
	alive := lease == nil
	if alive && !opts.DryRun {
		if t := s.Transition; t != nil {
			if t.To != to {
				return Moved{}, fault.Try(fault.New(fault.Busy, "story %s is on its way from %s to %s", id, t.From, t.To), "satelle story wait "+id)
			}
			return e.attach(ctx, id, t.Token, opts)
		}
		if lease, err = waitLease(ctx, e.leasePath(id)); err != nil {
			return Moved{}, err
		}
		alive = false
	}
	defer lease.Close() // nil for a dry run beside a gate
	out, err := e.request(ctx, id, to, alive, opts.DryRun)
	if err != nil {
		return Moved{Outcome: out}, err
	}
	switch {
	case opts.DryRun:
		out.Verdicts = append(out.Verdicts, e.foreseen(ctx, s, out.Gate)...)
		return Moved{Outcome: out, Story: s}, out.Refusal
	case out.Run:
		if err := e.startJudging(ctx, id, out.Token, lease); err != nil {
			return Moved{Outcome: out}, err
		}
		lease.Close() // the judging process holds the lock from now on
		return e.attach(ctx, id, out.Token, opts)
	}
	if err := e.Mirror(ctx, id); err != nil {
		return Moved{Outcome: out}, fault.Try(fault.Wrap(err, nil, "the move is in the ledger, but its documents could not be mirrored"), "satelle story docs "+id)
	}
	s, err = e.Story(ctx, id)
	if err == nil {
		err = out.Refusal
	}
	return Moved{Outcome: out, Story: s}, err
}

// foreseen tells of each reviewer who would be asked what can be known before: why
// it can't be, or that it has accepted already. These are notes, and no decisions.
func (e *Engine) foreseen(ctx context.Context, s workflow.Story, gate []workflow.Judge) (notes []workflow.Verdict) {
	file, vars, err := e.sub.bindings()
	if err != nil {
		return nil // which was said by now
	}
	for _, j := range gate {
		if j.Kind != route.KindRubric {
			continue
		}
		note := ""
		b, ok := file.Binding(cmp.Or(j.Agent, agents.Reviewer))
		if _, accepted := s.Accepts[j.Skill]; accepted {
			note = "unless its accept still stands"
		}
		if ok {
			_, err := file.Resolve(b.Name, vars)
			if err == nil {
				err = e.trusted(ctx, file, b, vars)
			}
			if err == nil {
				err = e.sub.startable(b)
			}
			switch {
			case err != nil && note != "":
				note += ", since it can't be: " + err.Error()
			case err != nil:
				note = "but can't be: " + err.Error()
			}
		}
		notes = append(notes, workflow.Verdict{Skill: j.Skill, Notes: note})
	}
	return notes
}

// errShifted says that the story is not the one whose facts were collected.
var errShifted = errors.New("the story has shifted")

// request collects the facts and lets the rules decide. Reading a large work
// tree takes time, in which the story may be edited, restamped or joined: what
// the records say is read again in the deciding transaction, and where the
// facts themselves rest on something else, they are collected anew.
func (e *Engine) request(ctx context.Context, id, to string, alive, dryRun bool) (out workflow.Outcome, err error) {
	actor := e.Actor(ctx)
	if !dryRun {
		if err := e.reap(ctx); err != nil {
			return out, err
		}
	}
	for {
		s, err := e.Story(ctx, id)
		if err != nil {
			return out, err
		}
		facts, err := e.facts(ctx, s, to)
		if err != nil {
			return out, err
		}
		facts.Alive = alive
		_, err = e.decide(ctx, func(st workflow.State, look Lookup, seq uint64) (c workflow.Change, err error) {
			now, err := st.Story(id)
			if err != nil {
				return c, err
			}
			if !sameBase(s, now) {
				return c, errShifted
			}
			if facts.Lane, err = look.Lane(st, now); err != nil {
				return c, err
			}
			if facts.Text, err = look.Text(now); err != nil {
				return c, err
			}
			if facts.Output, err = look.Output(facts.Lane, now); err != nil {
				return c, err
			}
			c, out, err = st.Request(id, to, facts, actor, seq)
			if dryRun {
				c = workflow.Change{}
			}
			return c, err
		})
		if !errors.Is(err, errShifted) {
			return out, err
		}
	}
}

func sameBase(a, b workflow.Story) bool {
	baseA, okA := a.ChangedFrom()
	baseB, okB := b.ChangedFrom()
	return baseA == baseB && okA == okB
}

// attach follows a transition in flight.
func (e *Engine) attach(ctx context.Context, id string, token uint64, opts SetOptions) (Moved, error) {
	if opts.Detach {
		now, err := e.Story(ctx, id)
		return Moved{Story: now, Running: true}, err
	}
	return e.wait(ctx, id, token, 0, opts.Progress)
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

// facts collects what a decision about a move of the story rests on, but for
// what the records themselves say: its lane and text.
func (e *Engine) facts(ctx context.Context, s workflow.Story, to string) (workflow.Facts, error) {
	f := workflow.Facts{Now: e.now(), WorkTree: e.Place.TreeID, Host: e.host}
	var err error
	if f.Bindings, err = e.boundHere(ctx); err != nil {
		return f, err
	}
	if f.Head, f.Tree, err = e.repo.Now(ctx); err != nil {
		return f, err
	}
	base, counts := s.ChangedFrom()
	if !counts || to == s.Plan.Cancel {
		return f, nil // giving up asks nobody, and the base may be gone
	}
	if f.Changed, err = e.changed(ctx, base, f.Head); err != nil {
		return f, fault.Wrap(err, nil, "listing what has changed since the seat was taken")
	}
	for _, p := range f.Changed {
		fi, err := os.Lstat(filepath.Join(e.repo.Top(), filepath.FromSlash(p)))
		if err == nil && !fi.Mode().IsRegular() {
			f.NotFiles = append(f.NotFiles, p)
		}
	}
	stat, _, err := e.repo.DiffStat(ctx, base, maxDiffStat)
	if err != nil {
		return f, fault.Wrap(err, nil, "summing up what has changed")
	}
	f.DiffStat = string(stat)
	return f, nil
}

// changed lists the paths at which the work tree differs from the base, or from
// a HEAD that has moved on: what was committed and then taken out of the work
// tree has changed, too.
func (e *Engine) changed(ctx context.Context, base, head string) ([]string, error) {
	var paths []string
	for _, from := range slices.Compact([]string{base, head}) {
		changes, err := e.repo.Changed(ctx, from)
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			paths = append(paths, c.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// Judge does the slow part of a transition: it asks the checks and reviewers
// and commits or refuses. It runs in the process that was handed the lease.
func (e *Engine) Judge(ctx context.Context, id string, token uint64, lease *os.File, progress io.Writer) error {
	if err := holds(lease, e.leasePath(id)); err != nil {
		return err
	}
	if err := sign(lease); err != nil {
		return err
	}
	done, err := e.asJudge()
	if err != nil {
		return errors.CombineErrors(err, e.abandon(id, token, "what it starts could not be kept apart"))
	}
	defer done()
	tr, err := e.trial(ctx, id, token)
	if err != nil {
		return err
	}
	s, lane, text := tr.story, tr.lane, tr.text
	questions, err := e.questions(ctx, tr)
	if err != nil {
		return e.refuse(id, token, nil, err)
	}
	parallel := parallelOf(lane, s.Transition.To)
	d, err := e.newDispatcher(s, lane, text, progress)
	if err != nil {
		return errors.CombineErrors(err, e.abandon(id, token, "its agents can't be read: "+err.Error()))
	}
	verdicts := workflow.Ask(ctx, questions, parallel, checker{e, progress}, reviewer{d})
	if err := ctx.Err(); err != nil {
		return e.abandon(id, token, stopped)
	}
	var work *workflow.Work
	if workflow.GateAccepts(*s.Transition, verdicts) {
		work, err = d.perform(ctx, verdicts)
		if ctx.Err() != nil {
			return e.abandon(id, token, stopped)
		}
		if err != nil {
			return e.refuse(id, token, verdicts, err)
		}
	}
	facts, err := e.facts(ctx, s, s.Transition.To)
	if err != nil {
		return errors.CombineErrors(err, e.abandon(id, token, "the work tree could not be read again"))
	}
	facts.Text, facts.Lane = text, lane
	actor := e.self()
	var refusal error
	_, err = e.decide(ctx, func(st workflow.State, look Lookup, _ uint64) (c workflow.Change, err error) {
		if facts.Output, err = look.Output(lane, s); err != nil {
			return c, err
		}
		c, refusal, err = st.Commit(id, token, slices.Clone(verdicts), work, facts, actor)
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

// stopped is why a transition ended whose process was told to end.
const stopped = "it was stopped"

func (e *Engine) abandon(id string, token uint64, why string) error {
	ctx := context.Background() // the caller's may have ended, which is why
	_, err := e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		return st.Abandon(id, token, why, e.self())
	})
	return err
}

// refuse ends a transition whose performer failed; the verdicts that led to it
// stay on record.
func (e *Engine) refuse(id string, token uint64, verdicts []workflow.Verdict, why error) error {
	ctx := context.Background()
	_, err := e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		return st.Refuse(id, token, verdicts, why, e.self())
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
