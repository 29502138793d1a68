package ledger

import (
	"context"
	"encoding/base64"
	"fmt"

	"satelle/internal/fault"
)

// RotateKey makes a new key and records it, signed by the old key and the new
// one; the head of that append bears both signatures, later ones the new key's
// only. The old private key is removed once the record is on disk. expected is
// as for [Log.Append].
func (l *Log) RotateKey(ctx context.Context, expected uint64, actor Actor) (Head, Record, error) {
	if l.cfg.Keys == nil {
		return Head{}, Record{}, fault.New(fault.NotFound, "rotating the ledger's key: there is no place for keys")
	}
	head, record, err := l.rotateKey(ctx, expected, actor)
	return head, record, fault.Wrap(err, nil, "rotating the ledger's key")
}

func (l *Log) rotateKey(ctx context.Context, expected uint64, actor Actor) (Head, Record, error) {
	old := l.keys.current()
	vkey, err := l.cfg.Keys.Create(l.origin)
	if err != nil {
		return Head{}, Record{}, err
	}
	head, record, err := l.recordRotation(ctx, expected, actor, old, vkey)
	if err != nil {
		// After a failed commit the record may be on disk all the same. The
		// key is then the only one that can sign, so it stays.
		if l.broken == nil {
			err = either(err, l.cfg.Keys.Remove(vkey))
		}
		return Head{}, Record{}, err
	}
	if err := l.cfg.Keys.Remove(old); err != nil {
		return head, record, fmt.Errorf("the new key is in use, but the old one could not be removed: %w", err)
	}
	return head, record, nil
}

func (l *Log) recordRotation(ctx context.Context, expected uint64, actor Actor, old, vkey string) (Head, Record, error) {
	body := rotatedBody{Old: old, New: vkey}
	msg := rotationMessage(l.origin, expected, old, vkey)
	for _, p := range []struct {
		key string
		sig *string
	}{{old, &body.OldSig}, {vkey, &body.NewSig}} {
		s, err := l.cfg.Keys.Signer(p.key)
		if err != nil {
			return Head{}, Record{}, err
		}
		sig, err := s.Sign(msg)
		if err != nil {
			return Head{}, Record{}, err
		}
		*p.sig = base64.StdEncoding.EncodeToString(sig)
	}
	head, records, err := l.commit(ctx, expected, &batch{
		drafts: []Draft{{Kind: KindRotated, Actor: actor, Crit: true, Schema: ownSchema, Body: body}},
		newKey: vkey,
	})
	if err != nil {
		return Head{}, Record{}, err
	}
	return head, records[0], nil
}
