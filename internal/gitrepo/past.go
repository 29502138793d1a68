package gitrepo

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"satelle/internal/fault"
)

// Latest reads the latest commits that a commit follows on, itself included,
// each after its parents.
func (r *Repo) Latest(ctx context.Context, tip string, max int) ([]Commit, error) {
	out, _, err := r.here().git(ctx, "rev-list", "--topo-order", "--reverse", "--max-count="+strconv.Itoa(max), tip, "--")
	if err != nil {
		return nil, fault.Wrap(err, nil, "listing the commits of %s", tip)
	}
	return r.Read(ctx, strings.Fields(string(out)))
}

// FirstWith is the oldest commit that a commit follows on and that brings a
// path, "" if none does.
func (r *Repo) FirstWith(ctx context.Context, tip, path string) (string, error) {
	out, _, err := r.here().git(ctx, "rev-list", "--full-history", "--topo-order", "--reverse", tip, "--", path)
	first, _, _ := strings.Cut(string(out), "\n")
	return first, fault.Wrap(err, nil, "looking for the first commit with %s", path)
}

// HadTrees reports which trees a commit has that the given one follows on, or
// that one itself.
func (r *Repo) HadTrees(ctx context.Context, tip string, trees []string) (map[string]bool, error) {
	had := make(map[string]bool, len(trees))
	wanted := make(map[string]bool, len(trees))
	for _, t := range trees {
		wanted[t] = true
	}
	in, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			if wanted[lines.Text()] {
				had[lines.Text()] = true
			}
		}
		in.CloseWithError(lines.Err())
	}()
	c := r.here()
	c.out = out
	_, _, err := c.git(ctx, "rev-list", "--format=%T", "--no-commit-header", tip, "--")
	err = errors.Join(err, out.Close())
	<-done
	return had, fault.Wrap(err, nil, "reading the history of %s", tip)
}
