// Command satelle governs what coding agents change in a repository: stories
// take the seat of a work tree, gates decide how they move, and an
// append-only ledger proves it.
//
// Each file holds a group of verbs, which parse, call the engine and print;
// no rule lives here. Start with root.go; docs/life-of-a-command.md follows
// one command from argv to the ledger.
package main
