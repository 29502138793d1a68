package ledger

import (
	"bytes"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"satelle/internal/fault"
)

// reproject makes all rows anew if the projection has another version than the
// rows have. A changed fold is no error; it costs one pass over the log.
func (l *Log) reproject() error {
	if l.cfg.Projection == nil {
		return nil
	}
	want := projectionVersion(l.cfg.Projection)
	fresh := false
	err := l.db.View(func(tx *bolt.Tx) error {
		fresh = bytes.Equal(tx.Bucket(bucketMeta).Get(keyProjection), want)
		return nil
	})
	if err != nil || fresh {
		return err
	}
	return l.db.Update(func(tx *bolt.Tx) error {
		if err := dropRows(tx); err != nil {
			return err
		}
		rows := newBoltRows(tx)
		if err := applyAll(tx, l.cfg.Projection, rows); err != nil {
			return err
		}
		if rows.err != nil {
			return rows.err
		}
		return tx.Bucket(bucketMeta).Put(keyProjection, want)
	})
}

// applyAll replays every record of the log into rows.
func applyAll(tx *bolt.Tx, p Projection, rows Rows) error {
	c := tx.Bucket(bucketRecords).Cursor()
	for k, raw := c.First(); k != nil; k, raw = c.Next() {
		r, err := decodeRecord(k, raw)
		if err != nil {
			return err
		}
		if err := p.Apply(rows, r); err != nil {
			return fmt.Errorf("record %d (%s): %w", r.Seq, r.Kind, err)
		}
	}
	return nil
}

// decodeRecord decodes an entry of the records bucket into memory of its own.
func decodeRecord(k, raw []byte) (Record, error) {
	if len(k) != 8 {
		return Record{}, fault.New(fault.Integrity, "the records have the key %x", k)
	}
	seq := binary.BigEndian.Uint64(k)
	r, err := ParseRecord(bytes.Clone(raw))
	if err != nil {
		return Record{}, fault.Wrap(err, fault.Integrity, "record %d", seq)
	}
	r.Seq = seq
	return r, nil
}

// foldKeys reads the genesis and the rotations.
func foldKeys(tx *bolt.Tx) (origin string, keys keyring, err error) {
	records := tx.Bucket(bucketRecords)
	origin, keys, err = readGenesis(records.Get(seqKey(0)))
	if err != nil {
		return "", nil, fault.Wrap(err, fault.Integrity, "the genesis record")
	}
	err = eachIndexed(tx.Bucket(bucketKind), KindRotated, 0, func(seq uint64) (bool, error) {
		v, err := parse(records.Get(seqKey(seq)))
		if err == nil && v.schema <= ownSchema { // else it is opaque, and nothing is appended
			keys, err = keys.rotate(origin, seq, v.body)
		}
		return true, fault.Wrap(err, fault.Integrity, "the key rotation in record %d", seq)
	})
	return origin, keys, err
}
