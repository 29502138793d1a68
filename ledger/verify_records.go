package ledger

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"runtime"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/mod/sumdb/tlog"
)

// How the pass over the records is cut up. A unit is read, parsed and hashed
// by one worker; a window of units is done under one lock.
const (
	unitLen   = 256
	windowLen = 64 * unitLen
)

// A unit is what a worker has found out about a stretch of records.
type unit struct {
	briefs   []brief
	problems []Problem
	err      error
}

// records checks every record and the stored hashes. Workers read and hash;
// what depends on the order, the tree above all, is done here behind them.
func (v *verifier) records() error {
	for from := uint64(0); from < v.size; from += windowLen {
		to := min(from+windowLen, v.size)
		err := v.step(func(l *Log, tx *bolt.Tx) error { return v.window(l, tx, from, to) })
		if err != nil {
			return err
		}
	}
	return nil
}

// window checks the records from from to to.
func (v *verifier) window(l *Log, tx *bolt.Tx, from, to uint64) error {
	units := make([]chan unit, (to-from+unitLen-1)/unitLen)
	for i := range units {
		units[i] = make(chan unit, 1)
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	defer workers.Wait()
	for range min(runtime.GOMAXPROCS(0), maxWorkers) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(units); i = int(next.Add(1)) - 1 {
				var u unit
				lo := from + uint64(i)*unitLen
				u.err = guard(func() error {
					return l.db.View(func(tx *bolt.Tx) error {
						return v.unit(tx, &u, lo, min(lo+unitLen, to))
					})
				})
				units[i] <- u
			}
		})
	}
	tiles := tx.Bucket(bucketTiles)
	compare := func(level int, n uint64, tile []byte) error {
		v.compareTile(level, n, tile, tiles.Get(tileKey(level, n)))
		return nil
	}
	heads := headWalk{c: tx.Bucket(bucketHeads).Cursor()}
	heads.seek(from + 1)
	t := &v.facts.tree
	for _, ch := range units {
		u := <-ch
		if u.err != nil {
			return u.err
		}
		for _, p := range u.problems {
			v.report.add(p.Seq, p.Class, "%s", p.What)
		}
		for i := range u.briefs {
			b := &u.briefs[i]
			if b.id[0] != 0 {
				v.facts.addContent(b)
			}
			if err := t.add(b.hash, compare); err != nil {
				return err
			}
			if v.against != nil && t.size == v.against.Size {
				v.againstRoot = t.root()
			}
			heads.check(v, t)
		}
	}
	return nil
}

// A headWalk goes through the heads beside the records.
type headWalk struct {
	c        *bolt.Cursor
	k, entry []byte
}

func (w *headWalk) seek(size uint64) { w.k, w.entry = w.c.Seek(seqKey(size)) }

// check compares the heads up to the size of the tree with its root.
func (w *headWalk) check(v *verifier, t *tree) {
	for len(w.k) >= 8 && binary.BigEndian.Uint64(w.k) <= t.size {
		switch {
		case len(w.k) != 8 || !validHeadEntry(w.entry):
			v.report.add(int64(t.size)-1, ClassHead, "the heads have the entry %x of %d bytes", w.k, len(w.entry))
		case tlog.Hash(w.entry[:32]) != t.root() && len(v.badHeads) < maxProblems:
			v.badHeads = append(v.badHeads, t.size)
		}
		w.k, w.entry = w.c.Next()
	}
}

// unit reads the records from from to to.
func (v *verifier) unit(tx *bolt.Tx, u *unit, from, to uint64) error {
	u.briefs = make([]brief, 0, to-from)
	add := func(seq uint64, class, what string) {
		u.problems = append(u.problems, Problem{int64(seq), class, what})
	}
	tiles := tx.Bucket(bucketTiles)
	c := tx.Bucket(bucketRecords).Cursor()
	hasher := newLeafHasher()
	want := seqKey(from)
	k, raw := c.Seek(want)
	for seq := from; seq < to; {
		binary.BigEndian.PutUint64(want, seq)
		switch cmp := bytes.Compare(k, want); {
		case k == nil || cmp > 0:
			add(seq, ClassMissing, "there is no such record")
			v.story[seq], v.kind[seq] = unread, unread
			u.briefs = append(u.briefs, brief{seq: seq, hash: storedLeaf(tiles, seq)})
			seq++
			continue
		case cmp < 0:
			add(seq, ClassExtra, "an entry before it that is no position")
			k, raw = c.Next()
			continue
		}
		hash := hasher.sum(raw)
		rec, err := parse(raw)
		if err != nil {
			if hash == storedLeaf(tiles, seq) { // else it is reported as changed
				add(seq, ClassMalformed, "it is in the tree, but "+err.Error())
			}
			v.story[seq], v.kind[seq] = unread, unread
			u.briefs = append(u.briefs, brief{seq: seq, hash: hash})
		} else {
			v.story[seq], v.kind[seq] = v.sum(rec.story), v.sum(rec.kind)
			u.briefs = append(u.briefs, briefOf(seq, &rec, hash))
		}
		k, raw = c.Next()
		seq++
	}
	return nil
}

// sum shortens a name. The seed is fresh, so nobody can prepare two names of
// one sum.
func (v *verifier) sum(name []byte) uint32 {
	if len(name) == 0 {
		return 0
	}
	s := uint32(maphash.Bytes(v.seed, name))
	if s == 0 || s == unread {
		return 1
	}
	return s
}

// storedLeaf returns the hash that the tree holds for a record, zero if none.
func storedLeaf(tiles *bolt.Bucket, seq uint64) (h tlog.Hash) {
	tile := tiles.Get(tileKey(0, seq/tileWidth))
	if at := int(seq%tileWidth) * tlog.HashSize; len(tile) >= at+tlog.HashSize {
		copy(h[:], tile[at:])
	}
	return h
}
