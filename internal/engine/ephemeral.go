package engine

import (
	"context"
	"os"
	"path/filepath"

	"satelle/internal/fault"
	"satelle/ledger"
)

// ephemeralMark lies beside a log that nobody means to keep.
const ephemeralMark = "ephemeral"

// EphemeralReport says what [InitEphemeral] made.
type EphemeralReport struct {
	Top    string `json:"top"`
	Origin string `json:"origin"`
	// Key is the log's verifier key: no file of the repository names it, so
	// whoever audits has to be handed it.
	Key string `json:"key"`
	// Untrusted counts what a person has to trust first.
	Untrusted int `json:"untrusted"`
}

// InitEphemeral gives a clone that is governed a log and a key to be thrown
// away with the machine, and leaves the work tree as it is. A clone that has a
// log of its own keeps it: then this is refused.
func InitEphemeral(ctx context.Context, dir string) (EphemeralReport, error) {
	var rep EphemeralReport
	e, err := open(ctx, dir)
	if err != nil {
		return rep, err
	}
	rep.Top = e.repo.Top()
	if e.sub, err = loadSubstrate(e.Home, e.repo); err != nil {
		if fault.Is(err, fault.NotFound) {
			err = fault.Try(fault.Wrap(err, nil, "this repository is not governed yet"), "satelle init")
		}
		return rep, err
	}
	if home := e.elsewhere(); home != "" {
		if err := e.OnlyPerson("setting satelle up anew, where " + home + " governs,"); err != nil {
			return rep, err
		}
	}
	if e.Place.Registered && !e.ephemeral() {
		return rep, fault.Try(fault.New(fault.Refused, "this clone has a log of its own, which is not to be thrown away"), "satelle status")
	}
	if err := e.makeHome(); err != nil {
		return rep, err
	}
	if e.host, err = makeHost(e.Home); err != nil {
		return rep, err
	}
	if err := writeAtomic(e.ephemeralPath(), nil, 0o600); err != nil {
		return rep, fault.Wrap(err, nil, "marking the log as one to be thrown away")
	}
	var made InitReport
	if err := e.makeLedger(ctx, &made); err != nil {
		return rep, err
	}
	rep.Origin = made.Origin
	if rep.Key, err = e.key(ctx); err != nil {
		return rep, err
	}
	pending, err := e.Pending(ctx)
	rep.Untrusted = pending.Count()
	return rep, err
}

func (e *Engine) ephemeralPath() string { return filepath.Join(e.Place.Dir, ephemeralMark) }

// ephemeral reports whether the clone's log is one to be thrown away.
func (e *Engine) ephemeral() bool {
	_, err := os.Lstat(e.ephemeralPath())
	return err == nil
}

// key is the verifier key that signs the log.
func (e *Engine) key(ctx context.Context) (key string, err error) {
	err = e.with(ctx, func(log *ledger.Log) error {
		key = log.VKey()
		return nil
	})
	return key, err
}

// ownKeys are the keys that this clone vouches for itself: its own, where its
// log is to be thrown away and no repository names it.
func (e *Engine) ownKeys(ctx context.Context) ([]string, error) {
	if !e.ephemeral() {
		return nil, nil
	}
	key, err := e.key(ctx)
	return []string{key}, err
}
