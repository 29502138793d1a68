package engine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"satelle/internal/fault"
	"satelle/internal/spool"
	"satelle/ledger"
	"satelle/workflow"
)

func (e *Engine) spool() string { return filepath.Join(e.Place.Dir, "spool") }

// saw writes a line as the hook does.
func (e *Engine) saw(t testing.TB, l spool.Line) {
	t.Helper()
	if l.Time = e.now().UnixMilli(); l.Kind == "" {
		l.Kind = spool.Denied
	}
	l.Tool, l.Tree = "Write", "."
	if err := spool.Append(e.spool(), &l); err != nil {
		t.Error(err)
	}
}

// kinds counts the records by kind; a call that is told twice is an error.
func (e *Engine) kinds(t *testing.T) map[string]int {
	t.Helper()
	counts, calls := map[string]int{}, map[string]bool{}
	err := ledger.Scan(t.Context(), e.cfg, ledger.Query{}, func(r ledger.Record) error {
		counts[r.Kind]++
		if r.Kind == workflow.KindDenied || r.Kind == workflow.KindChanges {
			var o workflow.Observation
			if err := json.Unmarshal(r.Body, &o); err != nil {
				return err
			}
			if key := fmt.Sprint(r.Kind, r.Actor.Session, o.ID); o.ID != "" && calls[key] {
				return fmt.Errorf("%s is told twice", key)
			} else {
				calls[key] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// TestDecisionsTakeTheSpool: what the hook saw before a command stands in the
// ledger before what the command decides.
func TestDecisionsTakeTheSpool(t *testing.T) {
	e := newRepo(t)
	e.saw(t, spool.Line{Session: "s", ID: "1"})
	created(t, e, workflow.Fields{})
	at := map[string]uint64{}
	err := ledger.Scan(t.Context(), e.cfg, ledger.Query{Kinds: []string{workflow.KindDenied, workflow.KindCreated}}, func(r ledger.Record) error {
		at[r.Kind] = r.Seq
		return nil
	})
	if err != nil || at[workflow.KindDenied] == 0 || at[workflow.KindDenied] > at[workflow.KindCreated] {
		t.Errorf("%v, %v", at, err)
	}
}

// TestSpoolStopsNoDecision: where the spool can't be taken, commands decide all
// the same, and the ones that show it say so.
func TestSpoolStopsNoDecision(t *testing.T) {
	e := newRepo(t)
	if err := os.MkdirAll(filepath.Join(e.spool(), "lines"), 0o700); err != nil {
		t.Fatal(err)
	}
	created(t, e, workflow.Fields{})
	if err := e.Observe(t.Context()); err == nil {
		t.Error("no error")
	}
	if _, _, err := e.Appeal(t.Context(), "why", "v"); err == nil || fault.Is(err, fault.NotFound) {
		t.Errorf("%v", err)
	}
}

// TestTakesInBounds: one command takes so much and leaves the rest to the next.
func TestTakesInBounds(t *testing.T) {
	e := newRepo(t)
	const lines = takeLines*takeBatches + 300
	for i := range lines {
		e.saw(t, spool.Line{Session: "s", ID: strconv.Itoa(i)})
	}
	for _, want := range []int{takeLines * takeBatches, lines, lines} {
		if err := e.Observe(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := e.kinds(t)[workflow.KindDenied]; got != want {
			t.Fatalf("%d taken, want %d", got, want)
		}
	}
	if n := e.kinds(t)[workflow.KindGap]; n != 0 {
		t.Errorf("%d gaps", n)
	}
	report, err := ledger.Verify(t.Context(), e.cfg, ledger.VerifyOptions{Full: true})
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("%v %v", err, report.Problems)
	}
}

// TestManyTakers lets commands take while hooks write and stories move: each
// line is told once.
func TestManyTakers(t *testing.T) {
	e := newRepo(t)
	const sessions, lines = 4, 60 // as many calls as are remembered: a writer may stand for long
	var writers, takers sync.WaitGroup
	for s := range sessions {
		writers.Go(func() {
			for i := range lines {
				// Two scopes see each call.
				for range 2 {
					e.saw(t, spool.Line{Session: strconv.Itoa(s), ID: strconv.Itoa(i), Kind: spool.Edit})
				}
			}
		})
	}
	done := make(chan struct{})
	for range 3 {
		takers.Go(func() {
			for ended := false; !ended; {
				select {
				case <-done:
					ended = true
				default:
				}
				other := *e
				if err := other.Observe(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	takers.Wait()
	if got := e.kinds(t); got[workflow.KindChanges] != sessions*lines || got[workflow.KindGap] != 0 {
		t.Errorf("%v", got)
	}
}

// TestGapsWait: a number whose writer may live is not held to be missing.
func TestGapsWait(t *testing.T) {
	e := newRepo(t)
	now := time.Now()
	e.now = func() time.Time { return now }
	e.saw(t, spool.Line{Session: "s", ID: "1"})
	count := filepath.Join(e.spool(), "counts", "s-s")
	f, err := os.OpenFile(count, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("."); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{0, 1, 1} {
		if err := e.Observe(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := e.kinds(t)[workflow.KindGap]; got != want {
			t.Errorf("%d gaps, want %d", got, want)
		}
		now = now.Add(2 * time.Minute)
	}
}

func TestRepeated(t *testing.T) {
	e := newRepo(t)
	for i, target := range []string{"a", "b", "a", "c", "a", "b"} {
		e.saw(t, spool.Line{Session: "s", Harness: "claude", ID: strconv.Itoa(i), Targets: []string{target}})
	}
	e.saw(t, spool.Line{Session: "s2", ID: "9", Targets: []string{"c"}})
	e.saw(t, spool.Line{Session: "s", ID: "10", Targets: []string{"c"}, Kind: spool.Edit})
	if err := e.Observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := e.Repeated(t.Context(), time.Time{})
	if err != nil || len(got) != 2 || got[0].Count != 3 || got[0].Target != "a" || got[1].Count != 2 || got[1].Target != "b" || got[0].Harness != "claude" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = e.Repeated(t.Context(), time.Now().Add(time.Hour)); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
