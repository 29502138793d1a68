package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/errors"

	"satelle/agents"
	"satelle/agents/event"
	"satelle/agents/redact"
	"satelle/agents/transport"
	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow"
	"satelle/workflow/route"
)

const (
	// maxReason bounds what a record quotes of an agent's failure.
	maxReason = 2 << 10
	// sizeLookBack is how many attempts are searched for the size of one.
	sizeLookBack = 500
)

// dispatcher starts the agents of one transition, reviewers and performer, with
// what is in its purse.
type dispatcher struct {
	e     *Engine
	file  agents.File
	story workflow.Story
	lane  route.Lane
	text  workflow.Text
	bound map[string]workflow.Bound
	vars  agents.Vars
	purse *workflow.Purse
	// rules take credentials out of what agents say before it is recorded.
	rules *redact.Rules
	// progress is what those who wait see.
	progress io.Writer

	// within says that a performer was started in the work tree itself.
	within atomic.Bool

	mu     sync.Mutex
	number int // of the agents that were started
}

func (e *Engine) newDispatcher(s workflow.Story, lane route.Lane, text workflow.Text, progress io.Writer) (*dispatcher, error) {
	file, vars, err := e.sub.bindings()
	if err != nil {
		return nil, err
	}
	bound := e.sub.bound(file, vars)
	if progress == nil {
		progress = io.Discard
	}
	d := &dispatcher{e: e, file: file, story: s, lane: lane, text: text, bound: bound, vars: vars, progress: progress}
	d.rules = secretRules(file, vars)
	d.purse = workflow.NewPurse(workflow.TokenBudget(*s.Transition, workflow.Facts{Lane: lane, Bindings: bound}))
	return d, nil
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
	// compose, if set, makes the system prompt for the binding that is started.
	compose func(agents.Binding, workflow.Start) string
	payload []byte
	// validate names what is wrong with an answer; nil: every answer serves.
	validate func(text string) []string
	// pass is what the agent is known by; a new one each time, if it is zero.
	pass pass
	// failedOver is set when the secondary had to be asked, which happens at most
	// once for all briefs that share it.
	failedOver *bool
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
	reply, findings, err := d.purse.Ask(ctx, &errand{d: d, brief: b}, workflow.Call{
		Start:    workflow.Start{Phase: b.phase, Binding: b.binding, Effort: b.effort, Reason: b.reason},
		Validate: b.validate, FailedOver: b.failedOver,
	})
	return answer{text: reply.Text, findings: findings, usage: reply.Usage}, err
}

// errand starts agents for a brief. It implements [workflow.Runner].
type errand struct {
	d     *dispatcher
	brief brief
	// record is what is told of the run under way; nil before it is asked.
	record *workflow.Attempt
}

// Binding implements [workflow.Runner].
func (r *errand) Binding(name string) (secondary string, tokens int64) {
	b, ok := r.d.file.Binding(name)
	if !ok {
		return "", 0 // Run says so
	}
	if tokens = b.MaxTokens; tokens == 0 && r.d.purse.Budget() > 0 {
		tokens = r.d.e.lastSize(name)
	}
	return b.Secondary, tokens
}

// Run implements [workflow.Runner].
func (r *errand) Run(ctx context.Context, s workflow.Start) workflow.Reply {
	d, b := r.d, r.brief
	r.record = nil
	resolved, err := d.file.Resolve(s.Binding, d.vars)
	if err != nil {
		return workflow.Reply{Err: err}
	}
	binding := resolved.Binding
	if err := d.e.trusted(ctx, d.file, binding, d.vars); err != nil {
		return workflow.Reply{Err: err}
	}
	if binding.Role != b.role {
		return workflow.Reply{Err: fault.New(fault.Refused, "[%s] has the role %s and can't stand in for a %s", s.Binding, binding.Role, b.role)}
	}
	binding.Effort = cmp.Or(s.Effort, binding.Effort)
	system := b.system
	if b.compose != nil {
		system = b.compose(binding, s)
	}
	record := workflow.Attempt{
		Asked: workflow.Asked{
			Token: d.story.Transition.Token, Number: d.next(), Role: b.role, Skill: b.skill, Phase: s.Phase, Binding: s.Binding, Reserved: s.Reserved,
		},
		Interface: binding.Interface, Model: binding.Model, Effort: binding.Effort, Reason: s.Reason, Failover: s.Failover,
	}
	_, err = d.e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		return st.Asking(d.story.ID, record.Asked, d.e.self()), nil
	})
	if err != nil {
		return workflow.Reply{Err: fault.Wrap(err, nil, "recording that %s is asked", s.Binding)}
	}
	r.record = &record

	if s.Reason != "" {
		fmt.Fprintf(d.progress, "asking %s once more (%s): %s\n", s.Binding, s.Phase, event.Printable(s.Reason))
	}
	log := event.Open(filepath.Join(d.e.Place.Dir, "logs", "dispatch"), d.story.ID, s.Binding, resolved.Secrets, d.progress)
	res, err := r.employ(ctx, transport.Invocation{
		Binding: binding, Env: agentEnv(os.Environ(), binding.Role, resolved.Env), System: system, Payload: b.payload,
		Timeout: binding.Timeout, Events: log.Sink(), Raw: log.Raw(),
	})
	if err == nil && b.role == agents.RoleAgent && strings.HasPrefix(strings.TrimSpace(res.Text), "{") {
		log.Sink()(event.Event{Kind: event.Artifact, Text: fmt.Sprintf("%d bytes", len(res.Text))})
	}
	log.Close()
	record.ElapsedMS, record.Usage, record.UsageAvailable = res.Elapsed.Milliseconds(), res.Usage, res.Usage.Available()
	record.ExitCode, record.Program = res.ExitCode, homely(res.Program)
	reply := workflow.Reply{Text: res.Text, Usage: res.Usage}
	if err != nil {
		reply.Err = r.failed(ctx, err)
		var failure *transport.Failure
		reply.Elsewhere = errors.As(err, &failure) && failure.Elsewhere()
	}
	return reply
}

// failed names the class of a failure in the record, and takes out of its
// message what belongs in none.
func (r *errand) failed(ctx context.Context, err error) error {
	failure := &transport.Failure{Class: transport.Failed, Message: err.Error()}
	var told *transport.Failure
	if errors.As(err, &told) {
		*failure = *told
	}
	if errors.Is(context.Cause(ctx), workflow.ErrTimeBudget) {
		failure.Class, failure.Message = workflow.ClassTimeBudget, workflow.ErrTimeBudget.Error()
	}
	r.record.Class = failure.Class
	failure.Message = event.Printable(tail([]byte(r.d.rules.String(failure.Message)), maxReason))
	return failure
}

// Ended implements [workflow.Runner].
func (r *errand) Ended(ctx context.Context, _ workflow.Start, _ workflow.Reply, findings []string, budgeted bool) error {
	if r.record == nil {
		return nil // nothing was started
	}
	record, d := *r.record, r.d
	if !budgeted {
		record.TokenBudget = workflow.BudgetNotApplied
	}
	said := make([]string, len(findings)) // which may quote the answer
	for i, f := range findings {
		said[i] = d.rules.String(f)
	}
	_, err := d.e.decide(context.WithoutCancel(ctx), func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		return st.Attempted(d.story.ID, record, said, d.e.self()), nil
	})
	return fault.Wrap(err, nil, "recording how %s ended", record.Binding)
}

func (d *dispatcher) next() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.number++
	return d.number
}

// lastSize is how many tokens the latest run of a binding reported, 0 if no run
// within sight did.
func (e *Engine) lastSize(binding string) (tokens int64) {
	seen := 0
	query := ledger.Query{Kinds: []string{workflow.KindAttempt}, Reverse: true}
	// What can't be read is not known, and a run of unknown size runs alone.
	_ = ledger.Scan(context.Background(), e.cfg, query, func(r ledger.Record) error {
		var a workflow.Attempt
		if seen++; seen > sizeLookBack {
			return errFound
		}
		if json.Unmarshal(r.Body, &a) != nil || a.Binding != binding {
			return nil
		}
		if n, ok := a.Usage.Tokens(); ok && n > 0 {
			tokens = n
			return errFound
		}
		return nil
	})
	return tokens
}

// homely is a path without the name of the person whose home it lies in.
func homely(path string) string {
	home, err := os.UserHomeDir()
	if rel, is := strings.CutPrefix(path, home+string(filepath.Separator)); is && err == nil {
		return filepath.Join("~", rel)
	}
	return path
}

// startable refuses a binding that is known not to run here, before anybody is
// asked for a step that it performs.
func (s substrate) startable(b agents.Binding) error {
	argv := b.Argv(agents.Values{System: "system", Payload: "payload"})
	if len(argv) == 0 {
		return nil // Validate has said so
	}
	if _, other := b.Env["PATH"]; other && !strings.Contains(argv[0], "/") {
		return nil // not known: it is looked up elsewhere
	}
	top := filepath.Dir(s.dir)
	if _, why := transport.Find(argv[0], top, transport.Outside(os.Getenv("PATH"), top)); why != "" {
		return fault.Try(fault.New(fault.Refused, "the program %q of [%s] is missing on this machine: it %s", argv[0], b.Name, why), "satelle agent validate")
	}
	return nil
}
