package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"satelle/agents"
	"satelle/agents/transport"
	"satelle/agents/verdict"
	"satelle/internal/fault"
	"satelle/workflow"
)

// reviewer asks agents for verdicts. It implements [workflow.Reviewer].
type reviewer struct{ d *dispatcher }

// Review implements [workflow.Reviewer]: one call, and one more where the
// answer is no verdict. An accept that was given on exactly the same grounds is
// taken again without a call.
func (r reviewer) Review(ctx context.Context, q workflow.Question) (workflow.Verdict, error) {
	name := cmp.Or(q.Judge.Agent, agents.Reviewer)
	bound, err := r.grounds(name, q)
	if err != nil {
		return workflow.Verdict{}, err
	}
	if a, ok := r.d.story.Accepts[q.Judge.Skill]; ok && a.Bound == bound {
		fmt.Fprintf(r.d.progress, "%s: accept, kept from record %d\n", q.Judge.Skill, a.Seq)
		return workflow.Verdict{
			Decision: workflow.Accept, Binding: name, Bound: bound, Reused: a.Seq,
			Notes: fmt.Sprintf("accepted in record %d, of the very same story, change, rubric and reviewer", a.Seq),
		}, nil
	}
	principles, err := r.d.e.sub.principles()
	if err != nil {
		return workflow.Verdict{}, err
	}
	var answer verdict.Answer
	charter := verdict.Charter{Skill: q.Judge.Skill, Rubric: q.Skill.Body, Form: verdict.Form{Partial: q.Partial}}
	b := brief{
		role: agents.RoleReviewer, binding: name, skill: q.Judge.Skill, phase: workflow.PhaseInitial, payload: q.Payload,
		// Each start has a nonce of its own, the secondary's too: what one agent
		// was told serves no other.
		compose: func(b agents.Binding, _ workflow.Start) string {
			charter.Principles = nil
			if b.Principles != agents.PrinciplesNone {
				charter.Principles = principles
			}
			charter.Form.Nonce = verdict.Nonce()
			return charter.System()
		},
		validate: func(text string) []string {
			var err error
			if answer, err = charter.Form.Parse(text); err != nil {
				return []string{err.Error()}
			}
			return nil
		},
		failedOver: new(bool),
	}
	if asked, ok := r.d.file.Binding(name); ok {
		fmt.Fprintf(r.d.progress, "asking %s to judge by %s (at most %s)\n", name, q.Judge.Skill, asked.Timeout)
	}
	begin := time.Now()
	a, err := r.d.ask(ctx, b)
	if err == nil && len(a.findings) > 0 {
		b.phase, b.reason = workflow.PhaseRepair, a.findings[0]
		charter.Before, charter.Wrong = a.text, a.findings[0]
		a, err = r.d.ask(ctx, b)
	}
	v := workflow.Verdict{Binding: name, Elapsed: time.Since(begin)}
	switch {
	case err != nil:
		return v, fault.Try(fault.Wrap(err, nil, "the reviewer [%s] gave no verdict", name), r.leadsOn(err))
	case len(a.findings) > 0:
		return v, fault.Try(fault.New(fault.Refused, "the reviewer [%s] gave no verdict, asked twice: %s", name, a.findings[0]), "satelle help reviewer-checks")
	}
	fmt.Fprintf(r.d.progress, "%s: %s after %s\n", q.Judge.Skill, answer.Decision, v.Elapsed.Round(time.Millisecond))
	v.Decision, v.Notes, v.Bound = answer.Decision, r.d.rules.String(answer.Notes), bound
	return v, nil
}

// leadsOn is the command after a reviewer that could not be heard, unless the error
// names one itself.
func (r reviewer) leadsOn(err error) string {
	var failed *transport.Failure
	if try := fault.TryOf(err); try != "" || !errors.As(err, &failed) {
		return cmp.Or(try, "satelle story route "+r.d.story.ID)
	}
	switch failed.Class {
	case transport.Missing:
		return "satelle agent validate"
	case transport.Auth:
		return "satelle help global-agents"
	}
	return "satelle story set " + r.d.story.ID + " --status " + r.d.story.Transition.To // asks only who has not accepted
}

// grounds is the digest of all that an accept rests on: rubric, payload,
// reviewer and content. Of secrets it knows the names alone.
func (r reviewer) grounds(name string, q workflow.Question) (string, error) {
	binding, ok := r.d.file.Binding(name)
	if !ok {
		return "", fault.Try(fault.New(fault.Refused, "%s has no [%s] to review by %q", agentsFile, name, q.Judge.Skill), "satelle agent validate")
	}
	payload := sha256.Sum256(q.Payload)
	b, err := json.Marshal(struct {
		Skill, Rubric, Payload, Tree string
		Binding                      agents.Binding
		// Executes has the repository's values of [vars] that come into it.
		Executes string
	}{q.Judge.Skill, q.Judge.Digest, hex.EncodeToString(payload[:]), r.d.story.Transition.Tree, binding, r.d.file.Executes(binding, r.d.vars)})
	if err != nil {
		return "", fault.Wrap(err, nil, "summing up what an accept rests on")
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
