package place

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many symbolic links a path may pass through, as in Linux.
const maxLinks = 40

var errLinks = errors.New("too many symbolic links")

// Resolve returns the path that the kernel would reach: symbolic links are
// followed component by component for the longest prefix that exists, ".."
// goes up from where a link led, and what does not exist yet is appended as
// written. The path must be absolute.
func Resolve(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", &fs.PathError{Op: "resolve", Path: path, Err: errors.New("not an absolute path")}
	}
	if strings.IndexByte(path, 0) >= 0 {
		return "", &fs.PathError{Op: "resolve", Path: path, Err: errors.New("a NUL byte in a path")}
	}
	real, rest, links := "/", path, 0
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			real = filepath.Dir(real)
			continue
		}
		next := join(real, name)
		kind, err := lstat(next)
		if absent(err) {
			return canonical(real, filepath.Join(next, rest))
		}
		if err != nil {
			return "", err
		}
		if kind != fs.ModeSymlink {
			real = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "resolve", Path: path, Err: errLinks}
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			real = "/"
		}
		rest = target + "/" + rest
	}
	return canonical(real, real)
}

func join(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}

// absent reports whether err says that nothing is there, as opposed to that
// it could not be seen.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// exists reports whether something stands at path, a dangling link included.
func exists(path string) (bool, error) {
	_, err := lstat(path)
	if absent(err) {
		return false, nil
	}
	return err == nil, err
}
