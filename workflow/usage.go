package workflow

// Usage is what an agent reported of its spending. A nil field was not
// reported, which is not the same as zero (decision Q07).
type Usage struct {
	// Input are the tokens that were read afresh, without those of the cache.
	Input *int64 `json:"input_tokens,omitempty"`
	// CacheRead and CacheWrite are input tokens that a cache gave or took.
	CacheRead  *int64 `json:"cache_read_tokens,omitempty"`
	CacheWrite *int64 `json:"cache_write_tokens,omitempty"`
	// Output are all tokens that were written, those of reasoning included.
	Output    *int64 `json:"output_tokens,omitempty"`
	Reasoning *int64 `json:"reasoning_tokens,omitempty"`
	// Total is the agent's own sum, where it reports one.
	Total *int64 `json:"total_tokens,omitempty"`
	// CostMicros is the cost in micro-dollars.
	CostMicros *int64 `json:"cost_microusd,omitempty"`
}

// Available reports whether tokens were reported at all.
func (u Usage) Available() bool {
	_, ok := u.Tokens()
	return ok
}

// Tokens is what counts against a budget: the agent's own sum, or else all
// that it named. ok is false where it named nothing.
func (u Usage) Tokens() (n int64, ok bool) {
	if u.Total != nil {
		return *u.Total, true
	}
	for _, part := range []*int64{u.Input, u.CacheRead, u.CacheWrite, u.Output} {
		if part != nil {
			n, ok = n+*part, true
		}
	}
	return n, ok
}
