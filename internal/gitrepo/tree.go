package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"satelle/internal/fault"
)

// Tree is the hash of the tree that `git add --all` and a commit would make of
// the work tree as it is now: tracked and untracked files, but for ignored ones.
// It is made from a copy of the index, so a locked index does not matter.
//
// A repository within the work tree, submodule or not, counts by its commit
// while its own work tree is clean, and else by that tree's hash, so no change
// in it goes unseen. A linked work tree of the same clone is governed by itself
// and does not count.
//
// The objects of the tree are not kept. The hash tells whether something has
// changed; to ask what, keep the commit of Head.
func (r *Repo) Tree(ctx context.Context) (string, error) {
	s, err := r.snapshot(ctx, false, 0)
	if err != nil {
		return "", err
	}
	defer s.discard()
	return s.tree, nil
}

// Now are HEAD and the hash of the work tree (see Tree), read at the same time.
func (r *Repo) Now(ctx context.Context) (head, tree string, err error) {
	var both errgroup.Group
	both.Go(func() (err error) { head, err = r.Head(ctx); return err })
	both.Go(func() (err error) { tree, err = r.Tree(ctx); return err })
	err = both.Wait()
	return head, tree, err
}

// Dirty reports whether the work tree differs from the commit that is checked
// out, untracked files included.
func (r *Repo) Dirty(ctx context.Context) (bool, error) {
	s, err := r.snapshot(ctx, false, 0)
	if err != nil {
		return false, err
	}
	defer s.discard()
	clean, err := r.headTree(ctx)
	return s.tree != clean, err
}

// headTree is the tree of HEAD, the empty tree if there is no commit.
func (r *Repo) headTree(ctx context.Context) (string, error) {
	head, err := r.Head(ctx)
	if err != nil {
		return "", err
	}
	return r.treeOf(ctx, head)
}

// treeOf is the tree of a commit or tree, and the empty tree for "".
func (r *Repo) treeOf(ctx context.Context, base string) (string, error) {
	if base == "" {
		tree, err := r.ask(ctx, "hash-object", "-t", "tree", "--stdin")
		return tree, fault.Wrap(err, nil, "asking git for the empty tree")
	}
	if strings.HasPrefix(base, "-") {
		return "", fault.New(fault.NotFound, "%q is no commit", base)
	}
	tree, err := r.ask(ctx, "rev-parse", "--verify", "--quiet", base+"^{tree}")
	if refusal := (*exitError)(nil); errors.As(err, &refusal) {
		return "", fault.New(fault.NotFound, "the repository has no commit or tree %s", base)
	}
	return tree, fault.Wrap(err, nil, "looking for %s", base)
}

// snapshot is the work tree as a tree, in a folder of its own.
type snapshot struct {
	dir  string
	tree string
	env  []string // for git to find its objects
}

func (s *snapshot) discard() { os.RemoveAll(s.dir) }

// scratch makes the folder of a snapshot: new objects go there, and those of
// the repository are seen.
func (r *Repo) scratch() (*snapshot, error) {
	dir, err := os.MkdirTemp("", "satelle-tree-")
	if err != nil {
		return nil, err
	}
	s := &snapshot{dir: dir}
	objects := filepath.Join(dir, "objects")
	seen := quotePath(r.objects)
	for _, dir := range r.more {
		seen += ":" + quotePath(dir)
	}
	s.env = []string{"GIT_OBJECT_DIRECTORY=" + objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + seen}
	if err := os.Mkdir(objects, 0o700); err != nil {
		s.discard()
		return nil, err
	}
	return s, nil
}

// snapshot takes one; with content, the files are in it and not only their
// hashes.
func (r *Repo) snapshot(ctx context.Context, content bool, depth int) (s *snapshot, err error) {
	made, err := r.scratch()
	if err != nil {
		return nil, fault.Wrap(err, nil, "reading the work tree %s", r.top)
	}
	s = made
	defer func() {
		if err != nil {
			made.discard()
			err = fault.Wrap(err, nil, "reading the work tree %s", r.top)
		}
	}()
	dir, index := s.dir, filepath.Join(s.dir, "index")
	if err := copyIndex(r.index, index); err != nil {
		return nil, err
	}
	b := &builder{repo: r, depth: depth, call: r.here(append(s.env, "GIT_INDEX_FILE="+index)...)}
	s.tree, err = b.build(ctx, content, dir)
	return s, err
}

// ownFiltersOff is the configuration under which no filter runs that the
// repository itself sets: it could show git another content than the file's.
func (r *Repo) ownFiltersOff(ctx context.Context) ([]string, error) {
	if r.setsNoFilter() {
		return quiet, nil
	}
	out, _, err := r.here().git(ctx, "config", "--null", "--show-scope", "--get-regexp", `^filter\.`)
	if err != nil && !exited(err, 1) {
		return nil, err
	}
	conf := slices.Clone(quiet)
	rec := records(out)
	for i := 0; i+1 < len(rec); i += 2 {
		scope, key := rec[i], rec[i+1]
		if scope != "local" && scope != "worktree" {
			continue
		}
		key, _, _ = strings.Cut(key, "\n")
		name := strings.TrimPrefix(key[:max(0, strings.LastIndexByte(key, '.'))], "filter.")
		if strings.Contains(name, "=") {
			return nil, fmt.Errorf("the repository sets a filter named %q, which cannot be turned off", name)
		}
		for _, off := range []string{"clean=", "smudge=", "process=", "required=false"} {
			conf = append(conf, "-c", "filter."+name+"."+off)
		}
	}
	return conf, nil
}

// setsNoFilter reports whether the repository's own configuration can't set a
// filter: its files name neither one nor another file. To ask git takes a process.
func (r *Repo) setsNoFilter() bool {
	for _, path := range []string{filepath.Join(r.commonDir, "config"), filepath.Join(r.gitDir, "config.worktree")} {
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
		b = bytes.ToLower(b) // section names have no case
		if bytes.Contains(b, []byte("filter")) || bytes.Contains(b, []byte("include")) {
			return false
		}
	}
	return true
}

// copyIndex copies an index, which need not exist. Its time is copied too: git
// looks again at files that are not older than the index.
func copyIndex(from, to string) error {
	src, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err := errors.Join(err, dst.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// quotePath writes a path for a list that git separates by colons.
func quotePath(path string) string {
	if !strings.ContainsAny(path, ":\"\n") {
		return path
	}
	var b bytes.Buffer
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n':
			b.WriteString(`\n`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
