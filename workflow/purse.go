package workflow

import (
	"context"
	"sync"

	"satelle/internal/fault"
)

// mostTokens is where counting ends: whatever an agent reports, the sum stays one.
const mostTokens = 1 << 50

// Purse holds the tokens that the agents of one transition may use together,
// reviewers and performers, with all their failovers and repairs. Nobody is
// started before the purse has set aside what the run is expected to use; what
// it has used is settled afterwards.
//
// Usage that an agent does not report is neither guessed nor counted: then
// count and time bound the work. (Decision Q46.)
//
// Its methods are safe for several goroutines.
type Purse struct {
	mu     sync.Mutex
	budget int64 // 0: no token budget applies
	spent  int64
	aside  int64
	// sizes is what a run of a binding used when it last reported, 0 for a
	// binding that answered and reported nothing.
	sizes map[string]int64
	// settled is closed, and made anew, whenever a reservation ends.
	settled chan struct{}
}

// NewPurse returns a purse for a budget of tokens; 0 means that none applies.
func NewPurse(budget int64) *Purse {
	return &Purse{budget: budget, sizes: map[string]int64{}, settled: make(chan struct{})}
}

// Budget is what the purse was made with.
func (p *Purse) Budget() int64 { return p.budget }

// Spent are the tokens that were reported so far.
func (p *Purse) Spent() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spent
}

// Reserve sets aside what a run of a binding is expected to use: size, or what
// the binding used last where size is 0. A binding of which nothing is known
// takes all that is left, so it runs alone. While others run that may leave
// something over, Reserve waits for them; it refuses where there is nothing to
// wait for.
func (p *Purse) Reserve(ctx context.Context, binding string, size int64) (reserved int64, err error) {
	if p.budget == 0 {
		return 0, nil
	}
	for {
		p.mu.Lock()
		left := p.budget - p.spent - p.aside
		want, known := size, size > 0
		if !known {
			if want, known = p.sizes[binding]; !known {
				want = p.budget - p.spent
			}
		}
		switch {
		case left > 0 && want <= left:
			p.aside += want
			p.mu.Unlock()
			return want, nil
		case p.aside == 0:
			spent := p.spent
			p.mu.Unlock()
			if spent == 0 { // it stays so, until a person says that a run takes less
				return 0, fault.Try(fault.New(fault.Refused, "a run of %s is expected to take %d tokens, as its last one did or as max_tokens of [%s] says; the token budget is %d",
					binding, want, binding, p.budget), "satelle help agent-dispatch")
			}
			return 0, fault.New(fault.Refused, "the token budget is used up: of %d tokens %d are spent, and a run of %s is expected to take %d",
				p.budget, spent, binding, want)
		}
		settled := p.settled
		p.mu.Unlock()
		select {
		case <-settled:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// Settle ends a reservation with what the run reported, and says whether the
// token budget could be applied to it. answered is false for a run that failed:
// that it reported nothing says nothing about the next.
func (p *Purse) Settle(binding string, reserved int64, u Usage, answered bool) (applied bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.aside -= reserved
	tokens, reported := u.Tokens()
	tokens = min(max(tokens, 0), mostTokens)
	if reported {
		p.spent = min(p.spent+tokens, mostTokens)
	}
	if reported && tokens > 0 || answered && !reported {
		p.sizes[binding] = tokens
	}
	close(p.settled)
	p.settled = make(chan struct{})
	return p.budget == 0 || reported
}
