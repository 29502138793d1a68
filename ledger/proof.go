package ledger

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"satelle/internal/fault"
)

// proofHeader is the first line of the C2SP tlog-proof form.
const proofHeader = "c2sp.org/tlog-proof@v1"

// maxProof bounds a proof in bytes: at most 63 hashes beside its checkpoint.
const maxProof = maxCheckpoint + 8<<10

// ErrProof is the error of a text that is no proof, or does not prove what it
// is held against.
var ErrProof = errors.New("the proof does not hold")

// Prove returns a C2SP tlog-proof that the log as of its newest head contains
// the record at seq, and the record's bytes. [CheckProof] is its counterpart.
func Prove(ctx context.Context, cfg Config, seq uint64) (proof, record []byte, err error) {
	cfg.Projection = nil
	l, err := open(ctx, cfg)
	if err != nil {
		return nil, nil, fault.Wrap(err, nil, "proving record %d", seq)
	}
	err = l.view(func(tx *bolt.Tx) error {
		head, err := headOf(tx, l.origin)
		if err != nil {
			return err
		}
		if seq >= head.Size {
			return fault.New(fault.NotFound, "the ledger has %d records, the last one is %d", head.Size, head.Size-1)
		}
		record = bytes.Clone(tx.Bucket(bucketRecords).Get(seqKey(seq)))
		hashes, err := tlog.ProveRecord(int64(head.Size), int64(seq), tileReader(tx.Bucket(bucketTiles)))
		if err == nil {
			err = tlog.CheckRecord(hashes, int64(head.Size), head.Root, int64(seq), tlog.RecordHash(record))
		}
		proof = formatProof(seq, hashes, head.Note)
		return fault.Wrap(err, fault.Integrity, "the stored hashes do not lead from the record to the signed root")
	})
	if err = either(err, l.Close()); err != nil {
		return nil, nil, fault.Wrap(err, nil, "proving record %d", seq)
	}
	return proof, record, nil
}

// Proven is what a proof shows.
type Proven struct {
	Checkpoint
	Record Record // with its position
}

// CheckProof checks that the log with the public key vkey has signed a tree
// that contains the record's bytes, and returns what is thereby known. It
// needs nothing else: no ledger, no network.
func CheckProof(vkey string, proof, record []byte) (Proven, error) {
	p, err := checkProof(vkey, proof, record)
	return p, fault.Wrap(err, fault.Integrity, "checking the proof")
}

func checkProof(vkey string, proof, record []byte) (Proven, error) {
	v, err := note.NewVerifier(vkey)
	if err != nil {
		return Proven{}, fmt.Errorf("public key: %w", err)
	}
	seq, hashes, signed, err := parseProof(proof)
	if err != nil {
		return Proven{}, err
	}
	n, err := openNote(signed, note.VerifierList(v))
	if err != nil {
		return Proven{}, fmt.Errorf("its checkpoint: %w", err)
	}
	cp, err := parseCheckpointText(n.Text)
	if err != nil {
		return Proven{}, err
	}
	if cp.Origin != v.Name() {
		return Proven{}, fmt.Errorf("its checkpoint is of %s, the key of %s", cp.Origin, v.Name())
	}
	if seq >= cp.Size || tlog.CheckRecord(hashes, int64(cp.Size), cp.Root, int64(seq), tlog.RecordHash(record)) != nil {
		return Proven{}, ErrProof
	}
	r, err := ParseRecord(record)
	if err != nil {
		return Proven{}, err
	}
	r.Seq = seq
	return Proven{cp, r}, nil
}

func formatProof(seq uint64, hashes tlog.RecordProof, signed string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\nindex %d\n", proofHeader, seq)
	for _, h := range hashes {
		b.WriteString(h.String() + "\n")
	}
	b.WriteString("\n" + signed)
	return b.Bytes()
}

// parseProof reads a proof. Its extra line, if any, is passed over: nothing
// authenticates it.
func parseProof(proof []byte) (seq uint64, hashes tlog.RecordProof, signed string, err error) {
	fail := func() (uint64, tlog.RecordProof, string, error) { return 0, nil, "", ErrProof }
	if len(proof) > maxProof {
		return fail()
	}
	head, signed, ok := strings.Cut(string(proof), "\n\n")
	lines := strings.Split(head, "\n")
	if !ok || lines[0] != proofHeader {
		return fail()
	}
	lines = lines[1:]
	if len(lines) > 0 && strings.HasPrefix(lines[0], "extra ") {
		if _, err := base64.StdEncoding.Strict().DecodeString(lines[0][len("extra "):]); err != nil {
			return fail()
		}
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return fail()
	}
	index, ok := strings.CutPrefix(lines[0], "index ")
	seq, err = strconv.ParseUint(index, 10, 63)
	if !ok || err != nil || strconv.FormatUint(seq, 10) != index || len(lines) > 64 {
		return fail()
	}
	for _, l := range lines[1:] {
		h, err := tlog.ParseHash(l)
		if err != nil || h.String() != l {
			return fail()
		}
		hashes = append(hashes, h)
	}
	return seq, hashes, signed, nil
}
