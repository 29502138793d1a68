package decide

import (
	"errors"
	"path"
	"slices"
	"strings"
	"syscall"

	"satelle/hooks/dialect"
	"satelle/internal/ancestry"
	"satelle/internal/spool"
)

// What was denied, and what may change governed files, is noted in the spool of
// the repository that it concerns, for its ledger to take. What reads is not,
// nor anything where satelle does not govern.

// decided keeps a decision. What it returns in its place is a denial, where
// what may change files could not be noted.
func (w *world) decided(c dialect.Call, f Facts, d Decision) Decision {
	switch {
	case d.Deny:
		_ = w.observe(c, f, d, spool.Denied) // it is denied all the same
	case d.Rule != "":
		return w.kept(c, f, d, spool.Warned)
	case f.edits():
		return w.kept(c, f, d, spool.Edit)
	}
	return d
}

func (w *world) kept(c dialect.Call, f Facts, d Decision, kind string) Decision {
	if err := w.observe(c, f, d, kind); err != nil {
		f.Program = w.program()
		return speaker{call: c, facts: f}.unkept(err)
	}
	return d
}

// after notes that a call has ended which may have changed governed files.
func (w *world) after(c dialect.Call, err error) {
	if err != nil || w.observes == nil {
		return
	}
	act, bad := understand(c, w.shell())
	if bad != nil || !act.changes() {
		return
	}
	here, err := w.here(true)
	if err == nil && here.Governed {
		act, bad = w.readers(c, act, here)
	}
	if err != nil || bad != nil || !act.changes() {
		return
	}
	if f := w.gather(act, here, nil); f.edits() {
		_ = w.observe(c, f, Decision{}, spool.Done) // nothing can be refused any more
	}
}

// edits reports whether the act may change what a repository with a ledger
// governs.
func (f Facts) edits() bool {
	if !f.Act.changes() {
		return false
	}
	if f.Act.beyond() && f.Here.Governed {
		return true
	}
	return slices.ContainsFunc(f.Targets, func(t Spot) bool { return t.Governed })
}

// observe writes one line.
func (w *world) observe(c dialect.Call, f Facts, d Decision, kind string) error {
	if w.observes == nil || canary(c) {
		return nil
	}
	if !f.Here.Governed && f.Err == nil && kind == spool.Denied {
		f.Here, _ = w.here(true) // a denial that needed no place has not looked for it
	}
	at := f.concerned(c, d)
	if at.Dir == "" {
		return nil
	}
	if c.Tool == "" {
		c.Tool = c.Name // it is no call of a tool
	}
	l := spool.Line{
		Time: w.now.UnixMilli(), Kind: kind,
		Session: ancestry.Plain(c.Session), Harness: string(c.Harness), Agent: c.Agent, ID: c.ID, Tool: c.Tool, Failed: c.Failed,
		Targets: w.targets(f, at), Why: f.why(), Cause: f.Act.Effect.Rule, Rule: d.Rule, Mode: d.Mode,
		Tree: at.TreeID, Story: plain(at.Seat.Story), Step: plain(at.Seat.Step), Holding: holding(at),
	}
	return w.observes(at.Dir+"/spool", &l)
}

// concerned is the spot in whose repository a call is noted: the first that
// decided, else where the session works, else the first that has a ledger.
func (f Facts) concerned(c dialect.Call, d Decision) Spot {
	say := speaker{call: c, facts: f}
	for _, t := range f.Targets {
		if t.Dir != "" && (d.Rule == "" || decideTarget(say, t).Rule == d.Rule) {
			return t
		}
	}
	if f.Here.Dir != "" {
		return f.Here
	}
	for _, t := range f.Targets {
		if t.Dir != "" {
			return t
		}
	}
	return Spot{}
}

// targets names what a call changes, or was to read: within the work tree from
// its root on.
func (w *world) targets(f Facts, at Spot) []string {
	var all []string
	add := func(p string) {
		p = path.Clean(absolute(w.dir, p))
		if at.Tree != "" {
			p = strings.TrimPrefix(p, at.Tree+"/")
		}
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	for _, t := range f.Targets {
		if t.Path != "" {
			add(t.Path)
		}
	}
	named := f.Act.Looks
	switch {
	case len(f.Targets) == 0 && len(f.Act.Paths) > 0:
		named = f.Act.Paths // nobody has looked where they lie
	case f.Act.Kind != Reads:
		named = nil
	}
	for _, p := range named {
		add(p)
	}
	return all
}

// why is the part of a call that decided, as far as it is more than its
// targets. The whole text of a command may hold what is nobody's business.
func (f Facts) why() string {
	e := f.Act.Effect
	switch {
	case e.Bypass != "":
		return e.Bypass
	case f.Verb != "":
		return "satelle " + f.Verb
	case f.Foreign != "":
		return f.Foreign
	case e.Why != "":
		return e.Why
	case f.Secret != "":
		return f.Secret
	}
	return f.Mentioned
}

func holding(t Spot) string {
	switch {
	case t.RowErr != nil:
		return "unknown"
	case t.Holding == Held:
		return "held"
	case t.Holding == Suspended:
		return "suspended"
	case t.Holding == Lent || t.Holding == Apart && t.Seat.Worker != "":
		return "lent"
	case t.Holding == Apart && t.Seat.Story != "":
		return "held"
	}
	return "free"
}

// unkept refuses what could not be noted.
func (s speaker) unkept(err error) Decision {
	why := "its spool can't be written"
	var errno syscall.Errno // and not the path, which could push it out of sight
	if errors.As(err, &errno) {
		why = errno.Error()
	}
	return deny(ruleState, "To see what is wrong run: ", s.program(), " status ; a full disk needs room in satelle's folder. ", s.act(s.facts.Act.What),
		": what changes governed files is noted first, and that failed: ", why, ".")
}
