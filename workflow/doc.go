// Package workflow holds the rules: what a story is, which steps it may take,
// who sits where, and what a gate has to say before anything moves.
//
// State is a fold over the ledger's records ([Fold]); nothing else changes it.
// Every command is the same three moves: read the state ([State]), decide (a
// function of this package, pure: state and facts in, a [Change] out), append
// the change. The package starts no process, reads no clock and opens no file;
// what it needs from outside comes in as facts, or through the small interfaces
// [Checker], [Reviewer] and [Runner].
//
// Read story.go first, then transition.go.
package workflow
