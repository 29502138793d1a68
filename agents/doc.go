// Package agents knows the bindings of a repository: which agent runs under
// which name, as .satelle/workflows/agents.toml says.
//
// What it promises: a file is read in full or refused with its line; a key that
// nobody knows is an error that names the nearest one that is known, never
// ignored; Expand changes the values that it must and no other byte.
//
// bindings.go holds the types and what a binding must be, file.go reads the
// file, templates.go has the commands that satelle proposes.
package agents
