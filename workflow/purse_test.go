package workflow

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

func tokens(n int64) Usage { return Usage{Total: &n} }

// TestPurse holds the law of a purse under any order of starts and ends: what is
// spent and what is set aside never exceed the budget when a run starts.
func TestPurse(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel() // who would have to wait is told so
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.Int64Range(1, 100).Draw(t, "budget")
		p := NewPurse(budget)
		type run struct {
			binding  string
			reserved int64
		}
		var runs []run
		var spent int64
		t.Repeat(map[string]func(*rapid.T){
			"start": func(t *rapid.T) {
				binding := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "binding")
				size := rapid.SampledFrom([]int64{0, 0, 1, 10, 60, 200}).Draw(t, "size")
				reserved, err := p.Reserve(gone, binding, size)
				if errors.Is(err, context.Canceled) {
					if len(runs) == 0 {
						t.Fatalf("it waits for nobody")
					}
					return
				}
				if err != nil {
					return
				}
				runs = append(runs, run{binding, reserved})
				aside := int64(0)
				for _, r := range runs {
					aside += r.reserved
				}
				if spent >= budget || spent+aside > budget {
					t.Fatalf("started with %d spent and %d set aside of %d", spent, aside, budget)
				}
			},
			"end": func(t *rapid.T) {
				if len(runs) == 0 {
					return
				}
				i := rapid.IntRange(0, len(runs)-1).Draw(t, "run")
				var u Usage
				if rapid.Bool().Draw(t, "reports") {
					n := rapid.Int64Range(-5, 150).Draw(t, "tokens")
					u = tokens(n)
					spent += max(n, 0)
				}
				p.Settle(runs[i].binding, runs[i].reserved, u, rapid.Bool().Draw(t, "answered"))
				runs = append(runs[:i], runs[i+1:]...)
				if p.Spent() != spent {
					t.Fatalf("spent %d, told %d", spent, p.Spent())
				}
			},
		})
	})
}

// TestUnknownSizeRunsAlone: of whom nothing is known takes all, and the next
// waits for what is left over.
func TestUnknownSizeRunsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPurse(100)
		first, err := p.Reserve(t.Context(), "a", 0)
		if err != nil || first != 100 {
			t.Fatalf("%d, %v", first, err)
		}
		got := make(chan int64)
		go func() {
			n, err := p.Reserve(t.Context(), "a", 0)
			if err != nil {
				t.Error(err)
			}
			got <- n
		}()
		synctest.Wait()
		select {
		case n := <-got:
			t.Fatalf("it did not wait: %d", n)
		default:
		}
		if !p.Settle("a", first, tokens(30), true) {
			t.Error("the budget was not applied")
		}
		if n := <-got; n != 30 {
			t.Errorf("reserved %d, want the last known size", n)
		}
	})
}

// TestPurseUnreported: what nobody reports is neither guessed nor counted.
func TestPurseUnreported(t *testing.T) {
	p := NewPurse(100)
	for range 5 {
		n, err := p.Reserve(t.Context(), "a", 0)
		if err != nil {
			t.Fatal(err)
		}
		if p.Settle("a", n, Usage{}, true) {
			t.Error("the budget is said to be applied")
		}
	}
	if p.Spent() != 0 {
		t.Errorf("spent %d", p.Spent())
	}
	// A binding that reports nothing does not keep others waiting.
	if n, err := p.Reserve(t.Context(), "a", 0); err != nil || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := p.Reserve(t.Context(), "b", 100); err != nil || n != 100 {
		t.Errorf("%d, %v", n, err)
	}
}

func TestPurseCountsNoFurther(t *testing.T) {
	p := NewPurse(mostTokens)
	for range 3 {
		p.Settle("a", 0, tokens(1<<62), true)
	}
	if _, err := p.Reserve(t.Context(), "a", 1); err == nil {
		t.Error("a sum that overflows buys more")
	}
}
