package place

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// ErrForged means that a .git file names a git dir that belongs to another
// work tree. Believing it would lend one work tree's seat to another.
var ErrForged = errors.New("the .git file names a git dir that does not name this work tree")

// maxLink bounds the small files in which git keeps one path.
const maxLink = 8 << 10

// repository is what a .git entry says: all paths are real.
type repository struct {
	workTree  string
	commonDir string
	treeID    string
	forged    bool // the git dir does not name this work tree in turn
}

// gitAt returns the repository whose work tree has its root at dir, which must
// be a real path, or nil. A .git that git itself would not take for a
// repository counts as none.
func gitAt(dir string) (*repository, error) {
	dotGit := join(dir, ".git")
	kind, err := lstat(dotGit)
	if absent(err) {
		return bareAt(dir)
	}
	if err != nil {
		return nil, err
	}
	gitDir := dotGit
	if kind == fs.ModeSymlink {
		if gitDir, err = Resolve(dotGit); err != nil {
			return nil, err
		}
		if kind, err = lstat(gitDir); absent(err) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
	}
	if kind != fs.ModeDir {
		return fromFile(dir, gitDir)
	}
	return fromDir(dir, gitDir)
}

// fromFile follows a .git file to its git dir.
func fromFile(dir, file string) (*repository, error) {
	line, err := readLine(file)
	if err != nil {
		return nil, err
	}
	target, ok := strings.CutPrefix(line, "gitdir:")
	if !ok {
		return nil, nil
	}
	gitDir, err := resolveFrom(filepath.Dir(file), strings.TrimSpace(target))
	if err != nil {
		return nil, err
	}
	return fromDir(dir, gitDir)
}

// fromDir reads a git dir: with a commondir file it is a linked work tree's
// entry, which must name this work tree in turn.
func fromDir(dir, gitDir string) (*repository, error) {
	common, err := readLine(join(gitDir, "commondir"))
	if absent(err) {
		// A folder named .git is the git dir of the folder around it and of
		// no other; one by another name (submodule, --separate-git-dir)
		// carries no word of its work tree that could be checked.
		forged := filepath.Base(gitDir) == ".git" && filepath.Dir(gitDir) != dir
		return &repository{workTree: dir, commonDir: gitDir, treeID: ".", forged: forged}, nil
	}
	if err != nil {
		return nil, err
	}
	repo := &repository{workTree: dir, treeID: filepath.Base(gitDir)}
	if repo.commonDir, err = resolveFrom(gitDir, common); err != nil {
		return nil, err
	}
	back, err := readLine(join(gitDir, "gitdir"))
	if err != nil && !absent(err) {
		return nil, err
	}
	if err == nil {
		if back, err = resolveFrom(gitDir, filepath.Dir(back)); err != nil {
			return nil, err
		}
	}
	repo.forged = back != dir || filepath.Dir(gitDir) != join(repo.commonDir, "worktrees")
	return repo, nil
}

// bareAt returns the repository whose git dir is dir itself, or nil. The .git
// of a work tree is left to the folder around it.
func bareAt(dir string) (*repository, error) {
	if filepath.Base(dir) == ".git" {
		return nil, nil
	}
	for _, name := range [...]string{"HEAD", "objects", "refs"} {
		ok, err := exists(join(dir, name))
		if err != nil || !ok {
			return nil, err
		}
	}
	return &repository{commonDir: dir, treeID: "."}, nil
}

func resolveFrom(dir, path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = dir + "/" + path
	}
	return Resolve(path)
}

// readLine returns a small file's content without the line end.
func readLine(path string) (string, error) {
	b, err := readSmall(path, maxLink+1)
	if err != nil {
		return "", err
	}
	if len(b) > maxLink {
		return "", &fs.PathError{Op: "read", Path: path, Err: errors.New("too long for a path")}
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}
