package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"satelle/agents"
	"satelle/agents/prompt"
	"satelle/internal/fault"
	"satelle/workflow"
	"satelle/workflow/route"
)

// task is the work item that a performer receives: a handle, without documents
// and without history. (Seed 001, "The pull contract".)
type task struct {
	Story       taskStory `json:"story"`
	From        string    `json:"from"`
	To          string    `json:"to"`
	ReviewSkill string    `json:"review_skill"`
}

type taskStory struct {
	ID                 string   `json:"id"`
	Title              string   `json:"title"`
	Body               string   `json:"body"`
	AcceptanceCriteria []string `json:"acceptance_criteria"`
}

// perform dispatches the performer of the step that the transition enters, if
// it has one, and returns what it did; nil without one. The verdicts by which the
// gate accepted are recorded first. An error refuses the transition.
func (d *dispatcher) perform(ctx context.Context, verdicts []workflow.Verdict) (*workflow.Work, error) {
	t := *d.story.Transition
	agent := workflow.Performer(t, workflow.Facts{Lane: d.lane, Bindings: d.bound})
	if agent == "" {
		return nil, nil
	}
	principles, err := d.e.sub.principles()
	if err != nil {
		return nil, err
	}
	payload, err := json.Marshal(d.task())
	if err != nil {
		return nil, fault.Wrap(err, nil, "writing the work item")
	}
	pass := newPass()
	if err := d.start(ctx, agent, pass.id, verdicts); err != nil {
		return nil, err
	}
	contract, _ := workflow.ContractOf(d.lane, t.To)
	most := d.bound[agent].Timeout
	if budget := contract.Attempt.TimeBudget; budget > 0 {
		most = min(most, budget)
	}
	fmt.Fprintf(d.progress, "asking %s to perform %s (at most %s)\n", agent, t.To, most)
	if budget := contract.Attempt.TimeBudget; budget > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, budget, workflow.ErrTimeBudget)
		defer stop()
	}
	e := &errand{d: d, brief: brief{
		role: agents.RoleAgent, skill: contract.Name, payload: payload, pass: pass,
		compose: func(b agents.Binding, s workflow.Start) string { return d.prompt(b, s, principles) },
	}}
	artifact, err := d.purse.Perform(ctx, e, agent, contract, len(d.text.Criteria))
	if err != nil {
		return nil, fault.Wrap(cleaned{err, d.rules.String(err.Error())}, fault.Refused, "the performer %s of step %s", agent, t.To)
	}
	if artifact != nil {
		artifact.Body = []byte(d.rules.String(string(artifact.Body)))
	}
	return &workflow.Work{Artifact: artifact, Apart: !d.within.Load()}, nil
}

// start records that the performer starts, on the work tree of this moment, and
// whose the seat is from now on.
func (d *dispatcher) start(ctx context.Context, agent, worker string, verdicts []workflow.Verdict) error {
	t := *d.story.Transition
	// Who reads files finds the documents there, as they are in the ledger.
	if err := d.e.Mirror(ctx, d.story.ID); err != nil {
		return err
	}
	f := workflow.Facts{Now: d.e.now(), WorkTree: d.e.Place.TreeID}
	var err error
	if f.Head, f.Tree, err = d.e.repo.Now(ctx); err != nil {
		return err
	}
	var refusal error
	_, err = d.e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (c workflow.Change, err error) {
		c, refusal, err = st.Dispatch(d.story.ID, workflow.Dispatched{Token: t.Token, Step: t.To, Binding: agent, Worker: worker}, verdicts, f, d.e.self())
		return c, err
	})
	if err == nil {
		err = refusal
	}
	return err
}

func (d *dispatcher) task() task {
	t := *d.story.Transition
	w := task{
		Story: taskStory{
			ID: d.story.ID, Title: d.story.Title, Body: d.text.Body, AcceptanceCriteria: append([]string{}, d.text.Criteria...),
		},
		From: t.From, To: t.To,
	}
	// Who will judge the work stands before the next step. (Decision Q51.)
	i := slices.IndexFunc(d.lane.Steps, func(s route.Step) bool { return s.Name == t.To })
	if i >= 0 && i+1 < len(d.lane.Steps) && len(d.lane.Steps[i+1].Reviewers) > 0 {
		w.ReviewSkill = d.lane.Steps[i+1].Reviewers[0]
	}
	return w
}

func (d *dispatcher) prompt(b agents.Binding, s workflow.Start, principles []string) string {
	to := d.story.Transition.To
	p := prompt.Performer{
		Story: d.story.ID, Step: to, Workflow: d.lane.Category, Documents: d.e.MirrorDir(d.story.ID),
		Draft: s.Draft, Findings: s.Findings,
	}
	if b.Principles != agents.PrinciplesNone {
		p.Principles = principles
	}
	if contract, ok := workflow.ContractOf(d.lane, to); ok {
		p.Output = contract.Output
	}
	for _, step := range d.lane.Steps {
		p.Steps = append(p.Steps, step.Name)
		if step.Name == to {
			for _, name := range step.Skills {
				p.Skills = append(p.Skills, d.lane.Skills[name].Body)
			}
		}
	}
	return p.System()
}
