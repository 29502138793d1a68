package gitrepo

import (
	"bufio"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
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

// HadTrees reports which trees a commit has that the given ones follow on, or
// they themselves.
func (r *Repo) HadTrees(ctx context.Context, tips, trees []string) (map[string]bool, error) {
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
	c.stdin = []byte(strings.Join(tips, "\n") + "\n")
	_, _, err := c.git(ctx, "rev-list", "--stdin", "--format=%T")
	err = errors.Join(err, out.Close())
	<-done
	return had, fault.Wrap(err, nil, "reading the history")
}

// TipTrees returns for each tree that the commit of a ref has these commits.
func (r *Repo) TipTrees(ctx context.Context) (map[string][]string, error) {
	out, _, err := r.here().git(ctx, "for-each-ref", "--format=%(objecttype) %(objectname) %(tree)")
	if err != nil {
		return nil, fault.Wrap(err, nil, "listing the refs")
	}
	tips := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == "commit" && !slices.Contains(tips[f[2]], f[1]) {
			tips[f[2]] = append(tips[f[2]], f[1])
		}
	}
	return tips, nil
}

// OpenHistory finds the repository that holds dir, to read its commits and refs
// only: it may be bare. What reads a work tree must not be asked of it then.
func OpenHistory(ctx context.Context, dir string) (*Repo, error) {
	r, err := Open(ctx, dir)
	if !fault.Is(err, fault.NotFound) {
		return r, err
	}
	out, _, bareErr := call{dir: dir}.git(ctx, "rev-parse", "--is-bare-repository", "--absolute-git-dir", "--git-path", "objects")
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if bareErr != nil || len(lines) != 3 || lines[0] != "true" {
		return nil, err
	}
	gitDir, err := realPath(lines[1])
	if err != nil {
		return nil, fault.Wrap(err, nil, "looking for the repository of %s", dir)
	}
	objects := lines[2]
	if !filepath.IsAbs(objects) {
		objects = filepath.Join(gitDir, "objects")
	}
	return &Repo{top: gitDir, gitDir: gitDir, commonDir: gitDir, objects: objects}, nil
}
