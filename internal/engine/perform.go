package engine

import (
	"context"
	"encoding/json"
	"slices"

	"satelle/agents"
	"satelle/internal/fault"
	"satelle/workflow"
	"satelle/workflow/route"
)

// perform dispatches the performer of the step that the transition enters, if
// it has one, and returns what it did; nil without one. An error refuses the
// transition.
func (d *dispatcher) perform(ctx context.Context) (*workflow.Work, error) {
	t := *d.story.Transition
	bound, err := d.e.sub.bound()
	if err != nil {
		return nil, err
	}
	agent := workflow.Performer(t, workflow.Facts{Lane: d.lane, Bindings: bound})
	if agent == "" {
		return nil, nil
	}
	tree, err := d.e.repo.Tree(ctx)
	if err != nil {
		return nil, fault.Wrap(err, nil, "hashing the work tree")
	}
	_, err = d.e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		return st.Dispatch(d.story.ID, workflow.Dispatched{Token: t.Token, Step: t.To, Binding: agent, Tree: tree}, d.e.self())
	})
	if err != nil {
		return nil, err
	}
	step := d.lane.Steps[slices.IndexFunc(d.lane.Steps, func(s route.Step) bool { return s.Name == t.To })]
	system := ""
	for _, name := range step.Skills {
		system += d.lane.Skills[name].Body
	}
	payload, err := json.Marshal(Payload{From: t.From, To: t.To})
	if err != nil {
		return nil, fault.Wrap(err, nil, "writing the payload")
	}
	_, err = d.ask(ctx, brief{role: agents.RoleAgent, binding: agent, phase: workflow.PhaseInitial, system: system, payload: payload})
	if err != nil {
		return nil, fault.Wrap(err, fault.Refused, "the performer %s of step %s", agent, t.To)
	}
	return &workflow.Work{Tree: tree}, nil
}
