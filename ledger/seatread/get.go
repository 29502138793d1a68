package seatread

import (
	"bytes"
	"os"
)

// tries is how often a read starts over when a writer was faster.
const tries = 8

// Get returns a copy of the value of key in a bucket at the top level of the
// ledger file at path, as of some moment during the call. The error is
// [ErrNoRow], [ErrBusy], [ErrCorrupt], or one of the operating system's.
func Get(path, bucket, key string) ([]byte, error) {
	_, v, err := read(path, bucket, func(f *file, root tree) ([]byte, []byte, error) {
		return root.seek(f, []byte(key))
	})
	return v, err
}

// Last returns the last key of a bucket and its value, as [Get] does.
func Last(path, bucket string) (key, value []byte, err error) {
	return read(path, bucket, func(f *file, root tree) ([]byte, []byte, error) {
		return root.last(f)
	})
}

type walk func(f *file, root tree) (key, value []byte, err error)

func read(path, bucket string, w walk) (key, value []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	key, value, _, err = readFrom(osFile{f}, bucket, w)
	return key, value, err
}

// readFrom also returns how many reads it took: the cost of a hook must not
// grow with the ledger, and a test counts.
func readFrom(r source, bucket string, w walk) (key, value []byte, reads int, err error) {
	for range tries {
		size, err := r.Size() // a try may find the file grown
		if err != nil {
			return nil, nil, reads, err
		}
		f := &file{r: r, size: size, reads: &reads}
		m, err := f.newest()
		if err != nil {
			return nil, nil, reads, err
		}
		f.pageSize, f.pages = int64(m.pageSize), m.pages
		// The file was made long enough before the meta page was written, but
		// perhaps not before its size was looked at.
		if f.size, err = r.Size(); err != nil {
			return nil, nil, reads, err
		}
		key, value, err := find(f, m.root, bucket, w)
		// Only if no commit came in between does anything count that was
		// found or not found, the damage included.
		again, metaErr := f.newest()
		if metaErr != nil {
			return nil, nil, reads, metaErr
		}
		if again.txid == m.txid {
			return bytes.Clone(key), bytes.Clone(value), reads, err
		}
	}
	return nil, nil, reads, ErrBusy
}

// find opens the bucket below the root and walks it.
func find(f *file, root uint64, bucket string, w walk) (key, value []byte, err error) {
	top := tree{id: root}
	name, v, err := top.entry(f, []byte(bucket))
	if err != nil {
		return nil, nil, err
	}
	if !v.bucket || name == nil {
		return nil, nil, ErrNoRow
	}
	if len(v.data) < bucketHeader {
		return nil, nil, ErrCorrupt
	}
	b := tree{id: le.Uint64(v.data)}
	if b.id == 0 { // small buckets lie within the entry that names them
		p, err := parsePage(v.data[bucketHeader:])
		if err != nil || !p.leaf {
			return nil, nil, ErrCorrupt
		}
		b.inline = &p
	}
	return w(f, b)
}

// A tree is the B+tree of a bucket: its root page, or a page that lies inline.
type tree struct {
	id     uint64
	inline *page
}

type entry struct {
	data   []byte
	bucket bool
}

// descend walks from the root to a leaf, at each branch page by the entry that
// choose picks.
func (t tree) descend(f *file, choose func(p *page) (int, error)) (page, error) {
	if t.inline != nil {
		return *t.inline, nil
	}
	id := t.id
	for range maxLevels {
		p, err := f.page(id)
		if err != nil || p.leaf {
			return p, err
		}
		i, err := choose(&p)
		if err != nil {
			return page{}, err
		}
		id = p.child(i)
	}
	return page{}, ErrCorrupt
}

// entry returns the entry with the key; a nil key if there is none.
func (t tree) entry(f *file, key []byte) ([]byte, entry, error) {
	leaf, err := t.descend(f, func(p *page) (int, error) {
		i, exact, err := search(p, key)
		if !exact && i > 0 {
			i-- // the child that begins at or before the key
		}
		return i, err
	})
	if err != nil {
		return nil, entry{}, err
	}
	i, exact, err := search(&leaf, key)
	if err != nil || !exact {
		return nil, entry{}, err
	}
	return leafEntryAt(&leaf, i)
}

func leafEntryAt(p *page, i int) ([]byte, entry, error) {
	k := p.key(i)
	v, bucket := p.value(i)
	if k == nil || v == nil {
		return nil, entry{}, ErrCorrupt
	}
	return k, entry{v, bucket}, nil
}

func (t tree) seek(f *file, key []byte) ([]byte, []byte, error) {
	k, e, err := t.entry(f, key)
	if err != nil {
		return nil, nil, err
	}
	if k == nil || e.bucket {
		return nil, nil, ErrNoRow
	}
	return k, e.data, nil
}

func (t tree) last(f *file) ([]byte, []byte, error) {
	leaf, err := t.descend(f, func(p *page) (int, error) { return p.count - 1, nil })
	if err != nil {
		return nil, nil, err
	}
	if leaf.count == 0 {
		return nil, nil, ErrNoRow
	}
	k, e, err := leafEntryAt(&leaf, leaf.count-1)
	return k, e.data, err
}

// search returns the first entry whose key is at least key and whether it is
// equal. It looks at no more keys than it must: their order is taken on trust,
// their bounds are not.
func search(p *page, key []byte) (int, bool, error) {
	lo, hi := 0, p.count
	for lo < hi {
		mid := (lo + hi) / 2
		k := p.key(mid)
		if k == nil {
			return 0, false, ErrCorrupt
		}
		switch c := bytes.Compare(k, key); {
		case c == 0:
			return mid, true, nil
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false, nil
}
