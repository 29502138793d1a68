package install

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// launcherMark is the second line of every launcher of satelle's, and of no
// other file.
const launcherMark = "# satelle-launcher: made by `satelle agents install`, deleted by `satelle agents remove`"

func (j *job) launcherPath(h harness) string {
	return filepath.Join(j.SatelleHome, "agents", "bin", h.launcher)
}

func (h harness) launcherText() []byte {
	return []byte("#!/bin/sh\n" + launcherMark + "\nexec " + h.starts + "\n")
}

// launcher plans the launcher, unless somebody else's file has its name.
func (j *job) launcher(p *plan, h harness) error {
	f, err := j.ownLauncher(p, h)
	if err != nil || f == nil {
		return err
	}
	f.after = h.launcherText()
	p.files = append(p.files, f)
	return nil
}

// unlaunch plans the removal of the launcher.
func (j *job) unlaunch(p *plan, h harness) error {
	f, err := j.ownLauncher(p, h)
	if err != nil || f == nil {
		return err
	}
	p.files = append(p.files, f)
	return nil
}

// ownLauncher returns the launcher as it is, or nil if the file is not
// satelle's.
func (j *job) ownLauncher(p *plan, h harness) (*file, error) {
	path := j.launcherPath(h)
	f := &file{path: path, target: path, keep: j.SatelleHome, mode: 0o755, dirs: private}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() {
		if f.before, _, err = read(path, 0); err != nil {
			return nil, err
		}
	}
	lines := strings.SplitN(string(f.before), "\n", 3)
	if len(lines) < 3 || lines[1] != launcherMark {
		p.note(path + " is not satelle's; it stays as it is")
		return nil, nil
	}
	return f, nil
}
