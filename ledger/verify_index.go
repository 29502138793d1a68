package ledger

import (
	"bytes"
	"encoding/binary"

	bolt "go.etcd.io/bbolt"
)

// indexChunk is how many index entries are looked at under one lock.
const indexChunk = 200_000

// indexes checks the indexes both ways: each entry against the record that it
// names, and each record for its entry.
func (v *verifier) indexes() error {
	for _, x := range []struct {
		bucket []byte
		sums   []uint32
	}{{bucketStory, v.story}, {bucketKind, v.kind}} {
		var after []byte
		for done := false; !done; {
			err := v.step(func(_ *Log, tx *bolt.Tx) (err error) {
				after, done = v.indexEntries(tx.Bucket(x.bucket), x.sums, after)
				return nil
			})
			if err != nil {
				return err
			}
		}
		for seq, s := range x.sums {
			if s != 0 && s != unread {
				v.report.add(int64(seq), ClassIndex, "%s has no entry for it", x.bucket)
			}
		}
	}
	return v.step(v.critEntries)
}

// indexEntries checks entries behind after. It strikes out the sum of each
// record that it meets and returns where it stopped.
func (v *verifier) indexEntries(b *bolt.Bucket, sums []uint32, after []byte) (last []byte, done bool) {
	c := b.Cursor()
	k, val := c.First()
	if after != nil {
		if k, val = c.Seek(after); bytes.Equal(k, after) {
			k, val = c.Next()
		}
	}
	var name []byte // the name of the entry before, and its sum
	var sum uint32
	for n := 0; k != nil; k, val = c.Next() {
		if n++; n > indexChunk {
			return last, false
		}
		last = append(last[:0], k...)
		at := len(k) - 9
		if at < 1 || k[at] != 0 || !validName(k[:at]) || len(val) > 0 {
			v.report.add(NoPosition, ClassIndexExtra, "the entry %q is none", k)
			continue
		}
		seq := binary.BigEndian.Uint64(k[at+1:])
		if seq >= v.size {
			continue // appended meanwhile, or reported by tail
		}
		if !bytes.Equal(name, k[:at]) {
			name = append(name[:0], k[:at]...)
			sum = v.sum(name)
		}
		switch sums[seq] {
		case sum:
			sums[seq] = 0
		case unread:
		default:
			v.report.add(int64(seq), ClassIndexExtra, "the entry %q names it, wrongly or twice", name)
		}
	}
	return last, true
}

// critEntries checks the list of critical kinds.
func (v *verifier) critEntries(_ *Log, tx *bolt.Tx) error {
	now, err := headOf(tx, v.facts.origin)
	if err != nil {
		now.Size = v.size
	}
	b := tx.Bucket(bucketCrit)
	for c, seq := range v.facts.crits {
		if val := b.Get(critKey(c.kind, c.schema)); !bytes.Equal(val, seqKey(seq)) {
			v.report.add(int64(seq), ClassIndex, "crit has %x for the kind %s, schema %d", val, c.kind, c.schema)
		}
	}
	return b.ForEach(func(k, val []byte) error {
		kind, schema, err := parseCritKey(k)
		if err == nil && len(val) == 8 {
			if seq := binary.BigEndian.Uint64(val); seq >= v.size && seq < now.Size {
				return nil // appended meanwhile
			}
			if _, ok := v.facts.crits[critical{kind, schema}]; ok {
				return nil
			}
		}
		v.report.add(NoPosition, ClassIndexExtra, "crit has the entry %q, for which there is no record", k)
		return nil
	})
}
