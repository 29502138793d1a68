//go:build clients

package clienttest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// newSandboxedWorld is a world outside of every temporary folder, all of which
// Codex's sandbox lets a command write.
func newSandboxedWorld(t *testing.T) *world {
	t.Helper()
	base := filepath.Dir(clients)
	if strings.HasPrefix(base, "/tmp/") || strings.HasPrefix(base, "/var/tmp/") {
		var err error
		if base, err = os.UserCacheDir(); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(base, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp(base, "satelle world ")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, dir: dir, home: filepath.Join(dir, "home"), repo: filepath.Join(dir, "my repo")}
	w.cwd = w.repo
	for _, d := range []string{w.home, w.repo, filepath.Join(dir, "tmp")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The programs as well: the hook starts none that a command could have changed.
	w.run(nil, "cp", "-r", programs, filepath.Join(dir, "programs"))
	w.run(nil, "git", "init", "-q", "-b", "main")
	// The check that init proposes for a repository with a Makefile: it tries to
	// write the person's home, and tells in a temporary folder what it got.
	w.write("Makefile", "test:\n\t@exec 2> \"$$TMPDIR/tried\"; echo x > '"+w.home+"/escaped' || true\n")
	w.own("init")
	w.own("agents", "install", "codex", "--trust")
	// Codex runs commands in a login shell, which sets PATH anew.
	profile := "PATH='" + filepath.Join(w.home, ".satelle", "bin") + "':$PATH\n"
	if err := os.WriteFile(filepath.Join(w.home, ".profile"), []byte(profile), 0o644); err != nil {
		t.Fatal(err)
	}
	w.run(nil, "git", "add", ".")
	w.run(nil, "git", "-c", "user.name=A Person", "-c", "user.email=person@example.org", "commit", "-q", "-m", "Set up satelle")
	return w
}

// own runs the world's own copy of satelle, as a person does.
func (w *world) own(args ...string) string {
	w.t.Helper()
	return w.run(nil, append([]string{filepath.Join(w.dir, "programs", "satelle")}, args...)...)
}

// story is the story that holds the seat.
func (w *world) story() string {
	w.t.Helper()
	return regexp.MustCompile("sty_[0-9a-z]{8}").FindString(w.own("status"))
}

// codexIn plays a script to Codex, whose sandbox lets commands do what mode says.
func (w *world) codexIn(mode string, model *Server, args ...string) {
	w.t.Helper()
	if !slices.Contains(args, "-m") {
		args = append(args, "-m", "gpt-5.5")
	}
	argv := append([]string{
		filepath.Join(clients, "codex"), "exec", "--json", "-s", mode, "-c", `model_provider="scripted"`,
		"-c", fmt.Sprintf(`model_providers.scripted={name="scripted",base_url="%s/v1",wire_api="responses",env_key="MODEL_KEY"}`, model.URL),
	}, args...)
	w.run([]string{"CODEX_HOME=" + filepath.Join(w.home, ".codex"), "MODEL_KEY=dummy"}, append(argv, "MAIN go")...)
}

func shellCall(command string) Call { return Call{"exec_command", object{"cmd": command}} }

// The main job within Codex's sandbox, in which satelle's folder can't be
// written: the agent is denied, runs the command that the denial names, which
// the hook carries out, edits, and closes the story through its gate. What is a
// person's stays a person's, and what is no plain call fails and says so.
func TestCodexInItsSandbox(t *testing.T) {
	t.Parallel()
	w := newSandboxedWorld(t)
	patch := func(name string) Call {
		return Call{"apply_patch", "*** Begin Patch\n*** Add File: " + name + "\n+written\n*** End Patch\n"}
	}
	id := func(told []Result) string { return regexp.MustCompile("sty_[0-9a-z]{8}").FindString(told[0].Text) }
	const (
		refused = iota
		piped
		started
		edited
		looked
		commented
		persons
		closed
		late
	)
	model := New(t, Script{{Match: "MAIN", Turns: []Turn{
		refused: {Calls: []Call{patch("new.txt")}},
		piped:   {Calls: []Call{shellCall("true | " + start)}},
		started: {Calls: []Call{shellCall(start)}},
		edited:  {Calls: []Call{patch("new.txt")}},
		looked:  {Calls: []Call{shellCall("satelle status")}},
		commented: {Then: func(told []Result) []Call {
			return []Call{shellCall("satelle story comment " + id(told) + " --body 'It'\"'\"'s \"done\"' --json")}
		}},
		persons: {Calls: []Call{shellCall("satelle trust")}},
		closed: {Then: func([]Result) []Call {
			return []Call{shellCall("satelle story set " + w.story() + " --next 2>&1")}
		}},
		late: {Calls: []Call{patch("late.txt")}},
	}}})
	before := w.files()
	w.codexIn("workspace-write", model)
	said := func(turn int, words ...string) {
		t.Helper()
		r, _ := model.Result(0, turn, 0)
		for _, word := range words {
			if !strings.Contains(r.Text, word) {
				t.Errorf("turn %d, %v: %q lacks %q", turn, r.Call.Input, r.Text, word)
			}
		}
	}
	denied(t, model, 0, refused)
	said(piped, "read-only file system", "try: satelle story start --title WHAT --ac 'WHEN IT IS DONE'")
	said(started, "exited with code 0", "holds the seat of this work tree")
	said(edited, "Success")
	said(looked, "exited with code 0", "you are: session codex")
	said(commented, "exited with code 0", "sty_")
	said(persons, "is a person's")
	said(closed, "exited with code 0", "in_progress → done")
	denied(t, model, 0, late)
	before["new.txt"] = "written\n"
	for name, text := range w.files() {
		if old, was := before[name]; !was || old != text {
			t.Errorf("%s was written: %q", name, text)
		}
	}
	// What the gate ran stayed in the session's sandbox.
	if got, err := await(filepath.Join(w.dir, "tmp", "tried")); err != nil || !strings.Contains(got, "Read-only") {
		t.Errorf("a check that writes outside: %q, %v", got, err)
	}
	if _, err := os.Lstat(filepath.Join(w.home, "escaped")); err == nil {
		t.Error("a check wrote outside of the sandbox")
	}
	if out := w.own("ledger", "list", "--kind", "story.commented", "--json"); !strings.Contains(out, `"ancestry"`) || !strings.Contains(out, `"session"`) {
		t.Errorf("the actor of a comment: %s", out)
	}
}

// Where and how a session of Codex asks satelle for something from within its
// sandbox, and whether the hook carries it out.
func TestCodexCarriesOut(t *testing.T) {
	inScript := func(call Call) Call {
		return Call{"exec", "const r = await tools." + call.Tool + "(" + encode(call.Input) + ")\ntext(JSON.stringify(r))"}
	}
	for _, tt := range []struct {
		name    string
		mode    string
		args    []string
		at      string // below the repository
		script  bool
		agent   bool
		carried bool
	}{
		{name: "in a sub-folder", mode: "workspace-write", at: "sub folder", carried: true},
		{name: "in code mode", mode: "workspace-write", args: []string{"-m", "gpt-6-sol"}, script: true, carried: true},
		{name: "a sub-agent", mode: "workspace-write", agent: true, carried: true},
		{name: "with a network", mode: "workspace-write", args: []string{"-c", "sandbox_workspace_write.network_access=true"}, carried: true},
		{name: "without a sandbox", mode: "danger-full-access"},
		{name: "where nothing is written", mode: "read-only"},
		{name: "without a transcript", mode: "workspace-write", args: []string{"--ephemeral"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newSandboxedWorld(t)
			w.cwd = filepath.Join(w.repo, tt.at)
			if err := os.MkdirAll(w.cwd, 0o755); err != nil {
				t.Fatal(err)
			}
			call := shellCall(start)
			if tt.script {
				call = inScript(call)
			}
			script := Script{{Match: "MAIN", Turns: []Turn{{Calls: []Call{call}}}}}
			if tt.agent {
				script = Script{
					{Match: "SUBTASK", Turns: []Turn{{Calls: []Call{call}}}},
					{Match: "MAIN", Turns: []Turn{{Calls: []Call{{"multi_agent_v1.spawn_agent", object{"message": "SUBTASK go", "agent_type": "default"}}}}, {Then: func(told []Result) []Call {
						id := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`).FindString(told[0].Text)
						return []Call{{"multi_agent_v1.wait_agent", object{"targets": []string{id}, "timeout_ms": 20000}}}
					}}}},
				}
			}
			model := New(t, script)
			w.codexIn(tt.mode, model, tt.args...)
			r, _ := model.Result(0, 0, 0)
			held := strings.Contains(r.Text, "holds the seat of this work tree")
			kept := strings.Contains(r.Text, "read-only file system") && strings.Contains(r.Text, "try: satelle story start")
			switch {
			case tt.mode == "danger-full-access":
				if !held {
					t.Errorf("it did not run: %q", r.Text)
				}
			case held != tt.carried || kept == tt.carried:
				t.Errorf("carried out: %v, want %v: %q", held, tt.carried, r.Text)
			}
			if tt.carried && w.story() == "" {
				t.Errorf("no story holds the seat: %s", w.own("status"))
			}
		})
	}
}
