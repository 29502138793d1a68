package liveness

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"satelle/hooks/install"
	"satelle/internal/proc"
)

// gitTime bounds a question to git.
const gitTime = 10 * time.Second

// committed looks whether the hooks reach other clones and work trees.
func (l *look) committed(ctx context.Context) {
	if l.tree == "" {
		return
	}
	var missing, ignored []string
	level := Note
	for _, name := range install.Names() {
		h := l.hook(name, install.Project)
		if !h.Installed {
			continue
		}
		for _, file := range settingsOf(h) {
			if _, err := os.Stat(file); err != nil || l.reaches(ctx, h, file) {
				continue
			}
			if _, ignores := l.git(ctx, l.rootOf(file), "check-ignore", "-q", "--", file); ignores && !l.tracked(ctx, file) {
				ignored = append(ignored, l.relative(file))
				continue
			}
			missing = append(missing, l.relative(file))
			if !l.has(name, install.User) {
				level = Open
			}
		}
	}
	switch setup := l.unset(ctx); {
	case setup && len(missing) > 0:
		missing = append([]string{satelleDir}, missing...)
		l.find(level, "uncommitted", "", install.Project, "git add "+words(missing)+` && git commit -m "Set up satelle"`,
			"not committed: %s: other clones are not governed, and have no hooks", strings.Join(missing, ", "))
	case setup:
		l.find(Note, "uncommitted", "", install.Project, "git add "+satelleDir+` && git commit -m "Set up satelle"`,
			"not committed: %s: other clones are not governed", satelleDir)
	case len(missing) > 0:
		commit := "git commit"
		if l.has(gitName, gitScope) {
			commit += " --no-verify" // a person's own commit; git's hooks record it as that
		}
		l.find(level, "uncommitted", "", install.Project, "git add "+words(missing)+" && "+commit+` -m "Install satelle's hooks"`,
			"not committed: %s: other clones and new work trees have no hooks", strings.Join(missing, ", "))
	}
	if len(ignored) > 0 {
		l.find(Note, "ignored", "", install.Project, "git add -f "+words(ignored)+", or satelle agents install all --scope user in each clone's home",
			"git ignores %s: other clones and new work trees have no hooks", strings.Join(ignored, ", "))
	}
	l.trees()
}

// satelleDir is where the governance files lie in a work tree.
const satelleDir = ".satelle"

// unset reports whether satelle is set up in this work tree, and the newest
// commit does not say so yet.
func (l *look) unset(ctx context.Context) bool {
	const config = satelleDir + "/satelle.toml"
	if _, err := os.Stat(filepath.Join(l.tree, config)); err != nil {
		return false
	}
	_, committed := l.git(ctx, l.tree, "cat-file", "blob", "HEAD:"+config)
	_, ignored := l.git(ctx, l.tree, "check-ignore", "-q", "--", config)
	return !committed && !ignored
}

// settingsOf are the files of a harness that have to be committed.
func settingsOf(h *Hook) []string {
	if h.Harness == "codex" {
		return []string{h.File, filepath.Join(filepath.Dir(h.File), "config.toml")}
	}
	return []string{h.File}
}

// reaches reports whether the newest commit holds what install wrote into a
// file.
func (l *look) reaches(ctx context.Context, h *Hook, file string) bool {
	root, real := l.rootOf(file), file
	if r, err := filepath.EvalSymlinks(file); err == nil {
		real = r // git keeps the link, and what we wrote where it leads
	}
	doc, ok := l.git(ctx, root, "cat-file", "blob", "HEAD:"+strings.TrimPrefix(real, root+"/"))
	if file != h.File {
		const switched = "unified_exec_tty"
		here, err := load(file)
		return err == nil && !bytes.Contains(here, []byte(switched)) || ok && bytes.Contains(doc, []byte(switched))
	}
	if !ok {
		return false
	}
	found, err := install.Entries(h.Harness, doc)
	return err == nil && len(found) > 0
}

func (l *look) tracked(ctx context.Context, file string) bool {
	_, ok := l.git(ctx, l.rootOf(file), "ls-files", "--error-unmatch", "--", file)
	return ok
}

// git asks git a question about a work tree.
func (l *look) git(ctx context.Context, dir string, args ...string) ([]byte, bool) {
	var env []string
	for _, v := range l.Env {
		if !strings.HasPrefix(v, "GIT_") {
			env = append(env, v)
		}
	}
	var out bytes.Buffer
	res, err := proc.Run(ctx, proc.Spec{
		Argv: append([]string{"git", "-c", "core.fsmonitor=false"}, args...), Dir: dir,
		Env: append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1"), Timeout: gitTime, Stdout: &limited{&out, maxFile},
	})
	return out.Bytes(), err == nil && res.OK()
}

// rootOf is the work tree that a file lies in: this one, or the primary
// checkout, whose hooks Codex reads.
func (l *look) rootOf(file string) string {
	if !strings.HasPrefix(file, l.tree+"/") {
		return l.primary
	}
	return l.tree
}

func (l *look) relative(file string) string {
	if rel, ok := strings.CutPrefix(file, l.tree+"/"); ok {
		return rel
	}
	return file
}

// maxTrees bounds the work trees that are looked at.
const maxTrees = 200

// trees looks for work trees of this clone that lack hook files. Codex reads
// those of the primary checkout everywhere.
func (l *look) trees() {
	entries, err := os.ReadDir(filepath.Join(l.place.CommonDir, "worktrees"))
	if err != nil {
		return // there are none
	}
	all := []string{l.primary}
	for i, e := range entries {
		if i == maxTrees {
			break
		}
		link, err := load(filepath.Join(l.place.CommonDir, "worktrees", e.Name(), "gitdir"))
		if err == nil && link != nil {
			all = append(all, filepath.Dir(strings.TrimSpace(string(link))))
		}
	}
	for _, name := range []string{"claude", "grok"} {
		h := l.hook(name, install.Project)
		if !h.Installed || l.has(name, install.User) {
			continue
		}
		for _, tree := range all {
			info, err := os.Stat(tree)
			if tree == l.tree || err != nil || !info.IsDir() {
				continue
			}
			if len(l.entries(name, filepath.Join(tree, l.relative(h.File)))) == 0 {
				l.find(Open, "work-tree", name, install.Project, installing(name, install.User), "the work tree %s has no hooks of its own: a %s there is not asked", tree, title(name))
			}
		}
	}
}

func words(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = word(s)
	}
	return strings.Join(out, " ")
}
