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

	"satelle/internal/fault"
)

// maxDepth bounds how deep repositories within repositories are followed.
const maxDepth = 16

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

// snapshot takes one; with content, the files are in it and not only their
// hashes.
func (r *Repo) snapshot(ctx context.Context, content bool, depth int) (s *snapshot, err error) {
	dir, err := os.MkdirTemp("", "satelle-tree-")
	if err != nil {
		return nil, fault.Wrap(err, nil, "reading the work tree %s", r.top)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
			err = fault.Wrap(err, nil, "reading the work tree %s", r.top)
		}
	}()
	objects, index := filepath.Join(dir, "objects"), filepath.Join(dir, "index")
	if err := os.Mkdir(objects, 0o700); err != nil {
		return nil, err
	}
	if err := copyIndex(r.index, index); err != nil {
		return nil, err
	}
	s = &snapshot{dir: dir}
	s.env = []string{"GIT_OBJECT_DIRECTORY=" + objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quotePath(r.objects)}
	b := &builder{repo: r, depth: depth, call: r.here(append(s.env, "GIT_INDEX_FILE="+index)...)}
	b.call.conf, err = r.ownFiltersOff(ctx)
	if err != nil {
		return nil, err
	}
	s.tree, err = b.build(ctx, content, dir)
	return s, err
}

// builder brings the copied index to what the work tree holds.
type builder struct {
	repo  *Repo
	call  call
	depth int
}

func (b *builder) build(ctx context.Context, content bool, scratch string) (string, error) {
	entries, err := b.entries(ctx)
	if err != nil {
		return "", err
	}
	if err := b.unhide(ctx, entries); err != nil {
		return "", err
	}
	paths, nested, err := b.changes(ctx, scratch)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if e.stage != "0" {
			paths = append(paths, e.path)
		}
	}
	there, gone := b.sift(paths)
	if err := b.feed(ctx, gone, "update-index", "-z", "--force-remove", "--stdin"); err != nil {
		return "", err
	}
	args := []string{"update-index", "-z", "--add", "--remove", "--replace"}
	if !content {
		args = append(args, "--info-only")
	}
	if err := b.feed(ctx, there, append(args, "--stdin")...); err != nil {
		return "", err
	}
	if err := b.nested(ctx, nested); err != nil {
		return "", err
	}
	tree, _, err := b.call.git(ctx, "write-tree", "--missing-ok")
	return strings.TrimSpace(string(tree)), err
}

// feed runs git with a list on its input, if there is anything on it.
func (b *builder) feed(ctx context.Context, list []string, args ...string) error {
	if len(list) == 0 {
		return nil
	}
	c := b.call
	c.stdin = []byte(strings.Join(list, "\x00") + "\x00")
	_, _, err := c.git(ctx, args...)
	return err
}

// entry is one line of the index.
type entry struct {
	tag         byte // H; S for skip-worktree; lower case for assume-unchanged
	mode, stage string
	path        string
}

const gitlink = "160000"

func (b *builder) entries(ctx context.Context) ([]entry, error) {
	out, _, err := b.call.git(ctx, "ls-files", "-z", "-v", "--stage")
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, rec := range records(out) {
		meta, path, ok := strings.Cut(rec, "\t")
		f := strings.Fields(meta) // tag mode hash stage
		if !ok || len(f) != 4 || len(f[0]) != 1 {
			return nil, fmt.Errorf("git ls-files printed %q", rec)
		}
		all = append(all, entry{tag: f[0][0], mode: f[1], stage: f[3], path: path})
	}
	return all, nil
}

// unhide clears the bits by which git is told not to look at a file. Where a
// sparse checkout has left a file out, there is nothing to look at, and the bit
// stays.
func (b *builder) unhide(ctx context.Context, entries []entry) error {
	var assumed, skipped []string
	for _, e := range entries {
		if e.tag >= 'a' && e.tag <= 'z' {
			assumed = append(assumed, e.path)
		}
		if e.tag == 'S' || e.tag == 's' {
			if _, err := os.Lstat(filepath.Join(b.repo.top, e.path)); err == nil {
				skipped = append(skipped, e.path)
			}
		}
	}
	if err := b.feed(ctx, assumed, "update-index", "-z", "--no-assume-unchanged", "--stdin"); err != nil {
		return err
	}
	return b.feed(ctx, skipped, "update-index", "-z", "--no-skip-worktree", "--stdin")
}

// changes lists the paths whose entry may differ from the work tree, and apart
// from them the repositories that git does not track.
func (b *builder) changes(ctx context.Context, scratch string) (paths, nested []string, err error) {
	out, beside, err := b.call.git(ctx, "ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard")
	if err != nil {
		return nil, nil, err
	}
	if strings.Contains(beside, "could not open directory") {
		return nil, nil, fmt.Errorf("git ls-files: %s", beside)
	}
	scratch, err = realPath(scratch)
	if err != nil {
		return nil, nil, err
	}
	for _, path := range records(out) {
		switch {
		// A folder for temporary files may lie in the work tree.
		case within(scratch, filepath.Join(b.repo.top, path)):
		case strings.HasSuffix(path, "/"):
			nested = append(nested, strings.TrimSuffix(path, "/"))
		default:
			paths = append(paths, path)
		}
	}
	return paths, nested, nil
}

// sift sorts paths, and tells those at which the work tree has something from
// those at which it has nothing. What lies behind a symbolic link is not in the
// work tree, whatever is found there.
func (b *builder) sift(paths []string) (there, gone []string) {
	linked := map[string]bool{".": false}
	var behind func(dir string) bool
	behind = func(dir string) bool {
		known, ok := linked[dir]
		if !ok {
			info, err := os.Lstat(filepath.Join(b.repo.top, dir))
			known = err != nil || info.Mode()&fs.ModeSymlink != 0 || behind(filepath.Dir(dir))
			linked[dir] = known
		}
		return known
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		_, err := os.Lstat(filepath.Join(b.repo.top, path))
		if errors.Is(err, fs.ErrNotExist) || behind(filepath.Dir(path)) {
			gone = append(gone, path)
		} else {
			there = append(there, path)
		}
	}
	return there, gone
}

// nested enters every repository within the work tree into the index by what
// its work tree holds.
func (b *builder) nested(ctx context.Context, untracked []string) error {
	entries, err := b.entries(ctx)
	if err != nil {
		return err
	}
	paths := untracked
	for _, e := range entries {
		if e.mode == gitlink {
			paths = append(paths, e.path)
		}
	}
	var lines []string
	for _, path := range paths {
		dir := filepath.Join(b.repo.top, path)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); errors.Is(err, fs.ErrNotExist) {
			continue // a submodule that is not checked out
		}
		hash, err := b.state(ctx, dir)
		if err != nil {
			return err
		}
		if hash != "" {
			lines = append(lines, gitlink+" "+hash+"\t"+path)
		}
	}
	return b.feed(ctx, lines, "update-index", "-z", "--index-info")
}

// state is the hash for which a repository within the work tree counts; "" if
// it does not.
func (b *builder) state(ctx context.Context, dir string) (string, error) {
	if b.depth == maxDepth {
		return "", fmt.Errorf("%s: repositories lie %d deep in one another", dir, maxDepth)
	}
	inner, err := Open(ctx, dir)
	if err != nil {
		return "", err
	}
	if inner.commonDir == b.repo.commonDir {
		return "", nil
	}
	s, err := inner.snapshot(ctx, false, b.depth+1)
	if err != nil {
		return "", err
	}
	defer s.discard()
	head, err := inner.Head(ctx)
	if err != nil {
		return "", err
	}
	clean, err := inner.treeOf(ctx, head)
	if err != nil || head == "" || s.tree != clean {
		return s.tree, err
	}
	return head, nil
}

// ownFiltersOff is the configuration under which no filter runs that the
// repository itself sets: it could show git another content than the file's.
func (r *Repo) ownFiltersOff(ctx context.Context) ([]string, error) {
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
