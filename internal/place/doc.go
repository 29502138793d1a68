// Package place answers which governed place a path belongs to, from files
// alone: no git process, no configuration, no cache.
//
// A place is governed if the git common dir of its work tree is registered
// under $SATELLE_HOME, or if a folder at or above it holds
// .satelle/satelle.toml. The package promises that two spellings of one file
// (symlinks, "..", on macOS another case) lead to the same Place, and that
// what it can't read or can't believe is an error and never "not governed".
//
// It lies on the hook's path, so it imports the standard library only (and
// golang.org/x/sys/unix on macOS). Start reading at Find.
package place
