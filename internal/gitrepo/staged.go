package gitrepo

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"satelle/internal/fault"
)

// Staged is what a commit that is being made will hold. Discard it.
type Staged struct {
	// Tree is its tree.
	Tree string

	repo *Repo
	s    *snapshot
}

// Staged reads the index that git is about to commit: the file that git names
// to its hooks (GIT_INDEX_FILE), relative to Top, or "" for the usual one.
func (r *Repo) Staged(ctx context.Context, index string) (*Staged, error) {
	if index == "" {
		index = r.index
	}
	if !filepath.IsAbs(index) {
		index = filepath.Join(r.top, index)
	}
	s, err := r.scratch()
	if err != nil {
		return nil, fault.Wrap(err, nil, "reading the index")
	}
	st := &Staged{repo: r, s: s}
	copied := filepath.Join(s.dir, "index")
	if err = copyIndex(index, copied); err == nil {
		var out []byte
		out, _, err = r.here(append(s.env, "GIT_INDEX_FILE="+copied)...).git(ctx, "write-tree")
		st.Tree = strings.TrimSpace(string(out))
	}
	if err != nil {
		s.discard()
		return nil, fault.Wrap(err, nil, "reading the index")
	}
	return st, nil
}

// Discard drops what reading the index has left.
func (st *Staged) Discard() { st.s.discard() }

// Changed lists the paths at which the index differs from a commit or tree,
// which is "" for the empty one.
func (st *Staged) Changed(ctx context.Context, base string) ([]string, error) {
	out, err := st.compare(ctx, base, nil, "--name-only", "-z", "--no-renames")
	return records(out), err
}

// Has reports whether there is a file at a path.
func (st *Staged) Has(ctx context.Context, path string) (bool, error) {
	c, err := st.s.apart(len(st.Tree))
	if err != nil {
		return false, fault.Wrap(err, nil, "reading the index")
	}
	out, _, err := c.git(ctx, "ls-tree", "-z", "--name-only", st.Tree, "--", path)
	return len(out) > 0, fault.Wrap(err, nil, "reading the index")
}

// Patch is the id of the patch from a commit or tree, "" if nothing changes.
func (st *Staged) Patch(ctx context.Context, base string) (string, error) {
	id := ""
	err := patches(func(to io.Writer) error {
		_, err := st.compare(ctx, base, to, patchForm...)
		return err
	}, func(_, sum string) { id = sum })
	return id, fault.Wrap(err, nil, "reading the patch")
}

// compare runs git diff-tree from a base to the staged tree, apart from the
// repository.
func (st *Staged) compare(ctx context.Context, base string, to io.Writer, how ...string) ([]byte, error) {
	from, err := st.repo.treeOf(ctx, base)
	if err != nil {
		return nil, err
	}
	c, err := st.s.apart(len(st.Tree))
	if err != nil {
		return nil, fault.Wrap(err, nil, "comparing the index")
	}
	c.out, c.conf, c.env = to, patchConf, append(c.env, "GIT_ATTR_NOSYSTEM=1")
	out, _, err := c.git(ctx, append(append(diffTree, how...), from, st.Tree)...)
	return out, fault.Wrap(err, nil, "comparing the index with %s", base)
}

// Parents are the commits that a commit made now would have as parents: HEAD,
// and those that are being merged.
func (r *Repo) Parents(ctx context.Context) ([]string, error) {
	head, err := r.Head(ctx)
	if err != nil || head == "" {
		return nil, err
	}
	parents := []string{head}
	b, err := r.state("MERGE_HEAD")
	for line := range strings.Lines(string(b)) {
		if merged := strings.TrimSpace(line); merged != "" {
			parents = append(parents, merged)
		}
	}
	if err != nil || len(parents) < 3 {
		return parents, err
	}
	// Of many, git leaves out those that others follow on.
	mode, err := r.state("MERGE_MODE")
	if err != nil || strings.Contains(string(mode), "no-ff") {
		return parents, err
	}
	out, err := r.ask(ctx, append([]string{"merge-base", "--independent"}, parents...)...)
	kept := strings.Fields(out)
	parents = slices.DeleteFunc(parents, func(p string) bool { return !slices.Contains(kept, p) })
	return parents, fault.Wrap(err, nil, "looking at what is merged")
}

// Amending reports whether a rebase is about to put what is staged into the
// commit that HEAD names, by fixup or squash.
func (r *Repo) Amending() (bool, error) {
	b, err := r.state(filepath.Join("rebase-merge", "done"))
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	word, _, _ := strings.Cut(lines[len(lines)-1], " ")
	return word == "fixup" || word == "squash" || word == "f" || word == "s", err
}

// state reads a small file of the git directory; a missing one is empty.
func (r *Repo) state(name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(r.gitDir, name))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(err, nil, "reading git's %s", name)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 16<<20))
	return b, fault.Wrap(err, nil, "reading git's %s", name)
}

// Comment is what a line of a commit message begins with that git drops.
func (r *Repo) Comment(ctx context.Context) (string, error) {
	comment, err := r.Config(ctx, "core.commentChar")
	if comment == "" && err == nil {
		comment, err = r.Config(ctx, "core.commentString") // the newer name of the same
	}
	if comment == "" || comment == "auto" {
		comment = "#"
	}
	return comment, err
}

// AddTrailers puts trailers at the end of a commit message, as git does:
// before comments and what git cuts off. The repository's own settings for
// trailers do not apply; they can run commands.
func (r *Repo) AddTrailers(ctx context.Context, message []byte, trailers ...string) ([]byte, error) {
	comment, err := r.Comment(ctx)
	if err != nil {
		return nil, err
	}
	s, err := r.scratch()
	if err != nil {
		return nil, fault.Wrap(err, nil, "adding trailers")
	}
	defer s.discard()
	c, err := s.apart(40)
	if err != nil {
		return nil, fault.Wrap(err, nil, "adding trailers")
	}
	c.stdin = message
	if !bytes.HasSuffix(message, []byte("\n")) {
		// Git would take the subject's line for the beginning of the trailers.
		c.stdin = append(slices.Clip(message), '\n')
	}
	c.conf = append([]string{"-c", "core.commentChar=" + comment}, quiet...)
	args := []string{"interpret-trailers", "--no-divider", "--where=end", "--if-exists=add", "--if-missing=add"}
	for _, t := range trailers {
		args = append(args, "--trailer", t)
	}
	out, _, err := c.git(ctx, args...)
	return out, fault.Wrap(err, nil, "adding trailers")
}
