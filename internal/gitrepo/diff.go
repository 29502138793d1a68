package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"satelle/internal/fault"
)

// Change is a path that differs between a base and the work tree.
type Change struct {
	Path   string // relative to Top, with slashes
	Status string // A added, M modified, D deleted, T of another type
}

// Changed lists what differs between a base and the work tree, untracked files
// included, by path; a file that moved is one deleted and one added. The base is
// a commit or a tree, "" for the empty tree. A hash from Tree serves only if the
// repository has that tree by other means, which is fault.NotFound if not: for
// what has changed since then, keep the commit of Head.
func (r *Repo) Changed(ctx context.Context, base string) ([]Change, error) {
	out, _, err := r.compare(ctx, base, false, 0, "--name-status", "-z", "--no-renames")
	if err != nil {
		return nil, err
	}
	rec := records(out)
	if len(rec)%2 != 0 {
		return nil, fmt.Errorf("git diff-tree printed %d fields", len(rec))
	}
	var changes []Change
	for i := 0; i < len(rec); i += 2 {
		changes = append(changes, Change{Path: rec[i+1], Status: rec[i]})
	}
	return changes, nil
}

// Diff is the patch from a base (as for Changed) to the work tree: at most max
// bytes of it, and whether there is more.
func (r *Repo) Diff(ctx context.Context, base string, max int) (patch []byte, truncated bool, err error) {
	return r.compare(ctx, base, true, max, "--patch", "--find-renames", "--src-prefix=a/", "--dst-prefix=b/")
}

// Opaque reports whether a patch tells of a change that it does not show: of a
// file which is no text, or of a repository within the work tree.
func Opaque(patch []byte) bool {
	for line := range bytes.Lines(patch) {
		// A line of content begins with a blank, a sign or a backslash.
		line = bytes.TrimRight(line, "\n")
		if bytes.HasPrefix(line, []byte("Binary files ")) ||
			!bytes.ContainsAny(line[:min(1, len(line))], " +-\\") && bytes.HasSuffix(line, []byte(" "+gitlink)) && !bytes.HasPrefix(line, []byte("deleted file ")) {
			return true
		}
	}
	return false
}

// DiffStat is the diff as counts of lines a file, for people, bounded like Diff.
func (r *Repo) DiffStat(ctx context.Context, base string, max int) (stat []byte, truncated bool, err error) {
	return r.compare(ctx, base, true, max, "--stat=100", "--find-renames")
}

// compare runs git diff-tree from a base to the work tree; a max of 0 is no
// bound. It does so in a git directory made for it, which shares nothing with
// the repository but the objects: the repository's attributes could declare a
// source file binary, and its drivers could show what they like.
func (r *Repo) compare(ctx context.Context, base string, content bool, max int, how ...string) ([]byte, bool, error) {
	from, err := r.treeOf(ctx, base)
	if err != nil {
		return nil, false, err
	}
	s, err := r.snapshot(ctx, content, 0)
	if err != nil {
		return nil, false, err
	}
	defer s.discard()
	c, err := s.apart(len(from))
	if err != nil {
		return nil, false, fault.Wrap(err, nil, "comparing the work tree %s", r.top)
	}
	c.limit = max
	out, _, err := c.git(ctx, append(append(diffTree, how...), from, s.tree)...)
	if errors.Is(err, errFull) {
		return out, true, nil
	}
	return out, false, fault.Wrap(err, nil, "comparing the work tree %s with %s", r.top, base)
}

// diffTree shows what differs and runs nothing.
var diffTree = slices.Clip([]string{"diff-tree", "-r", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short"})

// apart is a call that sees the snapshot's objects and nothing else of the
// repository.
func (s *snapshot) apart(hashLen int) (call, error) {
	gitDir, err := apart(s.dir, hashLen)
	return call{dir: s.dir, env: append([]string{"GIT_DIR=" + gitDir}, s.env...)}, err
}

// apart makes an empty git directory for hashes of this length.
func apart(dir string, hashLen int) (string, error) {
	gitDir := filepath.Join(dir, "git")
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if hashLen == 64 {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
	}
	err := errors.Join(
		os.MkdirAll(filepath.Join(gitDir, "refs"), 0o700),
		os.WriteFile(filepath.Join(gitDir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600),
		os.WriteFile(filepath.Join(gitDir, "config"), []byte(config), 0o600),
	)
	return gitDir, err
}
