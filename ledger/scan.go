package ledger

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"
	bolt "go.etcd.io/bbolt"

	"satelle/internal/fault"
	"satelle/ledger/seatread"
)

// chunk is how many records a long read looks at before it lets others have
// the ledger: about ten milliseconds' worth.
const chunk = 1000

// watchPoll is how often Watch looks for a new head. A look takes no lock.
const watchPoll = 200 * time.Millisecond

// A Query picks records. The zero Query picks all, oldest first.
type Query struct {
	Story   string
	Kinds   []string  // any of these
	Since   time.Time // not before
	Until   time.Time // before
	From    uint64    // the lowest position
	Limit   int       // 0: no limit
	Reverse bool      // newest first, so that Limit keeps the newest
}

// Scan calls fn for the records that q picks, until fn returns an error. It
// reads in chunks and holds the ledger for none of the calls; records that are
// appended meanwhile are left out.
func Scan(ctx context.Context, cfg Config, q Query, fn func(Record) error) error {
	s := scan{q: q}
	for n := 0; !s.done; {
		records, err := s.next(ctx, cfg)
		if err != nil {
			return fault.Wrap(err, nil, "reading the ledger")
		}
		for i := range records {
			if err := fn(records[i]); err != nil {
				return err
			}
			if n++; n == q.Limit {
				return nil
			}
		}
	}
	return nil
}

// A scan is a position in the answer to a query.
type scan struct {
	q         Query
	begun     bool
	done      bool
	low, high uint64 // the positions still to be looked at: low ≤ seq < high
}

// next returns the records of one chunk.
func (s *scan) next(ctx context.Context, cfg Config) (out []Record, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cfg.Projection = nil // whatever version the rows have, they are not read
	l, err := open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	err = l.view(func(tx *bolt.Tx) error {
		if !s.begun {
			if err := s.begin(tx); err != nil {
				return err
			}
		}
		out, err = s.chunk(tx)
		return err
	})
	return out, either(err, l.Close())
}

func (s *scan) begin(tx *bolt.Tx) error {
	k, _ := tx.Bucket(bucketRecords).Cursor().Last()
	if len(k) != 8 {
		return fault.New(fault.Integrity, "the ledger's last record has the key %x", k)
	}
	s.begun, s.low, s.high = true, s.q.From, binary.BigEndian.Uint64(k)+1
	if s.q.Since.IsZero() {
		return nil
	}
	// The time in an id is never earlier than the record's own, so no record
	// from Since on stands before the first id of that time.
	var first ulid.ULID
	if err := first.SetTime(ulid.Timestamp(s.q.Since)); err != nil {
		return fault.Wrap(err, fault.Usage, "since %s", s.q.Since)
	}
	seq, err := searchID(tx.Bucket(bucketRecords), s.high, first.String())
	s.low = max(s.low, seq)
	return err
}

func (s *scan) chunk(tx *bolt.Tx) ([]Record, error) {
	var out []Record
	records := tx.Bucket(bucketRecords)
	sources := s.sources(tx)
	for range chunk {
		seq, ok := s.pick(sources)
		if !ok {
			s.done = true
			return out, nil
		}
		if s.q.Reverse {
			s.high = seq
		} else {
			s.low = seq + 1
		}
		raw := records.Get(seqKey(seq))
		v, err := parse(raw)
		if err != nil {
			return nil, fault.Wrap(err, fault.Integrity, "record %d", seq)
		}
		if len(s.q.Kinds) > 0 && !slices.Contains(s.q.Kinds, string(v.kind)) {
			continue
		}
		r, err := decodeRecord(seqKey(seq), raw)
		if err != nil {
			return nil, err
		}
		if !s.q.Since.IsZero() && r.Time.Before(s.q.Since) || !s.q.Until.IsZero() && !r.Time.Before(s.q.Until) {
			continue
		}
		if out = append(out, r); len(out) == s.q.Limit {
			break // more is not asked for
		}
	}
	return out, nil
}

// A seqSource yields the positions of one name of an index in order.
type seqSource struct {
	c    *bolt.Cursor
	name string
}

// sources returns the indexes that narrow the query down; none means all
// positions.
func (s *scan) sources(tx *bolt.Tx) []seqSource {
	if s.q.Story != "" {
		return []seqSource{{tx.Bucket(bucketStory).Cursor(), s.q.Story}}
	}
	var out []seqSource
	for _, k := range s.q.Kinds {
		out = append(out, seqSource{tx.Bucket(bucketKind).Cursor(), k})
	}
	return out
}

// pick returns the next position between low and high.
func (s *scan) pick(sources []seqSource) (uint64, bool) {
	if s.low >= s.high {
		return 0, false
	}
	if len(sources) == 0 {
		if s.q.Reverse {
			return s.high - 1, true
		}
		return s.low, true
	}
	best, found := uint64(0), false
	for _, src := range sources {
		var seq uint64
		var ok bool
		if s.q.Reverse {
			seq, ok = src.before(s.high)
			ok = ok && seq >= s.low
		} else {
			seq, ok = src.from(s.low)
			ok = ok && seq < s.high
		}
		if ok && (!found || (seq > best) == s.q.Reverse) {
			best, found = seq, true
		}
	}
	return best, found
}

// from returns the first position at or after seq.
func (s seqSource) from(seq uint64) (uint64, bool) {
	k, _ := s.c.Seek(indexKey(s.name, seq))
	return indexed(k, s.name)
}

// before returns the last position before seq.
func (s seqSource) before(seq uint64) (uint64, bool) {
	key := indexKey(s.name, seq)
	k, _ := s.c.Seek(key)
	if k == nil {
		k, _ = s.c.Last()
	} else if bytes.Compare(k, key) >= 0 {
		k, _ = s.c.Prev()
	}
	return indexed(k, s.name)
}

// Watch calls fn for every record from position from on, those to come
// included, until ctx ends or fn returns an error. A record may be delivered
// twice, to a caller that starts again where it was not sure to have ended.
func Watch(ctx context.Context, cfg Config, from uint64, fn func(Record) error) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
		size, err := peekSize(cfg.Path)
		if err != nil {
			return fault.Wrap(err, nil, "watching the ledger")
		}
		if size > from {
			err := Scan(ctx, cfg, Query{From: from}, func(r Record) error {
				if err := fn(r); err != nil {
					return err
				}
				from = r.Seq + 1
				return nil
			})
			if err != nil {
				return err
			}
		}
		timer.Reset(watchPoll)
	}
}

// peekSize reads the size of the log without a lock. When a writer leaves no
// room for that, it answers that there is something to read.
func peekSize(path string) (uint64, error) {
	k, _, err := seatread.Last(path, string(bucketHeads))
	switch {
	case errors.Is(err, seatread.ErrBusy):
		return math.MaxUint64, nil
	case err != nil:
		return 0, err
	case len(k) != 8:
		return 0, fault.New(fault.Integrity, "the ledger's last head has the key %x", k)
	}
	return binary.BigEndian.Uint64(k), nil
}
