// Package agents knows the bindings of a repository: which agent runs under
// which name, as .satelle/workflows/agents.toml says and the machine's catalogue
// (config.toml of $SATELLE_HOME) fills up.
//
// What it promises: a file is read in full or refused with its line; a key that
// nobody knows is an error that names the nearest one that is known, never
// ignored; the catalogue never widens a grant or changes a role; a reviewer that
// satelle knows how to hold to reading can't be bound otherwise; Expand changes
// the values that it must and no other byte.
//
// bindings.go holds the types and what a binding must be, file.go reads the
// file and catalogue.go the machine's, argv.go fills a command, vars.go its
// environment. channel.go says who can be dispatched, cli.go reads the command
// lines of CLIs for ceiling.go and disarm.go, executes.go is what a person has to
// trust, warn.go what is better written otherwise, and templates.go has the
// commands that satelle proposes.
package agents
