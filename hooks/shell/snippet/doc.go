// Package snippet tells whether a short program in a scripting language only
// reads: one that an agent hands to an interpreter on its command line to look
// at something or to compute.
//
// It reads tokens and no grammar. A program passes if all that it can reach is
// harmless whatever it is given: the names of the language and of its library
// are listed, members are listed, and nothing makes a name out of a value at
// run time (no getattr, no eval, no computed keys). What opens files is listed
// with the form of call in which it reads. What can't be followed, what two
// versions of a language take in two ways, and what is not listed, may change
// files.
//
// The promise is one-sided, as that of package shell: a program that changes
// files is never called a reader, where the modules that it names are those of
// the language. That holds in a folder into which nobody can put others.
package snippet
