package gitrepo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"satelle/internal/fault"
)

// Repo is a git work tree and the repository behind it.
type Repo struct {
	top, gitDir, commonDir, objects, index string
	// more are folders with objects that only this process knows of.
	more []string
}

// Open finds the work tree that holds dir. Outside of one, in a bare repository
// and inside of a git directory it is fault.NotFound. A repository whose
// core.worktree leads to another place is fault.Refused: what was read there
// would say nothing about dir.
func Open(ctx context.Context, dir string) (*Repo, error) {
	real, err := realPath(dir)
	if err != nil {
		return nil, fault.Wrap(err, fault.NotFound, "looking for a git work tree")
	}
	out, _, err := call{dir: real}.git(ctx, "rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--git-path", "objects", "--git-path", "index")
	if said(err, "not a git repository") || said(err, "must be run in a work tree") {
		return nil, fault.New(fault.NotFound, "%s is in no git work tree", dir)
	}
	if err != nil {
		return nil, fault.Wrap(err, nil, "looking for the git work tree of %s", dir)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 5 {
		return nil, fault.New(fault.Refused, "the git work tree of %s has a line break in its path", dir)
	}
	for i, path := range lines {
		if !filepath.IsAbs(path) {
			lines[i] = filepath.Join(real, path)
		}
	}
	r := &Repo{top: lines[0], gitDir: lines[1], commonDir: lines[2], objects: lines[3], index: lines[4]}
	for _, path := range []*string{&r.top, &r.gitDir, &r.commonDir} {
		if *path, err = realPath(*path); err != nil {
			return nil, fault.Wrap(err, nil, "looking for the git work tree of %s", dir)
		}
	}
	if !within(r.top, real) || !leads(r.top, r.gitDir) {
		return nil, fault.New(fault.Refused, "the repository of %s says that its work tree is %s (core.worktree)", dir, r.top)
	}
	return r, nil
}

// Top is the root of the work tree, without symbolic links.
func (r *Repo) Top() string { return r.top }

// CommonDir is the git directory that all work trees of the clone share,
// without symbolic links.
func (r *Repo) CommonDir() string { return r.commonDir }

// Trees are the roots of the clone's work trees, the main one first where there is
// one. A tree whose folder is gone may be among them.
func (r *Repo) Trees() (roots []string) {
	if filepath.Base(r.commonDir) == ".git" {
		roots = append(roots, filepath.Dir(r.commonDir))
	}
	linked := filepath.Join(r.commonDir, "worktrees")
	entries, _ := os.ReadDir(linked)
	for _, e := range entries {
		dir := filepath.Join(linked, e.Name())
		b, err := os.ReadFile(filepath.Join(dir, "gitdir"))
		if err != nil {
			continue
		}
		gitFile := strings.TrimSpace(string(b))
		if !filepath.IsAbs(gitFile) {
			gitFile = filepath.Join(dir, gitFile)
		}
		roots = append(roots, filepath.Dir(gitFile))
	}
	return roots
}

// Is reports whether a git directory, a real path, is that of this work tree.
func (r *Repo) Is(gitDir string) bool { return r.gitDir == gitDir }

// Keeps reports whether a file lies in the git directory of this work tree.
func (r *Repo) Keeps(path string) bool {
	real, err := realPath(path)
	return err == nil && within(r.gitDir, real)
}

// here is a call in this repository, whatever lies around it.
func (r *Repo) here(extra ...string) call {
	return call{dir: r.top, env: append([]string{"GIT_DIR=" + r.gitDir, "GIT_WORK_TREE=" + r.top}, extra...)}
}

// ask runs git for one line of output.
func (r *Repo) ask(ctx context.Context, args ...string) (string, error) {
	out, _, err := r.here().git(ctx, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// Head is the commit that is checked out, "" on a branch without one.
func (r *Repo) Head(ctx context.Context) (string, error) {
	head, err := r.ask(ctx, "rev-parse", "--verify", "--quiet", "HEAD")
	if exited(err, 1) {
		return "", nil
	}
	return head, fault.Wrap(err, nil, "reading HEAD of %s", r.top)
}

// Config is the value of a key as git itself would take it, "" if it is not set.
func (r *Repo) Config(ctx context.Context, key string) (string, error) {
	c := r.here()
	c.conf = []string{"--no-pager"} // ours would be the answer
	out, _, err := c.git(ctx, "config", "--null", "--get", key)
	if exited(err, 1) {
		return "", nil
	}
	return strings.TrimSuffix(string(out), "\x00"), fault.Wrap(err, nil, "reading the git setting %s", key)
}

// CheckIgnored reports whether git ignores a path that it does not track. The
// path is absolute or relative to Top, and need not exist.
func (r *Repo) CheckIgnored(ctx context.Context, path string) (bool, error) {
	if !filepath.IsAbs(path) {
		path = "./" + path // a leading colon is not git's magic then
	}
	_, _, err := r.here().git(ctx, "check-ignore", "--quiet", "--", path)
	if exited(err, 1) {
		return false, nil
	}
	return err == nil, fault.Wrap(err, nil, "asking git about %s", path)
}

// realPath is path made absolute, without symbolic links.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// within reports whether path is dir or lies below it; both are real paths.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// leads reports whether the .git of a work tree is, or names, this git directory.
func leads(top, gitDir string) bool {
	dotGit := filepath.Join(top, ".git")
	info, err := os.Stat(dotGit)
	if err != nil {
		return false
	}
	target := dotGit
	if !info.IsDir() {
		if target, err = gitFile(dotGit); err != nil {
			return false
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(top, target)
		}
	}
	target, err = realPath(target)
	return err == nil && target == gitDir
}

// gitFile reads a .git file: where the git directory is.
func gitFile(path string) (string, error) {
	const most = 64 << 10
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return "", errors.New("no .git file")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(string(data), "gitdir:")
	if !ok {
		return "", errors.New("no .git file")
	}
	return strings.TrimSpace(target), nil
}

// HooksPath is the folder in which git looks for hooks, absolute and with
// symbolic links as they are set.
func (r *Repo) HooksPath(ctx context.Context) (string, error) {
	c := r.here()
	c.conf = []string{"--no-pager"} // ours would be the answer
	out, _, err := c.git(ctx, "rev-parse", "--git-path", "hooks")
	path := strings.TrimSuffix(string(out), "\n")
	if err == nil && !filepath.IsAbs(path) {
		path = filepath.Join(r.top, path)
	}
	return path, fault.Wrap(err, nil, "looking for git's hooks")
}
