package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"satelle/hooks/dialect"
	"satelle/hooks/shell"
)

// engine is the hook's program, built once.
var engine = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "satelle hook")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "satelle-hook")
	if b, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, ".").CombinedOutput(); err != nil {
		return nil, &exec.Error{Name: string(b), Err: err}
	}
	return os.ReadFile(out)
})

// shells are those that harnesses use, as far as this machine has them.
func shells(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, sh := range []string{"dash", "bash", "zsh", "busybox"} {
		if path, err := exec.LookPath(sh); err == nil {
			found = append(found, path)
		}
	}
	if len(found) == 0 {
		t.Fatal("no shell on the PATH")
	}
	return found
}

// site is a machine on which the installed command runs: every path of it
// holds blanks and quotes.
type site struct {
	t    *testing.T
	home string
	repo string
}

func newSite(t *testing.T) *site {
	t.Helper()
	root := filepath.Join(t.TempDir(), `a "b" c`)
	s := &site{t: t, home: filepath.Join(root, "home dir"), repo: filepath.Join(root, "re po")}
	for _, dir := range []string{s.bin(), filepath.Join(s.repo, ".satelle"), filepath.Join(s.repo, ".git")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.write(filepath.Join(s.repo, ".satelle/satelle.toml"), nil, 0o644)
	wrapper, err := os.ReadFile("../../hooks/install/satelle-hook.sh")
	if err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(s.bin(), "satelle-hook.sh"), wrapper, 0o755)
	return s
}

func (s *site) bin() string { return filepath.Join(s.home, ".satelle", "bin") }

func (s *site) write(path string, content []byte, mode os.FileMode) {
	s.t.Helper()
	if err := os.WriteFile(path, content, mode); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		s.t.Fatal(err)
	}
}

// run executes the installed command as a harness does.
func (s *site) run(shell, uninstalled, payload string, env ...string) (stdout string, code int) {
	s.t.Helper()
	args := []string{"-c", dialect.Command(uninstalled)}
	path := "/usr/bin:/bin"
	if filepath.Base(shell) == "busybox" {
		args = append([]string{"sh"}, args...)
	} else {
		// The inner sh is the shell under test, too.
		dir := s.t.TempDir()
		if err := os.Symlink(shell, filepath.Join(dir, "sh")); err != nil {
			s.t.Fatal(err)
		}
		path = dir + ":" + path
	}
	cmd := exec.Command(shell, args...)
	cmd.Dir = s.repo
	cmd.Env = append([]string{"PATH=" + path, "HOME=" + s.home}, env...)
	cmd.Stdin = strings.NewReader(payload)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		s.t.Fatal(err)
	}
	if code = cmd.ProcessState.ExitCode(); code == 2 && errs.Len() == 0 {
		s.t.Error("exit code 2 without a reason on standard error lets Codex pass")
	}
	return out.String(), code
}

func (s *site) payload(tool string, input map[string]any) string {
	s.t.Helper()
	b, err := json.Marshal(map[string]any{"session_id": "s", "cwd": s.repo, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// denies reports whether all three harnesses take an answer for a denial.
func denies(out string, code int) bool {
	var answer struct {
		HookSpecificOutput map[string]string `json:"hookSpecificOutput"`
	}
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	if d.Decode(&answer) != nil || d.More() {
		return false
	}
	h := answer.HookSpecificOutput
	return code == 0 && len(h) == 3 && h["hookEventName"] == "PreToolUse" && h["permissionDecision"] == "deny" && h["permissionDecisionReason"] != ""
}

// TestInstalledCommand runs the frozen command with the engine in every state.
func TestInstalledCommand(t *testing.T) {
	program, err := engine()
	if err != nil {
		t.Fatal(err)
	}
	file := func(s *site) string { return filepath.Join(s.bin(), "satelle-hook") }
	put := func(content []byte, mode os.FileMode) func(*site) {
		return func(s *site) { s.write(file(s), content, mode) }
	}
	wrongArch := append([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xf3\x00"), make([]byte, 4000)...)
	noWrapper := func(s *site) {
		if err := os.Remove(filepath.Join(s.bin(), "satelle-hook.sh")); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		build func(*site)
		reads string // what a reading call gets: pass or deny
	}{
		{"the engine is there", put(program, 0o755), "pass"},
		{"no engine", func(*site) {}, "pass"},
		{"not executable", put(program, 0o644), "any"}, // root may run it
		{"empty", put(nil, 0o755), "pass"},
		{"text", put([]byte("garbage here\n"), 0o755), "pass"},
		{"cut off in the header", put(program[:40], 0o755), "pass"},
		{"cut off early", put(program[:2000], 0o755), "pass"},
		{"cut off half-way", put(program[:len(program)/2], 0o755), "pass"},
		{"another architecture", put(wrongArch, 0o755), "pass"},
		{"a script that fails", put([]byte("#!/bin/sh\nexit 1\n"), 0o755), "pass"},
		{"a script that dies", put([]byte("#!/bin/sh\nkill -9 $$\n"), 0o755), "pass"},
		{"an interpreter that is missing", put([]byte("#!/no/such/program\n"), 0o755), "pass"},
		{"a folder", func(s *site) {
			if err := os.Mkdir(file(s), 0o755); err != nil {
				t.Fatal(err)
			}
		}, "pass"},
		{"a crash after reading", put([]byte("#!/bin/sh\ncat > /dev/null\nexit 2\n"), 0o755), "deny"},
		{"neither engine nor wrapper", noWrapper, "deny"},
		{"an empty wrapper", func(s *site) { s.write(filepath.Join(s.bin(), "satelle-hook.sh"), nil, 0o755) }, "deny"},
		{"no bin folder", func(s *site) {
			if err := os.RemoveAll(s.bin()); err != nil {
				t.Fatal(err)
			}
		}, "deny"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			c.build(s)
			for _, sh := range shells(t) {
				for _, call := range []string{
					s.payload("Write", map[string]any{"file_path": "x", "content": "a \"quoted\" \\ text\x01"}),
					s.payload("Bash", map[string]any{"command": "echo x > f"}),
					"", "not json",
				} {
					if out, code := s.run(sh, dialect.Deny, call); !denies(out, code) {
						t.Errorf("%s, %.60q: exit %d, %q", sh, call, code, out)
					}
				}
				call := strings.ReplaceAll(s.payload("Bash", map[string]any{"command": "ls -la"}), `\"b\"`, "b")
				out, code := s.run(sh, dialect.Deny, call)
				if passed := out == "" && code == 0; c.reads != "any" && passed != (c.reads == "pass") || !passed && !denies(out, code) {
					t.Errorf("%s, reading: exit %d, %q", sh, code, out)
				}
			}
		})
	}
}

func TestWhereNothingIsInstalled(t *testing.T) {
	s := newSite(t)
	write := s.payload("Write", map[string]any{"file_path": "x"})
	for _, sh := range shells(t) {
		if out, code := s.run(sh, dialect.Allow, write); !denies(out, code) {
			t.Errorf("%s: installed but broken: exit %d, %q", sh, code, out)
		}
		nowhere := "SATELLE_HOME=" + filepath.Join(s.home, "nowhere")
		if out, code := s.run(sh, dialect.Allow, write, nowhere); out != "" || code != 0 {
			t.Errorf("%s: not installed: exit %d, %q", sh, code, out)
		}
		if out, code := s.run(sh, dialect.Deny, write, nowhere); !denies(out, code) {
			t.Errorf("%s: not installed, deny: exit %d, %q", sh, code, out)
		}
		if out, code := s.run(sh, dialect.Deny, write, "HOME="); !denies(out, code) {
			t.Errorf("%s: without a home: exit %d, %q", sh, code, out)
		}
	}
}

// TestWrapper holds the wrapper to what plainly reads.
func TestWrapper(t *testing.T) {
	bash := func(command string) string {
		return `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"` + command + `"}}`
	}
	grok := `{"hookEventName":"pre_tool_use","toolName":"run_terminal_command","toolInput":{"command":"ls"},"hook_event_name":"PreToolUse","tool_name":"run_terminal_command","tool_input":{"command":"COMMAND"}}`
	for payload, passes := range map[string]bool{
		bash("ls"):                                  true,
		bash("ls -la src/a.py"):                     true,
		bash("git status --short"):                  true,
		bash("git log --oneline"):                   true,
		bash("cat README.md"):                       true,
		bash("pwd"):                                 true,
		bash("satelle status"):                      true,
		bash("satelle doctor"):                      true,
		bash("  ls  "):                              true,
		strings.Replace(grok, "COMMAND", "ls", 1):   true,
		strings.Replace(grok, "COMMAND", "rm x", 1): false,
		bash("ls > x"):                              false,
		bash("ls; rm x"):                            false,
		bash("ls & rm x"):                           false,
		bash("ls | sh"):                             false,
		bash("ls `rm x`"):                           false,
		bash("ls $(rm x)"):                          false,
		bash("ls\nrm x"):                            false,
		bash(`ls\nrm x`):                            false,
		bash("ls {a,b}"):                            false,
		bash("ls ~"):                                false,
		bash("ls *"):                                false,
		bash("ls é"):                                false,
		bash("X=1 ls"):                              false,
		bash("./ls"):                                false,
		bash("find . -delete"):                      false,
		bash("rm x"):                                false,
		bash("git add x"):                           false,
		bash("git -c x=y status"):                   false,
		bash("git diff --output=x"):                 false,
		bash("git diff --ext-diff"):                 false,
		bash("git diff --=0"):                       false,
		bash("git log -12 --stat -- src"):           false,
		bash("git log -12 --stat"):                  true,
		bash("git show HEAD:a.go"):                  true,
		bash("git -p log"):                          false,
		bash("grep -rn x src"):                      true,
		bash("grep --include=x y"):                  false,
		bash("uname -a"):                            true,
		bash("uname x"):                             false,
		bash("satelle status --x"):                  false,
		bash("satelle doctor --claude-run"):         false,
		bash("ls" + strings.Repeat(" a", 30)):       true,
		bash("ls" + strings.Repeat(" if", 1100)):    false,
		bash("satelle trust"):                       false,
		bash(""):                                    false,
		bash("cat /h/.satelle/keys/k"):              false,
		bash("cat .satelle/satelle.local.toml"):     false,
		bash("cat .satelle/satelle.toml"):           true,
		bash("cat .SATELLE/Satelle.Local.toml"):     false,
		bash("cat keys/k"):                          false,
		bash("cat x/Tokens/t"):                      false,
		bash("grep -r x /home/u/.satelle"):          false,
		bash("grep -r x /home/u/.satelle/ y"):       false,
		bash("ls") + bash("rm x"):                   false,
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","command":"rm x"}}`:      false,
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":["rm"]}}`:                     false,
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`:                                     false,
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"c\u006fmmand":"rm x","command":"ls"}}`: false,
		`{"hook_event_name":"PreToolUse","tool_name":"Read","toolName":"Write","tool_input":{"file_path":"a"}}`:   false,
		`{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"a"}}`:                      true,
		`{"hook_event_name" : "PreToolUse" , "tool_name" : "Read"}`:                                               true,
		`{"hook_event_name":"PreToolUse","tool_name":"Read","x":"tool_name"}`:                                     true,
		`{"hook_event_name":"PreToolUse","tool_name":"Read "}`:                                                    false,
		`{"hook_event_name":"PreToolUse","tool_name":"Write"}`:                                                    false,
		`{"hook_event_name":"PreToolUse","tool_name":"mcp__fs__read"}`:                                            false,
		`{"hook_event_name":"Novel","tool_name":"Read"}`:                                                          false,
		`{"hook_event_name":"PostToolUse","tool_name":"Write"}`:                                                   true,
		`{"hook_event_name":"SessionStart"}`:                                                                      true,
		`{"tool":"read","sessionID":"s","args":{"filePath":"a"}}`:                                                 true,
		`{"tool":"edit","sessionID":"s","args":{"filePath":"a"}}`:                                                 false,
		`{}`:   false,
		`[]`:   false,
		``:     false,
		"\n\n": false,
		`{"hook_event_name":"PreToolUse","tool_name":"Read","x":"` + strings.Repeat("a", 9000) + `"}`: false,
	} {
		for _, sh := range shells(t) {
			args := []string{"../../hooks/install/satelle-hook.sh"}
			if filepath.Base(sh) == "busybox" {
				args = append([]string{"sh"}, args...)
			}
			cmd := exec.Command(sh, args...)
			cmd.Env = []string{"PATH=/nowhere"}
			cmd.Stdin = strings.NewReader(payload)
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("%s, %.80q: %v", sh, payload, err)
			}
			if passes && len(out) > 0 || !passes && !denies(string(out), 0) {
				t.Errorf("%s, %.200q: %q", sh, payload, out)
			}
		}
	}
}

// TestWrapperAnswersHugePayloads feeds it a payload that a shell
// would read for many seconds.
func TestWrapperAnswersHugePayloads(t *testing.T) {
	huge := `{"hook_event_name":"PreToolUse","tool_name":"Write","x":"` + strings.Repeat("a", 16<<20) + `"}`
	cmd := exec.Command("sh", "../../hooks/install/satelle-hook.sh")
	cmd.Stdin = strings.NewReader(huge)
	out, err := cmd.Output()
	if err != nil || !denies(string(out), 0) {
		t.Errorf("%v: %q", err, out)
	}
}

// FuzzWrapper holds a law: what the wrapper lets pass, the engine must let pass as well.
func FuzzWrapper(f *testing.F) {
	f.Add("ls -la")
	f.Add("git status")
	f.Add("cat a > b")
	f.Add("git diff --output=x")
	f.Add("git diff --=0")
	f.Add("git log --s")
	f.Add("ls -la --x")
	f.Add("satelle status")
	f.Add("uname x")
	f.Add("ls" + strings.Repeat(" if", 1100))
	f.Fuzz(func(t *testing.T, command string) {
		b, err := json.Marshal(command)
		if err != nil {
			t.Fatal(err)
		}
		payload := `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":` + string(b) + `}}`
		cmd := exec.Command("sh", "../../hooks/install/satelle-hook.sh")
		cmd.Stdin = strings.NewReader(payload)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if len(out) == 0 && shell.Judge(command, shell.Env{Dir: "/repo"}).Changes {
			t.Errorf("the wrapper let %q pass", command)
		}
	})
}
