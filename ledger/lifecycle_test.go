package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"satelle/internal/fault"
)

// expect checks the class and the text of an error.
func expect(t testing.TB, err, class error, text string) {
	t.Helper()
	if !fault.Is(err, class) || !strings.Contains(err.Error(), text) {
		t.Errorf("err = %v, want %v with %q", err, class, text)
	}
}

func TestOpenRefuses(t *testing.T) {
	s := newSample(t)
	whole, err := os.ReadFile(s.cfg.Path)
	if err != nil {
		t.Fatal(err)
	}
	edited := func(fn func(tx *bolt.Tx) error) func(string) error {
		return func(path string) error {
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				return err
			}
			tamper(t, path, fn)
			return nil
		}
	}
	content := func(b []byte) func(string) error {
		return func(path string) error { return os.WriteFile(path, b, 0o600) }
	}
	tests := []struct {
		name  string
		make  func(path string) error
		class error
		text  string
	}{
		{"nothing", func(string) error { return nil }, fault.NotFound, "no ledger"},
		{"a folder", func(path string) error { return os.Mkdir(path, 0o700) }, fault.Integrity, "no regular file"},
		{"an empty file", content(nil), fault.Integrity, "is empty"},
		{"a short file", content([]byte("x")), fault.Integrity, "damaged"},
		{"text", content(bytes.Repeat([]byte("hello\n"), 9000)), fault.Integrity, "damaged"},
		{"zeros", content(make([]byte, 1<<16)), fault.Integrity, "damaged"},
		{"a ledger cut short", content(whole[:len(whole)/2/4096*4096]), fault.Integrity, ""},
		{"a ledger cut within a page", content(whole[:len(whole)/2/4096*4096+100]), fault.Integrity, ""},
		{"another database", edited(func(tx *bolt.Tx) error { return tx.DeleteBucket(bucketMeta) }), fault.Integrity, "not a ledger"},
		{"a lost bucket", edited(func(tx *bolt.Tx) error { return tx.DeleteBucket(bucketTiles) }), fault.Integrity, "lost its bucket"},
		{"a newer format", edited(put(bucketMeta, keyFormat, []byte("2"))), fault.Refused, "the ledger has format 2, this program knows formats up to 1: upgrade satelle"},
		{"format zero", edited(put(bucketMeta, keyFormat, []byte("0"))), fault.Integrity, "format"},
		{"a changed genesis", edited(flip(bucketRecords, seqKey(0), 0)), fault.Integrity, "genesis"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := s.cfg
			cfg.Path = filepath.Join(t.TempDir(), "ledger.db")
			if err := tt.make(cfg.Path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(cfg.Path)
			l, err := Open(t.Context(), cfg)
			if err == nil {
				closeLog(t, l)
			}
			expect(t, err, tt.class, tt.text)
			if tt.class == fault.Refused && fault.TryOf(err) != "satelle version" {
				t.Error("no try: line")
			}
			if _, err := Verify(t.Context(), cfg, VerifyOptions{Full: true}); !fault.Is(err, tt.class) {
				t.Errorf("Verify: %v", err)
			}
			if after, _ := os.ReadFile(cfg.Path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
			if _, err := os.Stat(cfg.Path); tt.name == "nothing" && err == nil {
				t.Error("a file was made")
			}
		})
	}
}

// No damage to any page makes the ledger panic or pass.
func TestDamagedPages(t *testing.T) {
	s := newSample(t)
	whole, err := os.ReadFile(s.cfg.Path)
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.copyOf(t)
	r, _ := Verify(t.Context(), cfg, VerifyOptions{Full: true})
	pages := 0
	for off := 0; off+4096 <= len(whole); off += 4096 {
		for _, d := range []struct {
			at  int
			xor byte
		}{{0, 0x7f}, {8, 0x03}, {8, 0xff}, {11, 0x7f}, {20, 0xff}} {
			b := bytes.Clone(whole)
			b[off+d.at] ^= d.xor
			must(t, os.WriteFile(cfg.Path, b, 0o600))
			got, err := Verify(t.Context(), cfg, VerifyOptions{Full: true})
			if err == nil && (got.Size != r.Size || got.Root != r.Root) {
				t.Errorf("page %d, byte %d: passes with %d records", off/4096, d.at, got.Size)
			}
			if err != nil && !fault.Is(err, fault.Integrity) {
				t.Errorf("page %d, byte %d: %v", off/4096, d.at, err)
			}
			if err != nil {
				pages++
			}
			if d.at == 8 && d.xor == 0x03 {
				continue // pages in a circle: only Verify looks out for them
			}
			if l, err := Open(t.Context(), cfg); err == nil {
				_, _ = l.Read(0, 100)
				h, err := l.Head()
				if err == nil && d.at == 11 {
					_, _, _ = l.Append(t.Context(), h.Size, []Draft{draft("a.b", "", nil)}, nil)
				}
				_ = l.Close()
			}
		}
	}
	if pages < 40 {
		t.Errorf("only %d damages were found", pages)
	}
}

func TestCreateRefuses(t *testing.T) {
	cfg := testConfig(t)
	must(t, os.WriteFile(cfg.Path, []byte("precious"), 0o600))
	_, err := Create(t.Context(), cfg, testGenesis)
	expect(t, err, fault.Refused, "exists already")
	if b, _ := os.ReadFile(cfg.Path); string(b) != "precious" {
		t.Error("the file was changed")
	}
	cfg.Path = filepath.Join(t.TempDir(), "deep", "er", "ledger.db")
	for _, g := range []Genesis{{}, {Project: "a"}, {Project: "a b", Clone: "c"}, {Project: "a/b", Clone: "c"}, {Project: "a", Clone: "c+d"}, {Project: strings.Repeat("a", 65), Clone: "c"}} {
		_, err := Create(t.Context(), cfg, g)
		expect(t, err, fault.Usage, "")
	}
	closeLog(t, create1(t, cfg))
	left, err := filepath.Glob(filepath.Join(filepath.Dir(cfg.Path), "*"))
	must(t, err)
	if want := []string{cfg.Path, cfg.Path + ".lock"}; !slices.Equal(left, want) {
		t.Errorf("files %v, want %v", left, want)
	}
}

// A log that is lost is continued by one of another name, which names the last
// checkpoint that is known.
func TestContinue(t *testing.T) {
	old := testConfig(t)
	l := create1(t, old)
	appendTo(t, l, []Draft{draft("a.b", "", nil)})
	h, err := l.Head()
	must(t, err)
	vkey := l.VKey()
	closeLog(t, l)

	cfg := testConfig(t)
	g := testGenesis
	g.Continues = &Continuation{Checkpoint: h.Note, VKey: vkey, Reason: "the disk died"}
	_, err = Create(t.Context(), cfg, g)
	expect(t, err, fault.Refused, "clone id of its own")
	g.Clone = "c2"
	bad := *g.Continues
	bad.Checkpoint = strings.Replace(h.Note, "\n2\n", "\n3\n", 1)
	_, err = Create(t.Context(), cfg, Genesis{Project: "demo", Clone: "c2", Continues: &bad})
	expect(t, err, fault.Integrity, "")
	l, err = Create(t.Context(), cfg, g)
	must(t, err)
	r, err := l.Record(1)
	must(t, err)
	var body Continuation
	must(t, json.Unmarshal(r.Body, &body))
	if r.Kind != KindContinued || body != *g.Continues || !r.Crit {
		t.Errorf("record 1 is %+v", r)
	}
	closeLog(t, l)
	verifyOK(t, cfg)
}

// A critical record of a kind that the program does not know leaves the ledger
// readable and verifiable, but not writable; an uncritical one does not matter.
func TestOpaque(t *testing.T) {
	cfg := testConfig(t)
	cfg.Known = func(string, int) bool { return true }
	l := create1(t, cfg)
	later := draft("story.created", "sty_a", map[string]any{"new": true})
	later.Schema = 7
	appendTo(t, l, []Draft{draft("unheard.of", "", nil), later})
	closeLog(t, l)

	cfg.Known = nil
	l = reopen(t, cfg)
	appendTo(t, l, []Draft{draft("a.b", "", nil)})
	closeLog(t, l)
	if r := verifyOK(t, cfg); len(r.Unknown) != 0 {
		t.Errorf("Unknown = %v", r.Unknown)
	}

	later.Crit = true
	cfg.Known = func(string, int) bool { return true }
	l = reopen(t, cfg)
	appendTo(t, l, []Draft{later})
	closeLog(t, l)

	cfg.Known = func(kind string, schema int) bool { return kind == "story.created" && schema < 7 }
	l = reopen(t, cfg)
	h, err := l.Head()
	must(t, err)
	_, _, err = l.Append(t.Context(), h.Size, []Draft{draft("a.b", "", nil)}, nil)
	expect(t, err, fault.Refused, "record 4 is of the critical kind story.created (schema 7), which this program does not know: upgrade satelle")
	if fault.TryOf(err) == "" {
		t.Error("no try: line")
	}
	if recs, err := l.Read(0, 10); err != nil || len(recs) != 5 {
		t.Errorf("Read = %d, %v", len(recs), err)
	}
	closeLog(t, l)
	if r := verifyOK(t, cfg); !slices.Equal(r.Unknown, []string{"story.created/7"}) {
		t.Errorf("Unknown = %v", r.Unknown)
	}
}

// A projection of another version is made anew on opening, to the same rows as
// if it had always been there.
func TestReproject(t *testing.T) {
	s := newSample(t)
	rows := func(cfg Config) (out []string) {
		l := reopen(t, cfg)
		defer closeLog(t, l)
		must(t, l.View(func(r Rows) error {
			for _, b := range []string{"count", "last"} {
				r.Each(b, "", func(k string, v []byte) bool {
					out = append(out, b+" "+k+" "+string(v))
					return true
				})
			}
			return nil
		}))
		return out
	}
	want := rows(s.cfg)
	cfg := s.copyOf(t)
	tamper(t, cfg.Path, func(tx *bolt.Tx) error {
		if err := tx.DeleteBucket([]byte("p:last")); err != nil {
			return err
		}
		if _, err := tx.CreateBucket([]byte("p:old")); err != nil {
			return err
		}
		return tx.Bucket([]byte("p:count")).Put([]byte("note.added"), []byte("99"))
	})
	if got := rows(cfg); slices.Equal(got, want) {
		t.Fatal("the rows were made anew without need")
	}
	cfg.Projection = tally{2}
	if got := rows(cfg); !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	verifyOK(t, cfg)

	// Who does not keep the rows up to date may not append.
	cfg.Projection = nil
	l := reopen(t, cfg)
	defer closeLog(t, l)
	h, err := l.Head()
	must(t, err)
	_, _, err = l.Append(t.Context(), h.Size, []Draft{draft("a.b", "", nil)}, nil)
	expect(t, err, fault.Refused, "projection")
}

// failing is a projection that refuses a record.
type failing struct{ tally }

func (f failing) Apply(rows Rows, r Record) error {
	if r.Kind == "a.bad" {
		rows.Put("count", "bad", []byte("1"))
		return errors.New("cannot apply it")
	}
	if r.Kind == "a.row" {
		rows.Put("count", "", nil) // bbolt takes no empty key
	}
	return f.tally.Apply(rows, r)
}

// What fails in the middle of an append leaves nothing behind.
func TestAppendIsWhole(t *testing.T) {
	cfg := testConfig(t)
	cfg.Projection = failing{tally{1}}
	l := create1(t, cfg)
	blob := NewBlob("text/plain", []byte("never stored"))
	named := draft("a.b", "", map[string]any{"doc": blob.Ref})
	for _, kind := range []string{"a.bad", "a.row"} {
		if _, _, err := l.Append(t.Context(), 1, []Draft{named, draft(kind, "", nil)}, []Blob{blob}); err == nil {
			t.Errorf("%s is appended", kind)
		}
	}
	cfg.Keys.(*memKeys).gone[l.VKey()] = true
	_, _, err := l.Append(t.Context(), 1, []Draft{draft("a.b", "", nil)}, nil)
	expect(t, err, fault.NotFound, "no key")
	delete(cfg.Keys.(*memKeys).gone, l.VKey())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := l.Append(ctx, 1, []Draft{draft("a.b", "", nil)}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if _, err := l.Blob(blob.Ref); !fault.Is(err, fault.NotFound) {
		t.Errorf("Blob: %v", err)
	}
	if recs := appendTo(t, l, []Draft{draft("a.b", "", nil)}); recs[0].Seq != 1 {
		t.Errorf("record %d", recs[0].Seq)
	}
	closeLog(t, l)
	verifyOK(t, cfg)
}

// Redacted bytes are nowhere in the file any more, the salt neither.
func TestRedactScrubs(t *testing.T) {
	for _, size := range []int{40, 3000, 200_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			cfg := testConfig(t)
			l := create1(t, cfg)
			secret := bytes.Repeat([]byte("correct horse battery staple "), size/29+1)
			blob := NewBlob("text/plain", secret)
			for i := range 6 { // copies in pages that were freed since
				other := NewBlob("text/plain", make([]byte, 500*i))
				blobs := []Blob{other}
				d := []Draft{draft("a.b", "", map[string]any{"doc": other.Ref})}
				if i == 2 {
					blobs = append(blobs, blob)
					d = append(d, draft("a.b", "", map[string]any{"doc": blob.Ref}))
				}
				appendTo(t, l, d, blobs...)
			}
			find := func() bool {
				b, err := os.ReadFile(cfg.Path)
				must(t, err)
				return bytes.Contains(b, secret[:29]) || bytes.Contains(b, blob.salt)
			}
			if !find() {
				t.Fatal("the secret is not there to begin with")
			}
			h, err := l.Head()
			must(t, err)
			_, rec, err := l.Redact(t.Context(), h.Size, blob.Ref, "a password", engine)
			must(t, err)
			if rec.Kind != KindRedacted || find() {
				t.Errorf("%s, and the secret is still there", rec.Kind)
			}
			if _, err := l.Blob(blob.Ref); !errors.Is(err, ErrRedacted) || !fault.Is(err, fault.NotFound) {
				t.Errorf("Blob: %v", err)
			}
			// A later record may still name what is gone.
			appendTo(t, l, []Draft{draft("a.b", "", map[string]any{"doc": blob.Ref})})
			closeLog(t, l)
			verifyOK(t, cfg)
		})
	}
}

func TestKeyDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	keys := KeyDir(dir)
	cfg := testConfig(t)
	cfg.Keys = keys
	l := create1(t, cfg)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{dir: 0o700, files[0]: 0o600} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
		must(t, os.Chmod(files[0], 0o640))
		_, _, err = l.Append(t.Context(), 1, []Draft{draft("a.b", "", nil)}, nil)
		expect(t, err, fault.Refused, "can be read by others")
		if want := "chmod 600 '" + files[0] + "'"; fault.TryOf(err) != want {
			t.Errorf("try: %s, want %s", fault.TryOf(err), want)
		}
		must(t, os.Chmod(files[0], 0o600))
	}
	appendTo(t, l, []Draft{draft("a.b", "", nil)})
	old := l.VKey()
	_, _, err = l.RotateKey(t.Context(), 2, engine)
	must(t, err)
	if _, err := os.Stat(files[0]); !errors.Is(err, os.ErrNotExist) || l.VKey() == old {
		t.Errorf("the old key is still there: %v", err)
	}
	appendTo(t, l, []Draft{draft("a.b", "", nil)})
	closeLog(t, l)
	if r := verifyOK(t, cfg); len(r.Keys) != 2 || r.Keys[1].After != 2 {
		t.Errorf("keys %+v", r.Keys)
	}
	for _, content := range []string{"", "nonsense", "PRIVATE+KEY+x"} {
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		must(t, os.WriteFile(files[0], []byte(content), 0o600))
		l = reopen(t, cfg)
		if _, _, err := l.Append(t.Context(), 4, []Draft{draft("a.b", "", nil)}, nil); err == nil {
			t.Errorf("a key file of %q signs", content)
		}
		closeLog(t, l)
	}
	must(t, os.RemoveAll(dir))
	l = reopen(t, cfg)
	defer closeLog(t, l)
	_, _, err = l.Append(t.Context(), 4, []Draft{draft("a.b", "", nil)}, nil)
	expect(t, err, fault.NotFound, "missing")
}

// Who waits for the lock gets it in the end, or gives up when told to; the lock
// that comes after that is passed on.
func TestLock(t *testing.T) {
	cfg := testConfig(t)
	l := create1(t, cfg)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := Open(ctx, cfg)
	expect(t, err, fault.Busy, "lock")
	_, err = acquire(t.Context(), cfg.lockPath(), time.Millisecond)
	expect(t, err, fault.Busy, "a person ends that process")
	done := make(chan error)
	go func() {
		l, err := Open(t.Context(), cfg)
		if err == nil {
			err = l.Close()
		}
		done <- err
	}()
	closeLog(t, l)
	must(t, <-done)
	closeLog(t, reopen(t, cfg))
}

// A foreign program that holds the file itself is waited for, then reported.
func TestForeignLock(t *testing.T) {
	cfg := testConfig(t)
	closeLog(t, create1(t, cfg))
	db, err := bolt.Open(cfg.Path, 0o600, nil)
	must(t, err)
	opened := make(chan error)
	go func() {
		l, err := Open(t.Context(), cfg)
		if err == nil {
			err = l.Close()
		}
		opened <- err
	}()
	must(t, db.Close())
	must(t, <-opened)
}
