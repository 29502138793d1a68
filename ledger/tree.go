package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/mod/sumdb/tlog"
)

// The tree's hashes are stored in tiles as x/mod/sumdb/tlog defines them: a
// tile of level L and number N holds up to 16 neighbouring hashes of tree
// level 4·L. The hashes of the levels between follow from them. So an append
// touches one small entry and every sixteenth a second one, and a proof reads
// one entry per four levels.
const (
	tileHeight = 4
	tileWidth  = 1 << tileHeight
	// maxTileLevel is above the top of any tree of less than 2^64 leaves.
	maxTileLevel = 64 / tileHeight
)

// tileKey orders the tiles by level, then number: the entries of a level grow
// at their end.
func tileKey(level int, n uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{byte(level)}, n)
}

// subtreeHash returns the root over w hashes, w a power of two.
func subtreeHash(data []byte) tlog.Hash {
	if len(data) == tlog.HashSize {
		return tlog.Hash(data)
	}
	half := len(data) / 2
	return tlog.NodeHash(subtreeHash(data[:half]), subtreeHash(data[half:]))
}

// A leafHasher computes leaf hashes, SHA-256 of a zero byte and the record,
// without a new hash for each.
type leafHasher struct{ h hash.Hash }

func newLeafHasher() leafHasher { return leafHasher{sha256.New()} }

func (l leafHasher) sum(raw []byte) (sum tlog.Hash) {
	l.h.Reset()
	l.h.Write(leafPrefix)
	l.h.Write(raw)
	l.h.Sum(sum[:0])
	return sum
}

var leafPrefix = []byte{0}

// A tree is the right edge of a Merkle tree: all that one needs in order to
// grow it and to know its root.
type tree struct {
	size uint64
	// roots holds the roots of the complete subtrees that the tree consists
	// of, largest first: one for each bit of size that is set.
	roots []tlog.Hash
	// edge holds, for each tile level, the hashes that do not fill a tile yet.
	edge [maxTileLevel][]byte
}

// add appends a leaf. full receives each tile that it completes, which is the
// callee's from then on.
func (t *tree) add(leaf tlog.Hash, full func(level int, n uint64, tile []byte) error) error {
	h := leaf
	for height, n := 0, t.size; ; height, n = height+1, n>>1 {
		// h is the root of the n'th complete subtree of this height.
		if height%tileHeight == 0 {
			level := height / tileHeight
			if t.edge[level] == nil {
				t.edge[level] = make([]byte, 0, tileWidth*tlog.HashSize)
			}
			t.edge[level] = append(t.edge[level], h[:]...)
			if len(t.edge[level]) == tileWidth*tlog.HashSize {
				if err := full(level, n/tileWidth, t.edge[level]); err != nil {
					return err
				}
				t.edge[level] = nil
			}
		}
		if n&1 == 0 {
			break
		}
		last := len(t.roots) - 1
		h = tlog.NodeHash(t.roots[last], h)
		t.roots = t.roots[:last]
	}
	t.roots = append(t.roots, h)
	t.size++
	return nil
}

// root returns the RFC 6962 tree head.
func (t *tree) root() tlog.Hash {
	last := len(t.roots) - 1
	if last < 0 {
		h, _ := tlog.TreeHash(0, nil) // of the empty tree, never an error
		return h
	}
	h := t.roots[last]
	for i := last - 1; i >= 0; i-- {
		h = tlog.NodeHash(t.roots[i], h)
	}
	return h
}

// partial returns the level's last tile, if it is not complete, and its number.
func (t *tree) partial(level int) (n uint64, tile []byte) {
	return t.size >> (tileHeight * level) / tileWidth, t.edge[level]
}

// loadTree reads the right edge of a tree of the given size.
func loadTree(b *bolt.Bucket, size uint64) (*tree, error) {
	t := &tree{size: size}
	for level := maxTileLevel - 1; level >= 0; level-- {
		n, _ := t.partial(level)
		w := int(size >> (tileHeight * level) % tileWidth)
		if w == 0 {
			continue
		}
		tile := b.Get(tileKey(level, n))
		if len(tile) != w*tlog.HashSize {
			return nil, fmt.Errorf("tile %d/%d has %d bytes, want %d", level, n, len(tile), w*tlog.HashSize)
		}
		t.edge[level] = append(make([]byte, 0, tileWidth*tlog.HashSize), tile...)
		for half := tileWidth / 2; half > 0; half /= 2 {
			if w&half != 0 {
				t.roots = append(t.roots, subtreeHash(tile[:half*tlog.HashSize]))
				tile = tile[half*tlog.HashSize:]
			}
		}
	}
	return t, nil
}

// grow adds leaves and stores the tiles that changed.
func (t *tree) grow(b *bolt.Bucket, leaves []tlog.Hash) error {
	before := t.size
	for _, h := range leaves {
		err := t.add(h, func(level int, n uint64, tile []byte) error {
			return b.Put(tileKey(level, n), tile)
		})
		if err != nil {
			return err
		}
	}
	for level := range maxTileLevel {
		if t.size>>(tileHeight*level) == before>>(tileHeight*level) {
			break // nothing reached this level, nor those above
		}
		if n, tile := t.partial(level); len(tile) > 0 {
			if err := b.Put(tileKey(level, n), tile); err != nil {
				return err
			}
		}
	}
	return nil
}

// tileReader gives tlog's algorithms their hashes out of stored tiles.
func tileReader(b *bolt.Bucket) tlog.HashReader {
	return tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		hashes := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			t := tlog.TileForIndex(tileHeight, index)
			h, err := tlog.HashFromTile(t, b.Get(tileKey(t.L, uint64(t.N))), index)
			if err != nil {
				return nil, err
			}
			hashes[i] = h
		}
		return hashes, nil
	})
}
