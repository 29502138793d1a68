// Package spool carries what the hook saw to the ledger, without making a
// harness wait: the hook appends a line, and the next command of satelle takes
// it into the log.
//
// A spool is a folder. Its file "lines" is appended to by any number of
// processes at once, each with one write; none takes a lock, waits for another
// or for the disk. A folder "counts" holds a file for each session that grows
// by a byte for each line: where the byte lands is the line's number, so a line
// that was counted and never arrived leaves a gap that shows.
//
// # Promises
//
// [Append] returns without an error only if the line stands whole in the spool
// and a reader will find it, whatever reader is at work meanwhile. [Read]
// returns whole lines that carry their checksum, and passes over what is torn
// or foreign, however much of it there is, counting it. A line that a process
// wrote twice, because its file was closed in between, is the same line to the
// byte; the reader's caller drops it.
//
// Readers exclude one another by other means: the ledger's lock.
//
// It is linked by the hook and imports next to nothing. Read line.go first,
// then append.go.
package spool
