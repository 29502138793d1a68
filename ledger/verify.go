package ledger

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/maphash"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/mod/sumdb/tlog"

	"satelle/internal/fault"
	"satelle/ledger/seatread"
)

// VerifyOptions says how far a verification goes beyond its default.
type VerifyOptions struct {
	// Full also checks the signature of every head that is kept, and the rows
	// of the projection against a replay of all records.
	Full bool
	// Against is a signed checkpoint that somebody kept outside. The ledger
	// must still contain all that it contained then.
	Against string
	// VKey, if not empty, must be one of the ledger's keys, past or present. A
	// ledger that was rewritten from its genesis on has others.
	VKey string
}

// Verify checks that the ledger is what it was when it was written: the file's
// pages, every record by its bytes and its place in the tree, the stored
// hashes, the heads and the newest one's signature, the index entries both
// ways, the blobs. But for the pages, which it looks at in one go, it reads in
// stretches and shuts writers out for some hundredths of a second at a time;
// records that are appended meanwhile are left out.
//
// The error is of class fault.Integrity if anything does not hold; the report
// then names all of it, and the first bad position. A ledger that contradicts
// the outside checkpoint fails with a [Disagreement].
//
// Whoever holds the key can rewrite a ledger so that it is in itself without
// fault. Only a checkpoint that was kept elsewhere shows that.
func Verify(ctx context.Context, cfg Config, opts VerifyOptions) (Report, error) {
	v := &verifier{ctx: ctx, cfg: cfg, opts: opts, seed: maphash.MakeSeed()}
	v.facts = newFacts(&v.report, cfg.Known)
	v.plain = cfg
	v.plain.Projection = nil
	err := v.run()
	// What bbolt could not even read is a finding, too.
	if stopped, ok := errors.AsType[*stop](err); ok {
		v.report.add(NoPosition, stopped.class, "%v", stopped.err)
		err = nil
	}
	if err != nil {
		return v.report, fault.Wrap(err, nil, "verifying the ledger")
	}
	return v.report, fault.Wrap(v.verdict(), fault.Integrity, "verifying the ledger")
}

// verdict closes the report and returns the error that it amounts to.
func (v *verifier) verdict() error {
	err := v.report.close()
	if v.disagreement != nil {
		return v.disagreement
	}
	return err
}

// A stop ends a verification early: there is nothing left to check.
type stop struct {
	class string
	err   error
}

func (s *stop) Error() string { return s.err.Error() }
func (s *stop) Unwrap() error { return s.err }

// A verifier is a verification under way.
type verifier struct {
	ctx    context.Context
	cfg    Config
	plain  Config // without the projection, whose version need not fit
	opts   VerifyOptions
	report Report
	facts  *facts

	size uint64 // of the log when the verification began
	head Head

	// For each position a sum of its story and its kind, to hold the indexes
	// against; 0 means that there must be no entry, unread that there may.
	seed        maphash.Seed
	story, kind []uint32

	changed      []change // leaves that differ from their stored hash
	upper        []change // the same above the leaves
	badHeads     []uint64 // sizes of heads with another root than the records give
	against      *Checkpoint
	againstRoot  tlog.Hash // the records' root at the size of against
	disagreement *Disagreement
}

// A change is a difference between the records and the stored hashes.
type change struct {
	seq  uint64 // the first record that it covers
	n    uint64 // how many it covers
	hash tlog.Hash
}

// unread is the sum of a record that could not be read.
const unread = ^uint32(0)

func (v *verifier) run() error {
	v.parseAgainst()
	readCold(v.ctx, v.cfg.Path)
	for _, part := range []func() error{
		v.pages,
		func() error { return v.step(v.begin) },
		v.records,
		func() error { return v.step(v.edge) },
		func() error { return v.step(v.judge) },
		v.indexes,
		v.blobs,
		v.full,
	} {
		if err := part(); err != nil {
			return err
		}
	}
	v.outside()
	return nil
}

func (v *verifier) parseAgainst() {
	if v.opts.Against == "" {
		return
	}
	cp, err := ParseCheckpoint(v.opts.Against)
	if err != nil {
		v.report.add(NoPosition, ClassCheckpoint, "the text to verify against is %v", err)
		return
	}
	v.against = &cp
}

// step opens the ledger, runs fn and closes it again.
func (v *verifier) step(fn func(l *Log, tx *bolt.Tx) error) error {
	if err := v.ctx.Err(); err != nil {
		return err
	}
	l, err := openFile(v.ctx, v.plain)
	if err != nil {
		return damaged(err)
	}
	err = l.view(func(tx *bolt.Tx) error {
		if err := checkFormat(tx); err != nil {
			if fault.Is(err, fault.Integrity) {
				return &stop{ClassFormat, err}
			}
			return err
		}
		return fn(l, tx)
	})
	return damaged(either(err, l.Close()))
}

// damaged turns what guard and openFile found into a stop.
func damaged(err error) error {
	if _, ok := errors.AsType[*stop](err); ok || !fault.Is(err, fault.Integrity) {
		return err
	}
	return &stop{ClassFile, err}
}

// pages checks the structure of the file, page by page, before bbolt looks at
// it: bbolt trusts its file, and there are forms of damage, such as pages that
// point to each other in a circle, that would end the process.
func (v *verifier) pages() error {
	lock, err := lockFor(v.ctx, v.plain)
	if err != nil {
		return damaged(err)
	}
	valid, err := seatread.MetasValid(v.cfg.Path)
	if err == nil && !valid {
		v.report.add(NoPosition, ClassFile, "one of the two meta pages is damaged; the newest append may be lost with it")
	}
	if err == nil {
		err = seatread.Check(v.cfg.Path)
	}
	if errors.Is(err, seatread.ErrCorrupt) {
		err = &stop{ClassFile, err}
	}
	return either(err, lock.release())
}

// begin fixes what is going to be verified.
func (v *verifier) begin(_ *Log, tx *bolt.Tx) error {
	if raw := tx.Bucket(bucketRecords).Get(seqKey(0)); raw != nil {
		v.facts.genesis(raw)
	}
	heads := tx.Bucket(bucketHeads).Cursor()
	k, entry := heads.Last()
	for k != nil && len(k) != 8 { // the newest head is the last that can be one
		v.report.add(NoPosition, ClassHead, "the heads have the key %x", k)
		k, entry = heads.Prev()
	}
	if k == nil {
		return &stop{ClassHead, errors.New("the ledger has no head")}
	}
	v.size = binary.BigEndian.Uint64(k)
	last := uint64(0)
	if k, _ := tx.Bucket(bucketRecords).Cursor().Last(); len(k) >= 8 {
		last = binary.BigEndian.Uint64(k) + 1
	}
	switch {
	case last > v.size:
		v.report.add(int64(v.size), ClassExtra, "records up to %d, the newest head has %d", last-1, v.size)
	case v.size > last+maxMissing:
		// A size out of thin air: do not look for all the missing records.
		return &stop{ClassHead, errors.New("the newest head has many more records than there are")}
	}
	var err error
	if v.head, err = openHead(v.facts.origin, v.size, entry); err != nil {
		v.report.add(int64(v.size)-1, ClassHead, "the newest head: %v", err)
	}
	v.report.Size, v.report.Note, v.report.Origin = v.size, v.head.Note, v.facts.origin
	v.story, v.kind = make([]uint32, v.size), make([]uint32, v.size)
	return nil
}

// maxMissing bounds the memory that a forged size can claim.
const maxMissing = 1 << 24

// edge compares the tiles that are not complete yet, and looks for tiles that
// should not be there.
func (v *verifier) edge(l *Log, tx *bolt.Tx) error {
	now, err := headOf(tx, v.facts.origin)
	if err != nil {
		now.Size = v.size // a malformed newest head is reported already
	}
	tiles := tx.Bucket(bucketTiles)
	for level := range maxTileLevel {
		n, want := v.facts.tree.partial(level)
		if len(want) == 0 {
			continue
		}
		have := tiles.Get(tileKey(level, n))
		if now.Size > v.size && len(have) > len(want) {
			have = have[:len(want)] // somebody has appended
		}
		v.compareTile(level, n, want, have)
	}
	return tiles.ForEach(func(k, _ []byte) error {
		if len(k) == 9 && int(k[0]) < maxTileLevel {
			n := binary.BigEndian.Uint64(k[1:])
			count := now.Size >> (tileHeight * int(k[0]))
			if n < (count+tileWidth-1)/tileWidth {
				return nil
			}
		}
		v.report.add(NoPosition, ClassHash, "a tile %x, which the tree does not have", k)
		return nil
	})
}

// compareTile holds a stored tile against the one that the records give.
func (v *verifier) compareTile(level int, n uint64, want, have []byte) {
	if bytes.Equal(want, have) {
		return
	}
	span := uint64(1) << (tileHeight * level)
	if len(have) != len(want) {
		v.report.add(int64(n*tileWidth*span), ClassHash, "tile %d/%d has %d bytes, want %d", level, n, len(have), len(want))
	}
	list := &v.changed
	if level > 0 {
		list = &v.upper
	}
	for i := 0; i < min(len(want), len(have)); i += tlog.HashSize {
		if w := want[i : i+tlog.HashSize]; !bytes.Equal(w, have[i:min(i+tlog.HashSize, len(have))]) && len(*list) < maxProblems {
			*list = append(*list, change{(n*tileWidth + uint64(i/tlog.HashSize)) * span, span, tlog.Hash(w)})
		}
	}
}

// judge decides what the differences that were found mean: the newest head's
// signature tells whether the records or the hashes are the true ones.
func (v *verifier) judge(_ *Log, tx *bolt.Tx) error {
	v.report.Root = v.facts.tree.root()
	v.report.Keys = v.facts.keys
	signed := v.signed(v.head)
	if v.head.Root == v.report.Root && signed == nil {
		for _, c := range append(v.changed, v.upper...) {
			v.report.add(int64(c.seq), ClassHash, "a stored hash differs from the record, which the signed head confirms")
		}
		for _, size := range v.badHeads {
			v.report.add(int64(size)-1, ClassHead, "the head of %d records has another root than these records", size)
		}
		return nil
	}
	switch {
	case v.head.Note == "" || len(v.facts.keys) == 0 && len(v.changed) == 0:
		// The head is malformed or there is no genesis, and reported as such.
	case len(v.changed) > 0:
		for _, c := range v.changed {
			v.reportChange(tx, c)
		}
	case len(v.upper) > 0:
		c := v.upper[0]
		v.report.add(int64(c.seq), ClassChanged, "it or one of the %d that follow was changed together with its hash", c.n-1)
	default:
		return v.forged(tx, signed)
	}
	return nil
}

// reportChange reports a record that does not have its hash.
func (v *verifier) reportChange(tx *bolt.Tx, c change) {
	c2 := tx.Bucket(bucketTiles).Cursor()
	for k, tile := c2.Seek(tileKey(0, 0)); len(k) == 9 && k[0] == 0; k, tile = c2.Next() {
		for i := 0; i+tlog.HashSize <= len(tile); i += tlog.HashSize {
			if bytes.Equal(tile[i:i+tlog.HashSize], c.hash[:]) {
				from := binary.BigEndian.Uint64(k[1:])*tileWidth + uint64(i/tlog.HashSize)
				v.report.add(int64(c.seq), ClassMoved, "the record of position %d stands here", from)
				return
			}
		}
	}
	v.report.add(int64(c.seq), ClassChanged, "its bytes are not those that the tree holds")
}

// signed says what is wrong with the signatures of a head.
func (v *verifier) signed(h Head) error {
	if len(v.facts.keys) == 0 {
		return errors.New("the ledger's key is unknown")
	}
	known, err := v.facts.keys.verifiers(h.Size)
	if err != nil {
		return err
	}
	_, err = openNote(h.Note, known)
	return err
}

// forged finds the first append that no signature covers: records and hashes
// agree with each other, but not with the signed heads. Every head after it is
// bad and none before it, so bisecting finds it.
func (v *verifier) forged(tx *bolt.Tx, signed error) error {
	heads, hashes := tx.Bucket(bucketHeads), tileReader(tx.Bucket(bucketTiles))
	good, bad := uint64(0), v.size // the sizes of a good head, or none, and of a bad one
	for c := heads.Cursor(); ; {
		// The head nearest above the middle; if that is the bad one, walk on
		// from the good one, of which there can only be few.
		k, entry := c.Seek(seqKey(good + (bad-good)/2 + 1))
		if len(k) != 8 || binary.BigEndian.Uint64(k) >= bad {
			k, entry = c.Seek(seqKey(good + 1))
		}
		if len(k) != 8 || binary.BigEndian.Uint64(k) >= bad {
			break
		}
		size := binary.BigEndian.Uint64(k)
		h, err := openHead(v.facts.origin, size, entry)
		if err == nil {
			err = v.signed(h)
		}
		root, rootErr := tlog.TreeHash(int64(size), hashes)
		if rootErr != nil {
			return &stop{ClassHash, rootErr}
		}
		if err == nil && root == h.Root {
			good = size
		} else {
			bad = size
		}
	}
	if bad == v.size && signed != nil {
		v.report.add(int64(good), ClassSignature, "no valid signature covers records %d to %d: %v", good, bad-1, signed)
		return nil
	}
	v.report.add(int64(good), ClassForged, "records %d to %d are not those that the ledger's key has signed", good, bad-1)
	return nil
}

// outside holds the ledger against the checkpoint and the key from outside.
func (v *verifier) outside() {
	if v.opts.VKey != "" {
		found := false
		for _, e := range v.facts.keys {
			found = found || e.VKey == v.opts.VKey
		}
		if !found {
			v.report.add(NoPosition, ClassKey, "the key %s is none of the ledger's", v.opts.VKey)
		}
	}
	cp := v.against
	if cp == nil {
		return
	}
	if cp.Origin != v.facts.origin {
		v.report.add(NoPosition, ClassOrigin, "the checkpoint is of %s, this ledger is %s", cp.Origin, v.facts.origin)
		return
	}
	if err := v.signed(Head{Size: cp.Size, Note: v.opts.Against}); err != nil {
		v.report.add(NoPosition, ClassCheckpoint, "no key of this ledger has signed the checkpoint: %v", err)
		return
	}
	class := ""
	switch {
	case cp.Size > v.size:
		class = ClassRollback
	case cp.Size == 0:
	case v.againstRoot != cp.Root:
		class = ClassFork
	}
	if class != "" {
		v.disagreement = &Disagreement{Class: class, Kept: v.opts.Against, Ledger: v.head.Note}
		v.report.add(NoPosition, class, "the checkpoint has %d records and root %s, the ledger has %d and %s",
			cp.Size, tlog.Hash(cp.Root), v.size, tlog.Hash(v.report.Root))
	}
}
