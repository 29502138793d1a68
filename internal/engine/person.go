package engine

import (
	"cmp"
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/ledger/seatread"
	"satelle/workflow"
)

// Approve records a person's verdict on the next step of a story.
func (e *Engine) Approve(ctx context.Context, id string, accept bool, note string) (workflow.Story, error) {
	s, err := e.Story(ctx, id)
	if err != nil {
		return s, err
	}
	if s.Seat != nil && s.Seat.WorkTree != e.Place.TreeID {
		return s, fault.Try(fault.New(fault.Refused, "story %s sits in another work tree (%s) of this repository: what is approved is there", id, s.Seat.WorkTree),
			"satelle status")
	}
	tree, err := e.repo.Tree(ctx)
	if err != nil {
		return s, fault.Wrap(err, nil, "hashing the work tree")
	}
	verdict := workflow.Accept
	if !accept {
		verdict = workflow.Reject
	}
	actor, err := e.person(ctx, "approve", id, s.Next(), verdict, tree, strconv.Itoa(s.Edits), decimal(s.Last))
	if err != nil {
		return s, err
	}
	_, err = e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		if err := unchanged(st, s); err != nil {
			return workflow.Change{}, err
		}
		return st.Approve(id, accept, note, tree, actor)
	})
	if err != nil {
		return s, err
	}
	return e.Story(ctx, id)
}

// unchanged refuses a decision about a story that is not as it was looked at.
func unchanged(st workflow.State, seen workflow.Story) error {
	now, err := st.Story(seen.ID)
	if err == nil && now.Last != seen.Last {
		err = fault.Try(fault.New(fault.Busy, "story %s changed meanwhile: look again", seen.ID), "satelle story get "+seen.ID)
	}
	return err
}

// Pending is what a person on this machine has not trusted yet.
type Pending struct {
	Executables []workflow.Executable
	// Gate is what `[gate]` of satelle.toml says, nil unless that is new, and
	// GateText the same for people.
	Gate     *seatread.Gate
	GateText string
	// Approvers is the content of .satelle/approvers, nil unless it is new.
	Approvers []byte
}

// Count is the number of things there are to trust.
func (p Pending) Count() int {
	n := len(p.Executables)
	if p.Gate != nil {
		n++
	}
	if p.Approvers != nil {
		n++
	}
	return n
}

// Pending returns what there is to trust.
func (e *Engine) Pending(ctx context.Context) (p Pending, err error) {
	all, err := e.sub.executables()
	if err != nil {
		return p, err
	}
	approvers, err := e.approvers()
	if err != nil {
		return p, err
	}
	gate, err := e.sub.config.gate()
	if err != nil {
		return p, err
	}
	return p, e.View(ctx, func(st workflow.State, _ Lookup) error {
		p.Executables = st.Untrusted(all)
		if st.NewGate(gate) {
			p.Gate, p.GateText = &gate, gateText(gate)
		}
		if st.NewApprovers(approvers) != "" {
			p.Approvers = approvers
		}
		return nil
	})
}

// Trust records that a person trusts what is pending, and nothing else.
func (e *Engine) Trust(ctx context.Context, p Pending) error {
	if _, err := parseApprovers(p.Approvers); err != nil {
		return err
	}
	var digests []string
	for _, x := range p.Executables {
		digests = append(digests, x.Digest)
	}
	if p.Gate != nil {
		digests = append(digests, gateDigest(*p.Gate))
	}
	if digest := workflow.ApproversDigest(p.Approvers); digest != "" {
		digests = append(digests, digest)
	}
	actor, err := e.signed(ctx, "trust", digests...)
	if err != nil {
		return err
	}
	_, err = e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		c, err := st.Trust(p.Executables, p.Gate, p.Approvers, actor)
		if err == nil && len(c.Drafts) != len(digests) {
			err = fault.Try(fault.New(fault.Busy, "some of it has been trusted meanwhile: look again"), "satelle trust")
		}
		return c, err
	})
	return err
}

// Halt denies every edit in every repository of this machine that satelle
// governs, and returns in how many.
func (e *Engine) Halt(ctx context.Context, why string) (int, error) {
	return e.everywhere(ctx, "halt", func(st workflow.State, actor ledger.Actor) (workflow.Change, error) {
		return st.Halt(why, actor)
	}, why)
}

// Resume ends a halt everywhere, and returns in how many repositories.
func (e *Engine) Resume(ctx context.Context) (int, error) {
	return e.everywhere(ctx, "resume", func(st workflow.State, actor ledger.Actor) (workflow.Change, error) {
		return st.Resume(actor)
	})
}

// everywhere decides in each registered repository of the machine, this one
// first, and returns in how many that changed something. It goes on past one
// that fails and reports that.
func (e *Engine) everywhere(ctx context.Context, verb string, decide func(workflow.State, ledger.Actor) (workflow.Change, error), parts ...string) (int, error) {
	logs, err := filepath.Glob(filepath.Join(globQuote(e.Home), "*", filepath.Base(e.cfg.Path)))
	if err != nil {
		return 0, fault.Wrap(err, nil, "listing the repositories of this machine")
	}
	n := 0
	var failed error
	for i, path := range append([]string{e.cfg.Path}, logs...) {
		if i > 0 && path == e.cfg.Path {
			continue
		}
		there := *e
		there.cfg.Path = path
		var records []ledger.Record
		actor, err := there.signed(ctx, verb, parts...)
		if err == nil {
			records, err = there.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
				return decide(st, actor)
			})
		}
		if err != nil {
			if i == 0 {
				return 0, err
			}
			failed = cmp.Or(failed, fault.Wrap(err, nil, "%s in %s", verb, filepath.Base(filepath.Dir(path))))
			continue
		}
		if len(records) > 0 {
			n++
		}
	}
	return n, failed
}

// globQuote keeps a path's own special characters out of a pattern.
func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
