package seatread

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	bolt "go.etcd.io/bbolt"
)

func create(t testing.TB, pageSize int) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "x.db"), 0o600, &bolt.Options{PageSize: pageSize})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func update(t testing.TB, db *bolt.DB, fn func(b *bolt.Bucket) error) {
	t.Helper()
	err := db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte("b"))
		if err != nil {
			return err
		}
		return fn(b)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// value is a value of key that tells the two apart from all others; some need
// overflow pages.
func value(key string, size int) []byte {
	return bytes.Repeat([]byte(key+"."), size/(len(key)+1)+1)
}

// What Get finds is what bbolt finds, for inline buckets and deep ones, small
// and overflowing values, and every size of page.
func TestGetAgreesWithBolt(t *testing.T) {
	for _, pageSize := range []int{1 << 10, 4 << 10, 16 << 10, 64 << 10} {
		for _, keys := range []int{0, 1, 3, 50, 3000} {
			t.Run(fmt.Sprintf("%d keys in pages of %d", keys, pageSize), func(t *testing.T) {
				db := create(t, pageSize)
				update(t, db, func(b *bolt.Bucket) error {
					for i := range keys {
						k := fmt.Sprintf("key%05d", i*2)
						size := 20
						if i%97 == 5 {
							size = 100_000
						}
						if err := b.Put([]byte(k), value(k, size)); err != nil {
							return err
						}
					}
					return nil
				})
				_ = db.View(func(tx *bolt.Tx) error {
					b := tx.Bucket([]byte("b"))
					for i := range min(2*keys+1, 500) {
						k := fmt.Sprintf("key%05d", i)
						got, err := Get(db.Path(), "b", k)
						want := b.Get([]byte(k))
						if want == nil && !errors.Is(err, ErrNoRow) || want != nil && (err != nil || !bytes.Equal(got, want)) {
							t.Fatalf("%s: %d bytes, %v; want %d bytes", k, len(got), err, len(want))
						}
					}
					wantK, wantV := b.Cursor().Last()
					k, v, err := Last(db.Path(), "b")
					if wantK == nil && !errors.Is(err, ErrNoRow) || wantK != nil && (!bytes.Equal(k, wantK) || !bytes.Equal(v, wantV)) {
						t.Errorf("Last = %s, %v; want %s", k, err, wantK)
					}
					return nil
				})
				if _, err := Get(db.Path(), "c", "key00000"); !errors.Is(err, ErrNoRow) {
					t.Errorf("another bucket: %v", err)
				}
				if err := Check(db.Path()); err != nil {
					t.Errorf("Check: %v", err)
				}
			})
		}
	}
}

// A value costs the same number of reads whatever else the file holds: the
// depth of the top level and of its own bucket.
func TestReadsDoNotGrow(t *testing.T) {
	reads := func(records int) int {
		db := create(t, 4<<10)
		err := db.Update(func(tx *bolt.Tx) error {
			seat, err := tx.CreateBucket([]byte(Bucket))
			if err != nil {
				return err
			}
			if err := seat.Put([]byte(Key), value("row", 600)); err != nil {
				return err
			}
			b, err := tx.CreateBucket([]byte("records"))
			for i := range records {
				if err == nil {
					err = b.Put(fmt.Appendf(nil, "%08d", i), value("record", 100))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(db.Path())
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		_, _, n, err := readFrom(osFile{f}, Bucket, func(f *file, root tree) ([]byte, []byte, error) {
			return root.seek(f, []byte(Key))
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	few, many := reads(10), reads(20_000)
	if few != many || few > 6 {
		t.Errorf("%d reads beside 10 records, %d beside 20,000", few, many)
	}
}

// Beside a writer without pause a reader sees whole states only, never one
// older than a state that it has seen, and never damage. The writer splits and
// merges pages and moves values into overflow pages and out of them.
func TestBesideWriter(t *testing.T) {
	const readers, rounds = 4, 400
	db := create(t, 1<<10)
	db.NoSync = true
	write := func(n int) {
		update(t, db, func(b *bolt.Bucket) error {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			for range 20 {
				k := fmt.Appendf(nil, "other%d", r.IntN(300))
				err := b.Delete(k)
				if r.IntN(3) > 0 {
					err = b.Put(k, make([]byte, r.IntN(1500)))
				}
				if err != nil {
					return err
				}
			}
			size := 10 + n%50
			if n%7 == 0 {
				size = 5000
			}
			state := fmt.Sprintf("%08d", n)
			return b.Put([]byte("state"), value(state, size))
		})
	}
	write(0)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			last := ""
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				v, err := Get(db.Path(), "b", "state")
				if errors.Is(err, ErrBusy) {
					continue // an honest answer
				}
				if err != nil {
					t.Errorf("read %d: %v", n, err)
					return
				}
				state := string(v[:8])
				if state < last || len(v)%9 != 0 || !bytes.Equal(v, bytes.Repeat(v[:9], len(v)/9)) {
					t.Errorf("read %d: %d bytes of state %s after %s", n, len(v), state, last)
					return
				}
				last = state
			}
		})
	}
	for n := 1; n <= rounds; n++ {
		write(n)
	}
	close(stop)
	wg.Wait()
}

// meddled is a file that a writer changes whenever a page is read.
type meddled struct {
	osFile
	after func()
}

func (m meddled) ReadAt(p []byte, off int64) (int, error) {
	n, err := m.osFile.ReadAt(p, off)
	m.after()
	return n, err
}

// A reader that loses every race says so, after a bounded number of tries.
func TestBusy(t *testing.T) {
	db := create(t, 4<<10)
	n := 0
	put := func() {
		n++
		update(t, db, func(b *bolt.Bucket) error { return b.Put([]byte("k"), fmt.Append(nil, n)) })
	}
	put()
	f, err := os.Open(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	get := func(after func()) ([]byte, int, error) {
		_, v, reads, err := readFrom(meddled{osFile{f}, after}, "b", func(f *file, root tree) ([]byte, []byte, error) {
			return root.seek(f, []byte("k"))
		})
		return v, reads, err
	}
	if _, reads, err := get(put); !errors.Is(err, ErrBusy) || reads > 8*10 {
		t.Errorf("err = %v after %d reads", err, reads)
	}
	left := 5
	v, _, err := get(func() {
		if left--; left > 0 {
			put()
		}
	})
	if err != nil || string(v) != fmt.Sprint(n) {
		t.Errorf("after the writer paused: %q, %v; want %d", v, err, n)
	}
}

// growing is a file that a writer makes longer when its size has been looked at.
type growing struct {
	osFile
	grow func()
}

func (g growing) Size() (int64, error) {
	n, err := g.osFile.Size()
	g.grow()
	return n, err
}

// A file that grows before its meta pages are read is not damaged: the newest
// of them speaks of pages beyond the size that was seen.
func TestGrows(t *testing.T) {
	db := create(t, 1<<10)
	update(t, db, func(b *bolt.Bucket) error { return b.Put([]byte("k"), []byte("before")) })
	f, err := os.Open(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	grown := false
	grow := func() {
		if grown {
			return
		}
		grown = true
		update(t, db, func(b *bolt.Bucket) error {
			for i := range 500 {
				if err := b.Put(fmt.Appendf(nil, "other%d", i), make([]byte, 500)); err != nil {
					return err
				}
			}
			return b.Put([]byte("k"), []byte("after"))
		})
	}
	_, v, _, err := readFrom(growing{osFile{f}, grow}, "b", func(f *file, root tree) ([]byte, []byte, error) {
		return root.seek(f, []byte("k"))
	})
	if err != nil || string(v) != "after" {
		t.Errorf("%q, %v", v, err)
	}
}

// A meta page that was torn by a crash leaves the other one standing.
func TestTornMeta(t *testing.T) {
	for _, pageSize := range []int{1 << 10, 4 << 10, 32 << 10} {
		db := create(t, pageSize)
		whole := db.Path()
		for _, v := range []string{"one", "two"} {
			update(t, db, func(b *bolt.Bucket) error { return b.Put([]byte("k"), []byte(v)) })
		}
		content := closed(t, db)
		path := filepath.Join(t.TempDir(), "torn.db")
		seen := map[string]bool{}
		for n := range 2 {
			torn := bytes.Clone(content)
			torn[n*pageSize+pageHeader+50] ^= 1
			if err := os.WriteFile(path, torn, 0o600); err != nil {
				t.Fatal(err)
			}
			v, err := Get(path, "b", "k")
			if err != nil {
				t.Fatalf("meta %d of pages of %d torn: %v", n, pageSize, err)
			}
			seen[string(v)] = true
			if ok, err := MetasValid(path); ok || err != nil {
				t.Errorf("MetasValid = %v, %v", ok, err)
			}
		}
		if !seen["one"] || !seen["two"] {
			t.Errorf("seen %v", seen)
		}
		if ok, err := MetasValid(whole); !ok || err != nil {
			t.Errorf("MetasValid = %v, %v", ok, err)
		}
	}
}

func TestNoLedger(t *testing.T) {
	dir := t.TempDir()
	for name, b := range map[string][]byte{
		"empty": nil, "short": []byte("x"), "text": bytes.Repeat([]byte("hello\n"), 5000),
		"zero": make([]byte, 1<<16), "binary": bytes.Repeat([]byte{0xff, 0, 0x7f}, 30_000),
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Get(path, "b", "k"); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if err := Check(path); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: Check: %v", name, err)
		}
	}
	if _, err := Get(filepath.Join(dir, "none"), "b", "k"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Get(dir, "b", "k"); err == nil {
		t.Error("a folder is read")
	}
}

// fixture is a small file with a deep bucket, an inline one and an overflow.
func fixture(t testing.TB) []byte {
	t.Helper()
	db := create(t, 1<<10)
	update(t, db, func(b *bolt.Bucket) error {
		for i := range 60 {
			k := fmt.Sprintf("key%03d", i)
			if err := b.Put([]byte(k), value(k, 30+i%5*300)); err != nil {
				return err
			}
		}
		return nil
	})
	if err := db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte(Bucket))
		if err != nil {
			return err
		}
		return b.Put([]byte(Key), []byte(`{"format":1,"projection":1}`))
	}); err != nil {
		t.Fatal(err)
	}
	for i := range 20 { // leave free pages
		update(t, db, func(b *bolt.Bucket) error { return b.Delete(fmt.Appendf(nil, "key%03d", i*2)) })
	}
	return closed(t, db)
}

// closed closes the file and returns its content.
func closed(t testing.TB, db *bolt.DB) []byte {
	t.Helper()
	path := db.Path()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// memFile is a file in memory.
type memFile struct{ *bytes.Reader }

func (m memFile) Size() (int64, error) { return m.Reader.Size(), nil }

// No byte of the structure (headers, the first entries of a page, and samples of
// the rest) can make a read panic, run on, or fail other than by a typed error.
func TestEveryByte(t *testing.T) {
	b := fixture(t)
	for i := range b {
		if i%(1<<10) < 64 || i%211 == 0 {
			b[i] ^= 0xff
			probe(t, b)
			b[i] ^= 0xff
		}
	}
}

func probe(t testing.TB, b []byte) {
	t.Helper()
	for _, key := range []string{"key001", "key059", "nokey"} {
		_, _, reads, err := readFrom(memFile{bytes.NewReader(b)}, "b", func(f *file, root tree) ([]byte, []byte, error) {
			return root.seek(f, []byte(key))
		})
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNoRow) {
			t.Fatalf("err = %v", err)
		}
		if reads > 200 {
			t.Fatalf("%d reads", reads)
		}
	}
	for _, mem := range [][]byte{nil, b} {
		if err := check(memFile{bytes.NewReader(b)}, mem); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("check: %v", err)
		}
	}
}

// Each damage to the structure of a page is found by Check.
func TestCheckFinds(t *testing.T) {
	whole := fixture(t)
	f := &file{r: memFile{bytes.NewReader(whole)}, size: int64(len(whole)), reads: new(int)}
	m, err := f.newest()
	if err != nil {
		t.Fatal(err)
	}
	if err := check(memFile{bytes.NewReader(whole)}, nil); err != nil {
		t.Fatal(err)
	}
	at := func(page uint64) int { return int(page) * int(m.pageSize) }
	for name, i := range map[string]int{
		"root id": at(m.root), "root flags": at(m.root) + 8, "root count": at(m.root) + 11,
		"root position": at(m.root) + pageHeader + 5, "free list id": at(m.freelist),
		"free list flags": at(m.freelist) + 8, "free list count": at(m.freelist) + 10, "free id": at(m.freelist) + pageHeader,
	} {
		b := bytes.Clone(whole)
		b[i] ^= 0x41
		err := check(memFile{bytes.NewReader(b)}, nil)
		var p *PageError
		if !errors.As(err, &p) || !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzGet reads files that begin as a ledger and were changed at some places:
// input is a list of offset (3 bytes) and new byte.
func FuzzGet(f *testing.F) {
	whole := fixture(f)
	f.Add([]byte{0, 4, 0, 1})
	f.Add([]byte{0, 0, 24, 0, 0, 4, 24, 9})
	f.Fuzz(func(t *testing.T, edits []byte) {
		b := bytes.Clone(whole)
		for ; len(edits) >= 4; edits = edits[4:] {
			b[(int(edits[0])<<16|int(edits[1])<<8|int(edits[2]))%len(b)] = edits[3]
		}
		fixMeta(b, 0)
		fixMeta(b, 1<<10)
		probe(t, b)
	})
}
