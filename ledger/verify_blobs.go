package ledger

import (
	"bytes"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// blobChunk is how many bytes of blobs are hashed under one lock.
const blobChunk = 32 << 20

// blobs checks the blobs against the records that name them.
func (v *verifier) blobs() error {
	seen := make(map[[32]byte]bool, len(v.facts.blobs))
	at := v.size // the records that the facts cover
	var after []byte
	for done := false; !done; {
		err := v.step(func(_ *Log, tx *bolt.Tx) (err error) {
			if at, err = v.catchUp(tx, at); err != nil {
				return err
			}
			after, done = v.blobEntries(tx.Bucket(bucketBlobs), seen, after)
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(v.facts.blobs), func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) }) {
		if n := v.facts.blobs[key]; !seen[key] && n.seq < v.size {
			v.report.add(int64(n.seq), ClassBlob, "blob %x is gone, and no record says that it was redacted", key)
		}
	}
	return nil
}

// catchUp learns of blobs that records from from on name or redact: whoever
// appends during a verification must not look like a forger.
func (v *verifier) catchUp(tx *bolt.Tx, from uint64) (uint64, error) {
	scratch := newFacts(new(Report), nil)
	scratch.blobs, scratch.redacted = v.facts.blobs, v.facts.redacted
	c := tx.Bucket(bucketRecords).Cursor()
	for k, raw := c.Seek(seqKey(from)); len(k) == 8; k, raw = c.Next() {
		if rec, err := parse(raw); err == nil {
			b := briefOf(from, &rec, [32]byte{})
			scratch.addContent(&b)
		}
		from++
	}
	return from, nil
}

// blobEntries checks entries behind after and returns where it stopped.
func (v *verifier) blobEntries(b *bolt.Bucket, seen map[[32]byte]bool, after []byte) (last []byte, done bool) {
	c := b.Cursor()
	k, val := c.First()
	if after != nil {
		if k, val = c.Seek(after); bytes.Equal(k, after) {
			k, val = c.Next()
		}
	}
	for n := 0; k != nil; k, val = c.Next() {
		if n += len(val); n > blobChunk && last != nil {
			return last, false
		}
		last = append(last[:0], k...)
		v.blobEntry(k, val, seen)
	}
	return last, true
}

func (v *verifier) blobEntry(k, val []byte, seen map[[32]byte]bool) {
	if len(k) != 32 {
		v.report.add(NoPosition, ClassBlobOrphan, "the blobs have the key %x", k)
		return
	}
	key := [32]byte(k)
	n, ok := v.facts.blobs[key]
	if !ok {
		v.report.add(NoPosition, ClassBlobOrphan, "no record names blob %x", k)
		return
	}
	seen[key] = true
	redaction, redacted := v.facts.redacted[key]
	switch {
	case len(val) == 0 && redacted:
		v.report.Redacted++
	case len(val) == 0:
		v.report.add(int64(n.seq), ClassBlob, "blob %x is emptied, and no record says that it was redacted", k)
	case redacted:
		v.report.add(int64(redaction), ClassBlobKept, "blob %x is still there, though it was redacted", k)
	case int64(len(val)) != n.length+saltLen || !blobHolds(k, val):
		v.report.add(int64(n.seq), ClassBlobChange, "blob %x does not have its digest or its length", k)
	default:
		v.report.Blobs++
	}
}
