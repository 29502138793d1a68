package liveness

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"satelle/hooks/install"
	"satelle/internal/gitrepo"
)

// git's own hooks belong to no harness; in the report they stand as one.
const (
	gitName  = "git"
	gitScope = "clone"
)

// gitHooks looks at satelle's hooks of git, where what gets past the others is
// caught. They are installed only if a person asks for them by name.
func (l *look) gitHooks(ctx context.Context) {
	if l.tree == "" || !l.report.Governed {
		return
	}
	mend := installing(gitName, install.Project)
	dir, err := hooksPath(ctx, l.tree)
	if err != nil {
		l.find(Note, "git-hooks", gitName, "", "look at core.hooksPath", "where git looks for hooks can't be told: %v", err)
		return
	}
	s := install.StatusGit(install.Git{SatelleHome: l.SatelleHome, Program: l.Program, Hooks: dir, Top: l.tree, CommonDir: l.place.CommonDir})
	some, asleep := ourGitHooks(s.File)
	switch {
	case s.Problem != "":
		l.find(Broken, "unreadable", gitName, gitScope, "mend what it names; then: "+mend, "git's hooks: %s", s.Problem)
	case len(asleep) > 0 && !s.Installed:
		l.find(Broken, "not-executable", gitName, gitScope, "chmod +x "+words(asleep), "git skips hooks in %s that are not executable", s.File)
	case some && !s.Installed:
		l.find(Broken, "incomplete", gitName, gitScope, mend, "in %s some of satelle's hooks are missing", s.File)
	case !s.Installed:
		l.find(Note, "git-hooks", gitName, "", mend, "git runs no hook of satelle here: commits without a seat are found by satelle audit alone")
		return
	case !s.Engine:
		l.find(Broken, "program-missing", gitName, gitScope, mend, "the hooks in %s find no satelle", s.File)
	case !s.Current:
		l.find(Open, "outdated", gitName, gitScope, mend, "the hooks in %s are not as this satelle writes them", s.File)
	}
	l.report.Hooks = append(l.report.Hooks, Hook{
		Harness: gitName, Scope: gitScope, File: s.File, Installed: s.Installed, Current: s.Current, Trusted: true, Proof: ProofFiles, Program: l.program(gitName),
	})
}

func hooksPath(ctx context.Context, tree string) (string, error) {
	repo, err := gitrepo.Open(ctx, tree)
	if err != nil {
		return "", err
	}
	return repo.HooksPath(ctx)
}

// ourGitHooks reports whether a folder holds hooks of satelle's, and which of
// them git skips.
func ourGitHooks(dir string) (some bool, asleep []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, nil // then git runs none
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		doc, err := load(path)
		if err != nil || !strings.Contains(string(doc), "\n# satelle-git-hook: ") {
			continue
		}
		if some = true; !executable(path) {
			asleep = append(asleep, path)
		}
	}
	return some, asleep
}
