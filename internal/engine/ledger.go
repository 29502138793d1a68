package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/errors"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow"
)

// BlobText is foreign text that a record refers to.
type BlobText struct {
	// Name is the field of the record's body.
	Name string
	Ref  ledger.BlobRef
	Text string
}

// Record returns one record and the foreign text it refers to.
func (e *Engine) Record(ctx context.Context, seq uint64) (r ledger.Record, blobs []BlobText, err error) {
	err = e.with(ctx, func(log *ledger.Log) error {
		if r, err = log.Record(seq); err != nil {
			return err
		}
		for name, ref := range refs(r) {
			b, err := log.Blob(ref)
			switch {
			case errors.Is(err, ledger.ErrRedacted):
				b = []byte("[redacted]")
			case err != nil:
				return err
			}
			blobs = append(blobs, BlobText{Name: name, Ref: ref, Text: string(b)})
		}
		return nil
	})
	return r, blobs, err
}

// refs yields the blobs that a record's body refers to, by field.
func refs(r ledger.Record) iter.Seq2[string, ledger.BlobRef] {
	return func(yield func(string, ledger.BlobRef) bool) {
		var fields map[string]json.RawMessage
		if json.Unmarshal(r.Body, &fields) != nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			var ref ledger.BlobRef
			if json.Unmarshal(fields[name], &ref) == nil && ref.Digest != "" && !yield(name, ref) {
				return
			}
		}
	}
}

// find returns the reference that records make to a blob's digest.
func (e *Engine) find(ctx context.Context, digest string) (found ledger.BlobRef, err error) {
	err = ledger.Scan(ctx, e.cfg, ledger.Query{}, func(r ledger.Record) error {
		if digest == "" || !bytes.Contains(r.Body, []byte(digest)) {
			return nil
		}
		for _, ref := range refs(r) {
			if ref.Digest == digest {
				found = ref
			}
		}
		return nil
	})
	if err == nil && found.Digest == "" {
		err = fault.Try(fault.New(fault.NotFound, "no record refers to the digest %q", digest), "satelle ledger list")
	}
	return found, err
}

// Checkpoint returns the log's signed head, and keeps it beside the log for
// the day on which the log is lost.
func (e *Engine) Checkpoint(ctx context.Context) (head ledger.Head, err error) {
	err = e.with(ctx, func(log *ledger.Log) error {
		head, err = log.Head()
		return err
	})
	if err != nil {
		return head, err
	}
	return head, e.keepCheckpoint(head)
}

// Redact drops a blob for good, by a record; it is a person's.
func (e *Engine) Redact(ctx context.Context, digest, reason string) (r ledger.Record, err error) {
	if err := e.OnlyPerson("redact"); err != nil {
		return r, err
	}
	ref, err := e.find(ctx, digest)
	if err != nil {
		return r, err
	}
	actor, err := e.personFor(ctx, "redact", ref.Digest, reason)
	if err != nil {
		return r, err
	}
	err = e.with(ctx, func(log *ledger.Log) error {
		head, err := log.Head()
		if err != nil {
			return err
		}
		_, r, err = log.Redact(ctx, head.Size, ref, reason, actor)
		return err
	})
	return r, err
}

// RotateKey gives the log a new key, and publishes its public half; it is a
// person's.
func (e *Engine) RotateKey(ctx context.Context) (r ledger.Record, err error) {
	actor, err := e.personFor(ctx, "rotate-key")
	if err != nil {
		return r, err
	}
	var vkey, origin string
	err = e.with(ctx, func(log *ledger.Log) error {
		head, err := log.Head()
		if err != nil {
			return err
		}
		_, r, err = log.RotateKey(ctx, head.Size, actor)
		vkey, origin = log.VKey(), log.Origin()
		return err
	})
	if err != nil {
		return r, err
	}
	name := filepath.Join(e.sub.dir, "logs", path.Base(origin)+".pub")
	old, err := readBounded(name, maxConfig)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return r, err
	}
	return r, fault.Wrap(writeAtomic(name, append(old, vkey+"\n"...), 0o644), nil, "publishing the log's public key")
}

// personFor returns the signed actor of a verb that only a person may use, or
// refuses.
func (e *Engine) personFor(ctx context.Context, verb string, parts ...string) (ledger.Actor, error) {
	actor, err := e.person(ctx, verb, parts...)
	if err != nil {
		return actor, err
	}
	return actor, e.View(ctx, func(st workflow.State, _ Lookup) error { return st.Person(verb, actor) })
}
