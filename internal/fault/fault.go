package fault

import (
	"github.com/cockroachdb/errors"
)

// The classes. An error carries at most one; an error without a class failed
// for a reason outside of the rules (exit code 1).
var (
	// Usage: the command line itself is wrong (exit code 2).
	Usage = errors.New("wrong usage")
	// Refused: a gate, the route, a lease or authority said no (exit code 3).
	Refused = errors.New("refused")
	// NotFound: what was named does not exist (exit code 4).
	NotFound = errors.New("not found")
	// Busy: somebody else is at it; the same command may succeed later (exit code 5).
	Busy = errors.New("busy")
	// Integrity: the ledger's integrity does not hold (exit code 6).
	Integrity = errors.New("integrity does not hold")
)

var codes = []struct {
	class error
	code  int
}{
	{Usage, 2},
	{Refused, 3},
	{NotFound, 4},
	{Busy, 5},
	{Integrity, 6},
}

// New returns an error of a class, or without one where class is nil. The
// message says what failed and why.
func New(class error, format string, args ...any) error {
	err := errors.NewWithDepthf(1, format, args...)
	if class == nil {
		return err
	}
	return errors.Mark(err, class)
}

// Wrap adds what was being done to err and gives it a class; a nil err stays
// nil. A nil class keeps the class that err has.
func Wrap(err, class error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	err = errors.WrapWithDepthf(1, err, format, args...)
	if class != nil {
		err = errors.Mark(err, class)
	}
	return err
}

// Is reports whether err carries the class.
func Is(err, class error) bool { return errors.Is(err, class) }

// Try attaches the command that leads on. It must work when pasted.
func Try(err error, command string) error {
	if err == nil {
		return nil
	}
	return errors.WithHint(err, command)
}

// TryOf returns the innermost command attached by Try, or "".
func TryOf(err error) string {
	hints := errors.GetAllHints(err)
	if len(hints) == 0 {
		return ""
	}
	return hints[0]
}

// Code is the exit code of a command that ended with err: 0 for nil, 1 for an
// error without a class.
func Code(err error) int {
	if err == nil {
		return 0
	}
	for _, c := range codes {
		if errors.Is(err, c.class) {
			return c.code
		}
	}
	return 1
}
