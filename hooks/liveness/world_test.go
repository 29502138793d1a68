package liveness

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"satelle/hooks/install"
)

// engine stands in for the hook's engine: it denies what the canary must see
// denied, and is silent otherwise.
const engine = `#!/bin/sh
payload=$(cat)
case $payload in
*hookEventName*'"tool_name":"write"'*) echo '{"decision":"deny","reason":"no"}' ;;
*'"tool_name":"Write"'* | *apply_patch*)
	echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}' ;;
*PreSkillShellCommand* | *ConfigChange*) echo '{"decision":"block","reason":"no"}' ;;
esac
`

// world is a machine with a home, an installed program and one governed
// repository, in which all hooks are installed, trusted and committed; its
// paths hold spaces.
type world struct {
	t *testing.T
	Options
	dir, repo string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, repo: filepath.Join(dir, "my repo")}
	w.Options = Options{
		Options: install.Options{
			Home: w.path("home"), SatelleHome: w.path("home/.satelle"), Program: w.path("built here/satelle"),
		},
		Dir: w.repo, System: w.path("etc"), Shell: "/bin/sh",
		Env: []string{"PATH=" + w.path("bin") + ":/usr/bin:/bin", "HOME=" + w.path("home"), "TMPDIR=" + w.path("tmp"), "GIT_CONFIG_NOSYSTEM=1"},
	}
	w.write("home/.profile", "PATH='"+w.path("home/.satelle/bin")+"':$PATH\n")
	w.write("tmp/x", "")
	w.write("etc/x", "")
	w.program("built here/satelle", "#!/bin/sh\n")
	w.program("built here/satelle-hook", engine)
	w.write("my repo/.satelle/satelle.toml", "project = \"p\"\n")
	w.git("init", "-q", "-b", "main")
	w.install("all", install.Project, true)
	w.gitHooks()
	w.commit()
	return w
}

func (w *world) gitHooks() {
	w.t.Helper()
	_, err := install.InstallGit(install.Git{
		SatelleHome: w.SatelleHome, Program: w.Program, Hooks: w.path("my repo/.git/hooks"), Top: w.repo, CommonDir: w.path("my repo/.git"),
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) write(name, text string) {
	w.t.Helper()
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) program(name, text string) {
	w.t.Helper()
	w.write(name, text)
	if err := os.Chmod(w.path(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// replace changes a file's text.
func (w *world) replace(name, old, text string) {
	w.t.Helper()
	before := w.read(name)
	if !strings.Contains(before, old) {
		w.t.Fatalf("no %q in %s:\n%s", old, name, before)
	}
	w.write(name, strings.Replace(before, old, text, 1))
}

func (w *world) git(args ...string) {
	w.t.Helper()
	w.sh("git", args...)
}

func (w *world) sh(name string, args ...string) {
	w.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = w.repo
	cmd.Env = append(slices.Clone(w.Env), "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org")
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

func (w *world) commit() {
	w.t.Helper()
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "All of it")
}

func (w *world) install(harness, scope string, trust bool) {
	w.t.Helper()
	o := w.Options.Options
	o.Repo, o.Targets, o.Scope, o.Trust = w.repo, []string{harness}, scope, trust
	if _, err := install.Install(o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(harness, scope string) {
	w.t.Helper()
	o := w.Options.Options
	o.Repo, o.Targets, o.Scope = w.repo, []string{harness}, scope
	if _, err := install.Remove(o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) env(list ...string) { w.Env = append(w.Env, list...) }

func (w *world) examine() Report {
	w.t.Helper()
	r, err := Examine(w.t.Context(), w.Options)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// named are a report's findings of a name.
func named(r Report, name string) []Finding {
	var out []Finding
	for _, f := range r.Findings {
		if f.Name == name {
			out = append(out, f)
		}
	}
	return out
}

func (w *world) hook(r Report, harness, scope string) Hook {
	w.t.Helper()
	for _, h := range r.Hooks {
		if h.Harness == harness && h.Scope == scope {
			return h
		}
	}
	w.t.Fatalf("no %s, %s in %+v", harness, scope, r.Hooks)
	return Hook{}
}

// mend does what a finding says, where that is a command; it reports whether it
// was one.
func (w *world) mend(command string) bool {
	w.t.Helper()
	words := strings.Fields(command)
	switch {
	case strings.Contains(command, ", or ") || strings.Contains(command, "; then"):
		return false
	case command == "satelle agents install git":
		w.gitHooks()
	case len(words) >= 4 && strings.HasPrefix(command, "satelle agents install "):
		scope := install.Project
		if slices.Contains(words, "user") {
			scope = install.User
		}
		w.install(words[3], scope, slices.Contains(words, "--trust"))
	case words[0] == "unset":
		w.Env = slices.DeleteFunc(w.Env, func(v string) bool { return strings.HasPrefix(v, words[1]+"=") })
	case words[0] == "git" || words[0] == "chmod":
		w.sh("sh", "-c", command)
	default:
		return false
	}
	return true
}
