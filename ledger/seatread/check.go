package seatread

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
)

// maxNesting bounds buckets within buckets; a ledger has none.
const maxNesting = 4

// A PageError says which page of the file is damaged. It is an [ErrCorrupt].
type PageError struct {
	Page uint64
	What string
}

func (e *PageError) Error() string {
	return "page " + strconv.FormatUint(e.Page, 10) + ": " + e.What
}

// Unwrap returns [ErrCorrupt].
func (e *PageError) Unwrap() error { return ErrCorrupt }

// Check walks every page of the file at path: each must be of its type, hold
// its entries within its bounds and its keys in order, and be reached exactly
// once or be free. The caller keeps writers out.
func Check(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	mem, unmap, err := mapFile(f)
	if err != nil {
		return err
	}
	defer unmap()
	return faultless(func() error { return check(osFile{f}, mem) })
}

// faultless runs fn; a file that is cut short meanwhile, or a disk that does not
// read, must not end the process.
func faultless(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			if _, fault := p.(interface{ Addr() uintptr }); !fault {
				panic(p)
			}
			err = &PageError{0, "a page cannot be read"}
		}
	}()
	return fn()
}

// MetasValid reports whether both meta pages are valid. One that is not was
// either being written when the power failed, and the append was never
// acknowledged, or it has been damaged since, and the newest append is lost.
func MetasValid(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	c, m, err := newChecker(osFile{f}, nil)
	if err != nil {
		return false, err
	}
	for n := range int64(2) {
		var buf [pageHeader + metaLen]byte
		if err := c.f.read(buf[:], n*int64(m.pageSize)); err != nil {
			return false, err
		}
		if _, ok := parseMeta(buf[:]); !ok {
			return false, nil
		}
	}
	return true, nil
}

// A checker is a walk over all pages.
type checker struct {
	f    *file
	seen []atomic.Bool // by page id: reached by the walk, or free
}

// newChecker returns a checker of r, whose content is also in mem if that is not
// nil.
func newChecker(r source, mem []byte) (*checker, meta, error) {
	size, err := r.Size()
	if err != nil {
		return nil, meta{}, err
	}
	f := &file{r: r, mem: mem, size: size, reads: new(int)}
	m, err := f.newest()
	if err != nil {
		return nil, meta{}, err
	}
	f.pageSize, f.pages = int64(m.pageSize), m.pages
	if m.pages < 4 || m.pages > uint64(size/f.pageSize) {
		return nil, meta{}, &PageError{0, "the file is cut short"}
	}
	return &checker{f: f}, m, nil
}

func check(r source, mem []byte) error {
	c, m, err := newChecker(r, mem)
	if err != nil {
		return err
	}
	c.seen = make([]atomic.Bool, m.pages)
	c.seen[0].Store(true)
	c.seen[1].Store(true)
	if err := c.tree(m.root, 0); err != nil {
		return err
	}
	if err := c.freelist(m.freelist); err != nil {
		return err
	}
	for id := range c.seen {
		if !c.seen[id].Load() {
			return &PageError{uint64(id), "neither in use nor free"}
		}
	}
	return nil
}

// reach marks a page and its overflow pages.
func (c *checker) reach(id, over uint64) error {
	for i := id; i <= id+over; i++ {
		if i >= uint64(len(c.seen)) || c.seen[i].Swap(true) {
			return &PageError{i, "reached twice, or beyond the end"}
		}
	}
	return nil
}

func (c *checker) tree(id uint64, nesting int) error {
	if nesting > maxNesting {
		return &PageError{id, "buckets nested too deeply"}
	}
	return c.subtree(id, nil, nil, 0, nesting)
}

// subtree checks a page whose keys must be at least low and less than high,
// where these are set, and all below it.
func (c *checker) subtree(id uint64, low, high []byte, level, nesting int) error {
	if level > maxLevels {
		return &PageError{id, "too deep in its tree"}
	}
	p, err := c.f.page(id)
	if err == ErrCorrupt {
		return &PageError{id, "malformed"}
	}
	if err != nil {
		return err
	}
	if err := c.reach(id, uint64(len(p.b))/uint64(c.f.pageSize)-1); err != nil {
		return err
	}
	return c.entries(id, &p, low, high, level, nesting)
}

func (c *checker) entries(id uint64, p *page, low, high []byte, level, nesting int) error {
	// The keys ascend, so the first and the last one keep all within bounds.
	var before []byte
	for i := range p.count {
		k := p.key(i)
		if k == nil || i > 0 && bytes.Compare(before, k) >= 0 ||
			i == 0 && p.leaf && low != nil && bytes.Compare(k, low) < 0 ||
			i == p.count-1 && high != nil && bytes.Compare(k, high) >= 0 {
			return &PageError{id, "entry " + strconv.Itoa(i) + ": its key is out of order or bounds"}
		}
		before = k
		if !p.leaf {
			continue
		}
		v, bucket := p.value(i)
		if v == nil || bucket && len(v) < bucketHeader {
			return &PageError{id, "entry " + strconv.Itoa(i) + ": its value is out of bounds"}
		}
		if bucket {
			if err := c.bucket(id, v, nesting+1); err != nil {
				return err
			}
		}
	}
	if p.leaf {
		return nil
	}
	return c.children(p, high, level, nesting)
}

// children checks what a branch page points to. Below the root of a large
// bucket that is most of the file, so it is done on all processors.
func (c *checker) children(p *page, high []byte, level, nesting int) error {
	child := func(i int) error {
		next := high
		if i+1 < p.count {
			next = p.key(i + 1)
		}
		return c.subtree(p.child(i), p.key(i), next, level+1, nesting)
	}
	workers := runtime.GOMAXPROCS(0)
	if level > 0 || p.count < 2*workers || c.f.mem == nil {
		for i := range p.count {
			if err := child(i); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, p.count)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < p.count; i = int(next.Add(1)) - 1 {
				errs[i] = faultless(func() error { return child(i) })
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// bucket checks the bucket that an entry of page id describes.
func (c *checker) bucket(id uint64, v []byte, nesting int) error {
	if root := le.Uint64(v); root != 0 {
		return c.tree(root, nesting)
	}
	p, err := parsePage(v[bucketHeader:])
	if err != nil || !p.leaf || nesting > maxNesting {
		return &PageError{id, "a malformed inline bucket"}
	}
	return c.entries(id, &p, nil, nil, 0, nesting)
}

// freelist checks the list of free pages.
func (c *checker) freelist(id uint64) error {
	if id < 2 || id >= c.f.pages {
		return &PageError{id, "no page for the free list"}
	}
	b := make([]byte, c.f.pageSize)
	if err := c.f.read(b, int64(id)*c.f.pageSize); err != nil {
		return err
	}
	over := uint64(le.Uint32(b[12:]))
	if le.Uint64(b) != id || le.Uint16(b[8:]) != flagFreelist || over > maxOverflow/uint64(c.f.pageSize) {
		return &PageError{id, "a malformed free list"}
	}
	if err := c.reach(id, over); err != nil {
		return err
	}
	b = make([]byte, (over+1)*uint64(c.f.pageSize))
	if err := c.f.read(b, int64(id)*c.f.pageSize); err != nil {
		return err
	}
	// A count that does not fit into 16 bits stands in the first place.
	count, list := uint64(le.Uint16(b[10:])), b[pageHeader:]
	if count == 0xFFFF {
		count, list = le.Uint64(list), list[8:]
	}
	if count > uint64(len(list)/8) {
		return &PageError{id, "a malformed free list"}
	}
	for i := range count {
		if err := c.reach(le.Uint64(list[i*8:]), 0); err != nil {
			return err
		}
	}
	return nil
}
