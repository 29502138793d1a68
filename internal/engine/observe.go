package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cockroachdb/errors"

	"satelle/internal/fault"
	"satelle/internal/spool"
	"satelle/ledger"
	"satelle/workflow"
)

// Bounds of what one command takes of the spool, so that none is slow for what
// others did; the rest is left for the next.
const (
	takeLines   = 500 // in a transaction
	takeBatches = 4
)

// Observe takes what the hooks saw into the ledger, as far as it goes at once.
func (e *Engine) Observe(ctx context.Context) error {
	return e.with(ctx, func(log *ledger.Log) error { return e.take(ctx, log) })
}

// take is Observe on a log that is open. Its lock keeps other takers out, and
// each batch moves the spool's mark in the transaction of its records.
func (e *Engine) take(ctx context.Context, log *ledger.Log) error {
	dir := filepath.Join(filepath.Dir(e.cfg.Path), "spool")
	if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for range takeBatches {
		more, err := e.takeBatch(ctx, log, dir)
		if err != nil || !more {
			return fault.Wrap(err, nil, "taking what the hooks saw into the ledger")
		}
	}
	return nil
}

func (e *Engine) takeBatch(ctx context.Context, log *ledger.Log, dir string) (more bool, err error) {
	head, err := log.Head()
	if err != nil {
		return false, err
	}
	var c workflow.Change
	var b spool.Batch
	now := e.now()
	err = log.View(func(rows ledger.Rows) error {
		st := workflow.NewState(rows)
		if b, err = spool.Read(dir, st.Spool(), takeLines); err != nil {
			return err
		}
		counts, err := spool.Counts(dir, now)
		if err != nil || b.Empty() && len(counts) == 0 {
			return err
		}
		c = st.Observe(b, counts, e.host, now)
		return nil
	})
	if err != nil || len(c.Drafts) == 0 {
		return false, err
	}
	if _, _, err = log.Append(ctx, head.Size, c.Drafts, c.Blobs); err != nil {
		return false, err
	}
	return b.More, spool.Tidy(dir, b.To)
}

// Repeated is a call that was denied again and again.
type Repeated struct {
	Count   int       `json:"count"`
	Tool    string    `json:"tool"`
	Target  string    `json:"target"`
	Session string    `json:"session"`
	Harness string    `json:"harness"`
	Last    time.Time `json:"last"`
}

const (
	// maxDenials is how many of the newest denials are looked at.
	maxDenials = 1000
	// maxRepeated is how many that repeat are named.
	maxRepeated = 10
)

// Repeated returns the calls of a session that were denied more than once since
// a time, the most frequent first.
func (e *Engine) Repeated(ctx context.Context, since time.Time) ([]Repeated, error) {
	type call struct{ session, tool, target string }
	calls := map[call]*Repeated{}
	q := ledger.Query{Kinds: []string{workflow.KindDenied}, Since: since, Reverse: true, Limit: maxDenials}
	err := ledger.Scan(ctx, e.cfg, q, func(r ledger.Record) error {
		var o workflow.Observation
		if json.Unmarshal(r.Body, &o) != nil {
			return nil // of another version
		}
		k := call{r.Actor.Session, o.Tool, o.Target()}
		if calls[k] == nil {
			last, err := time.Parse(time.RFC3339, o.At)
			if err != nil {
				last = r.Time
			}
			calls[k] = &Repeated{Tool: k.tool, Target: k.target, Session: k.session, Harness: r.Actor.Harness, Last: last}
		}
		calls[k].Count++
		return nil
	})
	out := []Repeated{}
	for _, c := range calls {
		if c.Count > 1 {
			out = append(out, *c)
		}
	}
	slices.SortFunc(out, func(a, b Repeated) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last), cmp.Compare(a.Target, b.Target))
	})
	return out[:min(len(out), maxRepeated)], err
}

// maxAppealed bounds how many denials are looked at for the one that an appeal
// is about.
const maxAppealed = 10_000

// Appeal records that the last denial was wrong: that of the session which
// asks, or for a person the last one in the repository.
func (e *Engine) Appeal(ctx context.Context, why, version string) (r ledger.Record, b workflow.Appealed, err error) {
	if err := e.Observe(ctx); err != nil {
		return r, b, err
	}
	actor := e.Actor(ctx)
	denial, err := e.lastDenial(ctx, actor)
	if err != nil {
		return r, b, err
	}
	records, err := e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		return st.Appeal(denial, gateDigest(st.Gate()), version, why, actor)
	})
	if err != nil {
		return r, b, err
	}
	r = records[0]
	return r, b, fault.Wrap(json.Unmarshal(r.Body, &b), fault.Integrity, "reading record %d", r.Seq)
}

func (e *Engine) lastDenial(ctx context.Context, actor ledger.Actor) (denial ledger.Record, err error) {
	q := ledger.Query{Kinds: []string{workflow.KindDenied}, Reverse: true, Limit: maxAppealed}
	err = ledger.Scan(ctx, e.cfg, q, func(r ledger.Record) error {
		if actor.Session != "" && r.Actor.Session != actor.Session {
			return nil
		}
		denial = r
		return errFound
	})
	switch {
	case errors.Is(err, errFound):
		return denial, nil
	case err != nil:
		return denial, err
	case actor.Session != "":
		return denial, fault.Try(fault.New(fault.NotFound, "no call of this session has been denied here"), "satelle ledger list --kind "+workflow.KindDenied)
	}
	return denial, fault.Try(fault.New(fault.NotFound, "no call has been denied here"), "satelle ledger list --kind "+workflow.KindDenied)
}
