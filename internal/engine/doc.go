// Package engine carries out what package workflow decides: it opens one
// repository (its place, configuration, work tree and ledger), collects the
// facts, appends the change, and does the slow things between, such as
// running a gate's checks in a detached process that holds a lease.
//
// All effects of the command line meet here; the rules are in workflow, the
// words for people in cmd/satelle. Read engine.go first, then transition.go.
package engine
