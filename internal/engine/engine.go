package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cockroachdb/errors"

	"satelle/internal/fault"
	"satelle/internal/gitrepo"
	"satelle/internal/place"
	"satelle/ledger"
	"satelle/workflow"
	"satelle/workflow/route"
)

// Engine is one opened repository. It holds no lock between its calls.
type Engine struct {
	// Home is $SATELLE_HOME, Place where the repository's records lie.
	Home  string
	Place place.Place

	repo *gitrepo.Repo
	sub  substrate
	host string
	cfg  ledger.Config
	now  func() time.Time
}

// Open opens the repository that governs dir. Errors: NotFound where there is
// no git repository or it was never set up; Refused where its configuration
// cannot be read.
func Open(ctx context.Context, dir string) (*Engine, error) {
	e, err := open(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !e.Place.Registered {
		return nil, fault.Try(fault.New(fault.NotFound, "satelle is not set up in %s", e.repo.Top()), "satelle init")
	}
	if e.sub, err = loadSubstrate(e.Home, e.repo); err != nil {
		if fault.Is(err, fault.NotFound) {
			return nil, fault.Try(fault.Wrap(err, nil, "this work tree lacks its governance files"), "git restore --source=HEAD .satelle")
		}
		return nil, err
	}
	if e.host, err = hostID(e.Home); err != nil {
		return nil, err
	}
	return e, nil
}

// open finds the place without asking whether satelle was set up there.
func open(ctx context.Context, dir string) (*Engine, error) {
	home, err := place.HomeDir()
	if err != nil {
		return nil, fault.Wrap(err, nil, "finding $SATELLE_HOME")
	}
	repo, err := gitrepo.Open(ctx, dir)
	if err != nil {
		return nil, fault.Try(err, "git init")
	}
	p, err := place.Find(home, repo.Top())
	if err != nil {
		return nil, fault.Wrap(err, fault.Refused, "finding what governs %s", dir)
	}
	e := &Engine{Home: home, Place: p, repo: repo, now: time.Now}
	e.cfg = ledger.Config{
		Path:       p.LedgerPath(),
		Keys:       ledger.KeyDir(filepath.Join(home, "keys")),
		Projection: workflow.Fold{},
		Known:      workflow.Known,
	}
	return e, nil
}

// Top is the root of the work tree.
func (e *Engine) Top() string { return e.repo.Top() }

// Config is the repository's configuration.
func (e *Engine) Config() Config { return e.sub.config }

// Ledger is how package ledger opens the repository's log.
func (e *Engine) Ledger() ledger.Config { return e.cfg }

// with opens the log for as long as fn runs; nothing slow may happen there.
func (e *Engine) with(ctx context.Context, fn func(*ledger.Log) error) (err error) {
	log, err := ledger.Open(ctx, e.cfg)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := log.Close(); err == nil {
			err = cerr
		}
	}()
	return fn(log)
}

// View calls fn with the state of this moment. The lookup reads blobs of the
// same moment.
func (e *Engine) View(ctx context.Context, fn func(workflow.State, Lookup) error) error {
	return e.with(ctx, func(log *ledger.Log) error {
		return log.View(func(rows ledger.Rows) error {
			return fn(workflow.NewState(rows), Lookup{log})
		})
	})
}

// decide lets fn decide on the state and appends what it decides, in one
// transaction. fn may be called again if the log grew meanwhile. An error of
// fn appends nothing.
func (e *Engine) decide(ctx context.Context, fn decision) ([]ledger.Record, error) {
	_, records, err := e.decideHead(ctx, fn)
	return records, err
}

// decision decides on a state; seq is the position that its change gets.
type decision func(st workflow.State, look Lookup, seq uint64) (workflow.Change, error)

// decideHead is decide that also returns the head which the append has made.
func (e *Engine) decideHead(ctx context.Context, fn decision) (made ledger.Head, records []ledger.Record, err error) {
	err = e.with(ctx, func(log *ledger.Log) error {
		// No decision rests on what was observed; where it can't be taken, the
		// commands that show it say so.
		_ = e.take(ctx, log)
		for {
			head, err := log.Head()
			if err != nil {
				return err
			}
			var c workflow.Change
			err = log.View(func(rows ledger.Rows) error {
				c, err = fn(workflow.NewState(rows), Lookup{log}, head.Size)
				return err
			})
			if err != nil || len(c.Drafts) == 0 {
				return err
			}
			if err := e.mayAppend(log, c); err != nil {
				return err
			}
			made, records, err = log.Append(ctx, head.Size, c.Drafts, c.Blobs)
			var conflict *ledger.Conflict
			if errors.As(err, &conflict) {
				continue
			}
			return err
		}
	})
	return made, records, err
}

// Lookup reads what the records refer to.
type Lookup struct{ log *ledger.Log }

// Text reads a story's prose; a redacted one reads as such.
func (l Lookup) Text(s workflow.Story) (workflow.Text, error) {
	var t workflow.Text
	b, err := l.log.Blob(s.Text)
	if errors.Is(err, ledger.ErrRedacted) {
		return workflow.Text{Body: "[redacted]", Criteria: make([]string, s.Criteria)}, nil
	}
	if err != nil {
		return t, fault.Wrap(err, nil, "reading the text of story %s", s.ID)
	}
	return t, fault.Wrap(json.Unmarshal(b, &t), fault.Integrity, "reading the text of story %s", s.ID)
}

// Blob reads one blob.
func (l Lookup) Blob(ref ledger.BlobRef) ([]byte, error) { return l.log.Blob(ref) }

// Lane reads the lane that a story is pinned to.
func (l Lookup) Lane(st workflow.State, s workflow.Story) (route.Lane, error) {
	ref, ok := st.Lane(s.Plan.Lane)
	if !ok {
		return route.Lane{}, fault.New(fault.Integrity, "the lane of story %s is not in the ledger", s.ID)
	}
	b, err := l.log.Blob(ref)
	if err != nil {
		return route.Lane{}, fault.Wrap(err, nil, "reading the lane of story %s", s.ID)
	}
	lane, err := route.Decode(b)
	return lane, fault.Wrap(err, fault.Integrity, "reading the lane of story %s", s.ID)
}

// Output reads the document that the contract of the step in which a story stands
// asks for; nil if there is no such contract or document.
func (l Lookup) Output(lane route.Lane, s workflow.Story) (*workflow.Artifact, error) {
	contract, ok := workflow.ContractOf(lane, s.Status)
	if !ok {
		return nil, nil
	}
	for _, d := range s.Docs {
		if d.Name != contract.Output.Name {
			continue
		}
		b, err := l.log.Blob(d.Ref)
		if errors.Is(err, ledger.ErrRedacted) {
			b, err = nil, nil // it is there and says nothing
		}
		return &workflow.Artifact{Name: d.Name, Type: d.Type, Body: b}, fault.Wrap(err, nil, "reading document %s", d.Name)
	}
	return nil, nil
}

// hostID returns this machine's random id, which init has made.
func hostID(home string) (string, error) {
	b, err := readBounded(filepath.Join(home, "host"), 64)
	if err != nil {
		return "", fault.Try(fault.Wrap(err, nil, "reading this machine's id"), "satelle init")
	}
	return strings.TrimSpace(string(b)), nil
}

// makeHost makes the machine's id where there is none.
func makeHost(home string) (string, error) {
	id, err := hostID(home)
	if err == nil || !fault.Is(err, fault.NotFound) {
		return id, err
	}
	raw := make([]byte, 8)
	if _, err := rand.Read(raw); err != nil {
		return "", fault.Wrap(err, nil, "drawing this machine's id")
	}
	f, err := os.OpenFile(filepath.Join(home, "host"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return hostID(home)
	}
	if err != nil {
		return "", fault.Wrap(err, nil, "keeping this machine's id")
	}
	_, werr := f.WriteString(hex.EncodeToString(raw) + "\n")
	if err := errors.CombineErrors(werr, f.Close()); err != nil {
		return "", fault.Wrap(err, nil, "keeping this machine's id")
	}
	return hex.EncodeToString(raw), nil
}
