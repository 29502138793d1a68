package ledger

import (
	"context"
	"errors"
	"os"

	"satelle/internal/fault"
)

// redactedBody is the body of a blob.redacted record.
type redactedBody struct {
	Blob   BlobRef `json:"blob"`
	Reason string  `json:"reason"`
}

// Redact drops a blob and its salt and records that it did, in one
// transaction. The records that name the blob stay as they are, and [Verify]
// accepts exactly this loss. When Redact returns, the bytes are gone from the
// file: pages that bbolt has freed are overwritten. Copies elsewhere (backups,
// snapshots, the spare blocks of a flash drive) are out of its reach.
// If it was killed in between, redacting again fails with [ErrRedacted], but
// overwrites them. expected is as for [Log.Append].
func (l *Log) Redact(ctx context.Context, expected uint64, ref BlobRef, reason string, actor Actor) (Head, Record, error) {
	head, record, err := l.redact(ctx, expected, ref, reason, actor)
	return head, record, fault.Wrap(err, nil, "redacting %s", ref.Digest)
}

func (l *Log) redact(ctx context.Context, expected uint64, ref BlobRef, reason string, actor Actor) (Head, Record, error) {
	data, err := l.Blob(ref)
	if errors.Is(err, ErrRedacted) {
		// Whoever asks again may have been killed before the pages were overwritten.
		err = either(l.guarded(l.scrub), err)
	}
	if err != nil {
		return Head{}, Record{}, err
	}
	if int64(len(data)) != ref.Length {
		return Head{}, Record{}, fault.New(fault.Usage, "the blob has %d bytes, not %d", len(data), ref.Length)
	}
	key, err := parseDigest(ref.Digest)
	if err != nil {
		return Head{}, Record{}, err
	}
	head, records, err := l.commit(ctx, expected, &batch{
		drafts: []Draft{{
			Kind: KindRedacted, Actor: actor, Crit: true, Schema: ownSchema,
			Body: redactedBody{Blob: ref, Reason: reason},
		}},
		drop: key,
	})
	if err != nil {
		return Head{}, Record{}, err
	}
	if err := l.guarded(l.scrub); err != nil {
		return head, records[0], fault.Wrap(err, nil, "the blob is redacted, but its bytes may still be in free pages")
	}
	return head, records[0], nil
}

// scrub overwrites all that is not part of the newest tree: free pages, and
// what lies beyond the last page. The next commit might do the same, so a
// crash, or a reader without a lock, sees nothing that it must not expect.
func (l *Log) scrub() (err error) {
	f, err := os.OpenFile(l.cfg.Path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = either(err, f.Close()) }()
	zero := make([]byte, l.db.Info().PageSize)
	// A writable transaction, so that pages freed by the last commit count as
	// free; it is rolled back.
	tx, err := l.db.Begin(true)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	last := int(tx.Size() / int64(len(zero)))
	for id := 2; id < last; {
		p, err := tx.Page(id)
		if err != nil {
			return err
		}
		if p.Type == "free" {
			if _, err := f.WriteAt(zero, int64(id)*int64(len(zero))); err != nil {
				return err
			}
		}
		id++
		if p.Type != "free" { // the header of a free page is a leftover
			id += p.OverflowCount
		}
	}
	return either(scrubTail(f, tx.Size(), zero), f.Sync())
}

// scrubTail overwrites the file from offset from to its end.
func scrubTail(f *os.File, from int64, zero []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	for off := from; off < info.Size(); off += int64(len(zero)) {
		n := min(int64(len(zero)), info.Size()-off)
		if _, err := f.WriteAt(zero[:n], off); err != nil {
			return err
		}
	}
	return nil
}
