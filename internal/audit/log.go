package audit

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/ledger/seatread"
	"satelle/workflow"
)

// A Log is a published log, replayed: what it says of commits and stories.
type Log struct {
	Origin string
	Size   uint64
	// Name is where it came from, for people.
	Name string
	// Err says why it does not hold; nothing of it may be believed then.
	Err error

	newer bool // it holds, but means more than this program knows

	keys      []ledger.KeyEpoch
	hashes    hashes
	prepared  map[uint64]*prepared
	byTree    map[string][]*prepared
	byPatch   map[string][]*prepared
	rewritten map[string]*prepared // by the commit that was made
	replaced  map[string]bool      // commits that others took the place of
	stories   map[string]workflow.Story
}

// prepared is a record of a commit, and what the log says of that moment.
type prepared struct {
	log    *Log
	seq    uint64
	story  string
	person bool
	body   workflow.Prepared
	// unseated says why the story did not hold the seat, "" if it did.
	unseated  string
	paths     []string
	substrate bool
	adopted   bool
	// old is the commit that this one was made of.
	old string
}

// hashes are the stored hashes of a tree, for its root at any size.
type hashes []tlog.Hash

// ReadHashes implements [tlog.HashReader].
func (h hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		if x < 0 || x >= int64(len(h)) {
			return nil, fmt.Errorf("there is no hash %d", x)
		}
		out[i] = h[x]
	}
	return out, nil
}

// ReadLog verifies and replays a log in the form of an export. One that does
// not hold is a Log with its Err, which has an origin if that could be read.
func ReadLog(name string, r io.Reader) *Log {
	l := &Log{
		Name:     name,
		prepared: map[uint64]*prepared{}, byTree: map[string][]*prepared{}, byPatch: map[string][]*prepared{},
		rewritten: map[string]*prepared{}, replaced: map[string]bool{}, stories: map[string]workflow.Story{},
	}
	p := replay{log: l, rows: ledger.NewRows(), adopted: map[string]bool{}}
	rep, err := ledger.ReadExport(r, "", "", p.record)
	l.Origin, l.Size, l.keys, l.Err = rep.Origin, rep.Size, rep.Keys, err
	if err == nil && p.unknown != "" {
		l.newer, l.Err = true, fault.New(fault.Refused, "it holds records of the kind %s, which this version does not know: upgrade satelle", p.unknown)
	}
	if l.Err != nil {
		return l
	}
	workflow.NewState(p.rows).Stories(func(s workflow.Story) bool {
		l.stories[s.ID] = s
		return true
	})
	return l
}

// replay folds a log and notes the commits on the way.
type replay struct {
	log     *Log
	rows    ledger.Rows
	adopted map[string]bool
	unknown string // a kind on which rules rest
}

func (p *replay) record(r ledger.Record) error {
	added, err := tlog.StoredHashesForRecordHash(int64(r.Seq), tlog.RecordHash(r.Raw), p.log.hashes)
	if err != nil {
		return nil // a record before this one is missing, and reported as such
	}
	p.log.hashes = append(p.log.hashes, added...)
	switch r.Kind {
	case workflow.KindPrepared:
		if b, ok := workflow.ReadPrepared(r); ok {
			p.commit(p.moment(r, b.WorkTree), b)
		}
	case workflow.KindRewritten:
		if b, ok := workflow.ReadRewritten(r); ok {
			for _, pair := range b.Pairs {
				m := p.moment(r, b.WorkTree)
				m.old = pair[0]
				p.log.rewritten[pair[1]] = m
				p.log.replaced[pair[0]] = true
			}
		}
	case workflow.KindAdopted:
		p.adopted[r.Story] = true
	}
	if r.Crit && !workflow.Known(r.Kind, r.Schema) && !ledger.OwnKind(r.Kind, r.Schema) {
		p.unknown = r.Kind
	}
	if strings.HasPrefix(r.Kind, "observed.") {
		return nil // no rule rests on them, and there are many
	}
	return workflow.Fold{}.Apply(p.rows, r)
}

// moment is what holds for a commit when its record is appended.
func (p *replay) moment(r ledger.Record, workTree string) *prepared {
	m := &prepared{
		log: p.log, seq: r.Seq, story: r.Story, person: r.Actor.Kind == ledger.ActorPerson,
		adopted: r.Story != "" && p.adopted[r.Story],
	}
	if r.Story == "" {
		return m
	}
	row := workflow.NewState(p.rows).Row()
	seat := row.Seats[workTree]
	switch {
	case seat.Story == "":
		m.unseated = "nobody held the seat of the work tree"
	case seat.Story != r.Story:
		m.unseated = "story " + seat.Story + " held the seat of the work tree"
	case seat.Suspended:
		m.unseated = "its seat was suspended"
	case row.Halt != "" && !m.person:
		m.unseated = "everything was halted: " + row.Halt
	default:
		m.paths, m.substrate = seat.Paths, seat.Substrate
	}
	return m
}

// commit notes a prepared commit under what it can be found by.
func (p *replay) commit(m *prepared, b workflow.Prepared) {
	l := p.log
	m.body = b
	l.prepared[m.seq] = m
	l.byTree[b.Tree] = append(l.byTree[b.Tree], m)
	patches := []string{b.Patch, b.Whole}
	if b.Amend != nil {
		patches = append(patches, b.Amend.Patch)
	}
	slices.Sort(patches)
	for _, id := range slices.Compact(patches) {
		if id != "" {
			l.byPatch[id] = append(l.byPatch[id], m)
		}
	}
}

// root is the log's root at a size that it has reached.
func (l *Log) root(size uint64) (root [32]byte) {
	h, err := tlog.TreeHash(int64(size), l.hashes)
	if err != nil {
		return root // of no tree: it fits no claim
	}
	return h
}

// entitled reports whether the commit could be made: its story sat, or it is a
// person's own.
func (p *prepared) entitled() bool {
	if p.story == "" {
		return p.person
	}
	return p.unseated == ""
}

// covers reports whether a path lies in the scopes that held.
func (p *prepared) covers(path string) bool { return seatread.InScope(p.paths, path) }

// replaces reports whether a commit took the place of the one that HEAD named
// when the record was made. Git does not say so beforehand; the log does, once
// it has happened.
func (p *prepared) replaces() bool {
	b := p.body
	return b.Amend != nil && len(b.Parents) > 0 && p.log.replaced[b.Parents[0]]
}

// is reports whether the record is of this very commit, and whether as one
// that took the place of another.
func (p *prepared) is(c *Commit) (is, amend bool) {
	switch {
	case p.body.Tree != c.Tree:
		return false, false
	case slices.Equal(p.body.Parents, c.Parents):
		return true, false
	}
	return p.replaces() && slices.Equal(p.body.Amend.Parents, c.Parents), true
}

// changes reports whether the record is of a commit with this patch, and
// whether as one that took the place of another.
func (p *prepared) changes(patch string) (does, amend bool) {
	switch {
	case patch == "":
		return false, false
	case p.body.Patch == patch || p.body.Whole == patch:
		return true, false
	}
	return p.replaces() && p.body.Amend.Patch == patch, true
}

// patches are those that the record's commit may have.
func (p *prepared) patches() []string {
	if p.replaces() {
		return []string{p.body.Patch, p.body.Amend.Patch}
	}
	return []string{p.body.Patch}
}

// samePatch reports whether two records are of one change.
func (p *prepared) samePatch(q *prepared) bool {
	return slices.ContainsFunc(p.patches(), func(id string) bool { return id != "" && slices.Contains(q.patches(), id) })
}
