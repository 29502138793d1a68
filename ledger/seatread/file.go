package seatread

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"math/bits"
	"os"
)

var (
	// ErrNoRow is the error of a bucket or key that is not there.
	ErrNoRow = errors.New("no such row in the ledger")
	// ErrBusy is the error of a file that changed under every try.
	ErrBusy = errors.New("the ledger changes faster than it can be read")
	// ErrCorrupt is the error of a file that is no intact ledger.
	ErrCorrupt = errors.New("the ledger file is damaged")
	// ErrNewer is the error of a row that a newer program has written.
	ErrNewer = errors.New("the ledger was written by a newer satelle: upgrade this one")
)

// The layout of a bbolt file, in the byte order of the machine that wrote it:
// bbolt writes its structures as they lie in memory. All platforms that satelle
// runs on are little-endian.
const (
	magic   = 0xED0CDAED
	version = 2

	pageHeader  = 16 // id 8, flags 2, count 2, overflow 4
	branchEntry = 16 // pos 4, key size 4, page id 8
	leafEntry   = 16 // flags 4, pos 4, key size 4, value size 4

	flagBranch = 0x01
	flagLeaf   = 0x02
	flagMeta   = 0x04

	flagFreelist = 0x10

	flagBucket = 0x01 // of a leaf entry

	metaLen      = 64 // within a meta page, behind its header
	bucketHeader = 16 // root page 8, sequence 8

	minPageSize = 1 << 10
	maxPageSize = 1 << 24
)

// Limits of a walk, far above what any ledger needs.
const (
	maxLevels   = 24
	maxOverflow = 64 << 20 // bytes of one page with its overflow
)

var le = binary.LittleEndian

// A source is the ledger's file; tests put others in its place.
type source interface {
	io.ReaderAt
	Size() (int64, error)
}

type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// A file is the source during one try.
type file struct {
	r        source
	mem      []byte // the file's content, if it is mapped
	size     int64
	pageSize int64
	pages    uint64 // the high water mark: page ids are below it
	reads    *int
}

// A meta is what matters of a meta page.
type meta struct {
	pageSize uint32
	root     uint64
	freelist uint64
	pages    uint64
	txid     uint64
}

func (f *file) read(p []byte, off int64) error {
	*f.reads++
	if _, err := f.r.ReadAt(p, off); err != nil {
		if err == io.EOF {
			return ErrCorrupt
		}
		return err
	}
	return nil
}

// newest returns the valid meta page of the newer transaction. A meta page
// that is just being written has a wrong checksum; the other one stands.
func (f *file) newest() (meta, error) {
	var buf [pageHeader + metaLen]byte
	m0, ok0 := meta{}, false
	if err := f.read(buf[:], 0); err == nil {
		m0, ok0 = parseMeta(buf[:])
	} else if err != ErrCorrupt {
		return meta{}, err
	}
	// The second meta page stands one page size further on. If the first one
	// is torn and nothing else tells the size, every power of two is tried.
	sizes := []int64{f.pageSize}
	if ok0 {
		sizes[0] = int64(m0.pageSize)
	} else if f.pageSize == 0 {
		sizes = sizes[:0]
		for n := int64(minPageSize); n <= maxPageSize && n+int64(len(buf)) <= f.size; n *= 2 {
			sizes = append(sizes, n)
		}
	}
	for _, n := range sizes {
		if err := f.read(buf[:], n); err != nil {
			if err == ErrCorrupt {
				continue
			}
			return meta{}, err
		}
		if m1, ok := parseMeta(buf[:]); ok && int64(m1.pageSize) == n && (!ok0 || m1.txid > m0.txid) {
			return m1, nil
		}
	}
	if !ok0 {
		return meta{}, ErrCorrupt
	}
	return m0, nil
}

// parseMeta reads a meta page: header, magic 4, version 4, page size 4, flags
// 4, root page 8, sequence 8, freelist 8, high water mark 8, transaction 8,
// FNV-1a checksum 8.
func parseMeta(p []byte) (meta, bool) {
	if le.Uint16(p[8:]) != flagMeta {
		return meta{}, false
	}
	b := p[pageHeader:]
	h := fnv.New64a()
	_, _ = h.Write(b[:56])
	if le.Uint32(b) != magic || le.Uint32(b[4:]) != version || le.Uint64(b[56:]) != h.Sum64() {
		return meta{}, false
	}
	m := meta{
		pageSize: le.Uint32(b[8:]), root: le.Uint64(b[16:]), freelist: le.Uint64(b[32:]),
		pages: le.Uint64(b[40:]), txid: le.Uint64(b[48:]),
	}
	ok := m.pageSize >= minPageSize && m.pageSize <= maxPageSize && bits.OnesCount32(m.pageSize) == 1 &&
		le.Uint64(p) == m.txid%2
	return m, ok
}

// A page is the content of a branch or leaf page, checked.
type page struct {
	b     []byte
	count int
	leaf  bool
}

// page reads page id with its overflow pages.
func (f *file) page(id uint64) (page, error) {
	if id < 2 || id >= f.pages || id > uint64(f.size/f.pageSize) {
		return page{}, ErrCorrupt
	}
	b, err := f.bytes(id, 1)
	if err != nil {
		return page{}, err
	}
	if le.Uint64(b) != id {
		return page{}, ErrCorrupt
	}
	if over := uint64(le.Uint32(b[12:])); over > 0 {
		if id+over >= f.pages || over*uint64(f.pageSize) > maxOverflow {
			return page{}, ErrCorrupt
		}
		if b, err = f.bytes(id, over+1); err != nil {
			return page{}, err
		}
	}
	return parsePage(b)
}

// bytes returns n pages from page id on.
func (f *file) bytes(id, n uint64) ([]byte, error) {
	from, to := int64(id)*f.pageSize, int64(id+n)*f.pageSize
	if f.mem != nil {
		if to > int64(len(f.mem)) {
			return nil, ErrCorrupt
		}
		return f.mem[from:to:to], nil
	}
	b := make([]byte, to-from)
	return b, f.read(b, from)
}

// parsePage checks a page's type and that its entries lie within it. b may be
// an inline bucket's page, which has no id of its own.
func parsePage(b []byte) (page, error) {
	if len(b) < pageHeader {
		return page{}, ErrCorrupt
	}
	p := page{b: b, count: int(le.Uint16(b[10:]))}
	switch le.Uint16(b[8:]) {
	case flagLeaf:
		p.leaf = true
	case flagBranch:
		if p.count == 0 {
			return page{}, ErrCorrupt
		}
	default:
		return page{}, ErrCorrupt
	}
	if pageHeader+p.count*leafEntry > len(b) { // branch entries have the same size
		return page{}, ErrCorrupt
	}
	return p, nil
}

// slice returns n bytes at pos behind the start of entry i; nil if they are
// not within the page.
func (p *page) slice(i int, pos, n uint64) []byte {
	start := uint64(pageHeader+i*leafEntry) + pos
	if start+n > uint64(len(p.b)) {
		return nil
	}
	return p.b[start : start+n : start+n]
}

// key returns the key of entry i, nil if it is out of bounds or empty.
func (p *page) key(i int) []byte {
	e := p.b[pageHeader+i*leafEntry:]
	pos, n := le.Uint32(e), le.Uint32(e[4:])
	if p.leaf {
		pos, n = le.Uint32(e[4:]), le.Uint32(e[8:])
	}
	if n == 0 {
		return nil
	}
	return p.slice(i, uint64(pos), uint64(n))
}

// child returns the page that branch entry i points to.
func (p *page) child(i int) uint64 { return le.Uint64(p.b[pageHeader+i*branchEntry+8:]) }

// value returns the value of leaf entry i and whether it is a bucket; nil if it
// is out of bounds.
func (p *page) value(i int) (v []byte, bucket bool) {
	e := p.b[pageHeader+i*leafEntry:]
	pos := uint64(le.Uint32(e[4:])) + uint64(le.Uint32(e[8:]))
	return p.slice(i, pos, uint64(le.Uint32(e[12:]))), le.Uint32(e)&flagBucket != 0
}
