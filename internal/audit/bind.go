package audit

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

// Ways in which a commit is vouched for.
const (
	byRecord  = "record"  // tree and parents are those of a record
	byPatch   = "patch"   // it makes a recorded change
	byWhole   = "whole"   // it makes a story's whole change
	byRewrite = "rewrite" // a record says that it was made of another
	byMerge   = "merge"   // git makes it of its parents by itself
	byTree    = "tree"    // it has a recorded content that is new to history
	byRequest = "request" // it has the content of a request that is vouched for
	byRevert  = "revert"  // it undoes another commit
)

// caseOf is a commit and what speaks for it.
type caseOf struct {
	commit *Commit
	own    []claim
	facts  []*prepared // of its own claims, as far as they hold
	hinted []*prepared // of claims further up in the message
	named  []storyKey  // the stories that its own claims name
	// problems are what is wrong with its own claims.
	problems []Finding
	// hopeless says that a log it names cannot be believed, which is reported.
	hopeless bool

	how    string
	bound  *prepared
	amend  bool // the record is of it as of one that took another's place
	undoes string
	// request is the head of the request whose content it has.
	request string
	// paths are those at which the commit itself changes something.
	paths []string
}

func (c *caseOf) settled() bool { return c.how != "" }

func (c *caseOf) bind(how string, p *prepared) { c.how, c.bound = how, p }

// open reads the claims of a commit and checks them against the logs.
func (a *auditor) open(commit *Commit) *caseOf {
	c := &caseOf{commit: commit, paths: commit.Paths}
	own, hints := claims(commit.Message)
	c.own = own
	for _, cl := range own {
		p, f, ok := a.check(cl)
		switch {
		case ok:
			c.facts = append(c.facts, p)
			c.named = append(c.named, storyKey{cl.origin, cl.story})
		case a.broken[cl.origin]:
			c.hopeless = true
		default:
			f.Story, f.Origin = cl.story, cl.origin
			c.problems = append(c.problems, f)
			if f.Rule == "stale" {
				c.named = append(c.named, storyKey{cl.origin, cl.story})
			}
		}
	}
	for _, cl := range hints {
		if p, _, ok := a.check(cl); ok {
			c.hinted = append(c.hinted, p)
		}
	}
	return c
}

// check finds the record that a claim speaks of.
func (a *auditor) check(cl claim) (*prepared, Finding, bool) {
	if cl.bad != "" {
		return nil, found("forged-trailer", "its trailers are not satelle's: %s", cl.bad), false
	}
	l := a.logs[cl.origin]
	switch {
	case l == nil && len(a.in.Trusted[cl.origin])+len(a.in.Offered[cl.origin]) > 0:
		return nil, found("log-missing", "the log %s is not published here", cl.origin), false
	case l == nil:
		return nil, found("unknown-origin", "the log %s is none that .satelle/logs has a key of", cl.origin), false
	case cl.size > l.Size:
		return nil, found("stale", "its trailer names record %d, and the log %s is published up to %d", cl.size-1, l.Origin, l.Size), false
	case l.root(cl.size) != cl.root:
		return nil, found("forged-root", "the log %s has another root at %d records", l.Origin, cl.size), false
	}
	p := l.prepared[cl.size-1]
	switch {
	case p == nil:
		return nil, found("forged-record", "record %d of the log %s is not of a commit", cl.size-1, l.Origin), false
	case p.story == "" && p.person && cl.story != "":
		// A person put another clone's commit elsewhere, whose log tells of it.
		return a.carried(p, cl)
	case p.story != cl.story:
		return nil, found("forged-story", "its trailer names story %q, record %d is of %q", cl.story, p.seq, p.story), false
	}
	return p, Finding{}, true
}

// carried takes a person's record of a commit that was made in another clone.
// Where the person did not change its patch, the other log answers for it.
func (a *auditor) carried(p *prepared, cl claim) (*prepared, Finding, bool) {
	for _, q := range a.replayed(p) {
		switch {
		case q.story != cl.story:
		case p.samePatch(q):
			theirs := *p
			theirs.story, theirs.unseated = q.story, "a person put it elsewhere"
			return &theirs, Finding{}, true
		default:
			return p, Finding{}, true
		}
	}
	return nil, found("forged-story", "its trailer names story %q, record %d is of a person without a story", cl.story, p.seq), false
}

// candidates are the records that may vouch for a commit: those it names, then
// the others that by finds. A commit with trailers is vouched for by records
// of the stories that it names, and by no others.
func (a *auditor) candidates(c *caseOf, by func(*Log) []*prepared) []*prepared {
	all := slices.Concat(c.facts, c.hinted)
	for _, origin := range a.origins {
		for _, p := range by(a.logs[origin]) {
			if len(c.own) == 0 || slices.Contains(c.named, storyKey{origin, p.story}) {
				all = append(all, p)
			}
		}
	}
	return all
}

// pick returns the best of the candidates that fit: one whose story sat, the
// first of those.
func pick(all []*prepared, fits func(*prepared) bool) *prepared {
	var best *prepared
	for _, p := range all {
		if !fits(p) {
			continue
		}
		if p.story != "" && p.entitled() {
			return p
		}
		if best == nil {
			best = p
		}
	}
	return best
}

// byRecord binds commits that are exactly what was recorded, and those that a
// record says were made anew.
func (a *auditor) byRecord(context.Context) error {
	for _, c := range a.cases {
		all := a.candidates(c, func(l *Log) []*prepared { return l.byTree[c.commit.Tree] })
		p := pick(all, func(p *prepared) bool { is, _ := p.is(c.commit); return is })
		if p != nil {
			c.bind(byRecord, p)
			_, c.amend = p.is(c.commit)
		}
	}
	return nil
}

// open cases of a kind.
func (a *auditor) openCases(keep func(*caseOf) bool) (all []*caseOf) {
	for _, c := range a.cases {
		if !c.settled() && keep(c) {
			all = append(all, c)
		}
	}
	return all
}

// byPatch binds commits that make a recorded change in another place, and
// those of which a record says that they were made anew.
func (a *auditor) byPatch(ctx context.Context) error {
	open := a.openCases(func(c *caseOf) bool { return len(c.commit.Parents) < 2 && len(c.commit.Paths) > 0 })
	var ids map[string]string
	if len(a.logs) > 0 {
		changes := make([]string, len(open))
		for i, c := range open {
			changes[i] = c.commit.Hash
		}
		var err error
		if ids, err = a.o.Patches(ctx, changes); err != nil {
			return err
		}
	}
	for _, c := range open {
		id := ids[c.commit.Hash]
		all := a.candidates(c, func(l *Log) []*prepared { return l.byPatch[id] })
		if p := pick(all, func(p *prepared) bool { does, _ := p.changes(id); return does }); p != nil {
			how := byPatch
			if p.body.Whole == id && p.body.Patch != id {
				how = byWhole
			}
			c.bind(how, p)
			_, c.amend = p.changes(id)
		}
	}
	for _, c := range a.openCases(func(*caseOf) bool { return true }) {
		all := a.candidates(c, func(l *Log) []*prepared {
			if p := l.rewritten[c.commit.Hash]; p != nil {
				return []*prepared{p}
			}
			return nil
		})
		if p := pick(all, func(p *prepared) bool { return p.old != "" && p.log.rewritten[c.commit.Hash] == p }); p != nil {
			c.bind(byRewrite, p)
		}
	}
	return nil
}

// byMerge makes every merge of two anew. One that comes out the same adds
// nothing; of the others, what differs is the commit's own change.
func (a *auditor) byMerge(ctx context.Context) error {
	var cases []*caseOf
	var commits []Commit
	for _, c := range a.cases {
		if len(c.commit.Parents) == 2 {
			cases, commits = append(cases, c), append(commits, *c.commit)
		}
	}
	if len(commits) == 0 {
		return nil
	}
	paths, err := a.o.Merges(ctx, commits)
	if err != nil {
		return err
	}
	for i, c := range cases {
		c.paths = paths[i]
		if len(c.paths) == 0 && !c.settled() && len(c.facts) == 0 {
			c.bind(byMerge, nil)
		}
	}
	return nil
}

// fresh lists the open cases whose content is new to history, but for what the
// trusted side may have had: going back to an old content is a change that the
// record of the old one does not speak of.
func (a *auditor) fresh() (cases []*caseOf) {
	old := map[string]bool{}
	for _, c := range a.cases {
		if !c.settled() && !old[c.commit.Tree] && len(c.commit.Parents) == 1 && len(c.commit.Paths) > 0 {
			cases = append(cases, c)
		}
		old[c.commit.Tree] = true
	}
	return cases
}

// unseen asks which of the trees of cases the trusted side has never had.
func (a *auditor) unseen(ctx context.Context, cases []*caseOf) (fresh []*caseOf, err error) {
	if len(cases) == 0 {
		return nil, nil
	}
	trees := make([]string, len(cases))
	for i, c := range cases {
		trees[i] = c.commit.Tree
	}
	seen, err := a.o.Seen(ctx, trees)
	for _, c := range cases {
		if !seen[c.commit.Tree] {
			fresh = append(fresh, c)
		}
	}
	return fresh, err
}

// byContent binds commits with a recorded content on other parents, as a forge
// makes them that squashes.
func (a *auditor) byContent(ctx context.Context) error {
	records := map[*caseOf]*prepared{}
	var cases []*caseOf
	for _, c := range a.fresh() {
		tree := c.commit.Tree
		all := a.candidates(c, func(l *Log) []*prepared { return l.byTree[tree] })
		if p := pick(all, func(p *prepared) bool { return p.body.Tree == tree }); p != nil {
			records[c], cases = p, append(cases, c)
		}
	}
	cases, err := a.unseen(ctx, cases)
	for _, c := range cases {
		c.bind(byTree, records[c])
	}
	return err
}

// byRequest binds commits that have the content of a request of which all
// commits are vouched for: its head may be a merge that the forge made, which
// no log knows.
func (a *auditor) byRequest(ctx context.Context) error {
	cases, err := a.unseen(ctx, a.fresh())
	if err != nil || len(cases) == 0 {
		return err
	}
	squashed := make([]Commit, len(cases))
	for i, c := range cases {
		squashed[i] = *c.commit
	}
	requests, err := a.o.Requests(ctx, squashed)
	if err != nil {
		return err
	}
	for _, c := range cases {
		commits := requests[c.commit.Hash]
		if len(commits) == 0 {
			continue
		}
		in := a.in
		in.Commits = commits
		sub := &auditor{in: in, o: a.o, logs: a.logs, origins: a.origins, broken: a.broken, last: map[storyKey]*Commit{}}
		if err := sub.look(ctx, sub.byRecord, sub.byPatch, sub.byMerge, sub.byContent, sub.byRevert); err != nil {
			return err
		}
		if sub.report.Errors == 0 && sub.report.Bound > 0 {
			c.how, c.request = byRequest, commits[len(commits)-1].Hash
		}
	}
	return nil
}

var reverts = regexp.MustCompile(`(?m)^This reverts commit ([0-9a-f]{40}(?:[0-9a-f]{24})?)\b`)

// byRevert finds commits without a record that undo another one exactly.
func (a *auditor) byRevert(ctx context.Context) error {
	known := map[string]*Commit{}
	for _, side := range [][]Commit{a.in.Kept, a.in.Commits} {
		for i := range side {
			known[side[i].Hash] = &side[i]
		}
	}
	var changes []string
	undone := map[*caseOf]string{}
	for _, c := range a.openCases(func(c *caseOf) bool { return len(c.own) == 0 && len(c.commit.Parents) == 1 }) {
		m := reverts.FindStringSubmatch(c.commit.Message)
		if m == nil || known[m[1]] == nil || len(known[m[1]].Parents) != 1 {
			continue
		}
		target := known[m[1]]
		before := known[target.Parents[0]]
		if before == nil || before.Tree == target.Tree {
			continue
		}
		c.undoes = target.Hash
		undone[c] = target.Tree + " " + before.Tree
		changes = append(changes, undone[c], c.commit.Hash)
	}
	if len(changes) == 0 {
		return nil
	}
	// Commits and pairs of trees are told apart by their form.
	ids, err := a.o.Patches(ctx, changes)
	if err != nil {
		return err
	}
	for c, change := range undone {
		if id := ids[change]; id != "" && id == ids[c.commit.Hash] {
			c.bind(byRevert, nil)
		}
	}
	return nil
}

// unvouched says why nothing speaks for a commit.
func (c *caseOf) unvouched(exempt bool) []Finding {
	switch {
	case len(c.facts) > 0:
		p := c.facts[len(c.facts)-1]
		what := "the record is of another tree and another patch"
		if len(c.commit.Parents) > 1 {
			what = "the record is of another tree or of other parents"
		}
		return []Finding{found("forged-tree", "its trailer names record %d, but %s", p.seq, what).at(p)}
	case exempt:
		all := []Finding{found("exempt", "%s is exempt", strings.TrimSpace(c.commit.Author))}
		if i := slices.IndexFunc(c.paths, governance); i >= 0 {
			f := found("substrate", "%s is governance, which no exemption covers", c.paths[i])
			f.Path = c.paths[i]
			all = append(all, f)
		}
		return all
	case len(c.commit.Parents) > 1:
		f := found("ungoverned-merge", "it merges %d commits, and what it holds is not what git makes of them", len(c.commit.Parents))
		if len(c.paths) > 0 {
			f = found("ungoverned-merge", "it holds at %s what git does not make of its parents, and no log knows it", c.paths[0])
			f.Path = c.paths[0]
		}
		return []Finding{f}
	case len(c.commit.Paths) == 0:
		return []Finding{found("empty", "it changes nothing, and no log knows it")}
	}
	return []Finding{found("ungoverned", "it bears no trailers, and no log knows its tree or its patch")}
}
