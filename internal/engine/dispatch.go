package engine

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/errors"

	"satelle/agents"
	"satelle/agents/event"
	"satelle/agents/transport"
	"satelle/internal/fault"
	"satelle/workflow"
	"satelle/workflow/route"
)

// dispatcher starts the agents of one transition, reviewers and performer.
type dispatcher struct {
	e     *Engine
	file  agents.File
	story workflow.Story
	lane  route.Lane
	text  workflow.Text
	// progress is what those who wait see.
	progress io.Writer
}

func (e *Engine) newDispatcher(s workflow.Story, lane route.Lane, text workflow.Text, progress io.Writer) (*dispatcher, error) {
	file, err := e.sub.agents()
	if err != nil {
		return nil, err
	}
	if progress == nil {
		progress = io.Discard
	}
	return &dispatcher{e: e, file: file, story: s, lane: lane, text: text, progress: progress}, nil
}

// brief is what one agent is asked.
type brief struct {
	role    string // agents.RoleReviewer or agents.RoleAgent
	binding string // a name
	effort  string // instead of the binding's, unless ""
	skill   string
	phase   string // workflow.PhaseInitial and so on
	reason  string // why this phase came about
	system  string
	payload []byte
	// validate names what is wrong with an answer; nil: every answer serves.
	validate func(text string) []string
	// failedOver is set when the secondary had to be asked, which happens at most
	// once for all briefs that share it.
	failedOver *bool
	deadline   time.Time // of the budget; zero for none
}

// answer is what came of a brief.
type answer struct {
	text string
	// findings are what validate named; none means that the answer serves.
	findings []string
	usage    workflow.Usage
}

// ask asks an agent, its secondary where that serves, and records each attempt.
// An error that is a *transport.Failure is the agent's.
func (d *dispatcher) ask(ctx context.Context, b brief) (answer, error) {
	binding, ok := d.file.Binding(b.binding)
	if !ok {
		return answer{}, fault.New(fault.Refused, "agents.toml has no [%s]", b.binding)
	}
	log := event.Open(filepath.Join(d.e.Place.Dir, "logs", "dispatch"), d.story.ID, b.binding, nil, d.progress)
	res, err := transport.Run(ctx, transport.Invocation{
		Binding: binding, Env: os.Environ(), System: b.system, Payload: b.payload, Dir: d.e.repo.Top(),
		Timeout: binding.Timeout, Events: log.Sink(), Raw: log.Raw(),
	})
	log.Close()
	a := answer{text: res.Text, usage: res.Usage}
	if err == nil && b.validate != nil {
		a.findings = b.validate(res.Text)
	}
	record := workflow.Attempt{
		Asked: workflow.Asked{
			Token: d.story.Transition.Token, Role: b.role, Skill: b.skill, Phase: b.phase, Binding: b.binding,
		},
		Interface: binding.Interface, Model: binding.Model, Effort: binding.Effort, Reason: b.reason,
		ElapsedMS: res.Elapsed.Milliseconds(), Usage: res.Usage, UsageAvailable: res.Usage.Available(),
	}
	var failure *transport.Failure
	if errors.As(err, &failure) {
		record.Class = failure.Class
	}
	_, rerr := d.e.decide(context.WithoutCancel(ctx), func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		return st.Attempted(d.story.ID, record, a.findings, d.e.self()), nil
	})
	return a, errors.CombineErrors(err, rerr)
}
