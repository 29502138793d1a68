package install

import (
	_ "embed"
	"os"
	"path/filepath"

	"satelle/internal/fault"
)

// wrapper answers the hook where the engine is missing.
//
//go:embed satelle-hook.sh
var wrapper []byte

// What the hook command runs, under $SATELLE_HOME/bin.
const (
	engineName  = "satelle-hook"
	wrapperName = "satelle-hook.sh"
	programName = "satelle"
)

// private is the mode of folders under $SATELLE_HOME.
const private = 0o700

func (j *job) bin(name string) string { return filepath.Join(j.SatelleHome, "bin", name) }

// engine plans the programs of this machine: the hook's engine, copied from
// beside the running program so that a rebuild or a deleted checkout does not
// disarm every hook, its wrapper, and the name of the program that people and
// agents are told to run.
func (j *job) engine(p *plan) error {
	source, err := j.engineSource()
	if err != nil {
		return err
	}
	code, err := os.ReadFile(source)
	if err != nil {
		return fault.Wrap(err, nil, "reading the hook's engine")
	}
	for _, f := range []*file{
		{path: j.bin(engineName), after: code},
		{path: j.bin(wrapperName), after: wrapper},
	} {
		f.target, f.mode, f.dirs, f.own = f.path, 0o755, private, true
		// What can't be read or is no file is replaced like what differs.
		if info, err := os.Lstat(f.path); err == nil {
			f.before = []byte{}
			if info.Mode().IsRegular() && info.Mode().Perm() == f.mode {
				f.before, _ = os.ReadFile(f.path)
			}
		}
		p.files = append(p.files, f)
	}
	return j.programLink(p)
}

// programLink plans the name by which the running program is found. Where the
// program itself has been installed under that name, it stays.
func (j *job) programLink(p *plan) error {
	program, err := filepath.EvalSymlinks(j.Program)
	if err != nil {
		return fault.Wrap(err, nil, "finding the running program")
	}
	name := j.bin(programName)
	if real, err := filepath.EvalSymlinks(name); err == nil && real == program {
		return nil
	}
	f := &file{path: name, target: name, link: program, dirs: private}
	if _, err := os.Lstat(name); err == nil {
		f.before = []byte{}
	}
	p.files = append(p.files, f)
	return nil
}
