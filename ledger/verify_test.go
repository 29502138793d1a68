package ledger

import (
	"context"
	"testing"
)

func verifyOK(t testing.TB, cfg Config) Report {
	t.Helper()
	r, err := Verify(context.Background(), cfg, VerifyOptions{Full: true})
	if err != nil {
		t.Fatalf("Verify: %v\n%v", err, r.Problems)
	}
	return r
}

func TestVerifyIntact(t *testing.T) {
	cfg := testConfig(t)
	l := create1(t, cfg)
	for i := range 40 {
		blob := NewBlob("text/plain", []byte("a secret note"))
		d := draft("story.created", "sty_a", map[string]any{"doc": blob.Ref})
		d.Crit = i%3 == 0
		appendTo(t, l, []Draft{d, draft("a.b", "", nil)}, blob)
	}
	closeLog(t, l)
	verifyOK(t, cfg)
}
