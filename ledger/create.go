package ledger

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/mod/sumdb/note"

	"satelle/internal/fault"
)

// A Genesis says which log is made. Project is committed to the repository,
// Clone is of this clone alone: together they name the log in its checkpoints.
type Genesis struct {
	Project string
	Clone   string
	Actor   Actor // the zero Actor is the engine
	// Continues is set when the log takes the place of one that was lost.
	Continues *Continuation
}

// A Continuation names the last checkpoint of a lost log. If VKey is given,
// the checkpoint's signature must hold under it.
type Continuation struct {
	Checkpoint string `json:"checkpoint"`
	VKey       string `json:"vkey"`
	Reason     string `json:"reason"`
}

// genesisBody is the body of record 0.
type genesisBody struct {
	Format  int    `json:"format"`
	Project string `json:"project"`
	Clone   string `json:"clone"`
	Origin  string `json:"origin"`
	VKey    string `json:"vkey"`
	Tree    string `json:"tree"`
	Blob    string `json:"blob"`
}

// The hash rules of format 1, as the genesis states them.
const (
	treeRule = "rfc6962-sha256"
	blobRule = "sha256(salt[32]||data)"
)

// Create makes a ledger at cfg.Path with a key of its own and returns it open.
// A file that exists is never touched. The ledger appears under its name only
// once it is complete and on disk.
func Create(ctx context.Context, cfg Config, g Genesis) (*Log, error) {
	l, err := create(ctx, cfg, g)
	return l, fault.Wrap(err, nil, "creating the ledger")
}

func create(ctx context.Context, cfg Config, g Genesis) (_ *Log, err error) {
	origin, err := g.origin()
	if err != nil {
		return nil, fault.Wrap(err, fault.Usage, "naming it")
	}
	if err := g.checkContinuation(origin); err != nil {
		return nil, err
	}
	dir := filepath.Dir(cfg.Path)
	if err := refuseNetwork(existingDir(dir)); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := acquire(ctx, cfg.lockPath(), lockWait)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = either(err, lock.release())
		}
	}()
	if _, err := os.Lstat(cfg.Path); err == nil {
		return nil, fault.New(fault.Refused, "%s exists already", cfg.Path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if cfg.Keys == nil {
		return nil, errors.New("no place for its key")
	}
	vkey, err := cfg.Keys.Create(origin)
	if err != nil {
		return nil, fmt.Errorf("making its key: %w", err)
	}
	l := &Log{cfg: cfg, lock: lock, origin: origin, keys: keyring{{VKey: vkey}}}
	if err := l.lay(g); err != nil {
		return nil, either(err, cfg.Keys.Remove(vkey))
	}
	// From here on the ledger is there, and its key must stay whatever happens.
	if err := syncDir(dir); err != nil {
		return nil, err
	}
	if l.db, err = openBolt(cfg.Path, false); err != nil {
		return nil, err
	}
	return l, nil
}

// lay writes the first records into a temporary file and renames it.
func (l *Log) lay(g Genesis) error {
	var r [8]byte
	if _, err := io.ReadFull(l.cfg.random(), r[:]); err != nil {
		return err
	}
	temp := l.cfg.Path + "." + hex.EncodeToString(r[:]) + ".new"
	db, err := openBolt(temp, true)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range allBuckets {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		meta := tx.Bucket(bucketMeta)
		if err := meta.Put(keyFormat, []byte(strconv.Itoa(Format))); err != nil {
			return err
		}
		if err := meta.Put(keyProjection, projectionVersion(l.cfg.Projection)); err != nil {
			return err
		}
		_, _, err := l.write(tx, 0, &batch{drafts: g.drafts(l)})
		return err
	})
	if err = either(err, closeBolt(db)); err == nil {
		err = os.Rename(temp, l.cfg.Path)
	}
	if err != nil {
		return either(err, os.Remove(temp))
	}
	return nil
}

func (g *Genesis) origin() (string, error) {
	for _, id := range []string{g.Project, g.Clone} {
		if id == "" || len(id) > MaxName {
			return "", fmt.Errorf("id %q: want 1 to %d characters", id, MaxName)
		}
		for _, c := range []byte(id) {
			if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
				return "", fmt.Errorf("id %q: want letters, digits, '.', '_' and '-'", id)
			}
		}
	}
	return "satelle/" + g.Project + "/" + g.Clone, nil
}

func (g *Genesis) checkContinuation(origin string) error {
	if g.Continues == nil {
		return nil
	}
	cp, err := ParseCheckpoint(g.Continues.Checkpoint)
	if err != nil {
		return fault.Wrap(err, fault.Usage, "reading the lost log's checkpoint")
	}
	if cp.Origin == origin {
		return fault.New(fault.Refused, "a log that continues %s needs a clone id of its own: two logs of one name would look like a fork", origin)
	}
	if g.Continues.VKey == "" {
		return nil
	}
	v, err := note.NewVerifier(g.Continues.VKey)
	if err != nil {
		return fault.Wrap(err, fault.Usage, "reading the lost log's public key")
	}
	_, err = openNote(g.Continues.Checkpoint, note.VerifierList(v))
	return fault.Wrap(err, fault.Integrity, "checking the lost log's checkpoint")
}

// drafts returns record 0 and, for a continuation, record 1.
func (g *Genesis) drafts(l *Log) []Draft {
	actor := g.Actor
	if actor == (Actor{}) {
		actor = Actor{Kind: ActorEngine, Auth: AuthAsserted}
	}
	d := []Draft{{
		Kind: KindGenesis, Actor: actor, Crit: true, Schema: ownSchema,
		Body: genesisBody{
			Format: Format, Project: g.Project, Clone: g.Clone, Origin: l.origin,
			VKey: l.keys.current(), Tree: treeRule, Blob: blobRule,
		},
	}}
	if g.Continues != nil {
		d = append(d, Draft{Kind: KindContinued, Actor: actor, Crit: true, Schema: ownSchema, Body: g.Continues})
	}
	return d
}

// readGenesis checks record 0 and returns what follows from it.
func readGenesis(raw []byte) (origin string, keys keyring, err error) {
	v, err := parse(raw)
	if err != nil {
		return "", nil, err
	}
	if string(v.kind) != KindGenesis || v.schema != ownSchema {
		return "", nil, fmt.Errorf("record 0 is %s, schema %d, no genesis", v.kind, v.schema)
	}
	var b genesisBody
	if err := ownBody(v.body, &b); err != nil {
		return "", nil, err
	}
	want, err := (&Genesis{Project: b.Project, Clone: b.Clone}).origin()
	if err != nil {
		return "", nil, err
	}
	key, err := note.NewVerifier(b.VKey)
	switch {
	case err != nil:
		return "", nil, err
	case b.Origin != want || key.Name() != want:
		return "", nil, fmt.Errorf("the genesis of %s names origin %s and key %s", want, b.Origin, key.Name())
	case b.Format != Format || b.Tree != treeRule || b.Blob != blobRule:
		return "", nil, fmt.Errorf("the genesis states rules that are not those of format %d", Format)
	}
	return want, keyring{{VKey: b.VKey}}, nil
}
