package engine

import (
	"context"
	"path/filepath"
	"slices"

	"satelle/internal/fault"
	"satelle/internal/gitrepo"
	"satelle/internal/place"
	"satelle/ledger"
	"satelle/workflow"
)

// OpenCommit opens the repository whose git calls a hook in dir; ok is false
// where satelle does not govern. The governance files of the work tree are not
// read: a commit on top of an old one may lack them. gitDir is the git
// directory that git named in the environment, or "".
func OpenCommit(ctx context.Context, dir, gitDir string) (e *Engine, ok bool, err error) {
	e, err = open(ctx, dir)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, false, err
	}
	if gitDir != "" {
		if err := sameRepository(e, dir, gitDir); err != nil {
			return nil, false, err
		}
	}
	if e == nil || !e.Place.Governed() {
		return nil, false, nil
	}
	if e.Place.Registered && e.Place.CommonDir != e.repo.CommonDir() || !e.Place.Registered && e.Place.Root != e.repo.Top() {
		return nil, false, nil // a repository within a governed one: what it commits is no commit there
	}
	if !e.Place.Registered {
		return nil, false, fault.Try(fault.New(fault.NotFound, "this repository is governed by satelle, which is not set up in this clone"), "satelle init")
	}
	if e.host, err = hostID(e.Home); err != nil {
		return nil, false, err
	}
	return e, true, nil
}

// sameRepository refuses a git that works on another repository than the one
// of its folder (GIT_DIR, --git-dir), if that one is governed: where it would
// write, nobody looked.
func sameRepository(e *Engine, dir, gitDir string) error {
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(dir, gitDir)
	}
	real, err := filepath.EvalSymlinks(gitDir)
	if err != nil {
		return fault.Wrap(err, fault.Refused, "finding the repository that git works on")
	}
	if e != nil && e.repo.Is(real) {
		return nil
	}
	home, err := place.HomeDir()
	if err != nil {
		return fault.Wrap(err, nil, "finding $SATELLE_HOME")
	}
	p, err := place.Find(home, real)
	if err != nil {
		return fault.Wrap(err, fault.Refused, "finding what governs %s", real)
	}
	if p.Governed() {
		return fault.New(fault.Refused, "git works on %s from a folder that is not its work tree (GIT_DIR, --git-dir): commit from the work tree", real)
	}
	return nil
}

// MayCommit refuses a commit that no story answers for. index is the file that
// git is about to commit, "" for the usual one. Of a merge that git made by
// itself, only the seat is asked for: nobody has edited anything.
func (e *Engine) MayCommit(ctx context.Context, index string, merged bool) error {
	actor := e.Actor(ctx)
	if merged {
		worker, err := e.committer()
		if err != nil {
			return err
		}
		return e.mayCommit(ctx, workflow.Committing{Now: e.now(), WorkTree: e.Place.TreeID, Merging: true, Worker: worker}, actor)
	}
	st, err := e.repo.Staged(ctx, index)
	if err != nil {
		return err
	}
	defer st.Discard()
	parents, err := e.repo.Parents(ctx)
	if err != nil {
		return err
	}
	c, err := e.committing(ctx, st, parents)
	if err != nil {
		return err
	}
	return e.mayCommit(ctx, c, actor)
}

func (e *Engine) mayCommit(ctx context.Context, c workflow.Committing, actor ledger.Actor) error {
	return e.View(ctx, func(st workflow.State, _ Lookup) error { return st.MayCommit(c, actor) })
}

// committing collects what the rule about commits rests on.
func (e *Engine) committing(ctx context.Context, st *gitrepo.Staged, parents []string) (workflow.Committing, error) {
	c := workflow.Committing{Now: e.now(), WorkTree: e.Place.TreeID}
	var err error
	if c.Worker, err = e.committer(); err != nil {
		return c, err
	}
	head := ""
	for i, p := range parents {
		changed, err := st.Changed(ctx, p)
		if err != nil {
			return c, err
		}
		if i == 0 {
			head, c.Paths = p, changed
			continue
		}
		c.Paths = slices.DeleteFunc(c.Paths, func(path string) bool { return !slices.Contains(changed, path) })
	}
	if head == "" {
		if c.Paths, err = st.Changed(ctx, ""); err != nil {
			return c, err
		}
	}
	if !slices.Contains(c.Paths, configFile) {
		return c, nil
	}
	if head != "" {
		have, err := e.repo.Present(ctx, []string{head + ":" + configFile})
		if err != nil || have[0] {
			return c, err
		}
	}
	c.Founding, err = st.Has(ctx, configFile)
	return c, err
}
