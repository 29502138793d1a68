package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow"
)

// Spend sums attempts. What no attempt reported is absent and not zero
// (decision Q07).
type Spend struct {
	Attempts int `json:"attempts"`
	Failures int `json:"failures"`
	// Unreported attempts were started and never told how they ended.
	Unreported int   `json:"unreported,omitempty"`
	ElapsedMS  int64 `json:"elapsed_ms"`

	Tokens     *int64 `json:"tokens,omitempty"`
	Input      *int64 `json:"input_tokens,omitempty"` // those of caches included
	Output     *int64 `json:"output_tokens,omitempty"`
	CostMicros *int64 `json:"cost_microusd,omitempty"`
	// CostCents rounds each attempt up to a cent and then adds (decision Q08).
	CostCents *int64 `json:"cost_cents,omitempty"`
	// UsageUnknown and CostUnknown are the attempts that are in no sum.
	UsageUnknown int `json:"usage_unknown"`
	CostUnknown  int `json:"cost_unknown"`
}

// microsPerCent is how many micro-dollars a cent has.
const microsPerCent = 10_000

func (s *Spend) add(a workflow.Attempt) {
	s.Attempts++
	if a.Class != "" {
		s.Failures++
	}
	s.ElapsedMS += a.ElapsedMS
	if n, ok := a.Usage.Tokens(); ok {
		plus(&s.Tokens, n)
		for _, part := range []*int64{a.Usage.Input, a.Usage.CacheRead, a.Usage.CacheWrite} {
			if part != nil {
				plus(&s.Input, *part)
			}
		}
		if a.Usage.Output != nil {
			plus(&s.Output, *a.Usage.Output)
		}
	} else {
		s.UsageUnknown++
	}
	if c := a.Usage.CostMicros; c != nil {
		plus(&s.CostMicros, *c)
		plus(&s.CostCents, (*c+microsPerCent-1)/microsPerCent)
	} else {
		s.CostUnknown++
	}
}

// lost counts an attempt of which nothing was reported.
func (s *Spend) lost() {
	s.Attempts++
	s.Failures++
	s.Unreported++
	s.UsageUnknown++
	s.CostUnknown++
}

func plus(sum **int64, n int64) {
	if *sum == nil {
		*sum = new(int64)
	}
	**sum += n
}

// Cost is what the agents of a story have spent.
type Cost struct {
	Story string      `json:"story"`
	Rows  []CostOfOne `json:"rows"`
	Total Spend       `json:"total"`
}

// CostOfOne is what was spent for one step in one phase by one binding.
type CostOfOne struct {
	// Step is the one that the transition led to.
	Step    string `json:"step"`
	Role    string `json:"role"`
	Phase   string `json:"phase"`
	Binding string `json:"binding"`
	Model   string `json:"model,omitempty"`
	Spend
}

// asked names an attempt of a story.
type asked struct {
	token  uint64
	number int
}

// Cost sums the attempts of a story, from its records; those of its children
// are not in it.
func (e *Engine) Cost(ctx context.Context, id string) (Cost, error) {
	c := Cost{Story: id, Rows: []CostOfOne{}}
	s, err := e.Story(ctx, id)
	if err != nil {
		return c, err
	}
	steps := map[uint64]string{}
	open := map[asked]workflow.Asked{}
	row := func(a workflow.Asked, model string) *Spend {
		key := CostOfOne{Step: steps[a.Token], Role: a.Role, Phase: a.Phase, Binding: a.Binding, Model: model}
		i := slices.IndexFunc(c.Rows, func(r CostOfOne) bool {
			r.Spend = Spend{}
			return r == key
		})
		if i < 0 {
			i, c.Rows = len(c.Rows), append(c.Rows, key)
		}
		return &c.Rows[i].Spend
	}
	q := ledger.Query{Story: id, Kinds: []string{workflow.KindRequested, workflow.KindAsked, workflow.KindAttempt}}
	err = ledger.Scan(ctx, e.cfg, q, func(r ledger.Record) error {
		switch r.Kind {
		case workflow.KindRequested:
			var t workflow.Transition
			if err := body(r, &t); err != nil {
				return err
			}
			steps[r.Seq] = t.To
		case workflow.KindAsked:
			var a workflow.Asked
			if err := body(r, &a); err != nil {
				return err
			}
			open[asked{a.Token, a.Number}] = a
		case workflow.KindAttempt:
			var a workflow.Attempt
			if err := body(r, &a); err != nil {
				return err
			}
			delete(open, asked{a.Token, a.Number})
			row(a.Asked, a.Model).add(a)
			c.Total.add(a)
		}
		return nil
	})
	for _, key := range ordered(open) {
		if s.Transition != nil && s.Transition.Token == key.token {
			continue // it still runs
		}
		row(open[key], "").lost()
		c.Total.lost()
	}
	return c, err
}

func ordered(open map[asked]workflow.Asked) []asked {
	var keys []asked
	for k := range open {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b asked) int {
		return cmp.Or(cmp.Compare(a.token, b.token), cmp.Compare(a.number, b.number))
	})
	return keys
}

// body reads a record's body.
func body(r ledger.Record, into any) error {
	return fault.Wrap(json.Unmarshal(r.Body, into), fault.Integrity, "reading record %d", r.Seq)
}
