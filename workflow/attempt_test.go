package workflow

import (
	"context"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"satelle/workflow/route"
)

// stage plays agents from a script and notes what is asked of them.
type stage struct {
	secondary map[string]string
	size      map[string]int64
	replies   func(s Start) Reply
	starts    []Start
	ended     []Reply
	found     [][]string
	unbounded int // runs to which the token budget could not be applied
}

func (g *stage) Binding(name string) (string, int64) { return g.secondary[name], g.size[name] }

func (g *stage) Run(_ context.Context, s Start) Reply {
	g.starts = append(g.starts, s)
	return g.replies(s)
}

func (g *stage) Ended(_ context.Context, _ Start, r Reply, findings []string, budgeted bool) error {
	g.ended = append(g.ended, r)
	g.found = append(g.found, findings)
	if !budgeted {
		g.unbounded++
	}
	return nil
}

// outline is the starts in words: phase, binding, effort.
func (g *stage) outline() string {
	var words []string
	for _, s := range g.starts {
		w := s.Phase + ":" + s.Binding
		if s.Effort != "" {
			w += "/" + s.Effort
		}
		if s.Failover {
			w += "!"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

var (
	errBusy   = errors.New("429")
	errBroken = errors.New("exit 1")
)

// The replies of scripts, a letter each: v is a valid answer, i an invalid one, r
// a rate limit, f any other failure.
func letters(script string) func(Start) Reply {
	return func(Start) Reply {
		c := byte('i')
		if script != "" {
			c, script = script[0], script[1:]
		}
		switch c {
		case 'v':
			return Reply{Text: `{"artifact":{"name":"plan","type":"plan","body":"x"}}`}
		case 'r':
			return Reply{Err: errBusy, Elsewhere: true}
		case 'f':
			return Reply{Err: errBroken}
		}
		return Reply{Text: "draft " + script}
	}
}

func contractOf(p route.AttemptPolicy) route.Skill {
	p.OnExhaust = "fail"
	return route.Skill{Name: "plan", Output: route.OutputContract{Name: "plan", Type: "plan", Schema: "body", Required: true}, Attempt: p}
}

func TestPerform(t *testing.T) {
	strong := func(repair, escalate, total int) route.AttemptPolicy {
		return route.AttemptPolicy{
			RepairMax: repair, EscalateMax: escalate, MaxTotal: total, EscalateBinding: "strong",
			InitialEffort: "low", RepairEffort: "medium", EscalateEffort: "high",
		}
	}
	for _, tt := range []struct {
		name   string
		policy route.AttemptPolicy
		script string
		asked  string
		err    string // "" is a document
	}{
		{"no policy, valid", route.AttemptPolicy{}, "v", "initial:a", ""},
		{"no policy, invalid", route.AttemptPolicy{}, "iv", "initial:a", "after 1 attempt:"},
		{"valid at once", strong(2, 2, 5), "v", "initial:a/low", ""},
		{"repaired", strong(1, 1, 3), "iv", "initial:a/low repair:a/medium", ""},
		{"repaired at the second try", strong(2, 0, 3), "iiv", "initial:a/low repair:a/medium repair:a/medium", ""},
		{"escalated after repairs", strong(2, 1, 5), "iiiv", "initial:a/low repair:a/medium repair:a/medium escalate:strong/high", ""},
		{"escalated without repairs", strong(0, 2, 3), "iiv", "initial:a/low escalate:strong/high escalate:strong/high", ""},
		{"effort alone escalates", route.AttemptPolicy{EscalateMax: 1, EscalateEffort: "high"}, "iv", "initial:a escalate:a/high", ""},
		{"repairs of 0", strong(0, 0, 1), "iv", "initial:a/low", "after 1 attempt:"},
		{"repairs of 1", strong(1, 0, 9), "iiiii", "initial:a/low repair:a/medium", "after 2 attempts"},
		{"the total bounds all", strong(5, 5, 3), "iiiiiiii", "initial:a/low repair:a/medium repair:a/medium", "after 3 attempts"},
		{"exhausted", strong(1, 1, 3), "iiii", "initial:a/low repair:a/medium escalate:strong/high", "after 3 attempts"},

		{"failover", route.AttemptPolicy{}, "rv", "initial:a initial:b!", ""},
		{"failover once", route.AttemptPolicy{}, "rrv", "initial:a initial:b!", "429"},
		{"no failover of another failure", strong(2, 2, 9), "fv", "initial:a/low", "exit 1"},
		{"the secondary has nobody behind it", route.AttemptPolicy{}, "rfv", "initial:a initial:b!", "exit 1"},
		{"the next attempt is its phase's binding's", strong(1, 0, 9), "riv", "initial:a/low initial:b/low! repair:a/medium", ""},
		{"one failover for all attempts", strong(1, 0, 9), "rirv", "initial:a/low initial:b/low! repair:a/medium", "429"},
		{"a rate limit does not escalate", strong(0, 1, 9), "rrv", "initial:a/low initial:b/low!", "429"},
		{"the stronger one fails over to its own", strong(0, 1, 9), "irv", "initial:a/low escalate:strong/high escalate:c/high!", ""},
		{"a failover counts in the total", strong(1, 1, 3), "rii", "initial:a/low initial:b/low! repair:a/medium", "after 2 attempts"},
		{"no failover beyond the total", strong(0, 0, 1), "rv", "initial:a/low", "429"},
		{"a failure in a repair", strong(2, 2, 9), "ifv", "initial:a/low repair:a/medium", "exit 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &stage{secondary: map[string]string{"a": "b", "strong": "c"}, replies: letters(tt.script)}
			doc, err := NewPurse(0).Perform(t.Context(), g, "a", contractOf(tt.policy), 0)
			if got := g.outline(); got != tt.asked {
				t.Errorf("asked %s\nwant  %s", got, tt.asked)
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("err = %v, want %q", err, tt.err)
			}
			if (doc != nil) != (tt.err == "") {
				t.Errorf("document %v", doc)
			}
			if len(g.ended) != len(g.starts) {
				t.Errorf("%d starts, %d ends", len(g.starts), len(g.ended))
			}
			for i, r := range g.ended { // each candidate was validated
				if want := r.Err == nil && !strings.Contains(r.Text, "artifact"); (len(g.found[i]) > 0) != want {
					t.Errorf("candidate %d: %q has the findings %q", i, r.Text, g.found[i])
				}
			}
		})
	}
}

func TestNoSecondary(t *testing.T) {
	g := &stage{replies: letters("rv")}
	_, err := NewPurse(0).Perform(t.Context(), g, "a", contractOf(route.AttemptPolicy{}), 0)
	if !errors.Is(err, errBusy) || g.outline() != "initial:a" {
		t.Errorf("%s: %v", g.outline(), err)
	}
}

func TestRepairIsGivenAll(t *testing.T) {
	contract := contractOf(route.AttemptPolicy{RepairMax: 1})
	contract.Output.ACCoverage = true
	draft := `{"artifact":{"name":"note","type":"note","body":"nothing"}}`
	g := &stage{replies: func(Start) Reply { return Reply{Text: draft} }}
	if _, err := NewPurse(0).Perform(t.Context(), g, "a", contract, 1); err == nil {
		t.Fatal("an invalid document was taken")
	}
	if len(g.starts) != 2 {
		t.Fatalf("asked %s", g.outline())
	}
	first, repair := g.starts[0], g.starts[1]
	if first.Draft != "" || len(first.Findings) > 0 {
		t.Errorf("the first attempt was given %q", first.Draft)
	}
	if repair.Draft != draft || len(repair.Findings) != 3 || repair.Reason != "3 findings" {
		t.Errorf("%+v", repair)
	}
}

// TestNoContract: a step that hands nothing back is performed once, and what the
// agent says is its own.
func TestNoContract(t *testing.T) {
	for script, want := range map[string]error{"i": nil, "v": nil, "f": errBroken} {
		g := &stage{replies: letters(script)}
		doc, err := NewPurse(0).Perform(t.Context(), g, "a", route.Skill{}, 3)
		if doc != nil || !errors.Is(err, want) || len(g.starts) != 1 {
			t.Errorf("%s: %v, %v, %d starts", script, doc, err, len(g.starts))
		}
	}
}

func TestTokenBudget(t *testing.T) {
	policy := route.AttemptPolicy{RepairMax: 5, TokenBudget: 12000}
	for _, tt := range []struct {
		name   string
		size   int64
		used   int64 // below 0: not reported
		starts int
		err    string
	}{
		{"7000 of 12000 twice, expected at 5000", 5000, 7000, 2, "of 12000 tokens 14000 are spent"},
		{"7000 of 12000, of a size that was not told", 0, 7000, 1, "of 12000 tokens 7000 are spent, and a run of a is expected to take 7000"},
		{"small ones", 0, 1000, 6, "after 6 attempts"},
		{"not reported", 0, -1, 6, "after 6 attempts"},
		{"expected to take too much", 20000, 1, 0, "expected to take 20000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &stage{size: map[string]int64{"a": tt.size}, replies: func(Start) Reply {
				r := Reply{Text: "no"}
				if tt.used >= 0 {
					r.Usage = tokens(tt.used)
				}
				return r
			}}
			_, err := NewPurse(policy.TokenBudget).Perform(t.Context(), g, "a", contractOf(policy), 0)
			if len(g.starts) != tt.starts || err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%d starts, %v", len(g.starts), err)
			}
			if want := tt.used < 0; len(g.starts) > 0 && (g.unbounded == len(g.starts)) != want {
				t.Errorf("the budget did not apply to %d of %d", g.unbounded, len(g.starts))
			}
		})
	}
}

func TestTimeAndCancel(t *testing.T) {
	for name, cause := range map[string]error{"the time budget": ErrTimeBudget, "a cancellation": context.Canceled} {
		t.Run(name, func(t *testing.T) {
			ctx, end := context.WithCancelCause(t.Context())
			g := &stage{secondary: map[string]string{"a": "b"}}
			g.replies = func(Start) Reply {
				end(cause)
				return Reply{Err: errBusy, Elsewhere: true} // whatever the agent says of it
			}
			_, err := NewPurse(0).Perform(ctx, g, "a", contractOf(route.AttemptPolicy{RepairMax: 5, EscalateMax: 5}), 0)
			if err == nil || len(g.starts) != 1 {
				t.Errorf("%s: %v", g.outline(), err)
			}
			if cause == ErrTimeBudget && !errors.Is(err, ErrTimeBudget) {
				t.Errorf("err = %v", err)
			}
		})
		t.Run(name+" between attempts", func(t *testing.T) {
			ctx, end := context.WithCancelCause(t.Context())
			g := &stage{replies: func(Start) Reply {
				end(cause)
				return Reply{Text: "no"}
			}}
			_, err := NewPurse(0).Perform(ctx, g, "a", contractOf(route.AttemptPolicy{RepairMax: 5}), 0)
			if err == nil || len(g.starts) != 1 {
				t.Errorf("%s: %v", g.outline(), err)
			}
		})
	}
}

// TestPolicyHolds drives one transition at random, reviewers first, and holds:
// nothing is started beyond the budget or the counts, every start has an end, and
// only a valid document comes out.
func TestPolicyHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := route.AttemptPolicy{
			RepairMax:   rapid.IntRange(0, 3).Draw(t, "repair"),
			EscalateMax: rapid.IntRange(0, 3).Draw(t, "escalate"),
			MaxTotal:    rapid.IntRange(0, 5).Draw(t, "total"),
			TokenBudget: rapid.Int64Range(0, 100).Draw(t, "budget"),
		}
		if rapid.Bool().Draw(t, "stronger") {
			policy.EscalateBinding = "strong"
		}
		budget := policy.TokenBudget
		g := &stage{secondary: map[string]string{}, size: map[string]int64{}}
		for _, name := range []string{"a", "strong", "judge"} {
			if rapid.Bool().Draw(t, name+" has a secondary") {
				g.secondary[name] = "second"
			}
			g.size[name] = rapid.SampledFrom([]int64{0, 5, 30, 120}).Draw(t, name+"'s size")
		}
		var spent int64
		g.replies = func(s Start) Reply {
			if budget > 0 && (spent >= budget || spent+s.Reserved > budget) {
				t.Fatalf("%s started with %d reserved and %d spent of %d", s.Binding, s.Reserved, spent, budget)
			}
			r := letters(rapid.SampledFrom([]string{"v", "i", "i", "r", "f"}).Draw(t, "reply"))(s)
			if rapid.Bool().Draw(t, "reports") {
				n := rapid.Int64Range(0, 60).Draw(t, "used")
				r.Usage, spent = tokens(n), spent+n
			}
			return r
		}
		purse := NewPurse(budget)
		for i := range rapid.IntRange(0, 3).Draw(t, "reviewers") {
			before := len(g.starts)
			_, _, _ = purse.Ask(context.Background(), g, Call{Start: Start{Phase: PhaseInitial, Binding: "judge"}})
			if n := len(g.starts) - before; n > 2 {
				t.Fatalf("reviewer %d was started %d times", i, n)
			}
		}
		before := len(g.starts)
		doc, err := purse.Perform(context.Background(), g, "a", contractOf(policy), 0)
		if (doc == nil) == (err == nil) {
			t.Fatalf("%v with %v", doc, err)
		}
		if len(g.ended) != len(g.starts) {
			t.Fatalf("%d starts, %d ends", len(g.starts), len(g.ended))
		}
		counted(t, policy, g.starts[before:])
		if doc != nil && (len(g.found[len(g.found)-1]) > 0 || g.ended[len(g.ended)-1].Err != nil) {
			t.Fatal("what is invalid was taken")
		}
	})
}

// counted holds the starts of a performer against its policy.
func counted(t *rapid.T, p route.AttemptPolicy, starts []Start) {
	rank := map[string]int{PhaseInitial: 0, PhaseRepair: 1, PhaseEscalate: 2}
	most := []int{1, p.RepairMax, p.EscalateMax}
	var made [3]int
	failovers, last := 0, 0
	for _, s := range starts {
		now := rank[s.Phase]
		if now < last {
			t.Fatalf("%s after a later phase", s.Phase)
		}
		last = now
		if s.Failover {
			failovers++
			continue
		}
		if made[now]++; made[now] > most[now] {
			t.Fatalf("%s for the %dth time", s.Phase, made[now])
		}
		if want := (now == 2 && p.EscalateBinding != ""); (s.Binding == "strong") != want {
			t.Fatalf("%s by %s", s.Phase, s.Binding)
		}
	}
	if made[2] > 0 && made[1] < p.RepairMax {
		t.Fatal("escalated before the repairs were made")
	}
	if failovers > 1 || p.MaxTotal > 0 && len(starts) > p.MaxTotal {
		t.Fatalf("%d starts, %d of them failovers", len(starts), failovers)
	}
}
