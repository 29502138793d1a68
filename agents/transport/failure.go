package transport

import "fmt"

// Classes of failures. Those that a secondary binding is asked for are
// RateLimited and Unavailable alone. (Seed 001, "Rate-limit secondary".)
const (
	RateLimited = "rate_limited" // 429, quota, usage limit
	Unavailable = "unavailable"  // 503, 529, overloaded
	Auth        = "auth"         // not signed in, 401
	Missing     = "missing"      // the program is not there
	TooLong     = "too_long"     // an argument or variable beyond the system's limit
	TimedOut    = "timed_out"
	Cancelled   = "cancelled"
	Protocol    = "protocol" // its output can't be understood
	Failed      = "failed"   // it ended otherwise than well
)

// Failure is why an agent gave no answer.
type Failure struct {
	Class string
	// Message is what the agent or the system said, not yet sanitised.
	Message string
	// ExitCode is the process's, 0 if that is not why.
	ExitCode int
}

func (f *Failure) Error() string { return fmt.Sprintf("%s: %s", f.Class, f.Message) }

// Elsewhere reports whether another binding may succeed where this one failed.
func (f *Failure) Elsewhere() bool { return f.Class == RateLimited || f.Class == Unavailable }
