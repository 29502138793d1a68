// Package audit holds commits against the logs that clones have published: it
// tells of each commit under which story it was made, and what is wrong where
// none can be told.
//
// It starts no process and reads no file. Its input is commits, logs in the
// form of an export, the keys that somebody trusts, and [Objects], which
// answers what only the repository can; its output is a [Report] of findings,
// in a fixed order. What git and the file system have to do for it is in
// internal/engine and internal/gitrepo.
//
// A commit is bound to a record of a log that was made when it was committed:
// by its tree and parents; else by the id of its patch, which survives rebase,
// cherry-pick and amended messages; else, as a forge squashes, by the patch of
// a story's whole change or by a recorded tree that history has not seen
// before. A merge that git makes again without a hand of its own adds nothing
// and needs no record. Nothing that a commit says of itself is believed: its
// trailers are checked against the tree of the log, and author and committer
// count only for the exemptions that the trusted side lists.
//
// Start reading at audit.go, then bind.go.
package audit
