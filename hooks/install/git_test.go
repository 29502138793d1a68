package install

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"satelle/internal/fault"
)

// gitWorld is a repository whose hooks lie in a folder, and an installed
// satelle that writes down how it is called.
type gitWorld struct {
	*world
	Git
}

func newGitWorld(t *testing.T, hooks string) *gitWorld {
	w := newWorld(t)
	g := &gitWorld{w, Git{
		SatelleHome: w.SatelleHome, Program: w.path("built here/satelle"), Hooks: w.path("my repo/" + hooks),
		Top: w.root, CommonDir: filepath.Join(w.root, ".git"),
	}}
	g.write("built here/satelle", "#!/bin/sh\necho \"satelle $*: $(cat)\"\nexit ${SATELLE_SAYS:-0}\n")
	return g
}

// hook writes an executable hook that tells what it got.
func (g *gitWorld) hook(name, extra string) {
	g.t.Helper()
	g.write("my repo/"+name, "#!/bin/sh\n"+extra+"echo \"theirs $*: $(cat)\"\nexit ${THEIRS_SAYS:-0}\n")
	if err := os.Chmod(g.path("my repo/"+name), 0o755); err != nil {
		g.t.Fatal(err)
	}
}

func (g *gitWorld) installGit() Report {
	g.t.Helper()
	rep, err := InstallGit(g.Git)
	if err != nil {
		g.t.Fatal(err)
	}
	return rep
}

// call runs a hook as git does, and returns what was printed and the exit code.
func (g *gitWorld) call(env, input string, argv ...string) (string, int) {
	g.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = g.root
	cmd.Env = append(os.Environ(), "HOME="+g.Home, "SATELLE_HOME="+g.Git.SatelleHome)
	cmd.Env = append(cmd.Env, strings.Fields(env)...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		g.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestGitHooksAreChained calls each hook with a hook from before beside it.
func TestGitHooksAreChained(t *testing.T) {
	g := newGitWorld(t, ".git/hooks")
	for _, name := range gitHooks {
		g.hook(".git/hooks/"+name, "")
	}
	before := g.snapshot()
	g.installGit()
	if s := StatusGit(g.Git); !s.Installed || !s.Current || !s.Engine || !s.EngineFresh || s.Uninstalled != Deny {
		t.Errorf("%+v", s)
	}
	if rep := g.installGit(); len(rep.Changes) != 0 {
		t.Errorf("installing twice changes %+v", rep.Changes)
	}
	for _, tt := range []struct{ name, input, want string }{
		{"pre-commit", "", "satelle git-hook pre-commit a b c: \ntheirs a b c: \n"},
		{"pre-merge-commit", "", "satelle git-hook pre-merge-commit a b c: \ntheirs a b c: \n"},
		{"prepare-commit-msg", "", "theirs a b c: \nsatelle git-hook prepare-commit-msg a b c: \n"},
		{"commit-msg", "", "theirs a b c: \nsatelle git-hook commit-msg a b c: \n"},
		{"post-rewrite", "x y\nz\n", "theirs a b c: x y\nz\nsatelle git-hook post-rewrite a b c: x y\nz\n"},
		{"pre-push", "x y\n\n", "theirs a b c: x y\nsatelle git-hook pre-push a b c: x y\n"},
	} {
		hook := g.path("my repo/.git/hooks/" + tt.name)
		if out, code := g.call("", tt.input, hook, "a", "b c"); out != tt.want || code != 0 {
			t.Errorf("%s: %q, %d", tt.name, out, code)
		}
		out, code := g.call("THEIRS_SAYS=7", tt.input, hook)
		if code != 7 || strings.HasPrefix(tt.want, "theirs") && strings.Contains(out, "satelle") {
			t.Errorf("%s, theirs refuses: %q, %d", tt.name, out, code)
		}
		out, code = g.call("SATELLE_SAYS=3", tt.input, hook)
		if code != 1 || strings.HasPrefix(tt.want, "satelle") && strings.Contains(out, "theirs") {
			t.Errorf("%s, satelle refuses: %q, %d", tt.name, out, code)
		}
	}
	if _, err := RemoveGit(g.Git); err != nil {
		t.Fatal(err)
	}
	after := g.snapshot()
	maps.DeleteFunc(after, func(name, _ string) bool { return strings.Contains(name, ".satelle") && before[name] == "" })
	if !maps.Equal(before, after) {
		t.Errorf("removing leaves %v, want %v", after, before)
	}
}

// TestGitHooksWithoutSatelle: the guards refuse, or pass where that was asked
// for; what only records never stands in the way.
func TestGitHooksWithoutSatelle(t *testing.T) {
	for _, answer := range []string{Deny, Allow} {
		g := newGitWorld(t, ".git/hooks")
		g.Git.Uninstalled = answer
		g.installGit()
		if err := os.Remove(filepath.Join(g.Git.SatelleHome, "bin", "satelle")); err != nil {
			t.Fatal(err)
		}
		if s := StatusGit(g.Git); !s.Installed || !s.Current || s.Engine || s.Uninstalled != answer {
			t.Errorf("%+v", s)
		}
		for _, name := range gitHooks {
			out, code := g.call("", "", filepath.Join(g.Hooks, name))
			refuses := answer == Deny && strings.HasPrefix(name, "pre-")
			if (code != 0) != refuses || refuses != strings.Contains(out, "try: ") {
				t.Errorf("%s, %s: %q, %d", answer, name, out, code)
			}
		}
	}
}

// husky is what husky 9 puts into .husky/_ for each hook, and its runner.
const (
	huskyStub   = "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"\n"
	huskyRunner = `#!/usr/bin/env sh
n=$(basename "$0")
s=$(dirname "$(dirname "$0")")/$n
[ ! -f "$s" ] && exit 0
[ "${HUSKY-}" = "0" ] && exit 0
export PATH="node_modules/.bin:$PATH"
sh -e "$s" "$@"
c=$?
[ $c != 0 ] && echo "husky - $n script failed (code $c)"
exit $c
`
)

// TestGitHooksUnderHusky: its own folder is written anew at any time, so ours
// stand beside those that are committed.
func TestGitHooksUnderHusky(t *testing.T) {
	g := newGitWorld(t, ".husky/_")
	reinstall := func() {
		for _, name := range gitHooks {
			g.hook(".husky/_/"+name, "")
			g.write("my repo/.husky/_/"+name, huskyStub)
		}
		g.write("my repo/.husky/_/h", huskyRunner)
	}
	reinstall()
	g.write("my repo/.husky/pre-commit", "echo \"theirs $*\"\nfalse\necho not reached\n") // no mode, no first line
	rep := g.installGit()
	if len(rep.Notes) != 1 || !strings.Contains(rep.Notes[0], "commit the hooks") {
		t.Errorf("%q", rep.Notes)
	}
	if err := os.RemoveAll(g.Hooks); err != nil {
		t.Fatal(err)
	}
	if s := StatusGit(g.Git); s.Installed {
		t.Errorf("git runs nothing, but %+v", s)
	}
	reinstall()
	if s := StatusGit(g.Git); !s.Installed || !s.Current || s.File != g.path("my repo/.husky") {
		t.Errorf("%+v", s)
	}
	out, code := g.call("", "", filepath.Join(g.Hooks, "pre-commit"), "a")
	if code != 1 || !strings.HasPrefix(out, "satelle git-hook pre-commit a: \ntheirs a\n") || strings.Contains(out, "not reached") {
		t.Errorf("%q, %d", out, code)
	}
	if out, code := g.call("", "x\n", filepath.Join(g.Hooks, "pre-push"), "a"); code != 0 || out != "satelle git-hook pre-push a: x\n" {
		t.Errorf("%q, %d", out, code)
	}
	if _, err := RemoveGit(g.Git); err != nil {
		t.Fatal(err)
	}
	if got := g.read("my repo/.husky/pre-commit"); !strings.HasPrefix(got, "echo") {
		t.Errorf("%q", got)
	}
}

// framework is the script of the pre-commit framework, and what its
// installation does with a hook that it finds.
const framework = `#!/usr/bin/env bash
# File generated by pre-commit: https://pre-commit.com
# ID: 138fd403232d2ddd5efb44317e38bf03
here="$(cd "$(dirname "$0")" && pwd)"
if [ -n "${PRE_COMMIT_RUNNING_LEGACY:-}" ]; then echo "installed in migration mode, but also as its own legacy"; exit 9; fi
if [ -x "$here/pre-commit.legacy" ]; then
  PRE_COMMIT_RUNNING_LEGACY=1 "$here/pre-commit.legacy" "$@" || exit 1
fi
echo "framework $*"
`

// TestGitHooksBesideTheFramework: it moves ours when it is installed again, and
// calls it from there.
func TestGitHooksBesideTheFramework(t *testing.T) {
	for _, first := range []string{"framework", "satelle"} {
		t.Run(first+" first", func(t *testing.T) {
			g := newGitWorld(t, ".git/hooks")
			hook := filepath.Join(g.Hooks, "pre-commit")
			install := func() {
				if b, err := os.ReadFile(hook); err == nil && !strings.Contains(string(b), "pre-commit.com") {
					if err := os.Rename(hook, hook+".legacy"); err != nil {
						t.Fatal(err)
					}
				}
				g.hook(".git/hooks/pre-commit", "")
				g.write("my repo/.git/hooks/pre-commit", framework)
			}
			if first == "framework" {
				install()
				g.installGit()
			} else {
				g.installGit()
				install()
			}
			want := "satelle git-hook pre-commit a: \nframework a\n"
			if out, code := g.call("", "", hook, "a"); out != want || code != 0 {
				t.Errorf("%q, %d", out, code)
			}
			install() // again
			g.installGit()
			if out, code := g.call("", "", hook, "a"); out != want || code != 0 {
				t.Errorf("after it was installed again: %q, %d", out, code)
			}
			if s := StatusGit(g.Git); !s.Installed || !s.Current {
				t.Errorf("%+v", s)
			}
			if _, err := RemoveGit(g.Git); err != nil {
				t.Fatal(err)
			}
			if out, code := g.call("", "", hook, "a"); out != "framework a\n" || code != 0 {
				t.Errorf("removed: %q, %d", out, code)
			}
		})
	}
}

// TestGitHooksElsewhere: what is in the way is named.
func TestGitHooksElsewhere(t *testing.T) {
	g := newGitWorld(t, ".git/hooks")
	g.Hooks = "/dev/null"
	if _, err := InstallGit(g.Git); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "core.hooksPath") {
		t.Error(err)
	}
	if s := StatusGit(g.Git); s.Problem == "" || s.Installed {
		t.Errorf("%+v", s)
	}
	g = newGitWorld(t, "../shared hooks")
	rep := g.installGit()
	if len(rep.Notes) != 1 || !strings.Contains(rep.Notes[0], "other repositories") {
		t.Errorf("%q", rep.Notes)
	}
	g = newGitWorld(t, "tools/hooks")
	g.hook("tools/hooks/pre-push", "")
	g.installGit()
	g.hook("tools/hooks/pre-push", "# anew\n")
	if _, err := InstallGit(g.Git); !fault.Is(err, fault.Refused) || !strings.Contains(fault.TryOf(err), "rm '") {
		t.Errorf("%v, try %s", err, fault.TryOf(err))
	}
	if s := StatusGit(g.Git); s.Installed {
		t.Errorf("%+v", s)
	}
	g.Git.Uninstalled = "maybe"
	if _, err := InstallGit(g.Git); !fault.Is(err, fault.Usage) {
		t.Error(err)
	}
}

// TestGitDryRun changes nothing.
func TestGitDryRun(t *testing.T) {
	g := newGitWorld(t, ".git/hooks")
	g.hook(".git/hooks/pre-push", "")
	before := g.snapshot()
	g.Git.DryRun = true
	rep := g.installGit()
	if len(rep.Changes) != len(gitHooks)+2 || !maps.Equal(before, g.snapshot()) {
		t.Errorf("%+v", rep.Changes)
	}
}
