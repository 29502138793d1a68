// Package shell tells what a shell command does to files, by parsing it.
//
// A command reads only if every program in it is listed as a reader, with the
// options and operands that it has there, and nothing else in the text writes:
// no redirection to a file, no function, alias or variable that turns a reader
// into something else. All that is not known to read counts as changing files.
// Where the files that change are written out in the text, they are named, so
// that a command that writes outside of a governed tree can be told.
//
// All rules are rows of one table, those of the language included; an Effect
// names the one that decided, and Rules lists them. Package snippet judges
// programs in other languages that a command holds. Env.Readers are commands
// that a person counts as reading, in the governed tree only.
//
// The promise is one-sided: a command that changes files is never called a
// reader, whether bash or zsh runs it; dash is kept to where the text itself
// calls it, since to dash [[ a > b ]] writes a file. To let a further reader
// pass, add a row with its reason and an example of either kind; the examples
// are tests.
//
// The package does no I/O of its own; what it must know of the machine comes
// in through Env. Start reading at Judge.
package shell
