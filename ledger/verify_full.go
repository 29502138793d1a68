package ledger

import (
	"bytes"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// headChunk is how many heads are read under one lock.
const headChunk = 4096

// full does what only a full verification does.
func (v *verifier) full() error {
	if !v.opts.Full {
		return nil
	}
	if err := v.signatures(); err != nil {
		return err
	}
	return v.projection()
}

// signatures checks the signatures of all heads but the newest, which is
// checked in any case. Their roots were compared on the way.
func (v *verifier) signatures() error {
	for after := uint64(0); ; {
		var heads []Head
		err := v.step(func(_ *Log, tx *bolt.Tx) error {
			c := tx.Bucket(bucketHeads).Cursor()
			for k, entry := c.Seek(seqKey(after + 1)); k != nil && len(heads) < headChunk; k, entry = c.Next() {
				size := uint64(0)
				if len(k) == 8 {
					size = binary.BigEndian.Uint64(k)
				}
				if size >= v.size {
					return nil
				}
				if h, err := openHead(v.facts.origin, size, entry); err == nil { // else reported
					heads = append(heads, h)
				}
			}
			return nil
		})
		if err != nil || len(heads) == 0 {
			return err
		}
		after = heads[len(heads)-1].Size
		errs := make([]error, len(heads))
		spread(len(heads), func(i int) { errs[i] = v.signed(heads[i]) })
		for i, err := range errs {
			if err != nil {
				v.report.add(int64(heads[i].Size)-1, ClassHead, "the head of %d records: %v", heads[i].Size, err)
			}
		}
	}
}

// projection replays all records into memory and compares the rows. The replay
// holds no lock; only the comparison, and the few records that have come
// meanwhile, do.
func (v *verifier) projection() error {
	p := v.cfg.Projection
	if p == nil || len(v.report.Problems) > 0 {
		return nil // rows of broken records mean nothing
	}
	rows := newMemRows()
	at := uint64(0)
	for at < v.size {
		err := v.step(func(_ *Log, tx *bolt.Tx) (err error) {
			at, err = replay(tx, p, rows, at, windowLen)
			return err
		})
		if err != nil {
			return err
		}
	}
	return v.step(func(_ *Log, tx *bolt.Tx) error {
		if !bytes.Equal(tx.Bucket(bucketMeta).Get(keyProjection), projectionVersion(p)) {
			return nil // a changed fold is no error: the next Open rebuilds
		}
		if _, err := replay(tx, p, rows, at, int(^uint(0)>>1)); err != nil {
			return err
		}
		v.compareRows(tx, rows)
		return nil
	})
}

// replay applies up to limit records from position from on and returns the
// position behind them.
func replay(tx *bolt.Tx, p Projection, rows Rows, from uint64, limit int) (uint64, error) {
	c := tx.Bucket(bucketRecords).Cursor()
	for k, raw := c.Seek(seqKey(from)); k != nil && limit > 0; k, raw = c.Next() {
		r, err := decodeRecord(k, raw)
		if err != nil {
			return from, err
		}
		if err := p.Apply(rows, r); err != nil {
			return from, fmt.Errorf("projecting record %d (%s): %w", r.Seq, r.Kind, err)
		}
		from = r.Seq + 1
		limit--
	}
	return from, nil
}

// compareRows compares the stored rows with those in memory, both ways.
func (v *verifier) compareRows(tx *bolt.Tx, rows *memRows) {
	bad := func(bucket, key, how string) {
		v.report.add(NoPosition, ClassProjection, "the row %s/%s %s", bucket, key, how)
	}
	stored := newBoltRows(tx)
	for name, b := range rows.buckets {
		for key, want := range b.m {
			switch have := stored.Get(name, key); {
			case have == nil:
				bad(name, key, "is missing")
			case !bytes.Equal(have, want):
				bad(name, key, "differs from what the records give")
			}
		}
	}
	_ = tx.ForEach(func(name []byte, b *bolt.Bucket) error {
		bucket, ok := bytes.CutPrefix(name, []byte(rowsPrefix))
		if !ok {
			return nil
		}
		return b.ForEach(func(k, _ []byte) error {
			if rows.Get(string(bucket), string(k)) == nil {
				bad(string(bucket), string(k), "is one that the records do not give")
			}
			return nil
		})
	})
}
