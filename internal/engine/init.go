package engine

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow"
)

// InitReport says what [Init] did; a second run finds nothing to do.
type InitReport struct {
	Top     string   `json:"top"`
	Origin  string   `json:"origin"`
	Created []string `json:"created"`
	// Expanded says that bare names in agents.toml became full commands.
	Expanded bool `json:"expanded,omitempty"`
	// DoneCheck is the command that the gate to done asks, and From the
	// manifest that it was read off, or "".
	DoneCheck string `json:"done_check"`
	From      string `json:"from"`
	// Reviewer is the CLI of the [reviewer] binding; Missing says that this
	// machine does not have it.
	Reviewer string `json:"reviewer"`
	Missing  bool   `json:"reviewer_missing"`
	// Story is the bootstrap story that covers the files, if one was made.
	Story string `json:"story,omitempty"`
	// Readers are the commands that count as reading.
	Readers []string `json:"readers"`
	// Untrusted counts what a person has to trust first.
	Untrusted int `json:"untrusted"`
}

// Init sets satelle up in the repository of dir: the governance files that
// are missing, the ledger and its key, trust in what it wrote itself, and a
// story that covers the new files.
func Init(ctx context.Context, dir string) (InitReport, error) {
	var rep InitReport
	e, err := open(ctx, dir)
	if err != nil {
		return rep, err
	}
	rep.Top = e.repo.Top()
	if home := e.elsewhere(); home != "" {
		if err := e.OnlyPerson("setting satelle up anew, where " + home + " governs,"); err != nil {
			return rep, err
		}
	}
	if err := e.adopt(); err != nil {
		return rep, err
	}
	if err := e.makeHome(); err != nil {
		return rep, err
	}
	if e.host, err = makeHost(e.Home); err != nil {
		return rep, err
	}
	made, err := e.scaffold(ctx, &rep)
	if err != nil {
		return rep, err
	}
	if e.sub, err = loadSubstrate(e.Home, e.repo); err != nil {
		return rep, err
	}
	if err := e.makeLedger(ctx, &rep); err != nil {
		return rep, err
	}
	if rep.Created == nil {
		rep.Created = []string{} // a list in JSON, too
	}
	// Only a log that is new has nobody's trust to go by. In one that is there, a
	// check that is proposed anew is trusted as every other: by a person.
	if slices.Contains(rep.Created, configFile) && slices.Contains(rep.Created, createdLedger) {
		if err := e.trustOwn(ctx); err != nil {
			return rep, err
		}
	}
	if len(made) > 0 {
		if rep.Story, err = e.bootstrap(ctx, made); err != nil {
			return rep, err
		}
	}
	pending, err := e.Pending(ctx)
	rep.Untrusted = pending.Count()
	rep.DoneCheck, rep.Readers = e.sub.config.Checks.Done, e.sub.config.Gate.Readers
	return rep, err
}

const (
	configFile    = ".satelle/satelle.toml"
	createdLedger = "ledger" // in [InitReport.Created]
)

func (e *Engine) makeHome() error {
	for _, d := range []string{e.Home, filepath.Join(e.Home, "keys"), filepath.Join(e.Home, "bin"), filepath.Join(e.Home, "sessions"), e.Place.Dir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fault.Wrap(err, nil, "making %s", d)
		}
	}
	for _, d := range []string{"leases", "spool", "stories", "logs"} {
		if err := os.MkdirAll(filepath.Join(e.Place.Dir, d), 0o700); err != nil {
			return fault.Wrap(err, nil, "making %s", d)
		}
	}
	return nil
}

// trustOwn trusts what init wrote itself, and only that.
func (e *Engine) trustOwn(ctx context.Context) error {
	gate, err := e.sub.config.gate()
	if err != nil {
		return err
	}
	_, err = e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		c, err := st.TrustOwnGate(gate, e.self())
		if text := e.sub.config.Checks.Done; text != "" && err == nil {
			own := st.TrustOwn(workflow.Executable{Name: "[checks] done", Digest: checkDigest(text), Text: text}, e.self())
			c.Drafts = append(c.Drafts, own.Drafts...)
		}
		return c, err
	})
	return err
}

// bootstrap records a story for the files that init wrote. Where a person ran
// init, that is the approval, and the story ends as done; an agent's leaves
// it open for a person.
func (e *Engine) bootstrap(ctx context.Context, made map[string][]byte) (string, error) {
	title, category := "Set up satelle", "substrate"
	criteria := []string{"The governance files are in the repository"}
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(made)) {
		fmt.Fprintf(&list, "- %s (%d bytes)\n", name, len(made[name]))
	}
	body := "`satelle init` wrote these files:\n\n" + list.String()
	s, err := e.Create(ctx, workflow.Fields{Title: &title, Category: &category, Body: &body, Criteria: &criteria})
	if err != nil {
		return "", err
	}
	if e.Actor(ctx).Kind != ledger.ActorPerson || s.Plan.Name != category {
		return s.ID, nil
	}
	id := s.ID
	for !s.Terminal() {
		_, err := e.Approve(ctx, id, true, "satelle init was run by a person")
		if err == nil {
			var moved Moved
			moved, err = e.Set(ctx, id, SetOptions{})
			s = moved.Story
		}
		if fault.Is(err, fault.Refused) {
			return id, nil // approvers sign, or another story sits here: a person moves this one later
		}
		if err != nil {
			return id, err
		}
	}
	return id, nil
}
