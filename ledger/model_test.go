package ledger

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"satelle/internal/fault"
)

// A model is what a ledger should hold, in the simplest form.
type model struct {
	records []Record
	blobs   []Blob
	gone    map[string]bool
	keys    int
}

// However appends, refused appends, redactions, rotations and reopenings follow
// on each other, the ledger holds what the model holds, and verifies.
func TestModel(t *testing.T) {
	// A run is a ledger on disk, synced dozens of times.
	if err := flag.Set("rapid.checks", "25"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = flag.Set("rapid.checks", "100") }()
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		sub := filepath.Join(dir, fmt.Sprint(n))
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(sub)
		cfg := Config{
			Path: filepath.Join(sub, "ledger.db"), Keys: newKeys("key"), Projection: tally{1},
			Known: func(kind string, _ int) bool { return kind == "story.moved" },
		}
		l, err := Create(context.Background(), cfg, testGenesis)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		first, err := l.Record(0)
		if err != nil {
			t.Fatal(err)
		}
		m := model{records: []Record{first}, gone: map[string]bool{}, keys: 1}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				var drafts []Draft
				var blobs []Blob
				for range rapid.IntRange(1, 8).Draw(t, "n") {
					d := draft(rapid.SampledFrom([]string{"story.created", "story.moved", "story.dropped"}).Draw(t, "kind"),
						rapid.SampledFrom([]string{"", "sty_a", "sty_b"}).Draw(t, "story"), nil)
					d.Crit = d.Kind == "story.moved"
					if rapid.Bool().Draw(t, "with blob") {
						b := NewBlob("text/plain", rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(t, "blob"))
						d.Body = map[string]any{"doc": b.Ref}
						blobs = append(blobs, b)
					}
					drafts = append(drafts, d)
				}
				h, recs, err := l.Append(context.Background(), uint64(len(m.records)), drafts, blobs)
				if err != nil {
					t.Fatal(err)
				}
				m.records = append(m.records, recs...)
				m.blobs = append(m.blobs, blobs...)
				if h.Size != uint64(len(m.records)) {
					t.Fatalf("head of %d", h.Size)
				}
			},
			"append to another head": func(t *rapid.T) {
				_, _, err := l.Append(context.Background(), uint64(len(m.records))+1, []Draft{draft("a.b", "", nil)}, nil)
				if _, ok := errors.AsType[*Conflict](err); !ok {
					t.Fatalf("err = %v", err)
				}
			},
			"append what is refused": func(t *rapid.T) {
				ref := NewBlob("text/plain", nil).Ref
				d := rapid.SampledFrom([]Draft{
					draft("", "", nil), draft("plain", "", nil), draft("A.b", "", nil), draft(KindRotated, "", nil),
					draft("a.b", "S", nil), draft("a.b", "", []int{1}), draft("a.b", "", map[string]any{"x": ref}),
					{Kind: "a.b", Schema: 1},
					{Kind: "a.b", Actor: engine},
					{Kind: "a.b", Actor: engine, Schema: 1, Crit: true},
				}).Draw(t, "draft")
				if _, _, err := l.Append(context.Background(), uint64(len(m.records)), []Draft{draft("a.b", "", nil), d}, nil); err == nil {
					t.Fatalf("%+v is accepted", d)
				}
			},
			"append a blob that nobody names": func(t *rapid.T) {
				_, _, err := l.Append(context.Background(), uint64(len(m.records)), []Draft{draft("a.b", "", nil)}, []Blob{NewBlob("t", nil)})
				if !fault.Is(err, fault.Usage) {
					t.Fatalf("err = %v", err)
				}
			},
			"redact": func(t *rapid.T) {
				if len(m.blobs) == 0 {
					t.Skip()
				}
				ref := rapid.SampledFrom(m.blobs).Draw(t, "blob").Ref
				_, rec, err := l.Redact(context.Background(), uint64(len(m.records)), ref, "why", engine)
				if m.gone[ref.Digest] {
					if !errors.Is(err, ErrRedacted) {
						t.Fatalf("redacted twice: %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				m.gone[ref.Digest] = true
				m.records = append(m.records, rec)
			},
			"rotate": func(t *rapid.T) {
				_, rec, err := l.RotateKey(context.Background(), uint64(len(m.records)), engine)
				if err != nil {
					t.Fatal(err)
				}
				m.records = append(m.records, rec)
				m.keys++
			},
			"reopen": func(t *rapid.T) {
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				if l, err = Open(context.Background(), cfg); err != nil {
					t.Fatal(err)
				}
			},
			"": func(t *rapid.T) { m.check(t, l) },
		})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := Verify(context.Background(), cfg, VerifyOptions{Full: true})
		if err != nil || r.Size != uint64(len(m.records)) || r.Blobs != len(m.blobs)-len(m.gone) || r.Redacted != len(m.gone) || len(r.Keys) != m.keys {
			t.Fatalf("Verify: %+v, %v", r, err)
		}
		if l, err = Open(context.Background(), cfg); err != nil {
			t.Fatal(err)
		}
	})
}

// check compares everything that can be read with the model.
func (m *model) check(t *rapid.T, l *Log) {
	all, err := l.Read(0, len(m.records)+1)
	if err != nil || !slices.EqualFunc(all, m.records, func(a, b Record) bool { return a.Seq == b.Seq && string(a.Raw) == string(b.Raw) }) {
		t.Fatalf("Read: %d records, want %d (%v)", len(all), len(m.records), err)
	}
	for _, story := range []string{"sty_a", "sty_b"} {
		got, err := l.ByStory(story, 0, len(m.records))
		var want []uint64
		for _, r := range m.records {
			if r.Story == story {
				want = append(want, r.Seq)
			}
		}
		if err != nil || !slices.EqualFunc(got, want, func(r Record, seq uint64) bool { return r.Seq == seq }) {
			t.Fatalf("ByStory(%s): %v, want %v (%v)", story, got, want, err)
		}
	}
	for _, b := range m.blobs {
		data, err := l.Blob(b.Ref)
		if m.gone[b.Ref.Digest] != errors.Is(err, ErrRedacted) || err == nil && string(data) != string(b.data) {
			t.Fatalf("Blob: %d bytes, %v", len(data), err)
		}
	}
	h, err := l.Head()
	if err != nil || h.Size != uint64(len(m.records)) {
		t.Fatalf("Head: %+v, %v", h, err)
	}
	if _, err := openNote(h.Note, mustVerifiers(t, l, h.Size)); err != nil {
		t.Fatalf("the head is not signed: %v", err)
	}
}
