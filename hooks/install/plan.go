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
	path   string      // as people know it
	target string      // where the bytes are: path with symlinks followed
	keep   string      // the folder at which removing of emptied folders ends
	before []byte      // nil if there is no such file
	after  []byte      // nil if there shall be none
	mode   fs.FileMode // for a new file, less what the umask takes
	dirs   fs.FileMode // likewise, for folders that are made for it
	link   string      // for a symlink: what it shall point to
	own    bool        // a program of satelle's: replaced whatever it is, never shown
}

func (p *plan) note(text string) { p.notes = append(p.notes, text) }

// settings returns a harness's file with what is planned for it so far. Within,
// if not "", is the folder that its symlinks must not leave; mode is that of a
// new file.
func (p *plan) settings(path, within, keep string, mode fs.FileMode) (*file, error) {
	for _, f := range p.files {
		if f.path == path {
			return f, nil
		}
	}
	target, err := follow(path, within)
	if err != nil {
		return nil, err
	}
	// A new folder can be entered by those who may read what is in it.
	f := &file{path: path, target: target, keep: keep, dirs: mode | mode>>2&0o111}
	f.before, f.mode, err = read(target, mode)
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
	if !f.own && f.link == "" {
		c.Diff = string(diff.Diff(f.path, f.before, f.path, f.after))
	}
	return c
}
