package install

import (
	"bytes"
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"satelle/internal/fault"
)

// gitHooks are the hooks of git that satelle answers.
var gitHooks = []string{"pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-rewrite", "pre-push"}

const (
	// gitMark begins the second line of every hook of satelle's, and of no
	// other file.
	gitMark = "# satelle-git-hook: "
	// setAside is where a hook is kept that was there before ours.
	setAside = ".before-satelle"
	// legacy is where the pre-commit framework puts a hook that it finds; it
	// calls it first.
	legacy = ".legacy"
)

//go:embed githook.sh
var gitScript string

// Git says where git's hooks are to be put. All paths are absolute.
type Git struct {
	SatelleHome string
	Program     string // the satelle that runs
	Hooks       string // the folder in which git looks for hooks
	Top         string // the root of the work tree
	CommonDir   string // the git directory that the clone's work trees share
	Uninstalled string // Deny, the default, or Allow
	DryRun      bool   // report what would change, and change nothing
}

// hookDir is the folder of the hooks, and how they are kept and run there.
type hookDir struct {
	path  string
	husky bool
}

// dir finds the folder to write to. Husky's own folder is written anew with
// every install of the project's packages; its hooks call those of the folder
// above, which are committed, and run them by sh whatever their mode.
func (g Git) dir() (hookDir, error) {
	d := hookDir{path: g.Hooks}
	if filepath.Base(g.Hooks) == "_" && filepath.Base(filepath.Dir(g.Hooks)) == ".husky" {
		d = hookDir{filepath.Dir(g.Hooks), true}
	}
	info, err := os.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d, nil
	case err != nil:
		return d, fault.Wrap(err, nil, "looking for git's hooks")
	case !info.IsDir():
		return d, fault.Try(fault.New(fault.Refused, "git runs no hooks here: core.hooksPath is %s, which is no folder", d.path), "git config --show-origin core.hooksPath")
	}
	return d, nil
}

func (d hookDir) script(name, uninstalled string) []byte {
	test, run := "-x", ""
	if d.husky {
		test, run = "-f", "sh -e "
	}
	return []byte(strings.NewReplacer("@NAME@", name, "@UNINSTALLED@", uninstalled, "@TEST@", test, "@RUN@", run).Replace(gitScript))
}

// gitHook is one hook as it is.
type gitHook struct {
	name, path string
	present    bool
	content    []byte // of a file that can be read
	ours       bool
	aside      bool // one from before is kept
	// moved is where the pre-commit framework has put ours, or "".
	moved string
}

func (d hookDir) look(name string) (gitHook, error) {
	h := gitHook{name: name, path: filepath.Join(d.path, name)}
	var err error
	if h.present, h.content, err = hookFile(h.path); err != nil {
		return h, err
	}
	h.ours = isGitHook(h.content)
	if h.aside, _, err = hookFile(h.path + setAside); err != nil {
		return h, err
	}
	_, other, err := hookFile(h.path + legacy)
	if !h.ours && isGitHook(other) && bytes.Contains(h.content, []byte("pre-commit.com")) {
		h.moved, h.content = h.path+legacy, other
	}
	return h, err
}

func hookFile(path string) (present bool, content []byte, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, nil
	}
	if err != nil {
		return false, nil, fault.Wrap(err, nil, "looking at %s", path)
	}
	if info.Mode().IsRegular() && info.Size() <= maxSettings {
		content, err = os.ReadFile(path)
	}
	return true, content, fault.Wrap(err, nil, "reading %s", path)
}

func isGitHook(content []byte) bool {
	lines := strings.SplitN(string(content), "\n", 3)
	return len(lines) == 3 && strings.HasPrefix(lines[1], gitMark)
}

// InstallGit puts satelle's hooks where git looks for them. A hook that is
// there is kept beside ours and called by it.
func InstallGit(g Git) (Report, error) {
	if g.Uninstalled == "" {
		g.Uninstalled = Deny
	}
	if g.Uninstalled != Deny && g.Uninstalled != Allow {
		return Report{}, fault.New(fault.Usage, "unknown answer of an uninstalled satelle %q: use %s or %s", g.Uninstalled, Deny, Allow)
	}
	d, err := g.dir()
	if err != nil {
		return Report{}, err
	}
	machine := &job{Options: Options{SatelleHome: g.SatelleHome, Program: g.Program}}
	programs := &plan{}
	if err := machine.programLink(programs); err != nil {
		return Report{}, err
	}
	var steps []gitStep
	for _, name := range gitHooks {
		h, err := d.look(name)
		if err != nil {
			return Report{}, err
		}
		add, err := h.install(d.script(name, g.Uninstalled))
		if err != nil {
			return Report{}, err
		}
		steps = append(steps, add...)
	}
	rep, err := programs.carryOut(g.DryRun)
	if err != nil {
		return rep, err
	}
	g.notes(d, &rep)
	return rep, carryOutGit(steps, g.DryRun, &rep)
}

// notes tells what a person should know of the folder.
func (g Git) notes(d hookDir, rep *Report) {
	within := func(dir string) bool {
		return dir != "" && strings.HasPrefix(d.path+string(filepath.Separator), dir+string(filepath.Separator))
	}
	switch {
	case within(g.CommonDir):
	case within(g.Top):
		rep.Notes = append(rep.Notes, d.path+" is in the work tree: commit the hooks, so that every clone has them")
	default:
		rep.Notes = append(rep.Notes, d.path+" (core.hooksPath) may serve other repositories, too; where satelle does not govern, its hooks are silent")
	}
}

// gitStep is one change of the hooks' folder.
type gitStep struct {
	path    string
	before  []byte
	after   []byte // written; nil with no rename: deleted
	to      string // renamed to this
	existed bool
}

func (h gitHook) install(script []byte) ([]gitStep, error) {
	target := h.path
	switch {
	case h.moved != "":
		target = h.moved
	case h.present && !h.ours && h.aside:
		return nil, fault.Try(fault.New(fault.Refused, "%s was written anew by another program, and %s is kept from before: one of them has to go", h.path, h.name+setAside),
			"rm "+word(h.path+setAside))
	case h.present && !h.ours:
		return []gitStep{
			{path: h.path, to: h.path + setAside, existed: true},
			{path: h.path, before: h.content, after: script, existed: true},
		}, nil
	}
	if bytes.Equal(h.content, script) {
		return nil, nil
	}
	return []gitStep{{path: target, before: h.content, after: script, existed: h.present}}, nil
}

// RemoveGit takes satelle's hooks away, and puts those back that were there
// before.
func RemoveGit(g Git) (Report, error) {
	rep := Report{Changes: []Change{}}
	d, err := g.dir()
	if err != nil {
		return rep, err
	}
	var steps []gitStep
	for _, name := range gitHooks {
		h, err := d.look(name)
		switch {
		case err != nil:
			return rep, err
		case h.moved != "":
			steps = append(steps, gitStep{path: h.moved, before: h.content, existed: true})
		case h.ours && h.aside:
			steps = append(steps, gitStep{path: h.path + setAside, to: h.path, existed: true})
		case h.ours:
			steps = append(steps, gitStep{path: h.path, before: h.content, existed: true})
		}
		if h.aside && !h.ours {
			rep.Notes = append(rep.Notes, h.path+setAside+" is left: "+h.path+" was written anew by another program")
		}
	}
	return rep, carryOutGit(steps, g.DryRun, &rep)
}

func carryOutGit(steps []gitStep, dry bool, rep *Report) error {
	for _, s := range steps {
		if !dry {
			if err := s.carryOut(); err != nil {
				return err
			}
		}
		rep.Changes = append(rep.Changes, s.change())
	}
	return nil
}

func (s gitStep) carryOut() error {
	switch {
	case s.to != "":
		return fault.Wrap(os.Rename(s.path, s.to), nil, "moving %s", s.path)
	case s.after == nil:
		return fault.Wrap(os.Remove(s.path), nil, "removing %s", s.path)
	}
	f := &file{path: s.path, target: s.path, after: s.after, mode: 0o755, dirs: 0o755, own: true}
	return f.write()
}

func (s gitStep) change() Change {
	switch {
	case s.to != "" && strings.HasSuffix(s.to, setAside):
		return Change{Path: s.to, Action: "create"}
	case s.to != "":
		return Change{Path: s.to, Action: "update"}
	case s.after == nil:
		return Change{Path: s.path, Action: "remove"}
	case s.existed:
		return Change{Path: s.path, Action: "update", Diff: string(diff.Diff(s.path, s.before, s.path, s.after))}
	}
	return Change{Path: s.path, Action: "create"}
}

// StatusGit tells how things stand with git's hooks.
func StatusGit(g Git) State {
	s := State{Harness: "git", Scope: "clone", File: g.Hooks, Trusted: true, Current: true}
	d, err := g.dir()
	s.File = d.path
	if err != nil {
		s.Problem = err.Error()
		return s
	}
	installed := 0
	for _, name := range gitHooks {
		h, err := d.look(name)
		if err != nil {
			s.Problem = err.Error()
			return s
		}
		runs := executable(h.path)
		if d.husky {
			runs = executable(filepath.Join(g.Hooks, name)) // what git runs, and calls ours
		}
		if h.moved != "" {
			runs = executable(h.moved) && executable(h.path)
		}
		if (h.ours || h.moved != "") && runs {
			installed++
		}
		for _, answer := range []string{Deny, Allow} {
			if bytes.Equal(h.content, d.script(name, answer)) {
				s.Uninstalled = answer
			}
		}
		s.Current = s.Current && s.Uninstalled != "" && bytes.Equal(h.content, d.script(name, s.Uninstalled))
	}
	s.Installed = installed == len(gitHooks)
	satelle := filepath.Join(g.SatelleHome, "bin", programName)
	s.Engine = executable(satelle)
	real, err := filepath.EvalSymlinks(satelle)
	s.EngineFresh = err == nil && real == g.Program
	return s
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// word writes a path as one word of a shell.
func word(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
