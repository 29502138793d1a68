package workflow

import (
	"context"
	"sync"

	"satelle/internal/fault"
	"satelle/workflow/route"
)

// Question is what a judge is asked.
type Question struct {
	Judge Judge
	Skill route.Skill
	// Payload is the work item as JSON, Partial says that it was cut.
	Payload []byte
	Partial bool
}

// Checker runs functional checks. An implementation runs the check in the
// work tree, bounded in time and output, and reports a check that could not
// run as an error: it counts as a reject.
type Checker interface {
	Check(ctx context.Context, q Question) (Verdict, error)
}

// Reviewer asks an agent. An implementation gives it a fresh context and
// nothing that can write, and reports an answer that is no verdict as an
// error: it counts as a reject.
type Reviewer interface {
	Review(ctx context.Context, q Question) (Verdict, error)
}

// fanOut is how many reviewers run at once where a step does not say.
const fanOut = 4

// Ask puts the questions and returns the verdicts in the order of the
// questions. Checks are asked first, one after the other: if a mandatory one
// rejects, no reviewer is started, for reviewers cost money. Reviewers run
// concurrently, at most parallel at once; parallel 0 asks them one by one and
// stops at the first reject, a nil one means the default of 4. A nil reviewer
// rejects. (Seed 001, "Multi-reviewer steps"; order by decision Q15.)
func Ask(ctx context.Context, questions []Question, parallel *int, c Checker, r Reviewer) []Verdict {
	answers := make([]*Verdict, len(questions))
	stop := false
	for i, q := range questions {
		if q.Judge.Kind != route.KindCheck {
			continue
		}
		v, err := c.Check(ctx, q)
		answers[i] = answer(q, v, err)
		stop = stop || answers[i].refuses(q.Judge)
	}
	if !stop {
		review(ctx, questions, answers, parallel, r)
	}
	var out []Verdict
	for _, a := range answers {
		if a != nil {
			out = append(out, *a)
		}
	}
	return out
}

func review(ctx context.Context, questions []Question, answers []*Verdict, parallel *int, r Reviewer) {
	limit := fanOut
	if parallel != nil {
		limit = max(*parallel, 1)
	}
	oneByOne := parallel != nil && *parallel == 0
	slots := make(chan struct{}, limit)
	var wg sync.WaitGroup
	for i, q := range questions {
		if q.Judge.Kind != route.KindRubric {
			continue
		}
		if r == nil {
			answers[i] = answer(q, Verdict{Decision: Reject, Notes: "no agent is set up to review"}, nil)
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			v, err := r.Review(ctx, q)
			answers[i] = answer(q, v, err)
		})
		if oneByOne {
			wg.Wait()
			if answers[i].refuses(q.Judge) {
				return
			}
		}
	}
	wg.Wait()
}

func answer(q Question, v Verdict, err error) *Verdict {
	v.Skill = q.Judge.Skill
	if err != nil {
		v.Decision, v.Notes, v.Try = Reject, err.Error(), fault.TryOf(err)
	}
	if v.Decision != Accept {
		v.Decision = Reject
	}
	return &v
}
