package ledger

import (
	"cmp"
	"fmt"
	"slices"

	"satelle/internal/fault"
)

// The classes of what [Verify] finds. The published vectors name them too.
const (
	ClassFile       = "file"             // the file is no database, damaged, or cut short
	ClassFormat     = "format"           // a bucket or a setting of the ledger is gone or wrong
	ClassMissing    = "record-missing"   // no record at a position
	ClassExtra      = "record-extra"     // an entry that is no position, or behind the head
	ClassChanged    = "record-changed"   // the record's hash is not the one in the tree
	ClassMoved      = "record-moved"     // the record of another position stands here
	ClassMalformed  = "record-malformed" // in the tree, but not in the one form of a record
	ClassOrder      = "record-order"     // the id does not follow on the one before
	ClassForged     = "record-forged"    // the tree holds it, but no valid signature covers it
	ClassHash       = "hash"             // a stored hash is missing, superfluous or wrong
	ClassHead       = "head"             // an older head is malformed or has another root
	ClassSignature  = "signature"        // the newest head is not signed by the ledger's key
	ClassKey        = "key"              // the genesis or a key rotation does not hold
	ClassIndex      = "index-missing"    // an index lacks a record
	ClassIndexExtra = "index-extra"      // an index entry that no record accounts for
	ClassBlob       = "blob-missing"     // a blob is gone without a record of its redaction
	ClassBlobChange = "blob-changed"     // a blob does not have its digest or length
	ClassBlobOrphan = "blob-orphan"      // a blob that no record names
	ClassBlobKept   = "blob-kept"        // a blob that a record says was redacted
	ClassProjection = "projection"       // a row differs from what the records give
	ClassCheckpoint = "checkpoint"       // the outside checkpoint is malformed or badly signed
	ClassOrigin     = "origin"           // it is of another log
	ClassRollback   = "rollback"         // it has more records than the ledger
	ClassFork       = "fork"             // it has another root at its size
)

// maxProblems bounds a report; a ledger that was rewritten has as many
// problems as records.
const maxProblems = 200

// NoPosition is the Seq of a problem that concerns no single record.
const NoPosition = -1

// A Problem is one thing that does not hold. Seq is the first position that it
// concerns.
type Problem struct {
	Seq   int64  `json:"seq"`
	Class string `json:"class"`
	What  string `json:"what"`
}

func (p Problem) String() string {
	if p.Seq == NoPosition {
		return fmt.Sprintf("%s: %s", p.Class, p.What)
	}
	return fmt.Sprintf("record %d: %s: %s", p.Seq, p.Class, p.What)
}

// A Report is what a verification found. It is filled in as far as it came.
type Report struct {
	Origin   string
	Size     uint64 // the records that were checked
	Root     [32]byte
	Note     string     // the checkpoint that was checked
	Keys     []KeyEpoch // oldest first
	Blobs    int        // present
	Redacted int
	// Unknown names the critical kinds that the program does not know: the
	// ledger is intact, but cannot be appended to.
	Unknown  []string
	FirstBad *uint64 // the lowest position that any problem concerns
	Problems []Problem
	More     int // problems beyond those listed
}

// add notes a problem.
func (r *Report) add(seq int64, class, format string, args ...any) {
	if len(r.Problems) >= maxProblems {
		r.More++
		return
	}
	r.Problems = append(r.Problems, Problem{seq, class, fmt.Sprintf(format, args...)})
}

// close sorts the problems and returns the error that they amount to.
func (r *Report) close() error {
	slices.SortStableFunc(r.Problems, func(a, b Problem) int {
		// As unsigned numbers, those without a position come last.
		return cmp.Compare(uint64(a.Seq), uint64(b.Seq))
	})
	if len(r.Problems) == 0 {
		return nil
	}
	first := r.Problems[0]
	if first.Seq >= 0 {
		seq := uint64(first.Seq)
		r.FirstBad = &seq
	}
	if more := len(r.Problems) + r.More - 1; more > 0 {
		return fault.New(fault.Integrity, "%s (and %d more)", first, more)
	}
	return fault.New(fault.Integrity, "%s", first)
}

// A Disagreement is the error of a ledger that contradicts a checkpoint of its
// own which somebody kept. Both are signed: together they prove to anybody
// that the log was rolled back or forked, so they are worth publishing.
type Disagreement struct {
	Class  string // ClassRollback or ClassFork
	Kept   string // the signed checkpoint from outside
	Ledger string // the signed checkpoint of the ledger as it is
}

func (d *Disagreement) Error() string {
	what := "the ledger has fewer records than a checkpoint that it once signed (rollback)"
	if d.Class == ClassFork {
		what = "the ledger has other records than a checkpoint that it once signed (fork)"
	}
	return what + "\n\nthe checkpoint kept outside:\n" + d.Kept + "\nthe checkpoint of this ledger:\n" + d.Ledger
}
