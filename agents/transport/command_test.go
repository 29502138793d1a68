package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"satelle/agents"
	"satelle/agents/event"
)

// program writes a script and returns the command that runs it.
func program(t testing.TB, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.sh")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return "sh " + path
}

func invocation(t testing.TB, command string) Invocation {
	return Invocation{
		Binding: agents.Binding{Name: "stub", Command: command, Interface: agents.InterfaceCommand},
		Env:     os.Environ(), System: "be good", Payload: []byte(`{"story":1}`), Dir: t.TempDir(), Timeout: time.Minute,
	}
}

// failed runs what must fail and returns how.
func failed(t *testing.T, ctx context.Context, inv Invocation) (Result, *Failure) {
	t.Helper()
	r, err := Run(ctx, inv)
	var f *Failure
	if !errors.As(err, &f) {
		t.Fatalf("%q, %v", r.Text, err)
	}
	return r, f
}

// The work item is on standard input whatever the template says, and the same
// bytes are one token where it asks for them.
func TestPayloadDelivery(t *testing.T) {
	t.Parallel()
	payload := "{\"a\":\"b c\",\n \"d\":\"'\\\"$(x) `y` {system} {tools} \xff\"}"
	system := "two words\nand a line"
	for template, want := range map[string][]string{
		"{system}":                 {system},
		"-p {payload} -s {system}": {"-p", payload, "-s", system},
		"--one={payload}":          {"--one=" + payload},
	} {
		inv := invocation(t, "")
		inv.Binding.Command = program(t, `cat >stdin; for a; do printf '%s\0' "$a"; done >argv; echo ok`) + " " + template
		inv.System, inv.Payload = system, []byte(payload)
		r, err := Run(t.Context(), inv)
		if err != nil || r.Text != "ok" {
			t.Fatalf("%s: %q, %v", template, r.Text, err)
		}
		stdin, _ := os.ReadFile(filepath.Join(inv.Dir, "stdin"))
		argv, _ := os.ReadFile(filepath.Join(inv.Dir, "argv"))
		if string(stdin) != payload {
			t.Errorf("%s: standard input %q", template, stdin)
		}
		if got := strings.Split(strings.TrimSuffix(string(argv), "\x00"), "\x00"); !slices.Equal(got, want) {
			t.Errorf("%s: argv %q, want %q", template, got, want)
		}
	}
}

// An agent may leave its input unread, whole or in part, and close it.
func TestUnreadInput(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"echo ok", "head -c 1 >/dev/null; echo ok", "exec <&-; echo ok", "echo ok; exec 0<&- 1>&-; exit 0"} {
		inv := invocation(t, program(t, script)+" x")
		inv.Payload = bytes.Repeat([]byte("p"), 2<<20)
		if r, err := Run(t.Context(), inv); err != nil || r.Text != "ok" {
			t.Errorf("%s: %q, %v", script, r.Text, err)
		}
	}
}

// A wrapper may run whatever it likes: what counts is what comes out.
func TestWrapper(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(filepath.Join("testdata", "outputs"))
	if err != nil {
		t.Fatal(err)
	}
	inv := invocation(t, "")
	if err := os.WriteFile(filepath.Join(inv.Dir, "wrapper.sh"), []byte(`[ "$1" = "be good" ] && cat "$OUTPUT"`), 0o600); err != nil {
		t.Fatal(err)
	}
	inv.Binding.Command = "sh wrapper.sh {system}"
	for file, want := range map[string]string{
		"claude-json-success.json": "all done", "codex-items.jsonl": "end", "grok-ok-streaming-json.out": "final {\"a\":1}\nsecond line",
	} {
		inv.Env = append(os.Environ(), "OUTPUT="+filepath.Join(dir, file))
		if r, err := Run(t.Context(), inv); err != nil || r.Text != want || !r.Usage.Available() {
			t.Errorf("%s: %q %+v, %v", file, r.Text, r.Usage, err)
		}
	}
}

// The environment is the invocation's, and so is the folder.
func TestEnvironmentReaches(t *testing.T) {
	t.Parallel()
	inv := invocation(t, program(t, `echo "$CODEX_PATH $INITIAL_AGENT_MODE $HOME $(pwd -P)"`)+" x")
	dir, err := filepath.EvalSymlinks(inv.Dir)
	if err != nil {
		t.Fatal(err)
	}
	inv.Env = []string{"PATH=" + os.Getenv("PATH"), "CODEX_PATH=/opt/codex", "INITIAL_AGENT_MODE=read-only"}
	if r, err := Run(t.Context(), inv); err != nil || r.Text != "/opt/codex read-only  "+dir {
		t.Errorf("%q, %v", r.Text, err)
	}
}

// Fields of a binding have their effect on what runs.
func TestBindingFieldsReach(t *testing.T) {
	t.Parallel()
	inv := invocation(t, program(t, `for a; do printf '%s|' "$a"; done`)+" --tools {tools} -m {model} -c e={effort} --settings {settings}")
	inv.Binding.Tools, inv.Binding.Model, inv.Binding.Effort, inv.Binding.Settings = "Read,Bash(satelle:*)", "m1", "high", `{"a": 1}`
	if r, err := Run(t.Context(), inv); err != nil || r.Text != `--tools|Read,Bash(satelle:*)|-m|m1|-c|e=high|--settings|{"a": 1}|` {
		t.Errorf("%q, %v", r.Text, err)
	}
}

func TestEndlessOutput(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"text":   `exec yes`,
		"a line": `exec tr '\0' x </dev/zero`,
		"object": `printf '{"a":['; exec yes 1,`,
		"stream": `echo '{"type":"thread.started","thread_id":"t"}'; exec yes '{"type":"item.updated","item":{"type":"todo_list","x":"` + strings.Repeat("x", 4000) + `"}}'`,
		"deaf":   `trap '' PIPE TERM; exec yes`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, f := failed(t, t.Context(), invocation(t, program(t, script)+" x"))
			if f.Class != Protocol || f.Elsewhere() || r.Text != "" || !strings.Contains(f.Message, "MiB") {
				t.Errorf("%v", f)
			}
		})
	}
	// Standard error may be endless without harm.
	inv := invocation(t, program(t, `yes 429 | head -c 10000000 >&2; echo "Error: boom" >&2; exit 3`)+" x")
	if _, f := failed(t, t.Context(), inv); f.Class != Failed || f.ExitCode != 3 || !strings.Contains(f.Message, "boom") || len(f.Message) > 2*maxMessage {
		t.Errorf("%v", f)
	}
}

// What the system would not take is refused before there is a process, and what
// it takes is not.
func TestTooLong(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the limits of Linux")
	}
	mark := filepath.Join(t.TempDir(), "ran")
	stub := program(t, "touch "+mark+"; echo ok")
	long := bytes.Repeat([]byte("x"), maxToken)
	many := invocation(t, stub+strings.Repeat(" {payload}", 400))
	many.Payload = bytes.Repeat([]byte("x"), 100_000)
	variable := invocation(t, stub+" x")
	variable.Env = append(slices.Clone(variable.Env), "AGENT_PROMPT="+string(long))
	payload := invocation(t, stub+" -p {payload}")
	payload.Payload = long
	system := invocation(t, stub+" -s {system}")
	system.System = string(long)
	for name, tt := range map[string]struct {
		inv  Invocation
		says []string
	}{
		"payload":  {payload, []string{"131072 bytes", "131071", "[stub]", "leave {payload} out"}},
		"system":   {system, []string{"131072 bytes", "[stub]", "shorten the skill"}},
		"variable": {variable, []string{"AGENT_PROMPT", "[stub]", "shorten"}},
		"total":    {many, []string{"4000", "leave {payload} out"}},
	} {
		tt.inv.Started = func(int) error { t.Errorf("%s: a process was started", name); return nil }
		_, f := failed(t, t.Context(), tt.inv)
		if f.Class != TooLong || f.Elsewhere() {
			t.Errorf("%s: %v", name, f)
		}
		for _, says := range tt.says {
			if !strings.Contains(f.Message, says) {
				t.Errorf("%s: %q does not say %q", name, f.Message, says)
			}
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it ran")
	}
	payload.Payload = long[1:]
	payload.Env = append(slices.Clone(payload.Env), "AGENT_PROMPT="+string(long[len("AGENT_PROMPT=")+1:]))
	if r, err := Run(t.Context(), payload); err != nil || r.Text != "ok" {
		t.Errorf("just at the limit: %q, %v", r.Text, err)
	}
	payload.Binding.Command = stub + " x"
	payload.Payload = bytes.Repeat(long, 20)
	if r, err := Run(t.Context(), payload); err != nil || r.Text != "ok" {
		t.Errorf("standard input has no such limit: %q, %v", r.Text, err)
	}
}

// A program that is not there is said so at once and by name, is no reason to
// ask another binding, and is nothing that a service did.
func TestMissingProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"closed": "#!/bin/sh\n", "garbage": "429 overloaded\n", "lost": "#!/no/such/interpreter\n"} {
		mode := os.FileMode(0o755)
		if name == "closed" {
			mode = 0o644
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ command, says string }{
		{"claude-429-overloaded -p x", `"claude-429-overloaded" is not on PATH`},
		{dir + "/none x", `/none" is not there`},
		{"./none x", `"./none" is not there`},
		{dir + " x", "is not there"},
		{dir + "/closed x", "is not executable"},
		{"closed x", "is not executable"},
		{dir + "/garbage x", "exec format error"},
		{dir + "/lost x", "can't be started: no such file"},
		{program(t, "exec no-such-agent") + " x", "no-such-agent"},
		{"sh -c ./closed", ""},
	} {
		inv := invocation(t, tt.command)
		inv.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":"+dir)
		if _, f := failed(t, t.Context(), inv); f.Class != Missing || f.Elsewhere() || !strings.Contains(f.Message, tt.says) {
			t.Errorf("%s: %v", tt.command, f)
		}
	}
	inv := invocation(t, "sh x")
	inv.Dir = filepath.Join(dir, "gone")
	if _, f := failed(t, t.Context(), inv); f.Class != Failed || !strings.Contains(f.Message, "gone") {
		t.Errorf("no folder: %v", f)
	}
}

// The binding's own PATH finds the program, and a name with a slash is relative
// to the folder of the work.
func TestProgramIsLookedUpForTheAgent(t *testing.T) {
	t.Parallel()
	inv := invocation(t, "my-agent x")
	for _, dir := range []string{"bin", "tools"} {
		if err := os.Mkdir(filepath.Join(inv.Dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(inv.Dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("bin/my-agent", "#!/bin/sh\necho no\n", 0o600)
	write("tools/my-agent", "#!/bin/sh\necho tools\n", 0o700)
	inv.Env = []string{"PATH=/no/such", "PATH=bin:" + filepath.Join(inv.Dir, "tools")}
	inv.Binding.Env = map[string]string{"PATH": "…"}
	if r, err := Run(t.Context(), inv); err != nil || r.Text != "tools" {
		t.Errorf("%q, %v", r.Text, err)
	}
	inv.Binding.Command = "tools/my-agent x"
	if r, err := Run(t.Context(), inv); err != nil || r.Text != "tools" || r.Program != filepath.Join(inv.Dir, "tools/my-agent") {
		t.Errorf("%+v, %v", r, err)
	}
}

// A PATH that was inherited finds nothing where the agent works, however it says so:
// that may be somebody else's program of the same name.
func TestNoProgramOfTheWorkTreeByName(t *testing.T) {
	t.Parallel()
	inv := invocation(t, "my-agent x")
	away := t.TempDir()
	for dir, says := range map[string]string{filepath.Join(inv.Dir, "bin"): "within", away: "away"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "my-agent"), []byte("#!/bin/sh\necho "+says+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(inv.Dir, "bin"), link); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{filepath.Join(inv.Dir, "bin"), "bin", "./bin", link, inv.Dir + "/../" + filepath.Base(inv.Dir) + "/bin"} {
		inv.Env = []string{"PATH=" + folder + ":" + away}
		r, err := Run(t.Context(), inv)
		if err != nil || r.Text != "away" || r.Program != filepath.Join(away, "my-agent") {
			t.Errorf("%s: %+v, %v", folder, r, err)
		}
		inv.Env = []string{"PATH=" + folder}
		if r, f := failed(t, t.Context(), inv); f.Class != Missing || r.Program != "" {
			t.Errorf("%s alone: %+v, %v", folder, r, f)
		}
	}
}

// However a run ends, it has its class, and nothing of it lives.
func TestEndings(t *testing.T) {
	t.Parallel()
	leave := `exec 9>"$ALIVE"; (setsid sleep 600 &) ; sleep 600 & echo here >&9; `
	for _, tt := range []struct {
		name, script string
		timeout      time.Duration
		cancel       bool
		deadline     time.Duration
		class        string
		exit         int
		says         string
	}{
		{"well", leave + "echo ok", time.Minute, false, 0, "", 0, ""},
		{"badly", leave + "echo no >&2; exit 9", time.Minute, false, 0, Failed, 9, "exit code 9: no"},
		{"by a signal", leave + "kill -KILL $$", time.Minute, false, 0, Failed, 0, "SIGKILL"},
		{"late", leave + "exec sleep 600", 300 * time.Millisecond, false, 0, TimedOut, 0, "300ms"},
		{"late and deaf", leave + "trap '' TERM; sleep 600; sleep 600", 300 * time.Millisecond, false, 0, TimedOut, 0, ""},
		{"late after its answer", leave + `echo '{"text":"ok"}'; exec sleep 600`, 300 * time.Millisecond, false, 0, TimedOut, 0, ""},
		{"cancelled", leave + "echo up; exec sleep 600", time.Minute, true, 0, Cancelled, 0, ""},
		{"out of time", leave + "exec sleep 600", time.Minute, false, 300 * time.Millisecond, TimedOut, 0, "left"},
		{"refused by status", leave + `echo 'Error: unexpected status 503 Service Unavailable' >&2; exit 1`, time.Minute, false, 0, Unavailable, 1, "503"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.deadline > 0 {
				ctx, cancel = context.WithTimeout(ctx, tt.deadline)
				defer cancel()
			}
			inv := invocation(t, program(t, tt.script)+" x")
			alive := filepath.Join(inv.Dir, "alive")
			if err := unix.Mkfifo(alive, 0o600); err != nil {
				t.Fatal(err)
			}
			life, err := os.OpenFile(alive, os.O_RDONLY|unix.O_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer life.Close()
			inv.Env, inv.Timeout = append(os.Environ(), "ALIVE="+alive), tt.timeout
			inv.Events = func(e event.Event) {
				if tt.cancel && e.Kind == event.Message {
					cancel()
				}
			}
			if tt.class == "" {
				if r, err := Run(ctx, inv); err != nil || r.Text != "ok" {
					t.Errorf("%q, %v", r.Text, err)
				}
			} else if r, f := failed(t, ctx, inv); f.Class != tt.class || f.ExitCode != tt.exit || !strings.Contains(f.Message, tt.says) || r.Text != "" || r.Elapsed <= 0 {
				t.Errorf("%v with exit code %d after %v, %q", f, f.ExitCode, r.Elapsed, r.Text)
			}
			if runtime.GOOS == "linux" {
				life.SetReadDeadline(time.Now().Add(20 * time.Second))
				if said, err := io.ReadAll(life); err != nil || string(said) != "here\n" {
					t.Errorf("something lives on: %q, %v", said, err)
				}
			}
		})
	}
}

func TestStarted(t *testing.T) {
	t.Parallel()
	var pid int
	inv := invocation(t, program(t, "echo $PPID")+" x")
	inv.Started = func(p int) error { pid = p; return nil }
	if r, err := Run(t.Context(), inv); err != nil || r.Text != fmt.Sprint(pid) {
		t.Errorf("%q below %d, %v", r.Text, pid, err)
	}
	inv.Binding.Command = program(t, "touch ran") + " x"
	inv.Started = func(int) error { return errors.New("no more workers") }
	if _, f := failed(t, t.Context(), inv); f.Class != Failed || !strings.Contains(f.Message, "no more workers") {
		t.Errorf("%v", f)
	}
	if _, err := os.Stat(filepath.Join(inv.Dir, "ran")); err == nil {
		t.Error("it ran")
	}
}

// A run is told from its start to its end, and the final message is the answer
// whatever was said before.
func TestRunEvents(t *testing.T) {
	t.Parallel()
	stream := `{"type":"thread.started","thread_id":"t"}
{"type":"item.completed","item":{"id":"0","type":"reasoning","text":"SECRET-THOUGHT"}}
{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"{\"decision\":\"accept\"}"}}
{"type":"item.started","item":{"id":"2","type":"command_execution","command":"ls"}}
{"type":"item.completed","item":{"id":"2","type":"command_execution","command":"ls","status":"completed","aggregated_output":"a"}}
{"type":"item.completed","item":{"id":"3","type":"agent_message","text":"{\"decision\":\"reject\"}"}}
{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":2}}
`
	for exit, last := range map[string]event.Kind{"": event.Completion, "exit 1": event.Completion, "echo garbage; exit 1": event.Failure} {
		inv := invocation(t, program(t, "cat stream; "+exit)+" x")
		if err := os.WriteFile(filepath.Join(inv.Dir, "stream"), []byte(stream), 0o600); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var kinds []event.Kind
		var told, raw strings.Builder
		inv.Raw = &raw
		inv.Events = func(e event.Event) {
			mu.Lock()
			defer mu.Unlock()
			kinds = append(kinds, e.Kind)
			told.WriteString(shown(e))
		}
		r, err := Run(t.Context(), inv)
		want := []event.Kind{event.Start, event.Message, event.ToolStart, event.ToolEnd, event.Message, event.Usage, last}
		if last == event.Failure {
			want = slices.Delete(want, 5, 6)
		} else if err != nil || r.Text != `{"decision":"reject"}` {
			t.Errorf("%q, %v", r.Text, err)
		}
		if !slices.Equal(kinds, want) {
			t.Errorf("%q: %v, want %v", exit, kinds, want)
		}
		if strings.Contains(told.String()+raw.String(), "SECRET-THOUGHT") || !strings.Contains(raw.String(), "thread.started") {
			t.Errorf("%q: events %s, trace %s", exit, &told, &raw)
		}
	}
}

// What the transport adds to the bare process.
func BenchmarkCommand(b *testing.B) {
	inv := invocation(b, program(b, `cat >/dev/null; echo '{"text":"ok"}'`)+" x")
	for b.Loop() {
		if _, err := Run(b.Context(), inv); err != nil {
			b.Fatal(err)
		}
	}
}
