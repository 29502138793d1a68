package install

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"satelle/internal/fault"
)

// write makes the file what the plan says.
func (f *file) write() error {
	switch {
	case f.link != "":
		return fault.Wrap(f.put(func(path string) error { return os.Symlink(f.link, path) }), nil, "linking %s", f.path)
	case f.after == nil:
		return fault.Wrap(f.remove(), nil, "removing %s", f.path)
	default:
		return fault.Wrap(f.put(f.create), nil, "writing %s", f.path)
	}
}

// put makes something beside the file and renames it, so that a reader finds
// the old or the new and never a half.
func (f *file) put(create func(path string) error) error {
	dir := filepath.Dir(f.target)
	if err := os.MkdirAll(dir, f.dirs); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(dir, ".satelle-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	made := filepath.Join(tmp, filepath.Base(f.target))
	if err := create(made); err != nil {
		return err
	}
	if err := f.unchanged(); err != nil {
		return err
	}
	return os.Rename(made, f.target)
}

// create writes the file's content to path, durably. A program has its mode
// whatever the umask, and so has what replaces a file.
func (f *file) create(path string) error {
	fd, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode)
	if err != nil {
		return err
	}
	_, err = fd.Write(f.after)
	if err == nil && (f.before != nil || f.mode&0o111 != 0) {
		err = fd.Chmod(f.mode)
	}
	if err == nil {
		err = fd.Sync()
	}
	if cerr := fd.Close(); err == nil {
		err = cerr
	}
	return err
}

// unchanged refuses to overwrite what somebody wrote since the plan was made.
// Programs and links are satelle's own.
func (f *file) unchanged() error {
	if f.own || f.link != "" {
		return nil
	}
	now, _, err := read(f.target, 0)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, f.before) {
		return fault.New(fault.Busy, "it was changed at the same time")
	}
	return nil
}

// remove deletes the file and the folders that it leaves empty, which satelle
// made for it.
func (f *file) remove() error {
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := os.Remove(f.target); err != nil {
		return err
	}
	keep, err := filepath.EvalSymlinks(f.keep)
	if err != nil {
		return err
	}
	for dir := filepath.Dir(f.target); strings.HasPrefix(dir, keep+string(filepath.Separator)); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			break // not empty
		}
	}
	return nil
}
