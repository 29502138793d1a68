package engine

import (
	"context"
	"io"

	"satelle/internal/fault"
	"satelle/workflow"
)

// Adopt takes what is changed in this work tree into a story, and marks it so;
// a story that does not sit yet takes its next step, which holds the seat. The
// mark is recorded before: nothing is taken in without it.
func (e *Engine) Adopt(ctx context.Context, id string, progress io.Writer) (workflow.Story, error) {
	var a workflow.Adopted
	if s, err := e.Story(ctx, id); err != nil {
		return s, err
	}
	dirty, err := e.repo.Dirty(ctx)
	if err != nil {
		return workflow.Story{}, err
	}
	if !dirty {
		return workflow.Story{}, fault.Try(fault.New(fault.Refused, "nothing is changed in this work tree, so there is nothing to adopt"), "git status")
	}
	a.WorkTree = e.Place.TreeID
	if a.Base, a.Tree, err = e.repo.Now(ctx); err != nil {
		return workflow.Story{}, err
	}
	actor := e.Actor(ctx)
	_, err = e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		return st.Adopt(id, a, e.now(), actor)
	})
	if err != nil {
		return workflow.Story{}, err
	}
	s, err := e.Story(ctx, id)
	if err != nil {
		return s, err
	}
	if s.Seat != nil {
		return e.Join(ctx, id) // wakes it, if it was suspended
	}
	m, err := e.Set(ctx, id, SetOptions{Progress: progress})
	return m.Story, err
}
