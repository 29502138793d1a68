// Package ledger is an append-only log of records in one file: what was done,
// by whom, in which order, in a form that nobody can change unseen.
//
// A record is a JSON object that is written once and never re-encoded. Its
// bytes are a leaf of an RFC 6962 Merkle tree, and every append signs the new
// head of the tree as a C2SP checkpoint in the same transaction. Whoever keeps
// one checkpoint outside of the machine can later show that the log still
// contains everything that it contained then, or prove that it does not.
//
// # Use
//
// [Create] makes a log, [Open] opens one, [Log.Append] adds records on top of
// the head that the caller has seen, and a [Conflict] tells it when somebody
// else was faster. [Scan] and [Watch] read long stretches without shutting
// writers out, [Verify] checks everything, [Prove] and [CheckProof] carry one
// record to somebody who has nothing but the public key.
//
// What the records mean is not known here. A [Projection] folds them into rows
// that are written in the transaction of the append and can be rebuilt at any
// time.
//
// # Promises
//
// An append that returned is on disk: it survives the death of the process
// and, as far as the disk keeps its own promise, the loss of power.
//
// A ledger written by any released version opens with every later one, for
// ever: the record form, the tree, the checkpoint and the bucket layout of
// format 1 (docs/format.md) are frozen, and testdata holds a ledger of each
// format that a test opens. A ledger of a newer format is refused with a clear
// sentence. A record of an unknown kind or schema is kept and verified as it
// is; if its crit field is set, the ledger can still be read and verified, but
// nothing is appended until the program knows the kind.
//
// The file must lie on a local file system; network file systems are refused
// by name, since neither the locks nor the lock-free read hold there.
//
// # Where to start reading
//
// record.go has the nouns, append.go the one way to write, verify.go the
// promise that it can be checked.
package ledger
