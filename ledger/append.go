package ledger

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"satelle/internal/fault"
)

// fill is how full bbolt leaves the pages of buckets that grow at their end:
// no later key goes into a page once it was split off.
const fill = 0.95

// A Conflict is the error of an append whose caller has not seen the newest
// records. Head is the newest head: read on from there, decide anew.
type Conflict struct {
	Expected uint64
	Head     Head
}

func (c *Conflict) Error() string {
	return fmt.Sprintf("the ledger has %d records, %d were expected", c.Head.Size, c.Expected)
}

// A batch is what one transaction writes.
type batch struct {
	drafts []Draft
	blobs  []Blob
	drop   []byte // the key of the blob that the batch redacts
	newKey string // the key that the batch changes to
}

// Append writes records and the blobs that they name in one transaction, signs
// the new head and returns once all of it is on disk. expected is the size of
// the log that the caller's decision rests on; a log of another size fails
// with a [Conflict] of class fault.Busy. Nothing is written on an error, with
// one exception: when the disk fails in the middle of the commit, the batch may
// or may not be there after the log was opened again, as a whole.
//
// A log with a critical record of a kind that cfg.Known does not know refuses.
func (l *Log) Append(ctx context.Context, expected uint64, drafts []Draft, blobs []Blob) (Head, []Record, error) {
	if len(drafts) == 0 {
		return Head{}, nil, fault.New(fault.Usage, "appending to the ledger: no records")
	}
	for i := range drafts {
		if ownKind(drafts[i].Kind) {
			return Head{}, nil, fault.New(fault.Refused, "appending to the ledger: only the ledger itself writes %s", drafts[i].Kind)
		}
	}
	return l.commit(ctx, expected, &batch{drafts: drafts, blobs: blobs})
}

// commit writes a batch in a transaction of its own.
func (l *Log) commit(ctx context.Context, expected uint64, b *batch) (head Head, records []Record, err error) {
	if err := ctx.Err(); err != nil {
		return Head{}, nil, fault.Wrap(err, nil, "appending to the ledger")
	}
	err = l.guarded(func() error {
		tx, err := l.db.Begin(true)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // does nothing after a commit
		if head, records, err = l.write(tx, expected, b); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			l.broken = err
			return err
		}
		return nil
	})
	if err != nil {
		return Head{}, nil, fault.Wrap(err, nil, "appending to the ledger")
	}
	if b.newKey != "" {
		l.keys = append(l.keys, KeyEpoch{After: expected, VKey: b.newKey})
	}
	return head, records, nil
}

// write does everything but the commit.
func (l *Log) write(tx *bolt.Tx, expected uint64, b *batch) (Head, []Record, error) {
	t, lastID, err := l.openEnd(tx, expected)
	if err != nil {
		return Head{}, nil, err
	}
	if err := l.mayWrite(tx); err != nil {
		return Head{}, nil, err
	}
	records, leaves, refs, err := l.seal(expected, lastID, b.drafts)
	if err != nil {
		return Head{}, nil, fault.Wrap(err, fault.Usage, "making the records")
	}
	tiles := tx.Bucket(bucketTiles)
	tiles.FillPercent = fill
	if err := t.grow(tiles, leaves); err != nil {
		return Head{}, nil, err
	}
	if err := writeBlobs(tx.Bucket(bucketBlobs), records, refs, b); err != nil {
		return Head{}, nil, err
	}
	if err := l.writeRecords(tx, records); err != nil {
		return Head{}, nil, err
	}
	entry, err := l.sign(&Checkpoint{Origin: l.origin, Size: t.size, Root: t.root()}, b.newKey)
	if err != nil {
		return Head{}, nil, fault.Wrap(err, nil, "signing the head")
	}
	heads := tx.Bucket(bucketHeads)
	heads.FillPercent = fill
	if err := heads.Put(seqKey(t.size), entry); err != nil {
		return Head{}, nil, err
	}
	head, err := openHead(l.origin, t.size, entry)
	return head, records, err
}

// openEnd checks that the log ends as its head says and returns its tree and
// the id of its last record.
func (l *Log) openEnd(tx *bolt.Tx, expected uint64) (*tree, string, error) {
	if k, _ := tx.Bucket(bucketHeads).Cursor().First(); k == nil && l.db == nil {
		return &tree{}, "", nil // the log is being created
	}
	head, err := headOf(tx, l.origin)
	if err != nil {
		return nil, "", err
	}
	if head.Size != expected {
		return nil, "", fault.Wrap(&Conflict{Expected: expected, Head: head}, fault.Busy, "the ledger has moved on")
	}
	k, raw := tx.Bucket(bucketRecords).Cursor().Last()
	if len(k) != 8 || binary.BigEndian.Uint64(k) != head.Size-1 {
		return nil, "", fault.New(fault.Integrity, "the last record is %x, the head has %d records", k, head.Size)
	}
	last, err := parse(raw)
	if err != nil {
		return nil, "", fault.Wrap(err, fault.Integrity, "record %d", head.Size-1)
	}
	t, err := loadTree(tx.Bucket(bucketTiles), head.Size)
	if err != nil {
		return nil, "", fault.Wrap(err, fault.Integrity, "the stored hashes")
	}
	if t.root() != head.Root {
		return nil, "", fault.New(fault.Integrity, "the stored hashes do not give the signed root of %d records", head.Size)
	}
	return t, string(last.id), nil
}

// mayWrite refuses a log that holds something this program does not understand
// but has to, or whose rows would fall behind.
func (l *Log) mayWrite(tx *bolt.Tx) error {
	have := tx.Bucket(bucketMeta).Get(keyProjection)
	if want := projectionVersion(l.cfg.Projection); !bytes.Equal(have, want) {
		return fault.New(fault.Refused, "the ledger's projection has version %s, this program writes version %s", have, want)
	}
	return tx.Bucket(bucketCrit).ForEach(func(k, v []byte) error {
		kind, schema, err := parseCritKey(k)
		if err != nil || len(v) != 8 {
			return fault.New(fault.Integrity, "the list of critical kinds has the entry %q", k)
		}
		if understood(l.cfg.Known, kind, schema) {
			return nil
		}
		err = fault.New(fault.Refused, "record %d is of the critical kind %s (schema %d), which this program does not know: upgrade satelle",
			binary.BigEndian.Uint64(v), kind, schema)
		return fault.Try(err, "satelle version")
	})
}

// understood reports whether a program whose kinds are known understands one.
func understood(known func(string, int) bool, kind string, schema int) bool {
	if ownKind(kind) {
		return schema <= ownSchema
	}
	return known != nil && known(kind, schema)
}

// critKey is the key of a critical kind: kind, NUL, schema.
func critKey(kind string, schema int) []byte { return indexKey(kind, uint64(schema)) }

func parseCritKey(k []byte) (kind string, schema int, err error) {
	if len(k) < 10 || k[len(k)-9] != 0 {
		return "", 0, fmt.Errorf("malformed key %q", k)
	}
	return string(k[:len(k)-9]), int(binary.BigEndian.Uint64(k[len(k)-8:])), nil
}

// seal turns drafts into records that follow on seq. It also returns their
// leaf hashes and the blobs that each names.
func (l *Log) seal(seq uint64, lastID string, drafts []Draft) ([]Record, []tlog.Hash, [][]ref, error) {
	ids, times := make([]string, len(drafts)), make([]time.Time, len(drafts))
	entropy := make([]byte, entropyLen*len(drafts))
	if _, err := io.ReadFull(l.cfg.random(), entropy); err != nil {
		return nil, nil, nil, err
	}
	for i := range drafts {
		if err := l.checkDraft(&drafts[i]); err != nil {
			return nil, nil, nil, err
		}
		times[i] = l.cfg.now()
		id, err := nextID(times[i], lastID, entropy[entropyLen*i:entropyLen*(i+1)])
		if err != nil {
			return nil, nil, nil, err
		}
		ids[i], lastID = id, id
	}
	records, leaves := make([]Record, len(drafts)), make([]tlog.Hash, len(drafts))
	refs, errs := make([][]ref, len(drafts)), make([]error, len(drafts))
	spread(len(drafts), func(i int) {
		raw, v, err := encode(ids[i], times[i], &drafts[i])
		if err != nil {
			errs[i] = err
			return
		}
		records[i] = v.record(raw)
		records[i].Seq = seq + uint64(i)
		leaves[i], refs[i] = tlog.RecordHash(raw), v.refs
	})
	return records, leaves, refs, errors.Join(errs...)
}

// checkDraft says what is wrong with a draft before anything is written.
func (l *Log) checkDraft(d *Draft) error {
	if err := checkDraft(d); err != nil {
		return err
	}
	if d.Crit && !understood(l.cfg.Known, d.Kind, d.Schema) {
		return fmt.Errorf("the critical kind %s (schema %d) is unknown to cfg.Known: the next append would refuse", d.Kind, d.Schema)
	}
	return nil
}

// writeRecords stores records with their index entries and applies them to the
// projection.
func (l *Log) writeRecords(tx *bolt.Tx, records []Record) error {
	rows := newBoltRows(tx)
	for i := range records {
		if err := writeRecord(tx, &records[i]); err != nil {
			return err
		}
		if p := l.cfg.Projection; p != nil {
			if err := p.Apply(rows, records[i]); err != nil {
				return fmt.Errorf("projecting %s: %w", records[i].Kind, err)
			}
		}
	}
	return rows.err
}

// writeRecord stores a record with its index entries.
func writeRecord(tx *bolt.Tx, r *Record) error {
	b := tx.Bucket(bucketRecords)
	b.FillPercent = fill
	if err := b.Put(seqKey(r.Seq), r.Raw); err != nil {
		return err
	}
	if err := tx.Bucket(bucketKind).Put(indexKey(r.Kind, r.Seq), nil); err != nil {
		return err
	}
	if r.Story != "" {
		if err := tx.Bucket(bucketStory).Put(indexKey(r.Story, r.Seq), nil); err != nil {
			return err
		}
	}
	if r.Crit {
		crit := tx.Bucket(bucketCrit)
		if k := critKey(r.Kind, r.Schema); crit.Get(k) == nil {
			return crit.Put(k, seqKey(r.Seq))
		}
	}
	return nil
}

// writeBlobs stores the batch's blobs. Each must be named by a record of the
// batch, and each reference must name a blob of the batch or one that is, or
// was before its redaction, in the ledger.
func writeBlobs(b *bolt.Bucket, records []Record, refs [][]ref, batch *batch) error {
	fresh := make(map[string]int64, len(batch.blobs))
	for i := range batch.blobs {
		blob := &batch.blobs[i]
		if err := checkBlob(blob); err != nil {
			return fault.Wrap(err, fault.Usage, "storing a blob")
		}
		key, err := parseDigest(blob.Ref.Digest)
		if err != nil {
			return err
		}
		if err := b.Put(key, append(bytes.Clone(blob.salt), blob.data...)); err != nil {
			return err
		}
		fresh[string(key)] = int64(len(blob.data))
	}
	named := make(map[string]bool, len(fresh))
	for i := range records {
		for _, r := range refs[i] {
			key := make([]byte, 32)
			if _, err := hex.Decode(key, r.digest); err != nil {
				return err
			}
			length, ok := fresh[string(key)]
			if !ok {
				v := b.Get(key)
				ok = v != nil
				length = int64(len(v) - saltLen)
				if ok && len(v) == 0 {
					length = r.length // redacted: nobody knows any more
				}
			}
			if !ok || length != r.length {
				return fault.New(fault.Usage, "%s names blob %s of %d bytes, which is not there", records[i].Kind, r.digest, r.length)
			}
			named[string(key)] = true
		}
	}
	for key := range fresh {
		if !named[key] {
			return fault.New(fault.Usage, "no record names the blob %x", key)
		}
	}
	if batch.drop != nil {
		return b.Put(batch.drop, nil)
	}
	return nil
}

// sign signs a head with the current key, and with newKey if that is set, and
// returns its entry.
func (l *Log) sign(c *Checkpoint, newKey string) ([]byte, error) {
	if l.cfg.Keys == nil {
		return nil, fault.New(fault.NotFound, "there is no place for keys")
	}
	keys := []string{l.keys.current()}
	if newKey != "" {
		keys = append(keys, newKey)
	}
	var signers []note.Signer
	for _, k := range keys {
		s, err := l.cfg.Keys.Signer(k)
		if err != nil {
			return nil, err
		}
		signers = append(signers, s)
	}
	return sealHead(c, signers)
}

func projectionVersion(p Projection) []byte {
	if p == nil {
		return []byte("0")
	}
	return strconv.AppendInt(nil, int64(p.Version()), 10)
}
