package ancestry

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The test binary doubles as the program in the process tree that is looked at.
const roleEnv = "ANCESTRY_TEST_ROLE"

func TestMain(m *testing.M) {
	home := os.Getenv("ANCESTRY_TEST_HOME")
	switch os.Getenv(roleEnv) {
	case "":
		os.Exit(m.Run())
	case "register":
		if err := Register(home, "session-1", "claude"); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	case "find":
		s, ok, err := Find(home)
		fmt.Println(s.ID, s.Harness, s.PID, ok, err)
	case "marked":
		fmt.Println(Marked(home))
	case "harness": // runs a command; not from its own arguments, which would then bear the hook's text
		os.Setenv(roleEnv, os.Getenv("ANCESTRY_TEST_CHILD"))
		argv := strings.Split(os.Getenv("ANCESTRY_TEST_ARGV"), "\n")
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(os.Getpid())
	}
}

// run starts the test binary in a role and returns what it prints.
func run(t *testing.T, home, role, child string, argv ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ANCESTRY_TEST_ARGV="+strings.Join(argv, "\n"), roleEnv+"="+role, "ANCESTRY_TEST_CHILD="+child, "ANCESTRY_TEST_HOME="+home, "SELF="+os.Args[0])
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

func entries(t *testing.T, home string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(home, "sessions", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRegisterFindsTheHarnessBehindTheHookCommand(t *testing.T) {
	// As a harness runs it: the command under its shell, and another shell
	// inside; ": " keeps the shells from replacing themselves by the program.
	inner := `b="$HOME"; "$SELF"; [ -s "$b/satelle-hook" ] && : "$b` + Signature + `:`
	for name, argv := range map[string][]string{
		"at once":         {os.Args[0]},
		"one shell":       {"sh", "-c", inner},
		"a shell's shell": {"sh", "-c", "sh -c '" + inner + "'; :"},
	} {
		t.Run(name, func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "a home")
			pid := run(t, home, "harness", "register", argv...)
			got := entries(t, home)
			if len(got) != 1 || !strings.HasPrefix(filepath.Base(got[0]), pid+"-") {
				t.Fatalf("registered %v, want the harness %s", got, pid)
			}
			info, err := os.Stat(got[0])
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("registration is %v, %v", info.Mode(), err)
			}
		})
	}
}

// TestOursIsAShell holds that a harness whose own arguments speak of the hook
// command is not passed over: its parent is a person's terminal.
func TestOursIsAShell(t *testing.T) {
	script := `b="${SATELLE_HOME:-${HOME:-}/.satelle}/bin"; [ -s "${b:-}/satelle-hook" ] && "${b:-}/satelle-hook" && exit 0; :`
	for _, c := range []struct {
		argv []string
		want bool
	}{
		{[]string{"sh", "-c", script}, true},
		{[]string{"/bin/bash", "-lc", "sh -c '" + script + "'"}, true},
		{[]string{"/bin/zsh", "-l", "-c", "sh -c '" + script + "'"}, true},
		{[]string{"/bin/sh", "-c", "sh -c '" + script + "' satelle"}, true},
		// As Grok runs it, which knows HOME and, if it is set, SATELLE_HOME.
		{[]string{"sh", "-c", strings.Replace(script, "${HOME:-}", "/home/ada", 1)}, true},
		{[]string{"sh", "-c", "sh -c '" + strings.Replace(script, "${SATELLE_HOME:-${HOME:-}/.satelle}", "/srv/satelle", 1) + "'"}, true},
		{[]string{"claude", "-p", "what does sh -c '" + script + "' do?"}, false},
		{[]string{"claude", script}, false},
		{[]string{"codex", "exec", "-m", script}, false},
		{[]string{"codex", "-c", `hooks.PreToolUse=[{command="` + script + `"}]`}, false},
		{[]string{"grok", "-c", "why is " + Signature + " empty?"}, false},
		{[]string{script, "-c"}, false},
		{nil, false},
	} {
		if got := ours(c.argv); got != c.want {
			t.Errorf("ours(%q) = %v", c.argv, got)
		}
	}
}

// TestTheOrphanOfADeadHarness holds that a hook which outlived its harness
// makes nobody a session: the machine's first process is above everybody.
func TestTheOrphanOfADeadHarness(t *testing.T) {
	for _, c := range []struct {
		pid     int
		machine bool
		want    bool
	}{
		{1, true, false},
		{1, false, true}, // in a container the harness itself may be the first
		{2, true, true},
	} {
		if got := mayDrive(process{pid: c.pid}, func() bool { return c.machine }); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestFind(t *testing.T) {
	home := t.TempDir()
	if got := run(t, home, "find", ""); !strings.HasSuffix(got, "false <nil>") {
		t.Fatalf("nobody is registered, but Find says %s", got)
	}
	run(t, home, "register", "") // registers this test process
	want := fmt.Sprintf("session-1 claude %d true <nil>", os.Getpid())
	if got := run(t, home, "find", ""); got != want {
		t.Errorf("child: got %q, want %q", got, want)
	}
	if got := run(t, home, "harness", "find", "sh", "-c", `"$SELF"; :`); !strings.HasPrefix(got, want) {
		t.Errorf("deep below: got %q, want %q", got, want)
	}
	if _, ok, err := Find(home); ok || err != nil {
		t.Errorf("a process is not its own ancestor: %v, %v", ok, err)
	}

	// Another process with that id: the start time differs.
	old := entries(t, home)[0]
	if err := os.Rename(old, old+"9"); err != nil {
		t.Fatal(err)
	}
	if got := run(t, home, "find", ""); !strings.HasSuffix(got, "false <nil>") {
		t.Errorf("a process id was reused, but Find says %s", got)
	}
	if err := os.WriteFile(old, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run(t, home, "find", ""); strings.HasSuffix(got, "<nil>") {
		t.Errorf("a broken registration passed: %s", got)
	}
}

func TestRegisterSweepsTheDead(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(dir, strconv.Itoa(1<<22+1)+"-1")
	if err := os.WriteFile(dead, []byte(encode("s", "h")), 0o600); err != nil {
		t.Fatal(err)
	}
	// In a namespace of processes of an agent's own all others look dead.
	sweep(dir, unseen)
	if got := entries(t, home); len(got) != 1 {
		t.Errorf("swept what may live elsewhere: %v", got)
	}
	age(t, dead)
	run(t, home, "register", "")
	if got := entries(t, home); len(got) != 1 || got[0] == dead {
		t.Errorf("left %v", got)
	}
}

// age makes a registration so old that it is swept in a container, too.
func age(t *testing.T, path string) {
	t.Helper()
	old := time.Now().Add(-2 * unseen)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func TestRegisterReplacesTheSessionOfAHarness(t *testing.T) {
	dir := t.TempDir()
	p := process{pid: os.Getpid(), start: "1"}
	for _, session := range []string{"one", "two", "two"} {
		if err := write(dir, p, encode(session, "codex")); err != nil {
			t.Fatal(err)
		}
	}
	s, err := read(filepath.Join(dir, p.name()))
	// The sweep took it for a dead process's: its start time is made up.
	if err == nil && s.ID != "two" {
		t.Errorf("got %+v", s)
	}
}

func TestEncode(t *testing.T) {
	for _, c := range [][2]string{{"a-b_c.1", "claude"}, {"", ""}, {"a\"},\n{", "x\x00y"}, {strings.Repeat("s", 999), "é"}} {
		session, harness, ok := decode(encode(c[0], c[1]))
		if !ok || session != plain(c[0]) || harness != plain(c[1]) {
			t.Errorf("%q came back as %q, %q, %v", c, session, harness, ok)
		}
	}
	for _, line := range []string{"", "{}", `{"session":"a","harness":"b"}`, "{\"session\":\"a\",\"harness\":\"b\"}\n\n", "{\"session\":\"a b\",\"harness\":\"c\"}\n"} {
		if _, _, ok := decode(line); ok {
			t.Errorf("decode(%q) passed", line)
		}
	}
}
