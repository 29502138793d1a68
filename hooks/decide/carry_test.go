package decide

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"satelle/internal/place"
	"satelle/ledger/seatread"
)

// sayer stands for the installed satelle: it tells how it was called.
const sayer = `#!/bin/sh
for a; do printf '[%s]' "$a"; done
echo " in $PWD, color ${NO_COLOR:-}"
printf '%s' "$SATELLE_CONFINE" >&2
exit 3
`

// turnText is a line of Codex's transcript, as it writes them.
func turnText(turn, mode, approval, entries string) string {
	return `{"timestamp":"2026-12-01T02:49:04.876Z","ordinal":5,"type":"turn_context","payload":{"turn_id":"` + turn + `","cwd":"/x","approval_policy":` + approval +
		`,"permission_profile":{"type":"managed","file_system":{"type":"restricted","entries":[` + entries + `]},"network":"restricted"},` +
		`"sandbox_policy":{"type":"` + mode + `","network_access":false}}}` + "\n"
}

func entry(path, access string) string {
	return `{"path":{"type":"path","path":"` + path + `"},"access":"` + access + `","missing_path_behavior":"skip"}`
}

func special(kind, access string) string {
	return `{"path":{"type":"special","value":{"kind":"` + kind + `"}},"access":"` + access + `"}`
}

// codex is a payload of Codex's form.
func (m *machine) codex(dir, command, transcript string) string {
	m.t.Helper()
	b, err := json.Marshal(map[string]any{
		"session_id": "s", "turn_id": "t1", "model": "m", "cwd": dir, "hook_event_name": "PreToolUse", "permission_mode": "bypassPermissions",
		"transcript_path": transcript, "tool_name": "Bash", "tool_input": map[string]string{"command": command}, "tool_use_id": "call_1",
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return string(b)
}

// boxed is a machine whose session lives in Codex's sandbox, and its transcript.
func boxed(t *testing.T) (m *machine, transcript func(text string) string, usual string) {
	t.Helper()
	m = newMachine(t)
	m.repo("re po")
	m.row("re po", seatread.Row{})
	m.write("home/.satelle/bin/satelle", sayer)
	n := 0
	transcript = func(text string) string {
		n++
		name := "home/.codex/sessions/" + strings.Repeat("x", n) + ".jsonl"
		m.write(name, text)
		return m.path(name)
	}
	usual = strings.Join([]string{
		special("root", "read"), entry(m.path("re po"), "write"), special("tmpdir", "write"),
		entry(m.path("re po/.git"), "read"), entry(m.path("re po/.codex"), "read"),
	}, ",")
	return m, transcript, usual
}

// rewritten is the command of an answer that rewrites one.
func rewritten(t *testing.T, answer string) string {
	t.Helper()
	h := gjson.Get(answer, "hookSpecificOutput")
	if h.Get("permissionDecision").Str == "deny" {
		t.Fatalf("denied: %s", answer)
	}
	if answer != "" && h.Get("permissionDecision").Str != "allow" {
		t.Fatalf("neither silence nor a command: %s", answer)
	}
	return h.Get("updatedInput.command").Str
}

func TestCarry(t *testing.T) {
	m, transcript, usual := boxed(t)
	cli := m.path("home/.satelle/bin/satelle")
	repo := m.path("re po")
	normal := transcript("{\"type\":\"session_meta\"}\n" + turnText("t1", "workspace-write", `"never"`, usual) + turnText("t0", "danger-full-access", `"never"`, ""))
	for _, c := range []struct {
		name, dir, command string
		want               string // how satelle is called, "" if not by the hook
	}{
		{"start", repo, cli + ` story start --title "It's \"this\"" --ac 'a b'`, `[story][start][--title=It's "this"][--ac=a b]`},
		{"in a folder", repo + "/src", cli + " story join sty_abcdefgh", "[story][join][sty_abcdefgh]"},
		{"by cd", m.path("other"), "cd '" + repo + "' && " + cli + " story set sty_abcdefgh --next", "[story][set][sty_abcdefgh][--next]"},
		{"both outputs in one", repo, cli + " story wait sty_abcdefgh 2>&1", "[story][wait][sty_abcdefgh]"},
		{"a file", repo + "/src", cli + " story attach sty_abcdefgh --name n --file a.py", "[story][attach][sty_abcdefgh][--name=n][--file=" + repo + "/src/a.py]"},
		{"a file as text", repo, cli + " story comment sty_abcdefgh --body=@src/a.py", "[story][comment][sty_abcdefgh][--body=@" + repo + "/src/a.py]"},
		{"an option's value that looks like one", repo, cli + " story start --title --file --ac x", "[story][start][--title=--file][--ac=x]"},
		{"what reads the ledger", repo, cli + " ledger list --limit 3 --json", "[ledger][list][--limit=3][--json]"},
		{"a program that goes on", repo, cli + " ledger list --follow", ""},
		{"a file that is compared", repo, cli + " ledger verify --against x", ""},
		{"what needs no ledger", repo, cli + " version", ""},
		{"help", repo, cli + " story start --help", ""},
		{"an option that it does not know", repo, cli + " story start --title x --out=/x", ""},
		{"input", repo, cli + " story attach sty_abcdefgh --name n", ""},
		{"input by name", repo, cli + " story attach sty_abcdefgh --name n --file -", ""},
		{"input as a text", repo, cli + " story comment sty_abcdefgh --body -", ""},
		{"a pipe", repo, cli + " story set sty_abcdefgh --next | cat", ""},
		{"two commands", repo, cli + " story join sty_abcdefgh; " + cli + " story join sty_abcdefgh", ""},
		{"a variable", repo, cli + ` story start --title "$HOME"`, ""},
		{"a pattern", repo, cli + " story start --title x --path src/*", ""},
		{"in the background", repo, cli + " story join sty_abcdefgh &", ""},
		{"in a subshell", repo, "(" + cli + " story join sty_abcdefgh)", ""},
		{"a file that is written", m.path("tmp"), cli + " story join sty_abcdefgh > out", ""},
		{"outside of every repository", m.path("other"), cli + " story join sty_abcdefgh", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			command := rewritten(t, m.hook(m.codex(c.dir, c.command, normal)))
			if c.want == "" {
				if command != "" {
					t.Fatalf("carried out: %s", command)
				}
				return
			}
			cmd := exec.Command("sh", "-c", command)
			var out, errs strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &errs
			err := cmd.Run()
			if cmd.ProcessState.ExitCode() != 3 {
				t.Fatalf("%v: %s", err, command)
			}
			box := place.Confinement{Write: []string{repo, m.path("tmp")}, Keep: []string{repo + "/.git", repo + "/.codex"}}.String()
			want, wantErr := c.want+" in "+repo+", color 1\n", box
			if strings.Contains(c.command, "2>&1") {
				want, wantErr = want+box, ""
			}
			if out.String() != want || errs.String() != wantErr {
				t.Errorf("got %q and %q\nwant %q and %q", out.String(), errs.String(), want, wantErr)
			}
		})
	}
}

// Where Codex has no sandbox, where somebody is asked, where it is not known,
// and where the sandbox would let a command steer what runs outside of it,
// nothing is carried out.
func TestCarryOnlyForItsSandbox(t *testing.T) {
	m, transcript, usual := boxed(t)
	repo := m.path("re po")
	command := m.path("home/.satelle/bin/satelle") + " story join sty_abcdefgh"
	with := func(more ...string) string { return usual + "," + strings.Join(more, ",") }
	for name, text := range map[string]string{
		"no sandbox":             turnText("t1", "danger-full-access", `"never"`, usual),
		"one that only reads":    turnText("t1", "read-only", `"never"`, usual),
		"somebody is asked":      turnText("t1", "workspace-write", `"untrusted"`, usual),
		"a policy of more words": turnText("t1", "workspace-write", `{"granular":{}}`, usual),
		"another turn":           turnText("t2", "workspace-write", `"never"`, usual),
		"no profile":             strings.Replace(turnText("t1", "workspace-write", `"never"`, usual), "managed", "other", 1),
		"not everything is read": turnText("t1", "workspace-write", `"never"`, entry(repo, "write")),
		"something is hidden":    turnText("t1", "workspace-write", `"never"`, with(entry(m.path("other"), "none"))),
		"an entry of a new kind": turnText("t1", "workspace-write", `"never"`, with(special("novel", "write"))),
		"satelle's own folder":   turnText("t1", "workspace-write", `"never"`, with(entry(m.path("home"), "write"))),
		"git's folder":           turnText("t1", "workspace-write", `"never"`, special("root", "read")+","+entry(repo, "write")),
		"nothing":                "",
		"no lines":               "x",
		"a text that quotes it":  `{"type":"response_item","payload":{"text":` + quotedJSON(turnText("t1", "workspace-write", `"never"`, usual)) + `}}` + "\n",
	} {
		if got := rewritten(t, m.hook(m.codex(repo, command, transcript(text)))); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
	usualText := turnText("t1", "workspace-write", `"on-request"`, usual)
	for name, text := range map[string]string{
		"far up":               usualText + strings.Repeat(`{"type":"response_item"}`+"\n", 60_000),
		"without a last break": strings.TrimSuffix(usualText, "\n"),
		"behind a long line":   `{"x":"` + strings.Repeat("y", 3*chunk) + `"}` + "\n" + usualText,
		"before a long line":   usualText + `{"x":"` + strings.Repeat("y", 3*chunk) + `"}` + "\n",
	} {
		if got := rewritten(t, m.hook(m.codex(repo, command, transcript(text)))); got == "" {
			t.Errorf("%s: not found", name)
		}
	}
	for _, harness := range []string{"claude", "no transcript", "doctor"} {
		payload := m.codex(repo, command, transcript(usualText))
		switch harness {
		case "claude":
			payload = strings.NewReplacer(`,"turn_id":"t1"`, "", `"model":"m",`, "").Replace(payload)
		case "no transcript":
			payload = m.codex(repo, command, m.path("nowhere"))
		case "doctor":
			payload = strings.Replace(payload, `"session_id":"s"`, `"session_id":"`+CanarySession+`"`, 1)
		}
		if got := rewritten(t, m.hook(payload)); got != "" {
			t.Errorf("%s: %s", harness, got)
		}
	}
}

// TestTurnContext finds an entry wherever the blocks end in which a transcript
// is read.
func TestTurnContext(t *testing.T) {
	line := turnText("t1", "workspace-write", `"never"`, "")
	file := filepath.Join(t.TempDir(), "t.jsonl")
	for _, edge := range []int{0, chunk, 2 * chunk} {
		for off := -len(line) - 2; off <= 2; off += 3 {
			before, after := 40, max(0, edge+off)
			text := strings.Repeat("a", before) + "\n" + line + strings.Repeat("b", after) + "\n"
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, ok := turnContext(file, "t1"); !ok || got.Get("turn_id").Str != "t1" {
				t.Fatalf("not found with %d bytes behind it", after)
			}
			if _, ok := turnContext(file, "t"); ok {
				t.Fatal("another turn was found")
			}
		}
	}
	for _, path := range []string{"", "t.jsonl", filepath.Dir(file), "/dev/zero", file + "x"} {
		if _, ok := turnContext(path, "t1"); ok {
			t.Errorf("%q is a transcript", path)
		}
	}
}

func quotedJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// What is denied is not carried out, and a person's verb is denied.
func TestCarryNothingDenied(t *testing.T) {
	m, transcript, usual := boxed(t)
	repo := m.path("re po")
	cli := m.path("home/.satelle/bin/satelle")
	normal := transcript(turnText("t1", "workspace-write", `"never"`, usual))
	for _, command := range []string{
		cli + " trust", "A=b " + cli + " story join sty_abcdefgh", cli + " story restamp sty_abcdefgh", cli + " init",
		cli + " story attach sty_abcdefgh --name n --file " + m.path("home/.satelle/keys/log.key"),
		m.path("other/satelle") + " story join sty_abcdefgh",
	} {
		if answer := m.hook(m.codex(repo, command, normal)); gjson.Get(answer, "hookSpecificOutput.permissionDecision").Str != "deny" {
			t.Errorf("%s: %s", command, answer)
		}
	}
}

func TestCarryOut(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "satelle")
	write := func(script string) {
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(limit time.Duration, args ...string) (outcome, string) {
		o, ok := carryOut(program, args, dir, place.Confinement{}, limit)
		if !ok {
			t.Fatal("not started")
		}
		command := o.print(args)
		if len(command) > 127<<10 {
			t.Errorf("a command of %d bytes", len(command))
		}
		cmd := exec.Command("sh", "-c", command)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != o.code {
			t.Errorf("%v: %s", err, out)
		}
		return o, string(out)
	}
	write(`printf 'a\n%%s\\n'"'"'\0\377b'; exit 0`)
	if o, out := run(carryTime, "story", "get"); o.code != 0 || out != "a\n%s\\n'\uFFFDb" {
		t.Errorf("%d, %q", o.code, out)
	}
	write(`head -c 300000 /dev/zero | tr '\0' "'"; head -c 300000 /dev/zero | tr '\0' "'" >&2`)
	if o, out := run(carryTime, "story", "get"); o.code != 0 || strings.Count(out, "'") < 20_000 {
		t.Errorf("%d, %d bytes", o.code, len(out))
	}
	write(`echo begun; exec sleep 600`)
	if o, out := run(300*time.Millisecond, "story", "set", "--next", "sty_abcdefgh"); o.code != 5 || !strings.HasPrefix(out, "begun\n") || !strings.Contains(out, "story wait sty_abcdefgh") {
		t.Errorf("%d, %q", o.code, out)
	}
	write(`kill -9 $$`)
	if o, out := run(carryTime, "story", "join", "x"); o.code != 1 || !strings.Contains(out, "status") {
		t.Errorf("%d, %q", o.code, out)
	}
	if _, ok := carryOut(filepath.Join(dir, "none"), nil, dir, place.Confinement{}, carryTime); ok {
		t.Error("a program that is not there was started")
	}
}

// FuzzPlainCall holds that what is taken for a plain call of literal words is
// just that for the shell: it prints the words.
func FuzzPlainCall(f *testing.F) {
	for _, text := range []string{
		"printf a b", `printf "a\"b" 'c d' --e=f`, "printf a\\\nb", `printf "\$x\a"`, "printf a 2>&1", "cd / && printf a", "printf {a,b}", "printf ~", "printf $'a'", "printf a#b", "printf =a",
		"printf a &", "! printf a", "time printf a", "printf '", "printf a\r", "printf \u00a0 a",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		call, ok := plainCall(text, "/")
		if !ok || call.words[0] != "printf" || strings.ContainsRune(text, 0) || call.dir != "/" {
			return
		}
		rest := strings.Replace(text, "printf", `printf '[%s]'`, 1)
		want := ""
		for _, word := range call.words[1:] {
			want += "[" + word + "]"
		}
		if len(call.words) == 1 {
			want = "[]"
		}
		cmd := exec.Command("bash", "-c", rest)
		cmd.Dir = "/"
		out, err := cmd.Output()
		if err != nil || string(out) != want {
			t.Errorf("%q: %q, %v; want %q", rest, out, err, want)
		}
	})
}
