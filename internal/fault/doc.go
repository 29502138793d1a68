// Package fault gives every error of satelle one of a few classes, which decide
// the exit code of the command line, and an optional command that leads on.
//
// It is built on cockroachdb/errors, whose start-up cost is several
// milliseconds; so nothing on the hook's path may import it.
package fault
