package liveness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"satelle/hooks/install"
	"satelle/internal/place"
)

// Options say what to look at. All paths are absolute.
type Options struct {
	install.Options        // where things lie on this machine; of the rest, nothing counts
	Dir             string // where a session would start
	Env             []string
	System          string // the folder of the machine's settings, /etc
	Shell           string // the login shell

	// Quick leaves out whatever starts a process.
	Quick bool
	// Play lets Claude Code play a scripted turn, which takes seconds.
	Play bool

	// testOnlyPatience is how long a hook command may take; 0 is the default.
	testOnlyPatience time.Duration
}

func (o Options) patience() time.Duration {
	if o.testOnlyPatience > 0 {
		return o.testOnlyPatience
	}
	return defaultPatience
}

// look is one examination.
type look struct {
	Options
	report  Report
	env     map[string]string
	place   place.Place
	tree    string // root of the work tree, "" outside of git
	primary string // root of the clone's primary checkout
}

// Examine finds out how things stand. What can't be found out is a finding, so
// it fails only where ctx ended.
func Examine(ctx context.Context, o Options) (Report, error) {
	l := &look{Options: o, env: environment(o.Env)}
	if real, err := place.Resolve(o.Dir); err == nil {
		l.Dir = real
	}
	l.report = Report{Dir: l.Dir, Hooks: []Hook{}, Findings: []Finding{}, OK: true}
	l.locate()
	l.installed()
	l.engine()
	l.claude()
	l.codex()
	l.grok()
	l.machine()
	if !l.Quick {
		l.canaries(ctx)
		l.ask(ctx)
		l.gitHooks(ctx)
		l.committed(ctx)
		l.login(ctx)
	}
	l.judge()
	l.report.Open = openingsOf(l.harnesses())
	return l.report, ctx.Err()
}

func environment(list []string) map[string]string {
	env := map[string]string{}
	for _, v := range list {
		if name, value, ok := strings.Cut(v, "="); ok {
			env[name] = value
		}
	}
	return env
}

// locate finds the work tree and whether satelle governs it.
func (l *look) locate() {
	p, err := place.Find(l.SatelleHome, l.Dir)
	if err != nil {
		l.find(Broken, "place", "", "", "look at what it names, and mend it there", "what governs %s can't be told, so every change is denied: %v", l.Dir, err)
		return
	}
	l.place, l.tree, l.primary = p, p.WorkTree, p.WorkTree
	if p.WorkTree != "" && p.TreeID != "." && filepath.Base(p.CommonDir) == ".git" {
		l.primary = filepath.Dir(p.CommonDir)
	}
	l.report.Tree, l.report.Governed = l.tree, p.Governed()
}

// installed asks what install knows, for each harness and scope.
func (l *look) installed() {
	for _, scope := range []string{install.Project, install.User} {
		if scope == install.Project && l.tree == "" {
			continue
		}
		for _, name := range install.Names() {
			l.status(name, scope)
		}
	}
}

func (l *look) status(name, scope string) {
	o := l.Options.Options
	o.Targets, o.Scope, o.Repo = []string{name}, scope, l.tree
	if name == "codex" {
		o.Repo = l.primary // whose hooks Codex reads in a linked work tree, too
	}
	h := Hook{Harness: name, Scope: scope, Program: l.program(name)}
	states, err := install.Status(o)
	if err != nil {
		l.find(Broken, "unreadable", name, scope, installing(name, scope), "its settings can't be looked at: %v", err)
		l.report.Hooks = append(l.report.Hooks, h)
		return
	}
	s := states[0]
	h.File, h.Installed, h.Current, h.Trusted = s.File, s.Installed, s.Current, s.Trusted
	l.report.Hooks = append(l.report.Hooks, h)
	switch {
	case s.Problem != "":
		l.find(Broken, "unreadable", name, scope, "mend "+s.File+"; then: "+installing(name, scope), "%s", s.Problem)
	case !s.Installed && len(l.entries(name, s.File)) > 0:
		l.find(Broken, "incomplete", name, scope, installing(name, scope), "%s lacks the hook of some event", s.File)
	case s.Installed && !s.Current:
		l.find(Open, "outdated", name, scope, installing(name, scope), "the hooks in %s are not as this satelle writes them", s.File)
	}
	if s.Problem == "" && !s.Installed && l.mentions(s.File) {
		l.find(Broken, "altered", name, scope, "take the entry out of "+s.File+"; then: "+installing(name, scope), "%s holds a hook that was made from satelle's and is not satelle's", s.File)
	}
}

// mentions reports whether settings hold the hook command in a changed form.
func (l *look) mentions(file string) bool {
	doc, err := load(file)
	if err != nil {
		return false
	}
	return strings.Contains(string(doc), "/satelle-hook") && len(l.entriesOf(file, doc)) == 0
}

func (l *look) entriesOf(file string, doc []byte) []install.Entry {
	for _, h := range l.report.Hooks {
		if h.File == file {
			found, _ := install.Entries(h.Harness, doc) // the caller has reported what can't be read
			return found
		}
	}
	return nil
}

// entries are satelle's hooks in a settings file; none in one that can't be
// read, which install has reported.
func (l *look) entries(name, file string) []install.Entry {
	doc, err := load(file)
	if err != nil {
		return nil
	}
	found, _ := install.Entries(name, doc)
	return found
}

// find takes in a finding.
func (l *look) find(level, name, harness, scope, mend, what string, args ...any) {
	l.report.Add(Finding{Name: name, Level: level, Harness: harness, Scope: scope, What: fmt.Sprintf(what, args...), Mend: mend})
}

// hook returns how things stand with a harness in a scope; nil if it was not
// looked at.
func (l *look) hook(harness, scope string) *Hook {
	for i := range l.report.Hooks {
		if h := &l.report.Hooks[i]; h.Harness == harness && h.Scope == scope {
			return h
		}
	}
	return nil
}

// has reports whether satelle's hooks are installed for a harness in a scope.
func (l *look) has(harness, scope string) bool {
	h := l.hook(harness, scope)
	return h != nil && h.Installed
}

// scopes are those in which hooks of a harness are installed.
func (l *look) scopes(harness string) []string {
	var out []string
	for _, scope := range []string{install.Project, install.User} {
		if l.has(harness, scope) {
			out = append(out, scope)
		}
	}
	return out
}

// harnesses are those that have hooks.
func (l *look) harnesses() []string {
	var out []string
	for _, h := range l.report.Hooks {
		if h.Installed && !slices.Contains(out, h.Harness) {
			out = append(out, h.Harness)
		}
	}
	return out
}

// judge says which hooks are live: those about which nothing speaks against it.
func (l *look) judge() {
	for i := range l.report.Hooks {
		h := &l.report.Hooks[i]
		against := slices.ContainsFunc(l.report.Findings, func(f Finding) bool {
			return f.Level == Broken && (f.Harness == "" || f.Harness == h.Harness && (f.Scope == "" || f.Scope == h.Scope))
		})
		h.Live = h.Installed && h.Trusted && !against && (h.Denies || l.Quick || h.Proof == ProofFiles)
	}
}

// installing is the command that writes the hooks of a harness.
func installing(harness, scope string) string {
	command := "satelle agents install " + harness
	if scope == install.User {
		command += " --scope user"
	}
	return command
}

// trusting is the command that also records trust in them.
func trusting(harness, scope string) string { return installing(harness, scope) + " --trust" }

// maxFile bounds a file that is looked at.
const maxFile = 4 << 20

// load reads a regular file, nil for none.
func load(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	doc, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(doc) > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return doc, err
}
