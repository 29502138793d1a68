package ledger

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"satelle/internal/fault"
)

// A sample is a ledger with one of everything, and what a forger needs.
type sample struct {
	cfg      Config
	size     uint64
	kept     Head // a checkpoint somebody kept, of 20 records
	blob     BlobRef
	blobSeq  uint64
	redacted BlobRef
	rotation uint64
}

// newSample makes 50 records in appends of three, with blobs, a redaction, a
// key rotation and critical records.
func newSample(t testing.TB) *sample {
	t.Helper()
	s := &sample{cfg: testConfig(t)}
	l := create1(t, s.cfg)
	for i := 0; ; i++ {
		h, err := l.Head()
		if err != nil {
			t.Fatal(err)
		}
		s.size = h.Size
		switch {
		case h.Size >= 50:
			closeLog(t, l)
			return s
		case s.kept.Size == 0 && h.Size >= 20:
			s.kept = h
		}
		ctx := context.Background()
		switch i {
		case 4:
			_, _, err = l.RotateKey(ctx, h.Size, engine)
			s.rotation = h.Size
		case 9:
			_, _, err = l.Redact(ctx, h.Size, s.redacted, "it held a password", engine)
		default:
			b := newBlob(s.cfg.testOnlyRand, "text/plain", fmt.Appendf(nil, "blob of append %d", i))
			if i == 2 {
				s.redacted = b.Ref
			}
			if i == 6 {
				s.blob, s.blobSeq = b.Ref, h.Size
			}
			d := draft("story.created", fmt.Sprintf("sty_%d", i%3), map[string]any{"doc": b.Ref, "n": i})
			d.Crit = i%2 == 0
			_, _, err = l.Append(ctx, h.Size, []Draft{d, draft("story.moved", "sty_1", nil), draft("note.added", "", nil)}, []Blob{b})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// copyOf returns the configuration of a copy of the sample's file.
func (s *sample) copyOf(t testing.TB) Config {
	t.Helper()
	b, err := os.ReadFile(s.cfg.Path)
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.cfg
	cfg.Path = filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(cfg.Path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// tamper changes a ledger file behind the ledger's back.
func tamper(t testing.TB, path string, fn func(tx *bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(fn); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// flipped returns v with one bit changed.
func flipped(v []byte, i int) []byte {
	v = bytes.Clone(v)
	v[i] ^= 1
	return v
}

// flip changes one bit of a stored value.
func flip(bucket, key []byte, i int) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		b := tx.Bucket(bucket)
		return b.Put(key, flipped(b.Get(key), i))
	}
}

func remove(bucket, key []byte) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error { return tx.Bucket(bucket).Delete(key) }
}

func put(bucket, key, val []byte) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error { return tx.Bucket(bucket).Put(key, val) }
}

// forge is what a forger does who has no key: it replaces a record and makes
// every stored hash and, if heads is set, every later root fit.
func forge(seq uint64, change func(raw []byte) []byte, heads bool) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		records := tx.Bucket(bucketRecords)
		raw := change(bytes.Clone(records.Get(seqKey(seq))))
		if err := records.Put(seqKey(seq), raw); err != nil {
			return err
		}
		return rehash(tx, seq, heads)
	}
}

// rehash makes the stored hashes fit the records, and the roots of the heads
// behind seq too if heads is set.
func rehash(tx *bolt.Tx, seq uint64, heads bool) error {
	if err := tx.DeleteBucket(bucketTiles); err != nil {
		return err
	}
	tiles, err := tx.CreateBucket(bucketTiles)
	if err != nil {
		return err
	}
	t := &tree{}
	hb := tx.Bucket(bucketHeads)
	return tx.Bucket(bucketRecords).ForEach(func(_, raw []byte) error {
		if err := t.grow(tiles, []tlog.Hash{tlog.RecordHash(raw)}); err != nil {
			return err
		}
		entry := hb.Get(seqKey(t.size))
		if !heads || t.size <= seq || entry == nil {
			return nil
		}
		root := t.root()
		return hb.Put(seqKey(t.size), append(root[:], entry[32:]...))
	})
}

func replace(old, with string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(with), 1) }
}

func all(fns ...func(*bolt.Tx) error) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		for _, fn := range fns {
			if err := fn(tx); err != nil {
				return err
			}
		}
		return nil
	}
}

func swapRecords(a, b uint64) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		r := tx.Bucket(bucketRecords)
		ra, rb := bytes.Clone(r.Get(seqKey(a))), bytes.Clone(r.Get(seqKey(b)))
		if err := r.Put(seqKey(a), rb); err != nil {
			return err
		}
		return r.Put(seqKey(b), ra)
	}
}

func digestKey(t testing.TB, ref BlobRef) []byte {
	t.Helper()
	key, err := parseDigest(ref.Digest)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestTamper(t *testing.T) {
	s := newSample(t)
	blob, gone := digestKey(t, s.blob), digestKey(t, s.redacted)
	last := s.size - 1
	tests := []struct {
		name   string
		tamper func(tx *bolt.Tx) error
		seq    int64 // the first bad position
		class  string
		full   bool // only a full verification finds it
	}{
		{"flip a bit of a record", flip(bucketRecords, seqKey(17), 200), 17, ClassChanged, false},
		{"flip a bit of the genesis", flip(bucketRecords, seqKey(0), 60), 0, ClassChanged, false},
		{"flip a bit of the last record", flip(bucketRecords, seqKey(last), 100), int64(last), ClassChanged, false},
		{"truncate a record", forge(17, func(b []byte) []byte { return b[:40] }, false), 17, ClassMalformed, false},
		{"remove a record", remove(bucketRecords, seqKey(31)), 31, ClassMissing, false},
		{"remove the genesis", remove(bucketRecords, seqKey(0)), 0, ClassMissing, false},
		{"remove the last record", remove(bucketRecords, seqKey(last)), int64(last), ClassMissing, false},
		{"swap two records", swapRecords(12, 40), 12, ClassMoved, false},
		{"put a record behind the head", put(bucketRecords, seqKey(s.size), []byte("{}")), int64(s.size), ClassExtra, false},
		{"put a record between", put(bucketRecords, append(seqKey(8), 0), []byte("{}")), 9, ClassExtra, false},
		{"rewrite a record and its hashes", forge(17, replace("engine", "person"), false), 17, ClassForged, false},
		{"rewrite a record, its hashes and the heads", forge(17, replace("engine", "person"), true), 17, ClassForged, false},
		{"rewrite a record of the last append and everything", forge(last, replace("engine", "person"), true), int64(last - 2), ClassSignature, false},
		{"rewrite a record's time and everything", forge(3, replace("T03", "T04"), true), 1, ClassForged, false},

		{"flip a leaf hash", flip(bucketTiles, tileKey(0, 1), 3*32), 19, ClassHash, false},
		{"flip a hash above", flip(bucketTiles, tileKey(1, 0), 2*32), 32, ClassHash, false},
		{"flip a hash at the edge", flip(bucketTiles, tileKey(0, s.size/16), 0), int64(s.size / 16 * 16), ClassHash, false},
		{"remove a tile", remove(bucketTiles, tileKey(0, 2)), 32, ClassHash, false},
		{"cut a tile", put(bucketTiles, tileKey(0, 0), make([]byte, 31)), 0, ClassHash, false},
		{"add a tile", put(bucketTiles, tileKey(0, 9), make([]byte, 32)), NoPosition, ClassHash, false},
		{"add a level", put(bucketTiles, tileKey(7, 0), make([]byte, 32)), NoPosition, ClassHash, false},
		{"flip a record and its leaf hash", all(forge(17, replace("engine", "person"), false), flip(bucketTiles, tileKey(1, 0), 2*32)), 32, ClassChanged, false},

		{"flip an older root", flip(bucketHeads, seqKey(7), 5), 6, ClassHead, false},
		{"flip an older signature", flip(bucketHeads, seqKey(7), 50), 6, ClassHead, true},
		{"flip the newest root", flip(bucketHeads, seqKey(s.size), 5), int64(s.size) - 3, ClassSignature, false},
		{"flip the newest signature", flip(bucketHeads, seqKey(s.size), 50), int64(s.size) - 3, ClassSignature, false},
		{"flip the newest key id", flip(bucketHeads, seqKey(s.size), 33), int64(s.size) - 3, ClassSignature, false},
		{"cut the newest head", put(bucketHeads, seqKey(s.size), make([]byte, 20)), int64(last), ClassHead, false},
		{"cut an older head", put(bucketHeads, seqKey(7), nil), 6, ClassHead, false},
		{"add a head that is none", put(bucketHeads, append(seqKey(7), 1), make([]byte, 100)), 6, ClassHead, false},
		{"remove the newest head", remove(bucketHeads, seqKey(s.size)), int64(s.size - 3), ClassExtra, false},
		{"a head out of thin air", put(bucketHeads, seqKey(1<<60), make([]byte, 100)), NoPosition, ClassHead, false},

		{"remove an index entry", remove(bucketKind, indexKey("note.added", 3)), 3, ClassIndex, false},
		{"remove a story's entry", remove(bucketStory, indexKey("sty_1", 2)), 2, ClassIndex, false},
		{"add an index entry", put(bucketStory, indexKey("sty_9", 5), nil), 5, ClassIndexExtra, false},
		{"give an entry a value", put(bucketStory, indexKey("sty_1", 2), []byte{1}), 2, ClassIndex, false},
		{"an index entry of another form", put(bucketKind, []byte("nothing"), nil), NoPosition, ClassIndexExtra, false},
		{"rename an index entry", all(remove(bucketKind, indexKey("note.added", 3)), put(bucketKind, indexKey("note.hidden", 3), nil)), 3, ClassIndexExtra, false},
		{"remove a critical kind", remove(bucketCrit, critKey("story.created", 1)), 1, ClassIndex, false},
		{"add a critical kind", put(bucketCrit, critKey("story.created", 2), seqKey(1)), NoPosition, ClassIndexExtra, false},

		{"flip a blob", flip(bucketBlobs, blob, 40), int64(s.blobSeq), ClassBlobChange, false},
		{"flip a salt", flip(bucketBlobs, blob, 4), int64(s.blobSeq), ClassBlobChange, false},
		{"remove a blob", remove(bucketBlobs, blob), int64(s.blobSeq), ClassBlob, false},
		{"empty a blob", put(bucketBlobs, blob, nil), int64(s.blobSeq), ClassBlob, false},
		{"add a blob", put(bucketBlobs, make([]byte, 32), make([]byte, 40)), NoPosition, ClassBlobOrphan, false},
		{"bring a redacted blob back", put(bucketBlobs, gone, make([]byte, 40)), 26, ClassBlobKept, false},

		{"flip a row", put([]byte("p:count"), []byte("note.added"), []byte("7")), NoPosition, ClassProjection, true},
		{"remove a row", remove([]byte("p:count"), []byte("note.added")), NoPosition, ClassProjection, true},
		{"add a row", put([]byte("p:last"), []byte("sty_x"), []byte("7")), NoPosition, ClassProjection, true},
		{"drop a bucket", func(tx *bolt.Tx) error { return tx.DeleteBucket(bucketHeads) }, NoPosition, ClassFormat, false},
		{"break the format", put(bucketMeta, keyFormat, []byte("one")), NoPosition, ClassFormat, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := s.copyOf(t)
			tamper(t, cfg.Path, tt.tamper)
			r, err := Verify(context.Background(), cfg, VerifyOptions{})
			if tt.full {
				if err != nil {
					t.Fatalf("the default verification found %v", err)
				}
				r, err = Verify(context.Background(), cfg, VerifyOptions{Full: true})
			}
			if !fault.Is(err, fault.Integrity) {
				t.Fatalf("err = %v", err)
			}
			if len(r.Problems) == 0 {
				t.Fatalf("no problems with %v", err)
			}
			if p := r.Problems[0]; p.Seq != tt.seq || p.Class != tt.class {
				t.Errorf("first: %v\nwant %d %s\nall: %v", p, tt.seq, tt.class, r.Problems)
			}
			if (r.FirstBad == nil) != (tt.seq == NoPosition) || r.FirstBad != nil && *r.FirstBad != uint64(tt.seq) {
				t.Errorf("FirstBad = %v", r.FirstBad)
			}
		})
	}
}

// A ledger that loses its last append, or was forked by whoever has the key,
// is in itself without fault. A checkpoint from outside tells, and the error
// carries both.
func TestVerifyAgainst(t *testing.T) {
	s := newSample(t)
	rollback := func(tx *bolt.Tx) error {
		last := s.size - 1
		for seq := last - 2; seq <= last; seq++ {
			raw := bytes.Clone(tx.Bucket(bucketRecords).Get(seqKey(seq)))
			v, err := parse(raw)
			if err != nil {
				return err
			}
			for _, r := range v.refs {
				key, _ := parseDigest(digestPrefix + string(r.digest))
				if err := tx.Bucket(bucketBlobs).Delete(key); err != nil {
					return err
				}
			}
			err = all(remove(bucketRecords, seqKey(seq)), remove(bucketKind, indexKey(v.kind, seq)),
				remove(bucketStory, indexKey(v.story, seq)))(tx)
			if err != nil {
				return err
			}
		}
		if err := tx.Bucket(bucketHeads).Delete(seqKey(s.size)); err != nil {
			return err
		}
		return rehash(tx, 0, false)
	}
	fork := func(tx *bolt.Tx) error {
		if err := forge(5, replace("engine", "person"), true)(tx); err != nil {
			return err
		}
		return resign(tx, s.cfg.Keys.(*memKeys))
	}
	newest := func(cfg Config) string {
		l := reopen(t, cfg)
		defer closeLog(t, l)
		h, err := l.Head()
		if err != nil {
			t.Fatal(err)
		}
		return h.Note
	}
	now := newest(s.cfg)
	other := testConfig(t)
	other.Keys = newKeys("other")
	l, err := Create(context.Background(), other, Genesis{Project: "demo", Clone: "c2"})
	if err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	tests := []struct {
		name    string
		tamper  func(*bolt.Tx) error
		against string
		class   string // "" if it holds
	}{
		{"the newest", nil, now, ""},
		{"an older one", nil, s.kept.Note, ""},
		{"rollback", rollback, now, ClassRollback},
		{"rollback, seen by nobody", rollback, s.kept.Note, ""},
		{"fork", fork, s.kept.Note, ClassFork},
		{"of another log", nil, newest(other), ClassOrigin},
		{"a flipped signature", nil, strings.Replace(now, "\n— ", "\n— ", 1)[:len(now)-6] + "AAAA=\n", ClassCheckpoint},
		{"a changed size", nil, strings.Replace(s.kept.Note, "\n2", "\n3", 1), ClassCheckpoint},
		{"nonsense", nil, "hello\n", ClassCheckpoint},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := s.copyOf(t)
			cfg.Projection = nil
			if tt.tamper != nil {
				tamper(t, cfg.Path, tt.tamper)
			}
			if tt.tamper != nil {
				if _, err := Verify(context.Background(), cfg, VerifyOptions{}); err != nil {
					t.Fatalf("without a checkpoint: %v", err)
				}
			}
			r, err := Verify(context.Background(), cfg, VerifyOptions{Against: tt.against})
			if tt.class == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !fault.Is(err, fault.Integrity) || len(r.Problems) != 1 || r.Problems[0].Class != tt.class {
				t.Fatalf("err = %v, %v", err, r.Problems)
			}
			if tt.class == ClassRollback || tt.class == ClassFork {
				if !strings.Contains(err.Error(), tt.against) || !strings.Contains(err.Error(), newest(cfg)) {
					t.Errorf("the error lacks a checkpoint:\n%v", err)
				}
			}
		})
	}
}

// resign is what a forger does who has the key: every head is signed anew.
func resign(tx *bolt.Tx, keys *memKeys) error {
	origin, ring, err := foldKeys(tx)
	if err != nil {
		return err
	}
	heads := tx.Bucket(bucketHeads)
	type signed struct{ k, v []byte }
	var out []signed
	err = heads.ForEach(func(k, entry []byte) error {
		size := binary.BigEndian.Uint64(k)
		var signers []note.Signer
		for i, e := range ring {
			if e.After < size && (i+1 == len(ring) || ring[i+1].After+1 >= size) {
				signers = append(signers, keys.m[e.VKey])
			}
		}
		v, err := sealHead(&Checkpoint{Origin: origin, Size: size, Root: [32]byte(entry[:32])}, signers)
		out = append(out, signed{bytes.Clone(k), v})
		return err
	})
	for _, s := range out {
		if err == nil {
			err = heads.Put(s.k, s.v)
		}
	}
	return err
}
