// Package shell tells what a shell command does to files, by parsing it.
//
// A command reads only if every program in it is listed as a reader, with the
// options and operands that it has there, and nothing else in the text writes:
// no redirection to a file, no function, alias or variable that turns a reader
// into something else. All that is not known to read counts as changing files.
// Where the files that change are written out in the text, they are named, so
// that a command that writes outside of a governed tree can be told.
//
// The promise is one-sided: a command that changes files is never called a
// reader, whatever the shell (bash, zsh, dash) that will run it. To let a
// further reader pass, add a rule to rules.go with its reason and an example
// of either kind; the examples are tests.
//
// The package does no I/O of its own; what it must know of the machine comes
// in through Env. Start reading at Judge.
package shell
