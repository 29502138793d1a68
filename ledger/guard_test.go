package ledger

import (
	"errors"
	"testing"

	bolt "go.etcd.io/bbolt"

	"satelle/internal/fault"
)

// Panics of bbolt and faults in its mapping are damage to the file; a bug of
// ours is not, and must not be mistaken for it.
func TestGuard(t *testing.T) {
	err := guard(func() error {
		var b bolt.Bucket
		_ = b.Get([]byte("k")) // a nil pointer within bbolt
		return nil
	})
	expect(t, err, fault.Integrity, "damaged")
	plain := errors.New("plain")
	if err := guard(func() error { return plain }); !errors.Is(err, plain) {
		t.Errorf("err = %v", err)
	}
	defer func() {
		if r := recover(); r != "our bug" {
			t.Errorf("recovered %v", r)
		}
	}()
	_ = guard(func() error { panic("our bug") })
	t.Error("our panic was swallowed")
}
