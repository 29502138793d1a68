package decide

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"satelle/internal/ancestry"
	"satelle/ledger/seatread"
)

// lent is a seat that belongs to the worker of an id alone.
func lent(worker string, paths ...string) seatread.Seat {
	s := held(paths...)
	s.Step, s.Worker = "plan", worker
	return s
}

// TestWorkers plays calls of all whom satelle can have started, and of sessions
// beside them.
func TestWorkers(t *testing.T) {
	m := newMachine(t)
	for _, repo := range []string{"lent", "scoped", "held", "free"} {
		m.repo(repo)
	}
	m.row("lent", seatread.Row{Seats: map[string]seatread.Seat{".": lent("id1")}})
	m.row("scoped", seatread.Row{Seats: map[string]seatread.Seat{".": lent("id1", "src/**")}})
	m.row("held", seatread.Row{Seats: map[string]seatread.Seat{".": held()}})
	m.row("free", seatread.Row{})
	m.git("-C", "lent", "worktree", "add", "-q", ".claude/worktrees/child")
	copies := filepath.Dir(m.ledger("lent")) + "/worktrees/"
	m.git("-C", "lent", "worktree", "add", "-q", "--detach", copies+"one")
	m.git("-C", "lent", "worktree", "add", "-q", "--detach", copies+"two")
	m.write("home/.satelle/key/bin/satelle", "#!/bin/sh\n")
	m.write("home/.satelle/key/bin/other", "#!/bin/sh\n")

	performer := func(id, tree string) ancestry.Worker {
		return ancestry.Worker{ID: id, Role: ancestry.RoleAgent, Story: "sty_abcdefgh", Tree: tree}
	}
	none := ancestry.Worker{}
	one, two := performer("id1", m.path("lent")), performer("id2", m.path("lent"))
	copied := performer("id1", copies+"one")
	reviewer := ancestry.Worker{ID: "id3", Role: ancestry.RoleReviewer, Tree: m.path("lent")}
	judge := ancestry.Worker{Role: ancestry.RoleJudge, Tree: m.path("lent")}
	shim := m.path("home/.satelle/key/bin/satelle")

	const allow = ""
	const wait, unlent, reviews = "story wait sty_abcdefgh", "is not lent to it", "may change nothing, whoever holds the seat"
	for _, c := range []struct {
		name    string
		worker  ancestry.Worker
		payload string
		want    string
	}{
		{"a session, a seat that is lent", none, m.edit(m.path("lent"), "src/a.py"), wait},
		{"a session, a command", none, m.bash(m.path("lent"), "make"), wait},
		{"a session, reading", none, m.bash(m.path("lent"), "cat src/a.py"), allow},
		{"a session in its own tree", none, m.edit(m.path("held"), "src/a.py"), allow},

		{"the worker", one, m.edit(m.path("lent"), "src/a.py"), allow},
		{"the worker, a command", one, m.bash(m.path("lent"), "make && git commit -am x"), allow},
		{"the worker, by a full path", one, m.edit(m.path("other"), m.path("lent/src/a.py")), allow},
		{"the worker, a tree that its harness made", one, m.edit(m.path("lent/.claude/worktrees/child"), "src/a.py"), allow},
		{"the worker, settings", one, m.edit(m.path("lent"), ".claude/settings.json"), "is protected"},
		{"the worker, substrate", one, m.edit(m.path("lent"), ".satelle/workflows/step.md"), "is protected"},
		{"the worker, git's inside", one, m.bash(m.path("lent"), "echo x > .git/config"), "is protected"},
		{"the worker, without hooks", one, m.bash(m.path("lent"), "git commit --no-verify -m x"), "hooks stay on"},
		{"the worker, its registration", one, m.bash(m.path("lent"), "rm -r ~/.satelle/workers"), "is protected"},
		{"the worker, a key", one, m.bash(m.path("lent"), "cat ~/.satelle/keys/log.key"), "is secret"},
		{"the worker, a person's verb", one, m.bash(m.path("lent"), shim+" approve sty_abcdefgh"), "is a person's"},
		{"the worker, satelle", one, m.bash(m.path("lent"), shim+" story get sty_abcdefgh"), allow},
		{"the worker, another program there", one, m.bash(m.path("lent"), m.path("home/.satelle/key/bin/other")+" x"), "is protected"},
		{"the worker, a temporary folder", one, m.edit(m.path("lent"), m.path("tmp/x")), allow},
		{"the worker, outside", one, m.edit(m.path("lent"), m.path("home/x")), "outside of every governed tree"},
		{"the worker, another place", one, m.edit(m.path("lent"), m.path("held/src/a.py")), unlent},
		{"the worker, a place that nobody holds", one, m.edit(m.path("lent"), m.path("free/src/a.py")), unlent},
		{"the worker, a copy", one, m.edit(m.path("lent"), copies+"one/src/a.py"), "is protected"},
		{"in scope", performer("id1", m.path("scoped")), m.edit(m.path("scoped"), "src/x"), allow},
		{"out of scope", performer("id1", m.path("scoped")), m.edit(m.path("scoped"), "docs/x"), "path scopes"},

		{"another worker", two, m.edit(m.path("lent"), "src/a.py"), unlent},
		{"another worker, a command", two, m.bash(m.path("lent"), "make"), unlent},
		{"another worker, reading", two, m.bash(m.path("lent"), "ls"), allow},
		{"a worker where a story sits", performer("id1", m.path("held")), m.edit(m.path("held"), "src/a.py"), unlent},
		{"a worker where nobody sits", performer("id1", m.path("free")), m.edit(m.path("free"), "src/a.py"), unlent},

		{"in a copy", copied, m.edit(copies+"one", "src/a.py"), allow},
		{"in a copy, by a full path", copied, m.edit(copies+"one", copies+"one/src/new.py"), allow},
		{"in a copy, a command", copied, m.bash(copies+"one", "make && sed -i s/a/b/ "+copies+"one/src/a.py"), allow},
		{"in a copy, by a tilde", copied, m.bash(copies+"one", "echo x > ~/"+strings.TrimPrefix(copies, m.path("home")+"/")+"one/src/b"), allow},
		{"in a copy, the tree that it is of", copied, m.edit(copies+"one", m.path("lent/src/a.py")), unlent},
		{"in a copy, another copy", copied, m.edit(copies+"one", copies+"two/src/a.py"), "is protected"},
		{"in a copy, the ledger", copied, m.edit(copies+"one", "../../ledger.db"), "is protected"},
		{"in a copy, the ledger by a command", copied, m.bash(copies+"one", "echo x > ../../ledger.db"), "is protected"},
		{"in a copy, the ledger by the copy's own path", copied, m.bash(copies+"one", "echo x > "+copies+"one/../../ledger.db"), "is protected"},
		{"in a copy, settings", copied, m.edit(copies+"one", copies+"one/.claude/settings.json"), "is protected"},
		{"in a copy, substrate", copied, m.edit(copies+"one", copies+"one/.satelle/satelle.toml"), "is protected"},
		{"in a copy, its .git", copied, m.bash(copies+"one", "echo x > "+copies+"one/.git"), "is protected"},
		{"a session in a copy", none, m.edit(copies+"one", "src/a.py"), "is protected"},

		{"a reviewer", reviewer, m.edit(m.path("lent"), "src/a.py"), reviews},
		{"a reviewer where a story sits", reviewer, m.edit(m.path("held"), "src/a.py"), reviews},
		{"a reviewer, a command", reviewer, m.bash(m.path("held"), "make"), reviews},
		{"a reviewer, a redirection", reviewer, m.bash(m.path("held"), "echo x > "+m.path("tmp/x")), reviews},
		{"a reviewer, a temporary folder", reviewer, m.edit(m.path("held"), m.path("tmp/x")), reviews},
		{"a reviewer, elsewhere", reviewer, m.edit(m.path("other"), m.path("other/x")), reviews},
		{"a reviewer, a tool that nobody knows", reviewer, m.call(m.path("held"), "mcp__fs__put", map[string]string{"path": "a"}), reviews},
		{"a reviewer, reading", reviewer, m.bash(m.path("held"), "git diff HEAD | head"), allow},
		{"a reviewer, satelle", reviewer, m.bash(m.path("held"), shim+" ledger list"), allow},
		{"what a killed agent left", judge, m.edit(m.path("held"), "src/a.py"), reviews},
	} {
		m.env.Worker = func(string) (ancestry.Worker, bool, error) { return c.worker, c.worker != none, nil }
		got := m.hook(c.payload)
		if (got == "") != (c.want == allow) || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %q", c.name, got, c.want)
		}
		if c.worker != none && strings.Contains(got, " appeal ") {
			t.Errorf("%s: a worker may not appeal: %s", c.name, got)
		}
	}

	// When its lease is over, so is the seat.
	m.env.Worker = func(string) (ancestry.Worker, bool, error) { return one, true, nil }
	m.env.Now = func() time.Time { return time.Unix(testTime+60, 0) }
	if got := m.hook(m.edit(m.path("lent"), "src/a.py")); !strings.Contains(got, unlent) {
		t.Errorf("after the lease: %s", got)
	}
	m.env.Worker = nil
	if got := m.hook(m.edit(m.path("lent"), "src/a.py")); !strings.Contains(got, wait) {
		t.Errorf("a session after the lease: %s", got)
	}
}

// TestStrays: a token outside of its worker's process, and ancestors that can't
// be read, open nothing.
func TestStrays(t *testing.T) {
	m := newMachine(t)
	m.repo("held")
	m.repo("lent")
	m.row("held", seatread.Row{Seats: map[string]seatread.Seat{".": held()}})
	m.row("lent", seatread.Row{Seats: map[string]seatread.Seat{".": lent("id1")}})
	for name, set := range map[string]func(){
		"a token alone": func() {
			m.env.Worker = func(string) (ancestry.Worker, bool, error) { return ancestry.Worker{}, false, nil }
			m.env.Variable = func(name string) string { return map[string]string{tokenEnv: "stolen"}[name] }
		},
		"unknown ancestors": func() {
			m.env.Variable = nil
			m.env.Worker = func(string) (ancestry.Worker, bool, error) { return ancestry.Worker{}, false, errors.New("odd") }
		},
	} {
		set()
		for _, repo := range []string{"held", "lent"} {
			if got := m.hook(m.edit(m.path(repo), "src/a.py")); !strings.Contains(got, "is not lent to it") {
				t.Errorf("%s, %s: %s", name, repo, got)
			}
		}
		if got := m.hook(m.bash(m.path("held"), "cat src/a.py")); got != "" {
			t.Errorf("%s, reading: %s", name, got)
		}
	}
}

func TestWorkersAreWelcomedAsSuch(t *testing.T) {
	m := newMachine(t)
	m.repo("r")
	m.write("r/.satelle/principles/a.md", "# Tests first\n")
	m.row("r", seatread.Row{Seats: map[string]seatread.Seat{".": lent("id1")}})
	w := ancestry.Worker{ID: "id1", Role: ancestry.RoleAgent, Tree: m.path("r")}
	m.env.Worker = func(string) (ancestry.Worker, bool, error) { return w, true, nil }
	if got := m.start("r", ""); !strings.Contains(got, "the seat of its work tree is lent to it alone") || strings.Contains(got, "story set") || strings.Contains(got, "Tests first") {
		t.Errorf("a performer: %s", got)
	}
	w.Role = ancestry.RoleReviewer
	if got := m.hook(strings.Replace(m.starting("r", ""), `"s"`, `"t"`, 1)); !strings.Contains(got, "It changes no files") {
		t.Errorf("a reviewer: %s", got)
	}
}

// TestTokensAreSecret: Linux shows the environment of a process to its user.
func TestTokensAreSecret(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	m := newMachine(t)
	m.repo("r")
	m.row("r", seatread.Row{Seats: map[string]seatread.Seat{".": held()}})
	start := func(env ...string) string {
		cmd := exec.Command("sleep", "600")
		cmd.Env = env
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return strconv.Itoa(cmd.Process.Pid)
	}
	worker, plain := start("A=b", tokenEnv+"=secret"), start("A=b", "MY_"+tokenEnv+"=x")
	if err := os.Symlink("/proc/"+worker+"/environ", m.path("tmp/link")); err != nil {
		t.Fatal(err)
	}
	read := func(file string) string { return m.call(m.path("r"), "Read", map[string]string{"file_path": file}) }
	for payload, secret := range map[string]bool{
		read("/proc/" + worker + "/environ"):                                       true,
		read("/proc/" + worker + "/task/" + worker + "/environ"):                   true,
		read("/proc/self/../" + worker + "/environ"):                               true,
		read(m.path("tmp/link")):                                                   true,
		m.bash(m.path("r"), "tr '\\0' '\\n' < /proc/"+worker+"/environ"):           true,
		read("/proc/" + plain + "/environ"):                                        false,
		read("/proc/self/environ"):                                                 false,
		m.bash(m.path("r"), "cat /proc/"+plain+"/environ /proc/"+worker+"/status"): false,
		m.bash(m.path("r"), "cat /proc/*/environ"):                                 false, // while nobody works
	} {
		if got := m.hook(payload); strings.Contains(got, "is secret") != secret || !secret && got != "" {
			t.Errorf("%s: %s", payload, got)
		}
	}
	pid, err := strconv.Atoi(worker)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ancestry.RegisterWorker(m.env.Home, pid, ancestry.Worker{ID: "id1"}); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"cat /proc/*/environ", "cd /proc/" + worker + " && cat environ"} {
		if got := m.hook(m.bash(m.path("r"), command)); !strings.Contains(got, "is secret") {
			t.Errorf("%s: %s", command, got)
		}
	}
}

// TestMayWrite: what satelle writes for an agent is judged as what its own tools
// would write.
func TestMayWrite(t *testing.T) {
	m := newMachine(t)
	m.repo("lent")
	m.repo("free")
	m.row("lent", seatread.Row{Seats: map[string]seatread.Seat{".": lent("id1", "src/**", "conf/**", ".claude/**", ".satelle/**", ".git/**")}})
	m.row("free", seatread.Row{})
	m.write("lent/conf/claude.json", "{}")
	m.write("lent/.claude/commands/c.md", "")
	if err := os.Remove(m.path("lent/.claude/settings.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../conf/claude.json", m.path("lent/.claude/settings.json")); err != nil {
		t.Fatal(err)
	}
	worker := ancestry.Worker{ID: "id1", Role: ancestry.RoleAgent, Story: "sty_abcdefgh", Tree: m.path("lent")}
	other, reviewer := worker, worker
	other.ID, reviewer.Role = "id2", ancestry.RoleReviewer
	for _, c := range []struct {
		worker ancestry.Worker
		path   string
		want   string // of the refusal, "" for none
	}{
		{worker, "lent/src/a", ""},
		{worker, "lent/conf/new", ""},
		{worker, "lent/other", "path scopes"},
		{worker, "lent/.satelle/satelle.toml", "is protected"},
		{worker, "lent/.satelle/approvers", "is protected"},
		{worker, "lent/.git/hooks/pre-commit", "is protected"},
		{worker, "lent/.claude/commands/c.md", "is protected"},
		{worker, "lent/.claude/settings.json", "is protected"},
		{worker, "lent/conf/claude.json", "is protected"},
		{worker, "free/a", "is not lent to it"},
		{worker, "home/.satelle/keys/k", "is protected"},
		{worker, "nowhere", "outside of every governed tree"},
		{other, "lent/src/a", "is not lent to it"},
		{reviewer, "lent/src/a", "may change nothing"},
	} {
		env := m.env
		env.Worker = func(string) (ancestry.Worker, bool, error) { return c.worker, true, nil }
		err := MayWrite(env, m.path("lent"), m.path(c.path))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %s: %v, want %q", c.worker.ID, c.path, err, c.want)
		}
	}
	if _, err := os.Stat(m.path("home/.satelle/sessions")); err == nil {
		t.Error("it registers a session")
	}
}
