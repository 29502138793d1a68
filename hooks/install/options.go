package install

import (
	"path/filepath"
	"slices"

	"satelle/hooks/dialect"
	"satelle/internal/fault"
	"satelle/internal/place"
)

// Scopes of an installation.
const (
	Project = "project" // the settings in the repository, which are committed
	User    = "user"    // the settings in the person's home, for all repositories
)

// What the hook command answers on a machine without satelle.
const (
	Deny  = dialect.Deny
	Allow = dialect.Allow
)

// Options say what to install where. All paths are absolute.
type Options struct {
	Home        string // the person's home folder
	SatelleHome string // satelle's machine-wide folder
	CodexHome   string // $CODEX_HOME: Codex's folder; "" means .codex in Home
	Repo        string // any folder of the repository; for the scope Project
	Program     string // the satelle that runs; satelle-hook lies beside it

	Targets     []string // harnesses by name, or "all"
	Scope       string   // Project, the default, or User
	Trust       bool     // record, the documented way, that the person trusts these hooks
	Uninstalled string   // Deny, the default, or Allow
	DryRun      bool     // report what would change, and change nothing
}

// Report says what was changed, or would be.
type Report struct {
	Changes []Change `json:"changes"`
	Notes   []string `json:"notes,omitempty"` // what a person should know or do now
}

// Change is one file that was created, updated or removed.
type Change struct {
	Path   string `json:"path"`
	Action string `json:"action"` // create, update or remove
	Diff   string `json:"diff,omitempty"`
}

// job is Options with everything resolved.
type job struct {
	Options
	harnesses []harness
	codexHome string
	root      string // the work tree's root; "" for the scope User
	primary   string // the root of the clone's primary checkout
}

func (o Options) resolve() (*job, error) {
	j := &job{Options: o, codexHome: o.CodexHome}
	if j.codexHome == "" {
		j.codexHome = filepath.Join(j.Home, ".codex")
	}
	for _, f := range []struct {
		field   *string
		initial string
		allowed []string
		what    string
	}{
		{&j.Scope, Project, []string{Project, User}, "scope"},
		{&j.Uninstalled, Deny, []string{Deny, Allow}, "answer of an uninstalled satelle"},
	} {
		if *f.field == "" {
			*f.field = f.initial
		}
		if !slices.Contains(f.allowed, *f.field) {
			return nil, fault.New(fault.Usage, "unknown %s %q: use %s or %s", f.what, *f.field, f.allowed[0], f.allowed[1])
		}
	}
	if err := j.targets(); err != nil {
		return nil, err
	}
	if j.Scope == User {
		return j, nil
	}
	p, err := place.Find(j.SatelleHome, j.Repo)
	if err != nil {
		return nil, fault.Wrap(err, nil, "finding the repository of %s", j.Repo)
	}
	if p.WorkTree == "" {
		return nil, fault.New(fault.NotFound, "%s is in no git work tree", j.Repo)
	}
	j.root, j.primary = p.WorkTree, p.WorkTree
	if p.TreeID != "." && filepath.Base(p.CommonDir) == ".git" {
		j.primary = filepath.Dir(p.CommonDir)
	}
	return j, nil
}

func (j *job) targets() error {
	for _, t := range j.Targets {
		if t != "all" && !slices.ContainsFunc(harnesses, func(h harness) bool { return h.name == t }) {
			return fault.Try(fault.New(fault.Usage, "unknown harness %q", t), "satelle agents install all")
		}
	}
	for _, h := range harnesses {
		if slices.Contains(j.Targets, h.name) || slices.Contains(j.Targets, "all") {
			j.harnesses = append(j.harnesses, h)
		}
	}
	if len(j.harnesses) == 0 {
		return fault.Try(fault.New(fault.Usage, "no harness named"), "satelle agents install all")
	}
	return nil
}
