package workflow

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"satelle/ledger"
)

// bodyOf is the body of the only record of a change, as it will stand.
func bodyOf(t *testing.T, c Change) map[string]any {
	t.Helper()
	if len(c.Drafts) != 1 || c.Drafts[0].Kind != KindAttempt {
		t.Fatalf("%+v", c.Drafts)
	}
	b, err := json.Marshal(c.Drafts[0].Body)
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(b, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// TestAttemptSaysWhatItWas: the record of an attempt has all that the seed
// asks for, whether tokens were reported or not.
func TestAttemptSaysWhatItWas(t *testing.T) {
	a := Attempt{
		Asked:     Asked{Token: 7, Number: 2, Role: "agent", Phase: PhaseEscalate, Binding: "planner"},
		Interface: "command", Model: "m", Effort: "high", ElapsedMS: 1200, Reason: "AC2 is not covered", Class: "unavailable",
	}
	body := bodyOf(t, State{}.Attempted("sty_1", a, []string{"AC2 is not covered"}, ledger.Actor{}))
	for key, want := range map[string]any{
		"phase": PhaseEscalate, "binding": "planner", "model": "m", "effort": "high", "elapsed_ms": 1200.0, "reason": "AC2 is not covered",
		"class": "unavailable", "number": 2.0, "token": 7.0, "usage_available": false,
	} {
		if body[key] != want {
			t.Errorf("%s is %v, want %v", key, body[key], want)
		}
	}
	if ref, ok := body["findings"].(map[string]any); !ok || ref["digest"] == "" {
		t.Errorf("findings are %v", body["findings"])
	}
}

// TestAttemptNeverMeasuresNothing: what was not reported is no key of the
// record, and a reported zero is one.
func TestAttemptNeverMeasuresNothing(t *testing.T) {
	zero := int64(0)
	keys := []string{
		"input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens", "total_tokens", "cost_microusd",
	}
	for _, tt := range []struct {
		name  string
		usage Usage
		keys  []string
	}{
		{"nothing", Usage{}, nil},
		{"zeros", Usage{Input: &zero, CacheRead: &zero, CacheWrite: &zero, Output: &zero, Reasoning: &zero, Total: &zero, CostMicros: &zero}, keys},
		{"a cost alone", Usage{CostMicros: &zero}, []string{"cost_microusd"}},
		{"tokens alone", Usage{Output: &zero}, []string{"output_tokens"}},
	} {
		body := bodyOf(t, State{}.Attempted("sty_1", Attempt{Usage: tt.usage, UsageAvailable: tt.usage.Available()}, nil, ledger.Actor{}))
		var got []string
		for _, key := range slices.Sorted(maps.Keys(body)) {
			if slices.Contains(keys, key) {
				got = append(got, key)
				if body[key] != 0.0 {
					t.Errorf("%s: %s is %v", tt.name, key, body[key])
				}
			}
		}
		if want := slices.Sorted(slices.Values(tt.keys)); !slices.Equal(got, want) {
			t.Errorf("%s: has %v, want %v", tt.name, got, want)
		}
		tokens := slices.ContainsFunc(tt.keys, func(k string) bool { return k != "cost_microusd" })
		if body["usage_available"] != tokens {
			t.Errorf("%s: usage_available is %v", tt.name, body["usage_available"])
		}
		if _, ok := body["findings"]; ok {
			t.Errorf("%s: findings of nothing", tt.name)
		}
	}
}
