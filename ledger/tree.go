package ledger

import (
	"encoding/binary"
	"fmt"

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

// A tree is the right edge of a Merkle tree: for each tile level the hashes
// that do not fill a tile yet. That is all one needs in order to grow it and
// to know its root. Where complete tiles and the edge are kept is up to its
// user.
type tree struct {
	size uint64
	edge [maxTileLevel][]byte
}

// add appends a leaf hash. full receives each tile that it completes.
func (t *tree) add(leaf tlog.Hash, full func(level int, n uint64, tile []byte) error) error {
	h := leaf
	for level := 0; ; level++ {
		t.edge[level] = append(t.edge[level], h[:]...)
		if len(t.edge[level]) < tileWidth*tlog.HashSize {
			break
		}
		tile := t.edge[level]
		h = subtreeHash(tile)
		if err := full(level, t.size>>(tileHeight*(level+1)), tile); err != nil {
			return err
		}
		t.edge[level] = nil // bbolt may still hold the tile
	}
	t.size++
	return nil
}

// root returns the RFC 6962 tree head.
func (t *tree) root() tlog.Hash {
	// From the right: the smallest subtrees stand in the lowest tile, within
	// a tile in the last hashes.
	var acc tlog.Hash
	have := false
	for level := range maxTileLevel {
		data := t.edge[level]
		for w := 1; w < tileWidth; w *= 2 {
			if len(data)/tlog.HashSize&w == 0 {
				continue
			}
			at := len(data) - w*tlog.HashSize
			h := subtreeHash(data[at:])
			data = data[:at]
			if have {
				acc = tlog.NodeHash(h, acc)
			} else {
				acc, have = h, true
			}
		}
	}
	if !have {
		acc, _ = tlog.TreeHash(0, nil) // the empty tree's, never an error
	}
	return acc
}

// loadTree reads the right edge of a tree of the given size.
func loadTree(b *bolt.Bucket, size uint64) (*tree, error) {
	t := &tree{size: size}
	for level := range maxTileLevel {
		count := size >> (tileHeight * level)
		if count == 0 {
			break
		}
		w := int(count % tileWidth)
		if w == 0 {
			continue
		}
		tile := b.Get(tileKey(level, count/tileWidth))
		if len(tile) != w*tlog.HashSize {
			return nil, fmt.Errorf("tile %d/%d has %d bytes, want %d", level, count/tileWidth, len(tile), w*tlog.HashSize)
		}
		t.edge[level] = append(make([]byte, 0, tileWidth*tlog.HashSize), tile...)
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
		count := t.size >> (tileHeight * level)
		if count == before>>(tileHeight*level) {
			break // nothing reached this level, nor those above
		}
		if len(t.edge[level]) > 0 {
			if err := b.Put(tileKey(level, count/tileWidth), t.edge[level]); err != nil {
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
