package install

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"satelle/internal/fault"
)

// maxSettings bounds a settings file that is read. The editors have a bound of
// their own; this one keeps a device or a huge file out of memory.
const maxSettings = 8 << 20

// plan collects edits of files. Nothing is written before all of them are known
// to be possible.
type plan struct {
	files []*file
	notes []string
}

// file is one file with what it is and what it shall be.
type file struct {
	path   string // as people know it
	target string // where the bytes are: path with symlinks followed
	keep   string // the folder at which removing of emptied folders ends
	before []byte // nil if there is no such file
	after  []byte // nil if there shall be none
	mode   fs.FileMode
	dirs   fs.FileMode // of folders that are made for it
	link   string      // for a symlink: what it shall point to
	binary bool
}

func (p *plan) note(text string) { p.notes = append(p.notes, text) }

// settings returns the planned content of a harness's file; nil if there is
// none. Within, if not "", is the folder that its symlinks must not leave.
func (p *plan) settings(path, within, keep string) (*file, error) {
	for _, f := range p.files {
		if f.path == path {
			return f, nil
		}
	}
	target, err := follow(path, within)
	if err != nil {
		return nil, err
	}
	f := &file{path: path, target: target, keep: keep, mode: 0o644, dirs: 0o755}
	f.before, f.mode, err = read(target, f.mode)
	if err != nil {
		return nil, err
	}
	f.after = f.before
	p.files = append(p.files, f)
	return f, nil
}

// edit applies fn to the planned content of a file.
func (f *file) edit(fn func([]byte) ([]byte, error)) error {
	after, err := fn(f.after)
	if err != nil {
		return fault.Wrap(err, nil, "%s", f.path)
	}
	f.after = after
	return nil
}

// read returns the content and mode of a regular file, nil and the given mode
// for none.
func read(path string, mode fs.FileMode) ([]byte, fs.FileMode, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, mode, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fault.New(fault.Refused, "%s is no regular file", path)
	}
	fd, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer fd.Close()
	doc, err := io.ReadAll(io.LimitReader(fd, maxSettings+1))
	if err != nil {
		return nil, 0, err
	}
	if len(doc) > maxSettings {
		return nil, 0, fault.New(fault.Refused, "%s is larger than %d bytes", path, maxSettings)
	}
	return doc, info.Mode().Perm(), nil
}

// follow returns where the file at path really lies, or would lie. It refuses a
// symlink that leads to nothing, and one that leads out of the folder within:
// a repository must not be able to make satelle write somewhere else.
func follow(path, within string) (string, error) {
	missing := ""
	for at := path; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			target := filepath.Join(real, missing)
			if within != "" && target != within && !strings.HasPrefix(target, within+string(filepath.Separator)) {
				return "", fault.New(fault.Refused, "%s leads out of the repository, to %s", path, target)
			}
			return target, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if _, lerr := os.Lstat(at); lerr == nil {
			return "", fault.New(fault.Refused, "%s is a symlink that leads nowhere", at)
		}
		missing = filepath.Join(filepath.Base(at), missing)
	}
}

// changed are the files that the plan changes, in its order.
func (p *plan) changed() []*file {
	var out []*file
	for _, f := range p.files {
		if f.link != "" || (f.before == nil) != (f.after == nil) || !bytes.Equal(f.before, f.after) {
			out = append(out, f)
		}
	}
	return out
}

// carryOut writes the plan, unless it is dry, and reports it.
func (p *plan) carryOut(dry bool) (Report, error) {
	r := Report{Changes: []Change{}, Notes: p.notes}
	for _, f := range p.changed() {
		if !dry {
			if err := f.write(); err != nil {
				return r, err
			}
		}
		r.Changes = append(r.Changes, f.change())
	}
	return r, nil
}

func (f *file) change() Change {
	c := Change{Path: f.path, Action: "update"}
	switch {
	case f.before == nil:
		c.Action = "create"
	case f.after == nil && f.link == "":
		c.Action = "remove"
	}
	if !f.binary && f.link == "" {
		c.Diff = string(diff.Diff(f.path, f.before, f.path, f.after))
	}
	return c
}

func (f *file) write() error {
	if f.link != "" {
		return fault.Wrap(f.replaceLink(), nil, "linking %s", f.path)
	}
	if f.after == nil {
		return fault.Wrap(f.remove(), nil, "removing %s", f.path)
	}
	return fault.Wrap(f.replace(), nil, "writing %s", f.path)
}

// replace writes the file beside itself and renames it, so that a reader finds
// the old or the new one and never a half.
func (f *file) replace() error {
	dir := filepath.Dir(f.target)
	if err := os.MkdirAll(dir, f.dirs); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".satelle-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails once it is renamed
	_, err = tmp.Write(f.after)
	if err == nil {
		err = tmp.Chmod(f.mode)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if err := f.unchanged(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), f.target)
}

// unchanged refuses to overwrite what somebody wrote since the plan was made.
func (f *file) unchanged() error {
	if f.binary {
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

// replaceLink makes the symlink in one step.
func (f *file) replaceLink() error {
	dir := filepath.Dir(f.path)
	if err := os.MkdirAll(dir, f.dirs); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(dir, ".satelle-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.Symlink(f.link, filepath.Join(tmp, "link")); err != nil {
		return err
	}
	return os.Rename(filepath.Join(tmp, "link"), f.path)
}
