package ledger

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"

	"satelle/internal/fault"
)

// Format is the newest format of the file that this package reads and writes.
const Format = 1

// The buckets of a ledger file, beside those of the projection.
var (
	bucketMeta    = []byte("meta")      // format, projection: decimal numbers
	bucketRecords = []byte("records")   // position → record
	bucketTiles   = []byte("tiles")     // level, number → hashes
	bucketHeads   = []byte("heads")     // size → root and signatures
	bucketStory   = []byte("idx:story") // story, NUL, position → nothing
	bucketKind    = []byte("idx:kind")  // kind, NUL, position → nothing
	bucketCrit    = []byte("crit")      // kind, NUL, schema → first position
	bucketBlobs   = []byte("blobs")     // digest → salt and data, empty once redacted

	allBuckets = [][]byte{
		bucketMeta, bucketRecords, bucketTiles, bucketHeads,
		bucketStory, bucketKind, bucketCrit, bucketBlobs,
	}

	keyFormat     = []byte("format")
	keyProjection = []byte("projection")
)

// bboltLockWait bounds the wait for bbolt's own lock. Ours is held by then, so
// only a foreign program, or the kernel tidying up after a killed process, can
// be in the way.
const bboltLockWait = 5 * time.Second

// A Config says where a log is and how it is used.
type Config struct {
	// Path of the file. Beside it, Path+".lock" is created.
	Path string
	// Keys holds the private keys. It may be nil where nothing is appended.
	Keys KeyStore
	// Projection is kept up to date by every append. With nil, a log that has
	// a projection can be read and verified but not appended to.
	Projection Projection
	// Known reports whether the program understands the kind in the schema.
	// It is asked for records whose crit field is set. nil knows none but the
	// ledger's own kinds.
	Known func(kind string, schema int) bool
	// Clock is for tests only, which need records that do not differ from run
	// to run. nil is time.Now.
	Clock func() time.Time

	testOnlyRand io.Reader // as Clock, for the random part of ids
}

func (c *Config) now() time.Time {
	if c.Clock != nil {
		return c.Clock()
	}
	return time.Now()
}

func (c *Config) random() io.Reader {
	if c.testOnlyRand != nil {
		return c.testOnlyRand
	}
	return rand.Reader
}

func (c *Config) lockPath() string { return c.Path + ".lock" }

// A Log is an open ledger. It holds the ledger's lock from Open to Close:
// nobody else can read or write meanwhile, so keep it open for a decision and
// never over anything slow. It is for one goroutine at a time.
type Log struct {
	cfg    Config
	lock   *fileLock
	db     *bolt.DB
	origin string
	keys   keyring // as of the last append
	broken error   // a failed commit; what it left is known after reopening only
}

// Open opens the ledger at cfg.Path. It waits for the lock until ctx ends,
// then fails with class fault.Busy. Where the projection's version is another
// one than the ledger's, all rows are made anew before Open returns.
func Open(ctx context.Context, cfg Config) (*Log, error) {
	l, err := open(ctx, cfg)
	if err != nil {
		return nil, fault.Wrap(err, nil, "opening the ledger")
	}
	if err := l.guarded(l.reproject); err != nil {
		return nil, fault.Wrap(either(err, l.Close()), nil, "rebuilding the ledger's projection")
	}
	return l, nil
}

// open is Open without a look at the projection.
func open(ctx context.Context, cfg Config) (*Log, error) {
	l, err := openFile(ctx, cfg)
	if err != nil {
		return nil, err
	}
	err = l.view(func(tx *bolt.Tx) error {
		if err := checkFormat(tx); err != nil {
			return err
		}
		l.origin, l.keys, err = foldKeys(tx)
		return err
	})
	if err != nil {
		return nil, either(err, l.Close())
	}
	return l, nil
}

// openFile takes the lock and opens the file, but does not look into it yet.
func openFile(ctx context.Context, cfg Config) (*Log, error) {
	lock, err := lockFor(ctx, cfg)
	if err != nil {
		return nil, err
	}
	l := &Log{cfg: cfg, lock: lock}
	if err := guard(l.load); err != nil {
		return nil, either(err, l.Close())
	}
	return l, nil
}

// lockFor takes the lock of a ledger that exists.
func lockFor(ctx context.Context, cfg Config) (*fileLock, error) {
	info, err := os.Stat(cfg.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Try(fault.New(fault.NotFound, "there is no ledger at %s", cfg.Path), "satelle init")
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fault.New(fault.Integrity, "%s is no regular file", cfg.Path)
	case info.Size() == 0:
		return nil, fault.New(fault.Integrity, "%s is empty", cfg.Path)
	}
	if err := refuseNetwork(filepath.Dir(cfg.Path)); err != nil {
		return nil, err
	}
	return acquire(ctx, cfg.lockPath(), lockWait)
}

// load opens the file and checks that it is whole.
func (l *Log) load() (err error) {
	if l.db, err = openBolt(l.cfg.Path, false); err != nil {
		return err
	}
	return l.db.View(func(tx *bolt.Tx) error {
		info, err := os.Stat(l.cfg.Path)
		if err != nil {
			return err
		}
		return checkLength(tx, info.Size())
	})
}

// openBolt opens a file that exists and, only if create is set, one that does
// not; bbolt would make one out of nothing.
func openBolt(path string, create bool) (db *bolt.DB, err error) {
	opts := *bolt.DefaultOptions
	opts.Timeout = bboltLockWait
	opts.NoStatistics = true
	var file *os.File
	opts.OpenFile = func(name string, flag int, perm os.FileMode) (_ *os.File, err error) {
		if !create {
			flag &^= os.O_CREATE
		}
		file, err = os.OpenFile(name, flag, perm)
		return file, err
	}
	defer func() {
		if db == nil && file != nil {
			// bbolt panicked over a damaged page. Its mapping, which nobody can
			// get at any more, would keep the lock.
			unlock(file)
			_ = file.Close()
		}
	}()
	for {
		db, err = bolt.Open(path, 0o600, &opts)
		switch {
		case errors.Is(err, syscall.EINTR): // in bbolt's flock, which does not try again
		case err != nil:
			return nil, openError(path, err)
		default:
			return db, nil
		}
	}
}

// closeBolt closes the file. That its unlock was interrupted does not matter:
// with the file, the lock is gone.
func closeBolt(db *bolt.DB) error {
	if err := db.Close(); !errors.Is(err, syscall.EINTR) {
		return err
	}
	return nil
}

// checkFormat refuses what is no ledger and what is newer than this program.
func checkFormat(tx *bolt.Tx) error {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		return fault.New(fault.Integrity, "the file is a database, but not a ledger")
	}
	n, err := strconv.ParseUint(string(meta.Get(keyFormat)), 10, 32)
	if err != nil || n == 0 {
		return fault.New(fault.Integrity, "the ledger's format %q is none", meta.Get(keyFormat))
	}
	if n > Format {
		err := fault.New(fault.Refused,
			"the ledger has format %d, this program knows formats up to %d: upgrade satelle", n, Format)
		return fault.Try(err, "satelle version")
	}
	for _, name := range allBuckets {
		if tx.Bucket(name) == nil {
			return fault.New(fault.Integrity, "the ledger has lost its bucket %q", name)
		}
	}
	return nil
}

// Close frees the lock. It must be called once, whatever happened before.
func (l *Log) Close() error {
	var err error
	if l.db != nil {
		err = closeBolt(l.db)
	}
	return either(err, l.lock.release())
}

// either returns err, or else what tidying up behind it returned. Joining the
// two would cost err the command that it carries for the reader.
func either(err, tidying error) error {
	if err != nil {
		return err
	}
	return tidying
}

// Origin names the log in its checkpoints: "satelle/<project>/<clone>".
func (l *Log) Origin() string { return l.origin }

// VKey returns the public key that signs the log at present.
func (l *Log) VKey() string { return l.keys.current() }

// Head returns the newest head.
func (l *Log) Head() (h Head, err error) {
	err = l.view(func(tx *bolt.Tx) error {
		h, err = headOf(tx, l.origin)
		return err
	})
	return h, err
}

// View gives fn the rows of the projection as they are now.
func (l *Log) View(fn func(Rows) error) error {
	return l.view(func(tx *bolt.Tx) error {
		rows := newBoltRows(tx)
		if err := fn(rows); err != nil {
			return err
		}
		return rows.err
	})
}

// guarded runs fn unless an earlier commit failed.
func (l *Log) guarded(fn func() error) error {
	if l.broken != nil {
		return fault.Wrap(l.broken, nil, "an earlier append failed")
	}
	return guard(fn)
}

func (l *Log) view(fn func(tx *bolt.Tx) error) error {
	return l.guarded(func() error { return l.db.View(fn) })
}

// headOf reads the newest head.
func headOf(tx *bolt.Tx, origin string) (Head, error) {
	k, v := tx.Bucket(bucketHeads).Cursor().Last()
	if len(k) != 8 {
		return Head{}, fault.New(fault.Integrity, "the ledger has no head")
	}
	h, err := openHead(origin, binary.BigEndian.Uint64(k), v)
	return h, fault.Wrap(err, fault.Integrity, "head of %d records", binary.BigEndian.Uint64(k))
}

// seqKey is the key of a position or a size.
func seqKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// indexKey is the key of an index entry. Names never contain NUL.
func indexKey[T string | []byte](name T, seq uint64) []byte {
	k := make([]byte, 0, len(name)+9)
	k = append(k, name...)
	k = append(k, 0)
	return binary.BigEndian.AppendUint64(k, seq)
}
