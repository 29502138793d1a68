package workflow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"satelle/internal/fault"
	"satelle/workflow/route"
)

// ErrTimeBudget is the cause of a context that ended because the time budget of
// an attempt policy was used up.
var ErrTimeBudget = errors.New("the time budget is used up")

// Start is one start of an agent.
type Start struct {
	Phase   string // PhaseInitial and so on
	Binding string
	Effort  string // instead of the binding's, unless ""
	// Reason says why this phase, or the failover, came about.
	Reason string
	// Failover says that Binding is the secondary of the one asked first.
	Failover bool
	// Reserved are the tokens set aside for it; 0 where no token budget applies.
	Reserved int64
	// Draft is what was handed back before and Findings is what is wrong with
	// it, in the phases that follow the first.
	Draft    string
	Findings []string
}

// Reply is what came of a start.
type Reply struct {
	Text  string
	Usage Usage
	// Err is why the agent gave no answer, Elsewhere that another binding may.
	Err       error
	Elsewhere bool
}

// Runner starts agents.
type Runner interface {
	// Binding tells the secondary of a binding, "" for none, and how many tokens
	// a run of it is expected to use, 0 if nobody knows.
	Binding(name string) (secondary string, tokens int64)
	// Run records that an agent starts, and starts it once. It returns when
	// nothing of it is left.
	Run(ctx context.Context, s Start) Reply
	// Ended records how a run went. Findings is what is wrong with its answer;
	// budgeted is false where there is a token budget that could not be applied,
	// because the run reported no usage.
	Ended(ctx context.Context, s Start, r Reply, findings []string, budgeted bool) error
}

// Call is one question to an agent: to a binding, and where that can't be
// reached, once to its secondary.
type Call struct {
	Start
	// Validate names what is wrong with an answer; nil: every answer serves.
	Validate func(text string) []string
	// FailedOver is set when the secondary was asked. That happens at most once
	// for all calls that share it.
	FailedOver *bool
	// Left are the starts that are left, failovers included; nil for any number.
	Left *int
}

// Ask puts a question with what is in the purse. It returns the answer and what
// is wrong with it. An error says that there is no answer: the agent's failure, a
// purse that is empty, a record that could not be written.
func (p *Purse) Ask(ctx context.Context, r Runner, c Call) (Reply, []string, error) {
	s := c.Start
	if c.FailedOver == nil {
		c.FailedOver = new(bool)
	}
	for {
		if c.Left != nil {
			if *c.Left <= 0 {
				return Reply{}, nil, fault.New(fault.Refused, "no attempt is left")
			}
			*c.Left--
		}
		secondary, size := r.Binding(s.Binding)
		var err error
		if s.Reserved, err = p.Reserve(ctx, s.Binding, size); err != nil {
			return Reply{}, nil, err
		}
		reply := r.Run(ctx, s)
		budgeted := p.Settle(s.Binding, s.Reserved, reply.Usage, reply.Err == nil)
		var findings []string
		if reply.Err == nil && c.Validate != nil {
			findings = c.Validate(reply.Text)
		}
		if err := r.Ended(ctx, s, reply, findings, budgeted); err != nil {
			return reply, findings, err
		}
		again := reply.Elsewhere && secondary != "" && !*c.FailedOver && (c.Left == nil || *c.Left > 0) && ctx.Err() == nil
		if reply.Err == nil || !again {
			return reply, findings, reply.Err
		}
		*c.FailedOver = true
		s.Reason = fmt.Sprintf("%s could not be reached: %v", s.Binding, reply.Err)
		s.Failover, s.Binding = true, secondary
	}
}

// Perform has a step performed by an agent and returns the document that the
// contract asks for, nil if it asks for none. An invalid document is never
// returned. The policy of the contract bounds the attempts: one, then repairs,
// then the stronger binding or effort; without a policy it is one. The time
// budget is the deadline of ctx, with the cause [ErrTimeBudget].
// (Seed 001, "attempt policy"; failover within an attempt by decision Q58.)
func (p *Purse) Perform(ctx context.Context, r Runner, agent string, contract route.Skill, criteria int) (*Artifact, error) {
	policy := contract.Attempt
	asks := contract.Output != (route.OutputContract{})
	var artifact *Artifact
	call := Call{FailedOver: new(bool)}
	if policy.MaxTotal > 0 {
		left := policy.MaxTotal
		call.Left = &left
	}
	if asks {
		call.Validate = func(text string) (findings []string) {
			artifact, findings = Candidate(contract.Output, criteria, text)
			return findings
		}
	}
	for plan := (attempts{policy: policy, agent: agent}); ; {
		var more bool
		if call.Start, more = plan.next(call.Draft, call.Findings); !more || call.Left != nil && *call.Left <= 0 {
			return nil, exhausted(contract, "after "+count(plan.made-1, "attempt"), call.Findings)
		}
		if err := ctx.Err(); err != nil {
			return nil, exhausted(contract, "", call.Findings, context.Cause(ctx))
		}
		reply, findings, err := p.Ask(ctx, r, call)
		switch {
		case err != nil && errors.Is(context.Cause(ctx), ErrTimeBudget):
			return nil, exhausted(contract, "", call.Findings, ErrTimeBudget)
		case err != nil && len(call.Findings) > 0:
			return nil, exhausted(contract, "", call.Findings, err)
		case err != nil:
			return nil, err
		case len(findings) == 0:
			return artifact, nil
		}
		call.Draft, call.Findings = reply.Text, findings
	}
}

// attempts is the order of the phases.
type attempts struct {
	policy route.AttemptPolicy
	agent  string
	made   int
}

// next plans the attempt that follows on a draft with findings.
func (a *attempts) next(draft string, findings []string) (s Start, ok bool) {
	p := a.policy
	n := a.made
	a.made++
	s = Start{Draft: draft, Findings: findings, Binding: a.agent}
	switch {
	case n == 0:
		s.Phase, s.Effort = PhaseInitial, p.InitialEffort
	case n <= p.RepairMax:
		s.Phase, s.Effort = PhaseRepair, p.RepairEffort
		s.Reason = count(len(findings), "finding")
	case n <= p.RepairMax+p.EscalateMax:
		s.Phase, s.Effort = PhaseEscalate, p.EscalateEffort
		if p.EscalateBinding != "" {
			s.Binding = p.EscalateBinding
		}
		s.Reason = count(len(findings), "finding") + " after " + count(n, "attempt")
	default:
		return s, false
	}
	return s, true
}

// exhausted is why no document came about.
func exhausted(contract route.Skill, when string, findings []string, why ...error) error {
	what := fmt.Sprintf("no valid document %q", contract.Output.Name)
	if when != "" {
		what += " " + when
	}
	if len(findings) > 0 {
		what += ": " + strings.Join(findings, "; ")
	}
	if len(why) > 0 {
		return fault.Wrap(why[0], fault.Refused, "%s", what)
	}
	return fault.New(fault.Refused, "%s", what)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
