package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever is asked, a scan finds what a filter over all records finds.
func TestScan(t *testing.T) {
	cfg := testConfig(t)
	l := create1(t, cfg)
	for i := range 30 {
		var drafts []Draft
		for j := range 100 {
			n := i*100 + j
			story := ""
			if n%3 > 0 {
				story = fmt.Sprintf("sty_%d", n%7)
			}
			drafts = append(drafts, draft(fmt.Sprintf("kind.k%d", n%5), story, nil))
		}
		appendTo(t, l, drafts)
	}
	all, err := l.Read(0, 10_000)
	must(t, err)
	closeLog(t, l)
	at := func(t *rapid.T, name string) time.Time {
		if rapid.Bool().Draw(t, "with "+name) {
			return all[rapid.IntRange(0, len(all)-1).Draw(t, name)].Time.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "off")) * time.Microsecond)
		}
		return time.Time{}
	}
	rapid.Check(t, func(t *rapid.T) {
		q := Query{
			Story:   rapid.SampledFrom([]string{"", "", "sty_1", "sty_6", "sty_none"}).Draw(t, "story"),
			Kinds:   rapid.SampledFrom([][]string{nil, {"kind.k1"}, {"kind.k4", "kind.k0", "kind.none"}, {KindGenesis}}).Draw(t, "kinds"),
			From:    uint64(rapid.SampledFrom([]int{0, 0, 1, 700, 3001, 9000}).Draw(t, "from")),
			Limit:   rapid.SampledFrom([]int{0, 0, 1, 10, 1500}).Draw(t, "limit"),
			Reverse: rapid.Bool().Draw(t, "reverse"),
			Since:   at(t, "since"), Until: at(t, "until"),
		}
		var want []uint64
		for _, r := range all {
			if (q.Story == "" || r.Story == q.Story) && (q.Kinds == nil || slices.Contains(q.Kinds, r.Kind)) && r.Seq >= q.From &&
				!r.Time.Before(q.Since) && (q.Until.IsZero() || r.Time.Before(q.Until)) {
				want = append(want, r.Seq)
			}
		}
		if q.Reverse {
			slices.Reverse(want)
		}
		if q.Limit > 0 && len(want) > q.Limit {
			want = want[:q.Limit]
		}
		var got []uint64
		if err := Scan(context.Background(), cfg, q, func(r Record) error {
			got = append(got, r.Seq)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v: %d records %v, want %d", q, len(got), got[:min(5, len(got))], len(want))
		}
	})
}

// A scan holds nothing while its caller works, and ends with what was there
// when it began.
func TestScanLetsWriters(t *testing.T) {
	cfg := testConfig(t)
	l := create1(t, cfg)
	for range 3 {
		appendTo(t, l, slices.Repeat([]Draft{draft("a.b", "", nil)}, 900))
	}
	closeLog(t, l)
	n := 0
	must(t, Scan(t.Context(), cfg, Query{}, func(Record) error {
		if n++; n%500 == 0 {
			l := reopen(t, cfg)
			appendTo(t, l, []Draft{draft("a.b", "", nil)})
			closeLog(t, l)
		}
		return nil
	}))
	if n != 2701 {
		t.Errorf("%d records", n)
	}
	stop := errors.New("enough")
	if err := Scan(t.Context(), cfg, Query{}, func(Record) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("err = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Scan(ctx, cfg, Query{}, func(Record) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func TestWatch(t *testing.T) {
	cfg := testConfig(t)
	l := create1(t, cfg)
	appendTo(t, l, []Draft{draft("a.b", "", nil)})
	closeLog(t, l)
	ctx, cancel := context.WithCancel(t.Context())
	seen := make(chan uint64)
	ended := make(chan error)
	go func() {
		ended <- Watch(ctx, cfg, 1, func(r Record) error {
			seen <- r.Seq
			return nil
		})
	}()
	if seq := <-seen; seq != 1 {
		t.Errorf("first %d", seq)
	}
	for want := uint64(2); want < 5; want++ {
		l := reopen(t, cfg)
		appendTo(t, l, []Draft{draft("a.b", "", nil)})
		closeLog(t, l)
		if seq := <-seen; seq != want {
			t.Errorf("%d, want %d", seq, want)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// Whoever appends and redacts while somebody verifies does not look like a
// forger.
func TestVerifyBesideWriter(t *testing.T) {
	cfg := testConfig(t)
	cfg.Clock, cfg.testOnlyRand = nil, nil
	l := create1(t, cfg)
	for range 20 {
		appendTo(t, l, slices.Repeat([]Draft{draft("a.b", "sty_a", nil)}, 1000))
	}
	closeLog(t, l)
	stop, ended := make(chan struct{}), make(chan error)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				ended <- nil
				return
			default:
			}
			l, err := Open(context.Background(), cfg)
			if err != nil {
				ended <- err
				return
			}
			h, err := l.Head()
			if err == nil {
				blob := NewBlob("text/plain", []byte("short-lived"))
				if h, _, err = l.Append(context.Background(), h.Size, []Draft{draft("a.c", "sty_b", map[string]any{"doc": blob.Ref})}, []Blob{blob}); err == nil && n%3 == 0 {
					_, _, err = l.Redact(context.Background(), h.Size, blob.Ref, "", engine)
				}
			}
			if err = errors.Join(err, l.Close()); err != nil {
				ended <- err
				return
			}
		}
	}()
	for range 5 {
		if r, err := Verify(t.Context(), cfg, VerifyOptions{Full: true}); err != nil {
			t.Errorf("%v\n%v", err, r.Problems)
		}
	}
	close(stop)
	must(t, <-ended)
}
