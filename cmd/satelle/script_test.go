package main

import (
	"crypto/ed25519"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
	"golang.org/x/crypto/ssh"

	"satelle/hooks/decide"
	"satelle/internal/ancestry"
	"satelle/internal/place"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"satelle":      func() { os.Exit(run()) },
		"as-session":   func() { os.Exit(asSession()) },
		"as-worker":    func() { os.Exit(asWorker()) },
		"register":     func() { os.Exit(register()) },
		"fire":         func() { os.Exit(fire(os.Args[1], os.Args[2], os.Args[3])) },
		"satelle-hook": func() { os.Exit(hook()) },
		"regate":       func() { os.Exit(regate(os.Args[1])) },
		"linger":       func() { os.Exit(linger()) },
		"sshkey":       func() { os.Exit(sshKey(os.Args[1], os.Args[2])) },
	})
}

// hook is satelle-hook, with a deadline for busy machines and slow programs.
func hook() int {
	env := decide.System()
	env.Deadline = time.Minute
	return decide.Run(os.Stdin, os.Stdout, os.Stderr, env)
}

// asSession runs a command as a hooked session of a coding agent would: its
// parent is registered, as the hook registers it.
func asSession() int {
	hook := exec.Command("register")
	hook.Stderr = os.Stderr
	if err := hook.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "registering:", err)
		return 1
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		if cmd.ProcessState != nil {
			return cmd.ProcessState.ExitCode()
		}
		return 1
	}
	return 0
}

func register() int {
	home, err := place.HomeDir()
	if err == nil {
		err = ancestry.Register(home, "session-1", "claude")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// fire runs the hook of an event that is installed in a settings file, as the
// harness does: its command under sh, the call on stdin. @REPO@ in the call is
// the current directory.
func fire(settings, event, call string) int {
	text, err := os.ReadFile(settings)
	if err != nil {
		panic(err)
	}
	command := gjson.GetBytes(text, "hooks."+event+".0.hooks.0.command").Str
	if command == "" {
		panic("no command for " + event + " in " + settings)
	}
	in, err := os.ReadFile(call)
	if err != nil {
		panic(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Stdin = strings.NewReader(strings.ReplaceAll(string(in), "@REPO@", dir))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return cmd.ProcessState.ExitCode()
	}
	return 0
}

// regate puts a file in the place of the table [gate], which is the last one
// of the satelle.toml that init writes.
func regate(file string) int {
	table, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	const path = ".satelle/satelle.toml"
	config, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	before, _, found := strings.Cut(string(config), "[gate]")
	if !found {
		panic("no [gate] in " + path)
	}
	if err := os.WriteFile(path, append([]byte(before), table...), 0o600); err != nil {
		panic(err)
	}
	return 0
}

// linger leaves a process that nobody's group holds, with every file that was
// not closed to it, and prints its id.
func linger() int {
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(cmd.Process.Pid)
	return 0
}

// sshKey makes an ssh key in a file and prints its line for .satelle/approvers.
func sshKey(file, name string) int {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		panic(err)
	}
	block, err := ssh.MarshalPrivateKey(private, name)
	if err != nil {
		panic(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		panic(err)
	}
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		panic(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s %s", name, ssh.MarshalAuthorizedKey(key))
	return 0
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			if err := os.MkdirAll(home, 0o700); err != nil {
				return err
			}
			env.Setenv("HOME", home)
			env.Setenv("SATELLE_HOME", filepath.Join(home, ".satelle"))
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each command takes a second more
			env.Setenv("GIT_AUTHOR_NAME", "Ada")
			env.Setenv("GIT_AUTHOR_EMAIL", "ada@example.org")
			env.Setenv("GIT_COMMITTER_NAME", "Ada")
			env.Setenv("GIT_COMMITTER_EMAIL", "ada@example.org")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": exitCode,
			"id":   captureID,
		},
	})
}

// exitCode runs a command and wants exactly that exit code: `code 3 satelle …`.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		got = -1
		if text := err.Error(); strings.HasPrefix(text, "exit status ") {
			if _, err := fmt.Sscanf(text, "exit status %d", &got); err != nil {
				ts.Fatalf("reading %q: %v", text, err)
			}
		}
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit code %d (%v), want %s", got, err, args[0])
	}
}

// captureID keeps the first story id that the last command printed: `id NAME`.
func captureID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: id NAME")
	}
	out := ts.ReadFile("stdout")
	i := strings.Index(out, "sty_")
	if i < 0 || len(out) < i+12 {
		ts.Fatalf("no story id in %q", out)
	}
	ts.Setenv(args[0], out[i:i+12])
}
