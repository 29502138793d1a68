package engine

import (
	"cmp"
	"context"
	"encoding/json"

	"satelle/agents"
	"satelle/internal/fault"
	"satelle/workflow"
)

// reviewer asks agents for verdicts. It implements [workflow.Reviewer].
type reviewer struct{ d *dispatcher }

// Review implements [workflow.Reviewer].
func (r reviewer) Review(ctx context.Context, q workflow.Question) (workflow.Verdict, error) {
	a, err := r.d.ask(ctx, brief{
		role: agents.RoleReviewer, binding: cmp.Or(q.Judge.Agent, agents.Reviewer), skill: q.Judge.Skill,
		phase: workflow.PhaseInitial, system: q.Skill.Body, payload: q.Payload,
	})
	if err != nil {
		return workflow.Verdict{}, err
	}
	var v workflow.Verdict
	if err := json.Unmarshal([]byte(a.text), &v); err != nil {
		return v, fault.New(fault.Refused, "the reviewer's answer is no verdict")
	}
	return v, nil
}
