package ledger

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// hashStore is tlog's own way to store hashes: all of them, in one row.
type hashStore []tlog.Hash

func (s hashStore) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		out[i] = s[x]
	}
	return out, nil
}

// withTiles calls fn with an empty tiles bucket.
func withTiles(t *testing.T, fn func(b *bolt.Bucket)) {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "tiles.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket(bucketTiles)
		if err == nil {
			fn(b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The tree is tlog's at every size: same root, same proofs, from stored tiles
// as from a full list of hashes; and every older head leads to it.
func TestTreeEverySize(t *testing.T) {
	const last = 100
	withTiles(t, func(b *bolt.Bucket) {
		var hashes hashStore
		var roots []tlog.Hash
		leaf := func(n int64) tlog.Hash { return tlog.RecordHash(fmt.Append(nil, "record ", n)) }
		for n := int64(0); n < last; n++ {
			more, err := tlog.StoredHashesForRecordHash(n, leaf(n), hashes)
			if err != nil {
				t.Fatal(err)
			}
			hashes = append(hashes, more...)
			tr, err := loadTree(b, uint64(n))
			if err != nil {
				t.Fatal(err)
			}
			if err := tr.grow(b, []tlog.Hash{leaf(n)}); err != nil {
				t.Fatal(err)
			}
			size := n + 1
			root, err := tlog.TreeHash(size, hashes)
			if err != nil || tr.root() != root {
				t.Fatalf("root of %d = %v, want %v (%v)", size, tr.root(), root, err)
			}
			roots = append(roots, root)
			for seq := range size {
				p, err := tlog.ProveRecord(size, seq, tileReader(b))
				if err != nil || tlog.CheckRecord(p, size, root, seq, leaf(seq)) != nil {
					t.Fatalf("record %d in %d is not proved: %v", seq, size, err)
				}
			}
			for old := int64(1); old <= size; old++ {
				p, err := tlog.ProveTree(size, old, tileReader(b))
				if err != nil || tlog.CheckTree(p, size, root, old, roots[old-1]) != nil {
					t.Fatalf("head %d does not lead to %d: %v", old, size, err)
				}
			}
		}
	})
}

func TestLeafHasher(t *testing.T) {
	h := newLeafHasher()
	for _, s := range []string{"", "a", good} {
		if h.sum([]byte(s)) != tlog.RecordHash([]byte(s)) {
			t.Errorf("another hash of %q than tlog's", s)
		}
	}
}

// However records are cut into batches, the same tiles result.
func TestTreeBatches(t *testing.T) {
	leaves := make([]tlog.Hash, 600)
	for i := range leaves {
		leaves[i] = tlog.RecordHash(fmt.Append(nil, i))
	}
	dump := func(step int) (out []string) {
		withTiles(t, func(b *bolt.Bucket) {
			for batch := range slices.Chunk(leaves, step) {
				var size uint64
				if b.Get(tileKey(0, 0)) != nil {
					size = uint64(len(out))
				}
				tr, err := loadTree(b, size)
				if err != nil {
					t.Fatal(err)
				}
				if err := tr.grow(b, batch); err != nil {
					t.Fatal(err)
				}
				out = append(out, make([]string, len(batch))...)
			}
			out = out[:0]
			_ = b.ForEach(func(k, v []byte) error {
				out = append(out, fmt.Sprintf("%x=%x", k, v))
				return nil
			})
		})
		return out
	}
	one := dump(1)
	if want := 38 + 3 + 1; len(one) != want { // ⌈600/16⌉, ⌈37/16⌉ and ⌈2/16⌉
		t.Errorf("%d tiles, want %d", len(one), want)
	}
	for _, step := range []int{2, 7, 16, 17, 256, 600} {
		if !slices.Equal(one, dump(step)) {
			t.Errorf("batches of %d give other tiles", step)
		}
	}
}

// A proof is refused if any byte of it differs, and so is the record.
func TestProofEveryByte(t *testing.T) {
	cfg := testConfig(t)
	l := create1(t, cfg)
	for range 6 {
		appendTo(t, l, []Draft{draft("a.b", "sty_a", nil), draft("a.c", "", nil)})
	}
	vkey := l.VKey()
	closeLog(t, l)
	proof, record, err := Prove(t.Context(), cfg, 5)
	if err != nil {
		t.Fatal(err)
	}
	got, err := CheckProof(vkey, proof, record)
	if err != nil || got.Record.Seq != 5 || got.Size != 13 || got.Record.Kind != "a.b" {
		t.Fatalf("CheckProof = %+v, %v", got, err)
	}
	for i := range proof {
		for _, bit := range []byte{1, 2, 0x20, 0x80} {
			bad := slices.Clone(proof)
			bad[i] ^= bit
			if _, err := CheckProof(vkey, bad, record); err == nil {
				t.Errorf("byte %d flipped by %#x (%q) is accepted", i, bit, proof[i])
			}
		}
		if _, err := CheckProof(vkey, proof[:i], record); err == nil {
			t.Errorf("the first %d bytes are accepted", i)
		}
	}
	for i := range record {
		if _, err := CheckProof(vkey, proof, flipped(record, i)); err == nil {
			t.Errorf("a record with byte %d flipped is accepted", i)
		}
	}
	other, err := newKeys("other").Create(l.Origin())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := CheckProof(other, proof, record); err == nil {
		t.Error("another key of the same name is accepted")
	}
	// The last digit of the signature has two bits that carry nothing.
	at := bytes.LastIndexByte(proof, '=') - 1
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		bad := slices.Clone(proof)
		bad[at] = c
		if _, err := CheckProof(vkey, bad, record); err == nil && c != proof[at] {
			t.Errorf("another spelling of the signature, ending in %c for %c, is accepted", c, proof[at])
		}
	}
}

// The note of a head, which is kept as root and signatures only, is one that
// x/mod's own parser accepts, byte for byte.
func TestHeadNote(t *testing.T) {
	keys := newKeys("k")
	vkey, err := keys.Create("satelle/p/c")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := keys.Signer(vkey)
	if err != nil {
		t.Fatal(err)
	}
	cp := Checkpoint{Origin: "satelle/p/c", Size: 7, Root: tlog.RecordHash([]byte("x"))}
	entry, err := sealHead(&cp, []note.Signer{signer})
	if err != nil {
		t.Fatal(err)
	}
	h, err := openHead(cp.Origin, 7, entry)
	if err != nil {
		t.Fatal(err)
	}
	want, err := note.Sign(&note.Note{Text: cp.text()}, signer)
	if err != nil || h.Note != string(want) {
		t.Errorf("note = %q, want %q (%v)", h.Note, want, err)
	}
	if got, err := ParseCheckpoint(h.Note); err != nil || got != cp {
		t.Errorf("ParseCheckpoint = %+v, %v", got, err)
	}
}
