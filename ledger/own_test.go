package ledger

import (
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// A body that another parser could read differently is none of the ledger's own.
func TestOwnBody(t *testing.T) {
	const good = `{"old":"a","new":"b","old_sig":"c","new_sig":"d"}`
	var r rotatedBody
	if err := ownBody([]byte(good), &r); err != nil || r != (rotatedBody{"a", "b", "c", "d"}) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, bad := range []string{
		strings.Replace(good, "old", "Old", 1),
		strings.Replace(good, `"old":"a"`, `"old":"a","OLD":"x"`, 1),
		strings.Replace(good, `"old":"a"`, `"old":"a","more":1`, 1),
		strings.Replace(good, `"old":"a",`, ``, 1),
		`{"new":"b","old":"a","old_sig":"c","new_sig":"d"}`,
		`{}`, `[]`, `null`,
	} {
		if err := ownBody([]byte(bad), &r); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
	text := "\u2028<&>\x01"
	raw, v, err := encode(testID, testTime, &Draft{Kind: KindContinued, Schema: 1, Body: &Continuation{Reason: text}})
	must(t, err)
	var c Continuation
	if err := ownBody(v.body, &c); err != nil || c.Reason != text {
		t.Errorf("%s: %v", raw, err)
	}
}

// A record of the ledger's own kinds in a later schema is opaque like any other.
func TestOwnSchema(t *testing.T) {
	s := newSample(t)
	cfg := s.copyOf(t)
	tamper(t, cfg.Path, func(tx *bolt.Tx) error {
		l := &Log{cfg: cfg, db: new(bolt.DB)}
		var err error
		if l.origin, l.keys, err = foldKeys(tx); err != nil {
			return err
		}
		_, _, err = l.write(tx, s.size, &batch{drafts: []Draft{{
			Kind: KindRedacted, Actor: engine, Schema: 2, Body: map[string]any{"blobs": 7},
		}}})
		return err
	})
	if r := verifyOK(t, cfg); len(r.Unknown) != 0 {
		t.Errorf("Unknown = %v", r.Unknown)
	}
	closeLog(t, reopen(t, cfg))
}
