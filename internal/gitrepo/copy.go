package gitrepo

import (
	"context"

	"satelle/internal/fault"
)

// Copy makes a linked work tree at dir, which must not exist, of the commit that
// is checked out here, without a branch, and brings its files to what they are
// here: uncommitted changes and untracked files are as uncommitted and untracked
// there. Ignored files are not copied, and of a repository within the work tree
// only the folder is made. Git's hooks do not run, nor do filters that the
// repository itself sets.
func (r *Repo) Copy(ctx context.Context, dir string) (*Repo, error) {
	head, err := r.Head(ctx)
	if err != nil {
		return nil, err
	}
	if head == "" {
		return nil, fault.Try(fault.New(fault.Refused, "a work tree without a commit can't be copied"), "git commit --allow-empty -m begin")
	}
	s, err := r.snapshot(ctx, true, 0)
	if err != nil {
		return nil, err
	}
	defer s.discard()
	if _, _, err := r.here().git(ctx, "worktree", "add", "--quiet", "--detach", "--no-checkout", dir, head); err != nil {
		return nil, fault.Wrap(err, nil, "making a copy of the work tree %s", r.top)
	}
	copied, err := Open(ctx, dir)
	if err == nil {
		err = copied.fill(ctx, s)
	}
	if err != nil {
		_ = r.RemoveCopy(ctx, dir) // nothing in it is anybody's work yet
		return nil, fault.Wrap(err, nil, "filling a copy of the work tree %s", r.top)
	}
	return copied, nil
}

// fill checks a snapshot out, and leaves the index as the commit has it: of the
// snapshot's objects nothing is needed afterwards.
func (r *Repo) fill(ctx context.Context, s *snapshot) error {
	c := r.here(s.env...)
	var err error
	if c.conf, err = r.ownFiltersOff(ctx); err != nil {
		return err
	}
	if _, _, err := c.git(ctx, "read-tree", "--reset", "-u", s.tree); err != nil {
		return err
	}
	c.env = r.here().env
	_, _, err = c.git(ctx, "read-tree", "--reset", "HEAD")
	return err
}

// RemoveCopy removes a linked work tree with all that is in it.
func (r *Repo) RemoveCopy(ctx context.Context, dir string) error {
	_, _, err := r.here().git(ctx, "worktree", "remove", "--force", dir)
	return fault.Wrap(err, nil, "removing the copy %s", dir)
}
