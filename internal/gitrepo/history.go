package gitrepo

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"satelle/internal/fault"
)

// Commit is a commit as it is stored.
type Commit struct {
	ID      string
	Tree    string
	Parents []string
	// Author and Committer are as `Name <email>`.
	Author, Committer string
	Message           string
}

// Range is a stretch of history, resolved to commits.
type Range struct {
	// Tips are what it ends in, Below what it begins behind.
	Tips, Below []string
}

// Resolve reads a range as git does: `A..B`, `A...B`, or one commit with all
// that it follows on. What git does not know is fault.NotFound.
func (r *Repo) Resolve(ctx context.Context, text string) (Range, error) {
	var rng Range
	if text == "" || strings.HasPrefix(text, "-") || strings.ContainsAny(text, "\x00\n") {
		return rng, fault.New(fault.Usage, "%q is no range of commits", text)
	}
	// A forge names no commit, where a branch was not there before, by zeros.
	if from, to, ok := strings.Cut(text, ".."); ok && len(from) >= 40 && strings.Trim(from, "0") == "" {
		text = cmp.Or(strings.TrimPrefix(to, "."), "HEAD")
	}
	out, _, err := r.here().git(ctx, "rev-parse", "--revs-only", text)
	if refusal := (*exitError)(nil); errors.As(err, &refusal) {
		return rng, fault.New(fault.NotFound, "git knows no range %s", text)
	}
	if err != nil {
		return rng, fault.Wrap(err, nil, "reading the range %s", text)
	}
	for _, line := range strings.Fields(string(out)) {
		if below, ok := strings.CutPrefix(line, "^"); ok {
			rng.Below = append(rng.Below, below)
		} else {
			rng.Tips = append(rng.Tips, line)
		}
	}
	if len(rng.Tips) == 0 || strings.Contains(text, "..") && len(rng.Below) == 0 {
		return rng, fault.New(fault.NotFound, "git knows no range %s", text)
	}
	var commits []string
	for _, id := range append(rng.Tips[:len(rng.Tips):len(rng.Tips)], rng.Below...) {
		commits = append(commits, id+"^{commit}")
	}
	have, err := r.Present(ctx, commits)
	if err == nil && slices.Contains(have, false) {
		err = fault.New(fault.NotFound, "this clone lacks a commit of the range %s", text)
	}
	return rng, err
}

// Shallow reports whether the clone lacks the older part of its history.
func (r *Repo) Shallow(ctx context.Context) (bool, error) {
	answer, err := r.ask(ctx, "rev-parse", "--is-shallow-repository")
	return answer == "true", fault.Wrap(err, nil, "asking for the depth of the clone")
}

// Refs lists the refs below a prefix with the objects that they name.
func (r *Repo) Refs(ctx context.Context, prefix string) (map[string]string, error) {
	out, _, err := r.here().git(ctx, "for-each-ref", "--format=%(objectname) %(refname)", prefix)
	if err != nil {
		return nil, fault.Wrap(err, nil, "listing the refs %s", prefix)
	}
	refs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		refs[name] = id
	}
	return refs, nil
}

// Commits reads the commits of a range, each after its parents, and the
// commits just behind the range.
func (r *Repo) Commits(ctx context.Context, rng Range) (commits []Commit, behind []string, err error) {
	var in strings.Builder
	for _, tip := range rng.Tips {
		in.WriteString(tip + "\n")
	}
	for _, below := range rng.Below {
		in.WriteString("^" + below + "\n")
	}
	c := r.here()
	c.stdin = []byte(in.String())
	out, _, err := c.git(ctx, "rev-list", "--stdin", "--topo-order", "--reverse", "--boundary")
	if err != nil {
		return nil, nil, fault.Wrap(err, nil, "listing the commits")
	}
	var ids []string
	for _, line := range strings.Fields(string(out)) {
		if b, ok := strings.CutPrefix(line, "-"); ok {
			behind = append(behind, b)
		} else {
			ids = append(ids, line)
		}
	}
	commits, err = r.Read(ctx, ids)
	return commits, behind, err
}

// Read reads commits by their ids.
func (r *Repo) Read(ctx context.Context, ids []string) ([]Commit, error) {
	commits := make([]Commit, 0, len(ids))
	err := r.batch(ctx, ids, func(i int, kind string, data []byte) error {
		if kind != "commit" {
			return fmt.Errorf("%s is no commit", ids[i])
		}
		commits = append(commits, parseCommit(ids[i], string(data)))
		return nil
	})
	return commits, fault.Wrap(err, nil, "reading the commits")
}

// parseCommit reads a commit object as git does: the tree, its parents, the
// author and the committer come first and in this order. Git passes over what
// looks like one of them further down, and so does this, or a commit could show
// one tree here and another one there.
func parseCommit(id, data string) Commit {
	c := Commit{ID: id}
	head, message, _ := strings.Cut(data, "\n\n")
	c.Message = message
	next := func(key string) (value string, ok bool) {
		line, rest, _ := strings.Cut(head, "\n")
		if value, ok = strings.CutPrefix(line, key+" "); ok {
			head = rest
		}
		return value, ok
	}
	c.Tree, _ = next("tree")
	for {
		parent, ok := next("parent")
		if !ok {
			break
		}
		c.Parents = append(c.Parents, parent)
	}
	author, _ := next("author")
	committer, _ := next("committer")
	c.Author, c.Committer = ident(author), ident(committer)
	return c
}

// ident drops the time of a signature line.
func ident(line string) string {
	if i := strings.LastIndexByte(line, '>'); i >= 0 {
		return line[:i+1]
	}
	return line
}

// batch reads objects by name, in one process, in order. A name that leads
// to nothing has the kind "".
func (r *Repo) batch(ctx context.Context, names []string, each func(i int, kind string, data []byte) error) error {
	if len(names) == 0 {
		return nil
	}
	c := r.here()
	c.stdin = []byte(strings.Join(names, "\n") + "\n")
	out, _, err := c.git(ctx, "cat-file", "--batch")
	if err != nil {
		return err
	}
	for i, name := range names {
		line, rest, ok := bytes.Cut(out, []byte("\n"))
		if !ok {
			return fmt.Errorf("git cat-file said nothing of %s", name)
		}
		out = rest
		if string(line) == name+" missing" {
			if err := each(i, "", nil); err != nil {
				return err
			}
			continue
		}
		f := strings.Fields(string(line))
		if len(f) != 3 {
			return fmt.Errorf("git cat-file printed %q", line)
		}
		size, err := strconv.Atoi(f[2])
		if err != nil || size < 0 || size >= len(out) {
			return fmt.Errorf("git cat-file printed %q", line)
		}
		if err := each(i, f[1], out[:size]); err != nil {
			return err
		}
		out = out[size+1:]
	}
	return nil
}

// Present reports of each name, such as COMMIT:PATH, whether it leads to an
// object. A name must hold no line break.
func (r *Repo) Present(ctx context.Context, names []string) ([]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	c := r.here()
	c.stdin = []byte(strings.Join(names, "\n") + "\n")
	out, _, err := c.git(ctx, "cat-file", "--batch-check=%(objecttype)")
	if err != nil {
		return nil, fault.Wrap(err, nil, "looking for objects")
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(names) {
		return nil, fault.New(nil, "git cat-file printed %d lines for %d objects", len(lines), len(names))
	}
	have := make([]bool, len(names))
	for i, line := range lines {
		have[i] = !strings.HasSuffix(line, " missing")
	}
	return have, nil
}

// File is one file of a commit.
type File struct {
	Path string
	Data []byte
}

// Files reads the files of a commit at a path: a folder with all that lies
// below it, or one file. There may be none; more than max are Refused.
func (r *Repo) Files(ctx context.Context, commit, path string, max int) ([]File, error) {
	out, _, err := r.here().git(ctx, "ls-tree", "-r", "-z", "--full-tree", commit, "--", path)
	if err != nil {
		return nil, fault.Wrap(err, nil, "listing %s of %s", path, commit)
	}
	var files []File
	var ids []string
	for _, rec := range records(out) {
		meta, name, ok := strings.Cut(rec, "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 3 {
			return nil, fault.New(nil, "git ls-tree printed %q", rec)
		}
		if f[1] == "blob" && f[0] != "120000" {
			files, ids = append(files, File{Path: name}), append(ids, f[2])
		}
	}
	if len(files) > max {
		return nil, fault.New(fault.Refused, "%s of %s holds %d files; at most %d are read", path, commit, len(files), max)
	}
	err = r.batch(ctx, ids, func(i int, _ string, data []byte) error {
		files[i].Data = bytes.Clone(data)
		return nil
	})
	return files, fault.Wrap(err, nil, "reading %s of %s", path, commit)
}

// history is a call that sees the repository's objects, and neither its
// attributes nor its configuration. Discard the snapshot.
func (r *Repo) history(hashLen int) (call, *snapshot, error) {
	s, err := r.scratch()
	if err != nil {
		return call{}, nil, err
	}
	c, err := s.apart(hashLen)
	if err != nil {
		s.discard()
		return call{}, nil, err
	}
	c.conf, c.env = patchConf, append(c.env, "GIT_ATTR_NOSYSTEM=1")
	return c, s, nil
}

// ChangedBy lists the paths that each change touches. A change is a commit,
// against its first parent or the empty tree, or two trees "FROM TO". One that
// touches nothing may be missing.
func (r *Repo) ChangedBy(ctx context.Context, changes []string) (map[string][]string, error) {
	paths := make(map[string][]string, len(changes))
	if len(changes) == 0 {
		return paths, nil
	}
	c, s, err := r.history(hashLen(changes[0]))
	if err != nil {
		return nil, fault.Wrap(err, nil, "listing what commits change")
	}
	defer s.discard()
	c.stdin = []byte(strings.Join(changes, "\n") + "\n")
	out, _, err := c.git(ctx, append(diffTree, "--stdin", "--root", "--no-renames", "--raw", "--no-abbrev", "-z")...)
	if err != nil {
		return nil, fault.Wrap(err, nil, "listing what commits change")
	}
	change := ""
	for len(out) > 0 {
		if out[0] != ':' {
			end := bytes.IndexAny(out, "\x00\n")
			if end < 0 {
				return nil, fault.New(nil, "git diff-tree printed %q", out)
			}
			change, out = string(out[:end]), out[end+1:]
			continue
		}
		_, rest, ok := bytes.Cut(out, []byte{0})
		path, rest, ok2 := bytes.Cut(rest, []byte{0})
		if !ok || !ok2 || change == "" {
			return nil, fault.New(nil, "git diff-tree printed what cannot be read")
		}
		paths[change] = append(paths[change], string(path))
		out = rest
	}
	return paths, nil
}

// Patches returns the patch id of each change, as for ChangedBy; one that
// touches nothing has none.
func (r *Repo) Patches(ctx context.Context, changes []string) (map[string]string, error) {
	ids := make(map[string]string, len(changes))
	if len(changes) == 0 {
		return ids, nil
	}
	c, s, err := r.history(hashLen(changes[0]))
	if err != nil {
		return nil, fault.Wrap(err, nil, "reading what commits change")
	}
	defer s.discard()
	c.stdin = []byte(strings.Join(changes, "\n") + "\n")
	err = patches(func(to io.Writer) error {
		c.out = to
		_, _, err := c.git(ctx, append(append(diffTree, "--stdin", "--root"), patchForm...)...)
		return err
	}, func(line, id string) { ids[line] = id })
	return ids, fault.Wrap(err, nil, "reading what commits change")
}

// hashLen is the length of the hashes in a change.
func hashLen(change string) int {
	first, _, _ := strings.Cut(change, " ")
	return len(first)
}

// Merge is what git makes of two commits by itself.
type Merge struct {
	Tree string
	// Conflicts says that it left conflicts in the tree.
	Conflicts bool
}

// Merges makes merges of pairs of commits, "A B", without a trace in the
// repository; then it calls fn, for as long as their trees can be read: by the
// given repository.
func (r *Repo) Merges(ctx context.Context, pairs []string, fn func(at *Repo, merges []Merge) error) error {
	if len(pairs) == 0 {
		return fn(r, nil)
	}
	c, s, err := r.history(hashLen(pairs[0]))
	if err != nil {
		return fault.Wrap(err, nil, "merging anew")
	}
	defer s.discard()
	c.stdin = []byte(strings.Join(pairs, "\n") + "\n")
	out, _, err := c.git(ctx, "merge-tree", "--write-tree", "--stdin", "--no-messages", "--name-only", "--allow-unrelated-histories")
	if err != nil {
		return fault.Wrap(err, nil, "merging anew (this needs git 2.39 or newer)")
	}
	merges := make([]Merge, 0, len(pairs))
	fields := strings.Split(string(out), "\x00")
	for len(merges) < len(pairs) {
		if len(fields) < 3 {
			return fault.New(nil, "git merge-tree printed what cannot be read")
		}
		merges = append(merges, Merge{Tree: fields[1], Conflicts: fields[0] != "1"})
		fields = fields[2:]
		for len(fields) > 0 && fields[0] != "" {
			fields = fields[1:]
		}
		fields = fields[min(1, len(fields)):]
	}
	at := *r
	at.more = append(at.more[:len(at.more):len(at.more)], filepath.Join(s.dir, "objects"))
	return fn(&at, merges)
}
