package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// maxDepth bounds how deep repositories within repositories are followed.
const maxDepth = 16

// builder brings the copied index to what the work tree holds.
type builder struct {
	repo  *Repo
	call  call
	depth int
}

func (b *builder) build(ctx context.Context, content bool, scratch string) (string, error) {
	var entries []entry
	var conf []string
	var both errgroup.Group
	both.Go(func() (err error) { entries, err = b.entries(ctx); return err })
	both.Go(func() (err error) { conf, err = b.repo.ownFiltersOff(ctx); return err })
	if err := both.Wait(); err != nil {
		return "", err
	}
	b.call.conf = conf
	if err := b.doubt(ctx, entries); err != nil {
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
	if len(there)+len(gone) > 0 { // there may be other repositories among them
		if entries, err = b.entries(ctx); err != nil {
			return "", err
		}
	}
	if err := b.nested(ctx, entries, nested); err != nil {
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
	mode, hash, stage string
	path              string
	changed, modified string // when the index saw the file: "seconds:nanoseconds"; "" if unknown
}

const gitlink = "160000"

func (b *builder) entries(ctx context.Context) ([]entry, error) {
	out, _, err := b.call.git(ctx, "ls-files", "-z", "--stage", "--debug")
	if err != nil {
		return nil, err
	}
	return parseEntries(string(out))
}

// parseEntries reads `git ls-files -z --stage --debug`: a line that ends in
// NUL, then what the index knows of the file in lines that begin with two
// blanks. Git does not promise their form; what is not understood is unknown,
// which costs time and nothing else.
func parseEntries(out string) ([]entry, error) {
	var all []entry
	for out != "" {
		rec, rest, _ := strings.Cut(out, "\x00")
		meta, path, ok := strings.Cut(rec, "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 3 {
			return nil, fmt.Errorf("git ls-files printed %q", rec)
		}
		e := entry{mode: f[0], hash: f[1], stage: f[2], path: path}
		for strings.HasPrefix(rest, "  ") {
			var known string
			known, rest, _ = strings.Cut(rest, "\n")
			switch key, value, _ := strings.Cut(strings.TrimSpace(known), ": "); key {
			case "ctime":
				e.changed = value
			case "mtime":
				e.modified = value
			}
		}
		all = append(all, e)
		out = rest
	}
	return all, nil
}

// doubt makes git look again at every file that may not be what the index says
// of it: by entering the file anew, without what is known of it and without the
// bits that forbid to look (assume-unchanged, skip-worktree). Git itself
// compares times by the second, so a file could be written in the second in
// which it was staged and given its old time back.
//
// Where a sparse checkout has left a file out, there is nothing to look at.
func (b *builder) doubt(ctx context.Context, entries []entry) error {
	var anew []string
	for _, e := range entries {
		if e.stage != "0" || e.mode == gitlink {
			continue
		}
		var now unix.Stat_t
		if unix.Lstat(filepath.Join(b.repo.top, e.path), &now) != nil {
			continue
		}
		if e.changed != stamp(now.Ctim) || e.modified != stamp(now.Mtim) {
			anew = append(anew, e.mode+" "+e.hash+"\t"+e.path)
		}
	}
	return b.feed(ctx, anew, "update-index", "-z", "--index-info")
}

// stamp writes a time as git ls-files does.
func stamp(t unix.Timespec) string { return fmt.Sprintf("%d:%d", t.Sec, t.Nsec) }

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
func (b *builder) nested(ctx context.Context, entries []entry, untracked []string) error {
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
