package ledger

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// facts is what follows from the records alone, taken one after the other: who
// may sign, which blobs there are, which critical kinds. Verifying a ledger and
// reading an export share it.
type facts struct {
	known    func(kind string, schema int) bool
	report   *Report
	tree     tree
	origin   string
	keys     keyring
	lastID   [idLen]byte
	crits    map[critical]uint64 // → first position
	blobs    map[[32]byte]named
	redacted map[[32]byte]uint64 // → position of the redaction
}

type critical struct {
	kind   string
	schema int
}

// named is a blob as the records name it.
type named struct {
	seq    uint64 // of the first record that does
	length int64
}

// A brief is what facts need of a record. Most records add nothing to them but
// their hash and id.
type brief struct {
	seq   uint64
	hash  tlog.Hash
	id    [idLen]byte
	kind  string // only if the kind is the ledger's own or the record critical
	crit  bool
	schem int
	body  []byte // only if the kind is the ledger's own
	refs  []ref
}

func newFacts(r *Report, known func(string, int) bool) *facts {
	return &facts{
		report: r, known: known,
		crits: map[critical]uint64{}, blobs: map[[32]byte]named{}, redacted: map[[32]byte]uint64{},
	}
}

// addContent notes everything but the hash.
func (f *facts) addContent(b *brief) {
	if bytes.Compare(b.id[:], f.lastID[:]) <= 0 {
		f.report.add(int64(b.seq), ClassOrder, "its id %s does not follow on %s", b.id, f.lastID)
	}
	f.lastID = b.id
	for _, r := range b.refs {
		var key [32]byte
		_, _ = hex.Decode(key[:], r.digest) // the parser has seen to the digits
		if n, ok := f.blobs[key]; !ok {
			f.blobs[key] = named{b.seq, r.length}
		} else if n.length != r.length {
			f.report.add(int64(b.seq), ClassBlobChange, "it gives blob %x %d bytes, record %d gives it %d", key, r.length, n.seq, n.length)
		}
	}
	if b.crit {
		c := critical{b.kind, b.schem}
		if _, ok := f.crits[c]; !ok {
			f.crits[c] = b.seq
			if !understood(f.known, b.kind, b.schem) {
				f.report.Unknown = append(f.report.Unknown, fmt.Sprintf("%s/%d", b.kind, b.schem))
			}
		}
	}
	if b.body != nil {
		f.addOwn(b)
	}
}

// addOwn notes a record of the ledger's own kinds.
func (f *facts) addOwn(b *brief) {
	switch b.kind {
	case KindGenesis:
		if b.seq != 0 {
			f.report.add(int64(b.seq), ClassKey, "a second genesis")
		}
	case KindRotated:
		if len(f.keys) == 0 {
			return // the genesis is reported already
		}
		keys, err := f.keys.rotate(f.origin, b.seq, b.body)
		if err != nil {
			f.report.add(int64(b.seq), ClassKey, "the key rotation: %v", err)
			return
		}
		f.keys = keys
	case KindRedacted:
		var r redactedBody
		if err := ownBody(b.body, &r); err != nil {
			f.report.add(int64(b.seq), ClassMalformed, "the redaction: %v", err)
			return
		}
		key, err := parseDigest(r.Blob.Digest)
		if err != nil {
			f.report.add(int64(b.seq), ClassMalformed, "the redaction: %v", err)
			return
		}
		f.redacted[[32]byte(key)] = b.seq
	}
}

// genesis takes origin and first key from the bytes of record 0.
func (f *facts) genesis(raw []byte) {
	origin, keys, err := readGenesis(raw)
	if err != nil {
		f.report.add(0, ClassKey, "the genesis: %v", err)
		return
	}
	f.origin, f.keys = origin, keys
}

// briefOf extracts what facts need. The result shares no memory with raw but
// where raw stays.
func briefOf(seq uint64, v *view, hash tlog.Hash) brief {
	b := brief{seq: seq, hash: hash, id: [idLen]byte(v.id), crit: v.crit, schem: int(v.schema)}
	own := ownKind(string(v.kind)) && v.schema <= ownSchema
	if own || v.crit {
		b.kind = string(v.kind)
	}
	if own {
		b.body = append([]byte{}, v.body...)
	}
	for _, r := range v.refs {
		b.refs = append(b.refs, ref{append([]byte{}, r.digest...), r.length})
	}
	return b
}
