package gitrepo

import (
	"os"
	"strings"
	"testing"

	"satelle/internal/fault"
)

func TestChanged(t *testing.T) {
	w := newWork(t)
	if got := w.changed("HEAD"); got != "" {
		t.Errorf("a clean tree has changed: %q", got)
	}
	first := w.git("rev-parse", "HEAD")
	w.write("second", "2\n")
	w.commit()
	w.write("a.txt", "x\n")
	w.write("new\nline", "n\n")
	w.remove("dir")
	w.write("dir", "now a file\n")
	if got, want := w.changed("HEAD"), "M a.txt\nA dir\nD dir/b.txt\nA new\nline\n"; got != want {
		t.Errorf("changed %q, want %q", got, want)
	}
	if got, want := w.changed(first), "M a.txt\nA dir\nD dir/b.txt\nA new\nline\nA second\n"; got != want {
		t.Errorf("changed since the first commit %q, want %q", got, want)
	}
	if got, want := w.changed(first+"^{tree}"), w.changed(first); got != want {
		t.Errorf("changed since its tree %q, want %q", got, want)
	}
}

func TestBaseIsNotThere(t *testing.T) {
	w := newWork(t)
	r := w.open()
	w.write("a.txt", "dirty\n")
	tree := w.tree() // its objects are gone again
	blob := w.git("rev-parse", "HEAD:a.txt")
	for _, base := range []string{"nowhere", "--output=x", tree, blob, strings.Repeat("1", 40), "HEAD~9", "a b", "HEAD:a.txt"} {
		if _, err := r.Changed(t.Context(), base); !fault.Is(err, fault.NotFound) {
			t.Errorf("base %q: err = %v", base, err)
		}
	}
}

func TestDiff(t *testing.T) {
	w := newWork(t)
	w.write("a.txt", "x\n")
	w.write("new.txt", "n\n")
	w.write("bin", "\x00\x01")
	r := w.open()
	patch, truncated, err := r.Diff(t.Context(), "HEAD", 1<<20)
	if err != nil || truncated {
		t.Fatal(truncated, err)
	}
	for _, want := range []string{"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+x\n", "+++ b/new.txt\n@@ -0,0 +1 @@\n+n\n", "Binary files /dev/null and b/bin differ\n"} {
		if !strings.Contains(string(patch), want) {
			t.Errorf("the patch lacks %q:\n%s", want, patch)
		}
	}
	for _, max := range []int{1, 100, len(patch) - 1, len(patch), len(patch) + 1} {
		part, truncated, err := r.Diff(t.Context(), "HEAD", max)
		if err != nil || truncated != (max < len(patch)) || string(part) != string(patch[:min(max, len(patch))]) {
			t.Errorf("max %d: %d bytes, %v, %v", max, len(part), truncated, err)
		}
	}
	stat, _, err := r.DiffStat(t.Context(), "HEAD", 1<<10)
	if err != nil || !strings.Contains(string(stat), "3 files changed, 2 insertions(+), 1 deletion(-)") {
		t.Errorf("stat %q, %v", stat, err)
	}
}

// A patch that leaves out what has changed says so, and one that only speaks of
// such patches does not.
func TestOpaque(t *testing.T) {
	nest := func(w work) {
		w.git("init", "--quiet", "in")
		w.write("in/x", "1\n")
		inner := work{w.T, w.path("in")}
		inner.commit()
	}
	for _, tt := range []struct {
		name   string
		before func(work)
		do     func(work)
		want   bool
	}{
		{"text", nil, func(w work) { w.write("a.txt", "x\n") }, false},
		{"empty", nil, func(w work) { w.write("new", "") }, false},
		{"no text", nil, func(w work) { w.write("bin", "#!/bin/sh\n\x00") }, true},
		{"text no more", nil, func(w work) { w.write("a.txt", "a\n\x00") }, true},
		{"text again", func(w work) { w.write("a.txt", "\x00") }, func(w work) { w.write("a.txt", "a") }, true},
		{"deleted", nil, func(w work) { w.remove("a.txt") }, false},
		{"a name like a deleted one", nil, func(w work) { w.write("b and /dev/null", "\x00") }, true},
		{"moved", func(w work) { w.write("bin", "\x00") }, func(w work) { w.remove("bin"); w.write("moved", "\x00") }, false},
		{"mode", func(w work) { w.write("bin", "\x00") }, func(w work) { os.Chmod(w.path("bin"), 0o755) }, false},
		{"symbolic link", nil, func(w work) { os.Symlink("elsewhere", w.path("l")) }, false},
		{"a repository", nil, nest, true},
		{"a repository's file", nest, func(w work) { w.write("in/x", "2\n") }, true},
		{"a repository's commit", nest, func(w work) { w.write("in/x", "2\n"); work{w.T, w.path("in")}.commit() }, true},
		{"a repository gone", nest, func(w work) { w.remove("in") }, false},
		{"words", nil, func(w work) {
			w.write("a.txt", "Binary files a/x and b/x differ\nindex 1..2 160000\nnew file mode 160000\n")
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWork(t)
			if tt.before != nil {
				tt.before(w)
				w.commit()
			}
			tt.do(w)
			patch, truncated, err := w.open().Diff(t.Context(), "HEAD", 1<<20)
			if err != nil || truncated || len(patch) == 0 {
				t.Fatalf("%q, %v, %v", patch, truncated, err)
			}
			if got := Opaque(patch); got != tt.want {
				t.Errorf("%v:\n%s", got, patch)
			}
		})
	}
}

// Line ends that git would warn of are no error.
func TestDiffLineEnds(t *testing.T) {
	w := newWork(t)
	w.git("config", "core.autocrlf", "input")
	w.git("config", "core.safecrlf", "true")
	w.write("crlf", "1\r\n2\r\n")
	if patch, _, err := w.open().Diff(t.Context(), "HEAD", 0); err != nil || !strings.Contains(string(patch), "+1\n+2\n") {
		t.Errorf("patch %q, %v", patch, err)
	}
}

// A large diff ends when enough of it is there.
func TestDiffLarge(t *testing.T) {
	w := newWork(t)
	w.write("large", strings.Repeat("a line of text\n", 1<<18))
	part, truncated, err := w.open().Diff(t.Context(), "HEAD", 1000)
	if err != nil || !truncated || len(part) != 1000 {
		t.Errorf("%d bytes, %v, %v", len(part), truncated, err)
	}
}

// A filter runs for no reader wherever the repository sets it.
func TestFiltersOfTheRepository(t *testing.T) {
	for name, set := range map[string]func(w work, wire string){
		"in another case": func(w work, wire string) {
			w.write(".git/config", "[core]\n\tbare = false\n[FILTER \"evil\"]\n\tclean = "+wire+"\n")
		},
		"in an included file": func(w work, wire string) {
			w.write(".git/more", "[filter \"evil\"]\n\tclean = "+wire+"\n")
			w.git("config", "include.path", "more")
		},
		"for the work tree": func(w work, wire string) {
			w.git("config", "extensions.worktreeConfig", "true")
			w.git("config", "--worktree", "filter.evil.clean", wire)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWork(t)
			wire, untouched := w.tripwire()
			w.write(".gitattributes", "*.txt filter=evil\n")
			w.commit()
			set(w, wire)
			if got := w.git("config", "--get", "filter.evil.clean"); got != wire {
				t.Fatalf("git does not see the filter: %q", got)
			}
			w.write("a.txt", "x\n")
			if _, err := w.open().Tree(t.Context()); err != nil {
				t.Error(err)
			}
			untouched()
		})
	}
}

// Nothing that a repository configures runs when it is read, and nothing of it
// decides what a diff shows.
func TestConfiguredCode(t *testing.T) {
	w := newWork(t)
	wire, untouched := w.tripwire()
	for _, key := range []string{
		"core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "core.askPass", "core.gitProxy", "core.alternateRefsCommand",
		"diff.external", "diff.evil.textconv", "diff.evil.command", "pager.diff-tree", "pager.config", "pager.ls-files",
		"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "filter.a.b=.clean.clean",
		"uploadpack.packObjectsHook", "interactive.diffFilter", "gpg.program", "credential.helper", "sequence.editor",
	} {
		if !strings.Contains(key, "=") {
			w.git("config", key, wire)
		}
	}
	for _, alias := range []string{"ls-files", "diff-tree", "rev-parse", "update-index", "write-tree"} {
		w.git("config", "alias."+alias, "!"+wire)
	}
	w.git("config", "filter.evil.required", "true")
	w.git("config", "filter.with.dots.clean", wire)
	w.git("config", "diff.noprefix", "true")
	w.git("config", "diff.submodule", "log")
	w.git("config", "core.hooksPath", "hooks")
	for _, hook := range []string{"post-index-change", "pre-commit", "reference-transaction", "fsmonitor-watchman"} {
		w.write("hooks/"+hook, "#!/bin/sh\nexec "+wire+"\n")
		if err := os.Chmod(w.path("hooks/"+hook), 0o755); err != nil {
			t.Fatal(err)
		}
		w.git("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "filter.evil.process=", "-c", "filter.evil.clean=", "-c", "filter.evil.required=false", "add", "hooks/"+hook)
	}
	w.write(".gitattributes", "* filter=evil diff=evil\n*.txt -diff\nother filter=with.dots\n")
	w.write(".git/info/attributes", "* filter=evil diff=evil\n*.txt -diff\n")
	w.write("a.txt", "x\n")
	w.write("other", "y\n")
	r := w.open()
	if _, err := r.Head(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := r.Tree(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := r.Dirty(t.Context()); err != nil {
		t.Error(err)
	}
	if got := w.changed("HEAD"); !strings.Contains(got, "M a.txt\n") {
		t.Errorf("changed %q", got)
	}
	patch, _, err := r.Diff(t.Context(), "HEAD", 1<<20)
	if err != nil || !strings.Contains(string(patch), "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+x\n") {
		t.Errorf("the attributes hid a change: %v\n%s", err, patch)
	}
	if _, _, err := r.DiffStat(t.Context(), "HEAD", 1<<20); err != nil {
		t.Error(err)
	}
	if _, err := r.CheckIgnored(t.Context(), "a.txt"); err != nil {
		t.Error(err)
	}
	if got, err := r.Config(t.Context(), "diff.external"); got != wire || err != nil {
		t.Errorf("config %q, %v", got, err)
	}
	untouched()
}

// The configuration of a repository within the work tree runs nothing either.
func TestConfiguredCodeNested(t *testing.T) {
	w := newWork(t)
	origin := initWork(t, t.TempDir())
	w.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", origin.dir, "inner")
	w.commit()
	wire, untouched := w.tripwire()
	inner := work{t, w.path("inner")}
	inner.git("config", "core.fsmonitor", wire)
	inner.git("config", "filter.evil.clean", wire)
	inner.write(".gitattributes", "* filter=evil\n")
	inner.write("a.txt", "x\n")
	w.tree()
	w.changed("HEAD")
	if _, _, err := w.open().Diff(t.Context(), "HEAD", 1<<20); err != nil {
		t.Error(err)
	}
	untouched()
}

// The person's own way to look at a diff decides nothing either.
func TestPersonsDiff(t *testing.T) {
	w := newWork(t)
	initWork(t, w.path("inner"))
	wire, untouched := w.tripwire()
	for key, value := range map[string]string{
		"diff.external": wire, "diff.ignoreSubmodules": "all", "diff.noprefix": "true", "color.ui": "always", "core.quotePath": "true",
	} {
		w.git("config", "--global", key, value)
	}
	w.write("ü.txt", "x\n")
	r := w.open()
	patch, _, err := r.Diff(t.Context(), "HEAD", 0)
	for _, want := range []string{"+++ b/ü.txt\n@@ -0,0 +1 @@\n+x\n", "+++ b/inner\n@@ -0,0 +1 @@\n+Subproject commit "} {
		if err != nil || !strings.Contains(string(patch), want) {
			t.Errorf("the patch lacks %q: %v\n%s", want, err, patch)
		}
	}
	if stat, _, err := r.DiffStat(t.Context(), "HEAD", 0); err != nil || !strings.Contains(string(stat), " ü.txt | 1 +\n") {
		t.Errorf("stat %q, %v", stat, err)
	}
	untouched()
}

// A filter of the person's own configuration is theirs and runs.
func TestPersonsFilter(t *testing.T) {
	w := newWork(t)
	w.git("config", "--global", "filter.upper.clean", "tr a-z A-Z")
	w.write(".gitattributes", "new.txt filter=upper\n")
	w.write("new.txt", "n\n")
	if got, want := w.tree(), w.committed(); got != want {
		t.Errorf("tree %s, want %s", got, want)
	}
}
