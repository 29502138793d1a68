package ledger

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"satelle/internal/fault"
)

// guard runs fn, in which bbolt reads the mapped file. bbolt trusts its file:
// a damaged page makes it panic or touch memory outside of the mapping, and a
// file cut short under it faults. All of these become an error of class
// fault.Integrity that says what was found. Panics of our own code go on.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if !fromFile(r) {
				panic(r)
			}
			err = fault.New(fault.Integrity, "the ledger file is damaged: %s", panicText(r))
		}
	}()
	return fn()
}

// fromFile reports whether the panic that is being recovered from comes from
// bbolt or from a fault in the mapping. It must be called by the deferred
// function, where the stack still shows who panicked.
func fromFile(r any) bool {
	if e, ok := r.(runtime.Error); ok {
		if _, ok := errors.AsType[interface {
			error
			Addr() uintptr
		}](e); ok {
			return true
		}
	}
	pc := make([]uintptr, 32)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") {
			return strings.HasPrefix(f.Function, "go.etcd.io/bbolt")
		}
		if !more {
			return false
		}
	}
}

func panicText(r any) string {
	text := fmt.Sprint(r)
	if s, _, cut := strings.Cut(text, "\n"); cut {
		text = s
	}
	return text
}

// openError classes what bbolt says about a file that it cannot open.
func openError(path string, err error) error {
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return fault.New(fault.Busy, "%s is held open by another program", path)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch),
		errors.Is(err, berrors.ErrChecksum):
		return fault.Wrap(err, fault.Integrity, "%s is not a ledger or is damaged", path)
	}
	return err
}

// checkLength refuses a file that ends before its last page: reading there
// would fault.
func checkLength(tx *bolt.Tx, have int64) error {
	if want := tx.Size(); have < want {
		return fault.New(fault.Integrity, "the ledger file is cut short: %d bytes of %d", have, want)
	}
	return nil
}
