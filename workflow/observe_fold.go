package workflow

import (
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"satelle/internal/spool"
	"satelle/ledger"
)

// Rows of what was observed: how far the spool was taken ("at"), the calls
// that were told of last ("recent"), how many appeals there are ("appeals");
// and by session the highest number that was seen, and what is missing below.
const (
	rowsSpool   = "spool"
	rowsCount   = "count"
	rowsMissing = "missing"
)

// observe folds one record of this kind.
func observe(rows ledger.Rows, r ledger.Record) error {
	switch r.Kind {
	case KindGap:
		b, ok := decode[Gap](r)
		if !ok {
			return nil
		}
		t := newTally(rows)
		t.settle(b)
		return t.pass(rows, b.Spool, r.Time)
	case KindAppeal:
		if _, ok := decode[Appealed](r); !ok {
			return nil
		}
		return put(rows, rowsSpool, "appeals", State{rows}.Appeals()+1)
	}
	b, ok := decode[Observation](r)
	if !ok {
		return nil
	}
	at, err := time.Parse(time.RFC3339, b.At)
	if err != nil {
		at = r.Time
	}
	seen := newSeen(rows)
	if seen.add(callKey(r.Actor.Session, b.ID, r.Kind, b.N), at) {
		rows.Put(rowsSpool, "recent", seen.ring)
	}
	t := newTally(rows)
	t.count(r.Actor.Session, b.N, at)
	return t.pass(rows, b.Spool, r.Time)
}

// pass ends the fold of a record: it counts what was passed over, writes the
// rows, and moves the spool's mark.
func (t tally) pass(rows ledger.Rows, mark *taken, at time.Time) error {
	if mark != nil {
		for _, session := range slices.Sorted(maps.Keys(mark.Passed)) {
			for _, n := range mark.Passed[session] {
				t.count(session, n, at)
			}
		}
		if err := put(rows, rowsSpool, "at", taken{File: mark.File, To: mark.To}); err != nil {
			return err
		}
	}
	return t.write(rows)
}

// A stretch is a run of numbers of a session, and when it was found missing.
type stretch struct {
	From  uint64 `json:"from"`
	To    uint64 `json:"to"`
	Since int64  `json:"since"` // Unix seconds
}

// A tally keeps which numbers of the sessions were seen.
type tally struct {
	rows    reader
	high    map[string]uint64
	missing map[string][]stretch
}

func newTally(rows reader) tally {
	return tally{rows, map[string]uint64{}, map[string][]stretch{}}
}

// load reads the rows of a session.
func (t tally) load(session string) {
	if _, ok := t.high[session]; !ok {
		t.high[session], _ = getRow[uint64](t.rows, rowsCount, session)
		t.missing[session], _ = getRow[[]stretch](t.rows, rowsMissing, session)
	}
}

// count marks a number as seen. Lines may come in another order than their
// numbers: hooks of one session run at once.
func (t tally) count(session string, n uint64, at time.Time) {
	t.load(session)
	if high := t.high[session]; n > high {
		if n > high+1 {
			t.missing[session] = append(t.missing[session], stretch{high + 1, n - 1, at.Unix()})
		}
		t.high[session] = n
		return
	}
	t.found(session, n, n)
}

// found takes numbers out of what is missing.
func (t tally) found(session string, from, to uint64) {
	var rest []stretch
	for _, s := range t.missing[session] {
		if s.To < from || to < s.From {
			rest = append(rest, s)
			continue
		}
		if s.From < from {
			rest = append(rest, stretch{s.From, from - 1, s.Since})
		}
		if to < s.To {
			rest = append(rest, stretch{to + 1, s.To, s.Since})
		}
	}
	t.missing[session] = rest
}

// oldest is the stretch that has been missing for longest, once more are than
// are waited for. Each record of the session is folded into all of them.
func (t tally) oldest(session string) (Gap, bool) {
	missing := t.missing[session]
	if len(missing) <= maxMissing {
		return Gap{}, false
	}
	return Gap{Session: session, From: missing[0].From, To: missing[0].To}, true
}

// settle takes note of a gap that was recorded: what arrives later is welcome,
// but no longer missed.
func (t tally) settle(g Gap) {
	if g.Anew {
		t.forget(g.Session)
		return
	}
	if g.From == 0 || g.To < g.From {
		return
	}
	t.load(g.Session)
	t.found(g.Session, g.From, g.To)
	t.high[g.Session] = max(t.high[g.Session], g.To)
}

// forget lets the numbers of a session begin anew.
func (t tally) forget(session string) { t.high[session], t.missing[session] = 0, nil }

// gaps returns what has been missing for so long that it will not come.
func (t tally) gaps(counts []spool.Count, now time.Time) []Gap {
	t.rows.Each(rowsMissing, "", func(session string, _ []byte) bool {
		t.load(session)
		return true
	})
	// What lies ahead was told by a clock that was wrong.
	late := func(since time.Time) bool { return now.Sub(since).Abs() >= gapGrace }
	var out []Gap
	for _, session := range slices.Sorted(maps.Keys(t.missing)) {
		for i, s := range t.missing[session] {
			if late(time.Unix(s.Since, 0)) || i < len(t.missing[session])-maxMissing {
				out = append(out, Gap{Session: session, From: s.From, To: s.To})
			}
		}
	}
	for _, c := range counts {
		if t.load(c.Session); c.Lines > t.high[c.Session] && late(c.Last) {
			out = append(out, Gap{Session: c.Session, From: t.high[c.Session] + 1, To: c.Lines})
		}
	}
	return out[:min(len(out), maxGaps)]
}

// write brings the rows of the sessions that were touched up to date.
func (t tally) write(rows ledger.Rows) error {
	for _, session := range slices.Sorted(maps.Keys(t.high)) {
		if err := put(rows, rowsCount, session, t.high[session]); err != nil {
			return err
		}
		if len(t.missing[session]) == 0 {
			rows.Delete(rowsMissing, session)
		} else if err := put(rows, rowsMissing, session, t.missing[session]); err != nil {
			return err
		}
	}
	return nil
}

const (
	// ringSize is how many calls are remembered. The hooks of several scopes
	// see a call at once, so their lines stand near each other.
	ringSize  = 256
	ringEntry = 12 // a hash and the time in Unix seconds
	// sameCall is how far apart the lines of one call can be.
	sameCall = 10 * time.Minute
)

// seen remembers the calls that were told of last.
type seen struct{ ring []byte }

func newSeen(rows reader) *seen {
	ring := rows.Get(rowsSpool, "recent")
	if len(ring)%ringEntry != 0 {
		ring = nil
	}
	return &seen{slices.Clone(ring)}
}

// add remembers a call, unless it was told of already.
func (s *seen) add(key uint64, at time.Time) bool {
	sec := uint32(max(at.Unix(), 0))
	for i := 0; i < len(s.ring); i += ringEntry {
		if binary.BigEndian.Uint64(s.ring[i:]) == key {
			if d := int64(sec) - int64(binary.BigEndian.Uint32(s.ring[i+8:])); d < int64(sameCall/time.Second) && -d < int64(sameCall/time.Second) {
				return false
			}
		}
	}
	s.ring = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(s.ring, key), sec)
	if over := len(s.ring) - ringSize*ringEntry; over > 0 {
		s.ring = s.ring[over:]
	}
	return true
}

// callKey identifies what was observed of a call. Two hook scopes see the same
// one; a line without an id is known by its number alone.
func callKey(session, id, kind string, n uint64) uint64 {
	h := fnv.New64a()
	for _, part := range []string{session, id, kind} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	if id == "" {
		h.Write(binary.BigEndian.AppendUint64(nil, n))
	}
	return h.Sum64()
}

// getRow decodes a row, if there is one.
func getRow[T any](rows reader, bucket, key string) (v T, ok bool) {
	raw := rows.Get(bucket, key)
	if raw == nil || json.Unmarshal(raw, &v) != nil {
		var none T
		return none, false
	}
	return v, true
}
