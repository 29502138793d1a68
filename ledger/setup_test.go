package ledger

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"satelle/internal/fault"
)

// memKeys is a KeyStore whose keys depend on nothing but its seed.
type memKeys struct {
	seed string
	n    int
	m    map[string]note.Signer
	gone map[string]bool
}

func newKeys(seed string) *memKeys {
	return &memKeys{seed: seed, m: map[string]note.Signer{}, gone: map[string]bool{}}
}

func (k *memKeys) Create(name string) (string, error) {
	k.n++
	seed := sha256.Sum256(fmt.Appendf(nil, "%s %d", k.seed, k.n))
	vkey, err := note.NewEd25519VerifierKey(name, ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey))
	if err != nil {
		return "", err
	}
	hash := strings.Split(vkey, "+")[1]
	s, err := note.NewSigner("PRIVATE+KEY+" + name + "+" + hash + "+" + base64.StdEncoding.EncodeToString(append([]byte{1}, seed[:]...)))
	k.m[vkey] = s
	return vkey, err
}

func (k *memKeys) Signer(vkey string) (note.Signer, error) {
	if s := k.m[vkey]; s != nil && !k.gone[vkey] {
		return s, nil
	}
	return nil, fault.New(fault.NotFound, "no key %s", vkey)
}

func (k *memKeys) Remove(vkey string) error { k.gone[vkey] = true; return nil }

// tally is a projection that counts records by kind and keeps the last of each
// story.
type tally struct{ version int }

func (t tally) Version() int { return t.version }

func (t tally) Apply(rows Rows, r Record) error {
	var n int
	if v := rows.Get("count", r.Kind); v != nil {
		if err := json.Unmarshal(v, &n); err != nil {
			return err
		}
	}
	rows.Put("count", r.Kind, fmt.Append(nil, n+1))
	if r.Story != "" {
		rows.Put("last", r.Story, []byte(r.ID))
	}
	if r.Kind == "story.dropped" {
		rows.Delete("last", r.Story)
	}
	return nil
}

// testConfig is the configuration of a log whose bytes are the same in every
// run.
func testConfig(t testing.TB) Config {
	t.Helper()
	now := time.Date(2025, 1, 2, 3, 4, 5, 6, time.UTC)
	return Config{
		Path:       filepath.Join(t.TempDir(), "ledger.db"),
		Keys:       newKeys("key"),
		Projection: tally{1},
		Known:      func(kind string, schema int) bool { return kind == "story.created" && schema == 1 },
		Clock: func() time.Time {
			now = now.Add(time.Millisecond)
			return now
		},
		testOnlyRand: rand.NewChaCha8([32]byte{1}),
	}
}

var testGenesis = Genesis{Project: "demo", Clone: "c1"}

func create1(t testing.TB, cfg Config) *Log {
	t.Helper()
	l, err := Create(context.Background(), cfg, testGenesis)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func reopen(t testing.TB, cfg Config) *Log {
	t.Helper()
	l, err := Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func closeLog(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

var engine = Actor{Kind: ActorEngine, Auth: AuthAsserted}

func draft(kind, story string, body any) Draft {
	return Draft{Kind: kind, Story: story, Actor: engine, Schema: 1, Body: body}
}

func appendTo(t testing.TB, l *Log, drafts []Draft, blobs ...Blob) []Record {
	t.Helper()
	h, err := l.Head()
	if err != nil {
		t.Fatal(err)
	}
	_, recs, err := l.Append(context.Background(), h.Size, drafts, blobs)
	if err != nil {
		t.Fatal(err)
	}
	return recs
}

func mustVerifiers(t interface{ Fatal(...any) }, l *Log, size uint64) note.Verifiers {
	v, err := l.keys.verifiers(size)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
