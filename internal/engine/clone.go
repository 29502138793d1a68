package engine

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"

	"satelle/internal/fault"
	"satelle/internal/place"
	"satelle/ledger"
)

const (
	// cloneFile lies in the git common dir and holds the clone's random id: it
	// is never committed, and the same for every work tree.
	cloneFile = "satelle-clone"
	// cloneNote lies beside the ledger and says whose it is: the clone's id and
	// its git common dir, a line each.
	cloneNote = "clone"
)

// adopt brings a clone's folder under $SATELLE_HOME along if the repository
// was moved: the folder's name follows the repository's path. A copy of a
// repository that is still where it was keeps its hands off.
func (e *Engine) adopt() error {
	if e.Place.Registered {
		return nil
	}
	id, err := e.cloneID()
	if err != nil || id == "" {
		return err
	}
	notes, err := filepath.Glob(filepath.Join(globQuote(e.Home), "*", cloneNote))
	if err != nil {
		return fault.Wrap(err, nil, "looking for the clone's ledger")
	}
	for _, note := range notes {
		b, err := readBounded(note, 8<<10)
		if err != nil {
			continue
		}
		theirs, common, _ := strings.Cut(strings.TrimSuffix(string(b), "\n"), "\n")
		if theirs != id {
			continue
		}
		if still, err := readCloneID(common); err == nil && still == id {
			continue // it has not moved: this one is a copy
		}
		if err := os.Rename(filepath.Dir(note), e.Place.Dir); err != nil {
			return fault.Wrap(err, nil, "bringing the ledger of the moved repository along")
		}
		e.Place.Registered = true
		return nil
	}
	return nil
}

// makeLedger creates the log where there is none. No two logs ever share a
// name: a clone whose log is lost, or that was copied with its id, draws a
// new id, and its log names the last checkpoint that was kept of the old.
func (e *Engine) makeLedger(ctx context.Context, rep *InitReport) error {
	if _, err := os.Stat(e.cfg.Path); os.IsNotExist(err) {
		if err := e.createLedger(ctx); err != nil {
			return err
		}
		rep.Created = append(rep.Created, createdLedger)
	} else if err != nil {
		return fault.Wrap(err, nil, "looking for the ledger")
	}
	var err error
	if e.Place, err = place.Find(e.Home, e.repo.Top()); err != nil {
		return fault.Wrap(err, nil, "finding what governs %s", e.repo.Top())
	}
	if err := e.recordHome(); err != nil {
		return err
	}
	var key string
	err = e.with(ctx, func(log *ledger.Log) error {
		rep.Origin, key = log.Origin(), log.VKey()
		head, err := log.Head()
		if err != nil {
			return err
		}
		return e.keepCheckpoint(head)
	})
	if err != nil {
		return err
	}
	clone := path.Base(rep.Origin)
	if err := e.noteClone(clone); err != nil {
		return err
	}
	if e.ephemeral() {
		return nil
	}
	name := filepath.Join(e.repo.Top(), ".satelle", "logs", clone+".pub")
	if _, err := os.Stat(name); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fault.Wrap(err, nil, "making .satelle/logs")
	}
	rep.Created = append(rep.Created, ".satelle/logs/"+clone+".pub")
	return fault.Wrap(writeAtomic(name, []byte(key+"\n"), 0o644), nil, "publishing the log's public key")
}

func (e *Engine) createLedger(ctx context.Context) error {
	genesis := ledger.Genesis{Project: e.sub.config.Project, Clone: newCloneID(), Actor: e.self()}
	if last, err := readBounded(e.lastCheckpoint(), maxConfig); err == nil {
		genesis.Continues = &ledger.Continuation{Checkpoint: string(last), Reason: "the ledger's file was lost"}
	}
	log, err := ledger.Create(ctx, e.cfg, genesis)
	if err != nil {
		return err
	}
	return log.Close()
}

// noteClone keeps the clone's id on both sides: in the git common dir, and
// beside the ledger with the place that it belongs to.
func (e *Engine) noteClone(id string) error {
	err := writeAtomic(filepath.Join(e.repo.CommonDir(), cloneFile), []byte(id+"\n"), 0o644)
	if err == nil {
		note := id + "\n" + e.repo.CommonDir() + "\n"
		err = writeAtomic(filepath.Join(e.Place.Dir, cloneNote), []byte(note), 0o600)
	}
	return fault.Wrap(err, nil, "keeping the clone's id")
}

// lastCheckpoint is where the latest known checkpoint of the log is kept,
// beside it, for the day on which the log is lost.
func (e *Engine) lastCheckpoint() string { return filepath.Join(e.Place.Dir, "checkpoint") }

func (e *Engine) keepCheckpoint(head ledger.Head) error {
	return fault.Wrap(writeAtomic(e.lastCheckpoint(), []byte(head.Note), 0o600), nil, "keeping the checkpoint")
}

// cloneID returns the clone's id, "" if it has none yet.
func (e *Engine) cloneID() (string, error) {
	id, err := readCloneID(e.repo.CommonDir())
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	return id, err
}

func readCloneID(commonDir string) (string, error) {
	path := filepath.Join(commonDir, cloneFile)
	b, err := readBounded(path, 64)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(b))
	if len(id) != 8 || strings.Trim(id, idAlphabet) != "" {
		return "", fault.New(fault.Refused, "%s holds no clone id", path)
	}
	return id, nil
}

func newCloneID() string { return strings.TrimPrefix(newStoryID(), storyPrefix) }
