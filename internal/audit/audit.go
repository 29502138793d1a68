package audit

import (
	"context"
	"maps"
	"slices"

	"satelle/internal/fault"
	"satelle/ledger"
)

type epoch = ledger.KeyEpoch

// Input is what an audit goes by.
type Input struct {
	// Base is the commit whose side is trusted, if there is one; Head is the
	// last commit.
	Base, Head string
	// Commits are what is audited, each after its parents.
	Commits []Commit
	// Kept are the latest commits of the trusted side: logs must still contain
	// what their trailers say.
	Kept []Commit
	// Logs are those that are published.
	Logs []*Log
	// Trusted are the keys of the trusted side, Offered those that the audited
	// commits bring.
	Trusted, Offered Keys
	// Exempt are patterns of authors whose commits need no record.
	Exempt []string
}

// Objects answers what only the repository can, many questions at a time.
type Objects interface {
	// Patches returns the patch id of each change: a commit, against its first
	// parent, or two trees "FROM TO". One that changes nothing has none.
	Patches(ctx context.Context, changes []string) (map[string]string, error)
	// Merges makes merges of two parents anew, and says at which paths each
	// merge commit differs from what git makes of them by itself.
	Merges(ctx context.Context, commits []Commit) ([][]string, error)
	// Seen reports which of the trees a commit of the trusted side has.
	Seen(ctx context.Context, trees []string) (map[string]bool, error)
	// Requests returns for each commit, by its hash, whose tree is that of the
	// head of a branch or request which does not contain it, the commits that
	// lead to that head from the trusted side, oldest first.
	Requests(ctx context.Context, commits []Commit) (map[string][]Commit, error)
}

// Run audits. An error means that something could not be looked at; what is
// wrong with commits and logs is in the report.
func Run(ctx context.Context, in Input, o Objects) (Report, error) {
	a := &auditor{
		in: in, o: o, logs: map[string]*Log{}, broken: map[string]bool{}, last: map[storyKey]*Commit{},
		report: Report{Base: in.Base, Head: in.Head, Commits: len(in.Commits), All: in.Commits, Logs: []LogSeen{}},
	}
	a.vouch()
	a.keep()
	a.origins = slices.Sorted(maps.Keys(a.logs))
	err := a.look(ctx, a.byRecord, a.byPatch, a.byMerge, a.byContent, a.byRequest, a.byRevert)
	if err != nil {
		return a.report, fault.Wrap(err, nil, "auditing the commits")
	}
	a.endings()
	return a.report, nil
}

// look opens the cases, lets the passes bind what they can, and judges.
func (a *auditor) look(ctx context.Context, passes ...func(context.Context) error) error {
	a.cases = make([]*caseOf, len(a.in.Commits))
	for i := range a.in.Commits {
		a.cases[i] = a.open(&a.in.Commits[i])
	}
	for _, pass := range passes {
		if err := pass(ctx); err != nil {
			return err
		}
	}
	for _, c := range a.cases {
		a.judge(c)
	}
	return nil
}

// auditor is an audit under way.
type auditor struct {
	in      Input
	o       Objects
	report  Report
	logs    map[string]*Log // those that may be believed
	broken  map[string]bool // origins of those that may not
	origins []string        // of logs, sorted
	cases   []*caseOf
	last    map[storyKey]*Commit // the last commit of each story
}

type storyKey struct{ origin, story string }
