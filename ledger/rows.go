package ledger

import (
	"bytes"
	"fmt"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// Rows are the rows of a projection: small maps by name, kept in key order,
// each in a bucket of its own named "p:<bucket>".
//
// A slice that Get or Each hands out is valid until the function that was
// given the Rows returns, and must not be changed. A write that fails makes
// the whole append fail; so Put and Delete return nothing.
type Rows interface {
	Get(bucket, key string) []byte
	Put(bucket, key string, value []byte)
	Delete(bucket, key string)
	// Each calls fn for the keys with the prefix in their order until it
	// returns false. fn must not change the bucket.
	Each(bucket, prefix string, fn func(key string, value []byte) bool)
}

// A Projection folds records into rows. Apply must be deterministic and total:
// the same records give the same rows on every machine and for ever, or the
// version has to change. It is called for every record in order, those of
// unknown kinds included, within the append's transaction; an error refuses
// the append. When the version kept in the ledger is another one, [Open] drops
// all rows and applies every record anew.
type Projection interface {
	Version() int // at least 1
	Apply(rows Rows, r Record) error
}

const rowsPrefix = "p:"

// boltRows are rows in a transaction.
type boltRows struct {
	tx      *bolt.Tx
	buckets map[string]*bolt.Bucket
	err     error // the first failure; nothing is written after it
}

func newBoltRows(tx *bolt.Tx) *boltRows {
	return &boltRows{tx: tx, buckets: make(map[string]*bolt.Bucket)}
}

func (r *boltRows) bucket(name string, create bool) *bolt.Bucket {
	b := r.buckets[name]
	if b == nil {
		if b = r.tx.Bucket([]byte(rowsPrefix + name)); b == nil && create {
			var err error
			if b, err = r.tx.CreateBucket([]byte(rowsPrefix + name)); err != nil {
				r.fail(name, "", err)
				return nil
			}
		}
		if b != nil {
			r.buckets[name] = b
		}
	}
	return b
}

func (r *boltRows) fail(bucket, key string, err error) {
	if r.err == nil {
		r.err = fmt.Errorf("row %s/%s: %w", bucket, key, err)
	}
}

func (r *boltRows) Get(bucket, key string) []byte {
	if b := r.bucket(bucket, false); b != nil {
		return b.Get([]byte(key))
	}
	return nil
}

func (r *boltRows) Put(bucket, key string, value []byte) {
	if r.err != nil {
		return
	}
	if !r.tx.Writable() {
		r.fail(bucket, key, berrors.ErrTxNotWritable)
		return
	}
	if b := r.bucket(bucket, true); b != nil {
		if err := b.Put([]byte(key), value); err != nil {
			r.fail(bucket, key, err)
		}
	}
}

func (r *boltRows) Delete(bucket, key string) {
	if r.err != nil {
		return
	}
	if b := r.bucket(bucket, false); b != nil {
		if err := b.Delete([]byte(key)); err != nil {
			r.fail(bucket, key, err)
		}
	}
}

func (r *boltRows) Each(bucket, prefix string, fn func(key string, value []byte) bool) {
	b := r.bucket(bucket, false)
	if b == nil {
		return
	}
	p := []byte(prefix)
	c := b.Cursor()
	for k, v := c.Seek(p); k != nil && bytes.HasPrefix(k, p); k, v = c.Next() {
		if !fn(string(k), v) {
			return
		}
	}
}

// dropRows deletes all rows.
func dropRows(tx *bolt.Tx) error {
	var names [][]byte
	err := tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
		if bytes.HasPrefix(name, []byte(rowsPrefix)) {
			names = append(names, bytes.Clone(name))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := tx.DeleteBucket(name); err != nil {
			return err
		}
	}
	return nil
}
