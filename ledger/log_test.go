package ledger

import (
	"context"
	"errors"
	"testing"

	"satelle/internal/fault"
	"satelle/ledger/seatread"
)

func TestAppendAndRead(t *testing.T) {
	cfg := testConfig(t)
	l := create1(t, cfg)
	blob := NewBlob("text/plain", []byte("a secret note"))
	recs := appendTo(t, l, []Draft{
		draft("story.created", "sty_a", map[string]any{"title": "Ä \"title\"\n<b>", "n": 3, "doc": blob.Ref}),
		draft("story.moved", "sty_a", map[string]any{"to": "done"}),
		draft("story.created", "sty_b", nil),
	}, blob)
	closeLog(t, l)

	l = reopen(t, cfg)
	defer closeLog(t, l)
	all, err := l.Read(0, 100)
	if err != nil || len(all) != 4 {
		t.Fatalf("Read = %d records, %v", len(all), err)
	}
	if all[0].Kind != KindGenesis || string(all[2].Raw) != string(recs[1].Raw) || all[3].Seq != 3 {
		t.Errorf("read back %+v", all)
	}
	for _, tt := range []struct {
		name string
		recs func() ([]Record, error)
		want []uint64
	}{
		{"story", func() ([]Record, error) { return l.ByStory("sty_a", 0, 10) }, []uint64{1, 2}},
		{"story from", func() ([]Record, error) { return l.ByStory("sty_a", 2, 10) }, []uint64{2}},
		{"prefix of a story", func() ([]Record, error) { return l.ByStory("sty_", 0, 10) }, nil},
		{"kind", func() ([]Record, error) { return l.ByKind("story.created", 0, 10) }, []uint64{1, 3}},
		{"limit", func() ([]Record, error) { return l.ByKind("story.created", 0, 1) }, []uint64{1}},
	} {
		got, err := tt.recs()
		if err != nil {
			t.Fatal(err)
		}
		var seqs []uint64
		for _, r := range got {
			seqs = append(seqs, r.Seq)
		}
		if len(seqs) != len(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, seqs, tt.want)
			continue
		}
		for i := range seqs {
			if seqs[i] != tt.want[i] {
				t.Errorf("%s: %v, want %v", tt.name, seqs, tt.want)
			}
		}
	}
	if data, err := l.Blob(blob.Ref); err != nil || string(data) != "a secret note" {
		t.Errorf("Blob = %q, %v", data, err)
	}
	if r, err := l.ByID(all[2].ID); err != nil || r.Seq != 2 {
		t.Errorf("ByID = %d, %v", r.Seq, err)
	}
	if r, ok, err := l.LastOf("sty_a", ""); err != nil || !ok || r.Seq != 2 {
		t.Errorf("LastOf = %d, %v, %v", r.Seq, ok, err)
	}
	if _, ok, err := l.LastOf("", "zzz.zzz"); err != nil || ok {
		t.Errorf("LastOf of nothing = %v, %v", ok, err)
	}
	v, err := seatread.Get(cfg.Path, "p:count", "story.created")
	if err != nil || string(v) != "2" {
		t.Errorf("seatread = %q, %v", v, err)
	}
}

func TestConflict(t *testing.T) {
	l := create1(t, testConfig(t))
	defer closeLog(t, l)
	appendTo(t, l, []Draft{draft("a.b", "", nil)})
	_, _, err := l.Append(context.Background(), 1, []Draft{draft("a.b", "", nil)}, nil)
	var c *Conflict
	if !errors.As(err, &c) || c.Head.Size != 2 || !fault.Is(err, fault.Busy) {
		t.Fatalf("err = %v", err)
	}
}
