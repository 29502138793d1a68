package ledger

import (
	"bytes"
	"encoding/binary"

	bolt "go.etcd.io/bbolt"

	"satelle/internal/fault"
)

// Read returns up to limit records from position from on.
func (l *Log) Read(from uint64, limit int) (out []Record, err error) {
	err = l.view(func(tx *bolt.Tx) error {
		c := tx.Bucket(bucketRecords).Cursor()
		for k, raw := c.Seek(seqKey(from)); k != nil && len(out) < limit; k, raw = c.Next() {
			r, err := decodeRecord(k, raw)
			if err != nil {
				return err
			}
			out = append(out, r)
		}
		return nil
	})
	return out, fault.Wrap(err, nil, "reading the ledger")
}

// Record returns the record at a position, class fault.NotFound if there is
// none.
func (l *Log) Record(seq uint64) (Record, error) {
	r, err := l.Read(seq, 1)
	if err != nil {
		return Record{}, err
	}
	if len(r) == 0 || r[0].Seq != seq {
		return Record{}, fault.New(fault.NotFound, "the ledger has no record %d", seq)
	}
	return r[0], nil
}

// ByStory returns up to limit records of a story from position from on.
func (l *Log) ByStory(story string, from uint64, limit int) ([]Record, error) {
	return l.by(bucketStory, story, from, limit)
}

// ByKind returns up to limit records of a kind from position from on.
func (l *Log) ByKind(kind string, from uint64, limit int) ([]Record, error) {
	return l.by(bucketKind, kind, from, limit)
}

func (l *Log) by(index []byte, name string, from uint64, limit int) (out []Record, err error) {
	err = l.view(func(tx *bolt.Tx) error {
		records := tx.Bucket(bucketRecords)
		return eachIndexed(tx.Bucket(index), name, from, func(seq uint64) (bool, error) {
			if len(out) >= limit {
				return false, nil
			}
			r, err := decodeRecord(seqKey(seq), records.Get(seqKey(seq)))
			out = append(out, r)
			return true, err
		})
	})
	if err != nil {
		return nil, fault.Wrap(err, nil, "reading the ledger")
	}
	return out, nil
}

// LastOf returns the newest record of a story, or of a kind if story is empty;
// ok is false if there is none.
func (l *Log) LastOf(story, kind string) (r Record, ok bool, err error) {
	index, name := bucketStory, story
	if story == "" {
		index, name = bucketKind, kind
	}
	err = l.view(func(tx *bolt.Tx) error {
		c := tx.Bucket(index).Cursor()
		// The entry before the first one of any name that sorts behind.
		k, _ := c.Seek(append([]byte(name), 1))
		if k == nil {
			k, _ = c.Last()
		} else {
			k, _ = c.Prev()
		}
		seq, found := indexed(k, name)
		if !found {
			return nil
		}
		ok = true
		r, err = decodeRecord(seqKey(seq), tx.Bucket(bucketRecords).Get(seqKey(seq)))
		return err
	})
	return r, ok, fault.Wrap(err, nil, "reading the ledger")
}

// ByID returns the record with an id. Ids grow with the position, so a binary
// search finds it.
func (l *Log) ByID(id string) (r Record, err error) {
	err = l.view(func(tx *bolt.Tx) error {
		head, err := headOf(tx, l.origin)
		if err != nil {
			return err
		}
		records := tx.Bucket(bucketRecords)
		seq, err := searchID(records, head.Size, id)
		if err != nil {
			return err
		}
		if seq < head.Size {
			if r, err = decodeRecord(seqKey(seq), records.Get(seqKey(seq))); err != nil || r.ID == id {
				return err
			}
		}
		return fault.New(fault.NotFound, "the ledger has no record %s", id)
	})
	return r, err
}

// searchID returns the first position of a record whose id is at least id.
func searchID(records *bolt.Bucket, size uint64, id string) (uint64, error) {
	lo, hi := uint64(0), size
	for lo < hi {
		mid := lo + (hi-lo)/2
		v, err := parse(records.Get(seqKey(mid)))
		if err != nil {
			return 0, fault.Wrap(err, fault.Integrity, "record %d", mid)
		}
		if string(v.id) < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// eachIndexed calls fn for the positions of name in an index from from on,
// until it returns false.
func eachIndexed(b *bolt.Bucket, name string, from uint64, fn func(seq uint64) (bool, error)) error {
	c := b.Cursor()
	for k, _ := c.Seek(indexKey(name, from)); ; k, _ = c.Next() {
		seq, ok := indexed(k, name)
		if !ok {
			return nil
		}
		if more, err := fn(seq); err != nil || !more {
			return err
		}
	}
}

// indexed returns the position of an index key of name.
func indexed(k []byte, name string) (uint64, bool) {
	if len(k) != len(name)+9 || k[len(name)] != 0 || !bytes.HasPrefix(k, []byte(name)) {
		return 0, false
	}
	return binary.BigEndian.Uint64(k[len(name)+1:]), true
}
