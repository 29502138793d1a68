package decide

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"satelle/internal/spool"
	"satelle/ledger/seatread"
)

// observed returns the lines of a repository's spool.
func (m *machine) observed(repo string) []spool.Line {
	m.t.Helper()
	b, err := spool.Read(filepath.Join(filepath.Dir(m.ledger(repo)), "spool"), spool.Position{}, 1000)
	if err != nil || b.Torn > 0 {
		m.t.Fatalf("%d torn, %v", b.Torn, err)
	}
	return b.Lines
}

// sent is a payload with an id.
func sent(event, id, dir, tool string, input any) string {
	b, err := json.Marshal(map[string]any{
		"session_id": "s 1", "agent_id": "a1", "cwd": dir, "hook_event_name": event, "tool_name": tool, "tool_input": input, "tool_use_id": id,
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestObservations(t *testing.T) {
	seated := seatread.Row{Seats: map[string]seatread.Seat{".": held("src/**")}}
	softened := func(mode string) seatread.Row {
		return seatread.Row{Gate: seatread.Gate{Mode: map[string]string{seatread.RuleEdit: mode, seatread.RuleCommand: mode}}}
	}
	write := func(file string) any { return map[string]any{"file_path": file, "content": "x"} }
	bash := func(command string) any { return map[string]any{"command": command} }
	for name, tt := range map[string]struct {
		row   seatread.Row
		event string
		tool  string
		input any
		want  []spool.Line // what of a line is not the same in all
	}{
		"a denied edit": {
			seatread.Row{},
			"PreToolUse", "Write", write("@/src/b.py"),
			[]spool.Line{{Kind: spool.Denied, Targets: []string{"src/b.py"}, Rule: "edit", Mode: "enforce", Holding: "free"}},
		},
		"an edit beyond its scope": {
			seated, "PreToolUse", "Write", write("@/b.py"),
			[]spool.Line{{Kind: spool.Denied, Targets: []string{"b.py"}, Rule: "scope", Mode: "enforce", Holding: "held", Story: "sty_abcdefgh", Step: "in_progress"}},
		},
		"an edit with a seat": {
			seated, "PreToolUse", "Write", write("src/b.py"),
			[]spool.Line{{Kind: spool.Edit, Targets: []string{"src/b.py"}, Holding: "held", Story: "sty_abcdefgh", Step: "in_progress"}},
		},
		"an edit that is done": {
			seated, "PostToolUse", "Write", write("src/b.py"),
			[]spool.Line{{Kind: spool.Done, Targets: []string{"src/b.py"}, Holding: "held", Story: "sty_abcdefgh", Step: "in_progress"}},
		},
		"an edit that failed": {
			seated, "PostToolUseFailure", "Write", write("src/b.py"),
			[]spool.Line{{Kind: spool.Done, Failed: true, Targets: []string{"src/b.py"}, Holding: "held", Story: "sty_abcdefgh", Step: "in_progress"}},
		},
		"a denied command": {
			seatread.Row{},
			"PreToolUse", "Bash", bash("ls && API_KEY=hunter2 ./deploy --now"),
			[]spool.Line{{Kind: spool.Denied, Why: "*", Cause: "*", Rule: "command", Mode: "enforce", Holding: "free"}},
		},
		"a command with a seat": {
			seatread.Row{Seats: map[string]seatread.Seat{".": held()}},
			"PreToolUse", "Bash", bash("echo x > src/b.py"),
			[]spool.Line{{Kind: spool.Edit, Targets: []string{"src/b.py"}, Why: "*", Cause: "*", Holding: "held", Story: "sty_abcdefgh", Step: "in_progress"}},
		},
		"a warning": {
			softened(seatread.ModeWarn), "PreToolUse", "Write", write("src/b.py"),
			[]spool.Line{{Kind: spool.Warned, Targets: []string{"src/b.py"}, Rule: "edit", Mode: "warn", Holding: "free"}},
		},
		"an audit": {
			softened(seatread.ModeAudit), "PreToolUse", "Bash", bash("rm src/a.py"),
			[]spool.Line{{Kind: spool.Warned, Targets: []string{"src/a.py"}, Why: "*", Cause: "*", Rule: "command", Mode: "audit", Holding: "free"}},
		},
		"a halt": {
			seatread.Row{Halt: "stop"},
			"PreToolUse", "Write", write("src/b.py"),
			[]spool.Line{{Kind: spool.Denied, Targets: []string{"src/b.py"}, Rule: "halt", Mode: "enforce", Holding: "free"}},
		},
		"a secret": {
			seatread.Row{},
			"PreToolUse", "Read",
			map[string]any{"file_path": "@/.satelle/satelle.local.toml"},
			[]spool.Line{{Kind: spool.Denied, Targets: []string{".satelle/satelle.local.toml"}, Why: "*", Rule: "secret", Mode: "enforce", Holding: "free"}},
		},
		"a verb of a person": {
			seatread.Row{},
			"PreToolUse", "Bash", bash("satelle trust --yes"),
			[]spool.Line{{Kind: spool.Denied, Why: "satelle trust", Rule: "person", Mode: "enforce", Holding: "free"}},
		},
		"input that can't be judged": {
			seatread.Row{},
			"PreToolUse", "Write",
			map[string]any{"content": "x"},
			[]spool.Line{{Kind: spool.Denied, Rule: "input", Holding: "free"}},
		},
		"a read":                {seatread.Row{}, "PreToolUse", "Read", map[string]any{"file_path": "@/src/a.py"}, nil},
		"a read that is done":   {seatread.Row{}, "PostToolUse", "Read", map[string]any{"file_path": "@/src/a.py"}, nil},
		"a command that reads":  {seatread.Row{}, "PreToolUse", "Bash", bash("git status && cat src/a.py | head"), nil},
		"a file outside of all": {seated, "PreToolUse", "Write", write("@/../tmp/x"), nil},
		"a session that ends":   {seated, "SessionEnd", "", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.env.Observe = spool.Append
			m.repo("repo")
			m.row("repo", tt.row)
			b, err := json.Marshal(tt.input)
			if err != nil {
				t.Fatal(err)
			}
			input := json.RawMessage(strings.ReplaceAll(string(b), "@", m.path("repo")))
			m.hook(sent(tt.event, "toolu_1", m.path("repo"), tt.tool, input))
			got := m.observed("repo")
			for i := range got {
				if l := &got[i]; i < len(tt.want) {
					if strings.Contains(fmt.Sprint(*l), "hunter2") {
						t.Errorf("a credential is kept: %+v", *l)
					}
					if tt.want[i].Why == "*" && l.Why != "" {
						l.Why = "*"
					}
					if tt.want[i].Cause == "*" && l.Cause != "" {
						l.Cause = "*"
					}
				}
			}
			for i := range tt.want {
				w := &tt.want[i]
				w.N, w.Time, w.Session, w.Harness, w.Agent, w.ID, w.Tool, w.Tree = uint64(i)+1, testTime*1000, "s_1", "claude", "a1", "toolu_1", tt.tool, "."
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("\n got %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestSettingsAreObserved(t *testing.T) {
	m := newMachine(t)
	m.env.Observe = spool.Append
	m.repo("repo")
	m.row("repo", seatread.Row{})
	m.hook(`{"session_id":"s","cwd":"` + m.path("repo") + `","hook_event_name":"ConfigChange","source":"project_settings","file_path":"` + m.path("repo/.claude/settings.json") + `"}`)
	if got := m.observed("repo"); len(got) != 1 || got[0].Tool != "ConfigChange" || got[0].Targets[0] != ".claude/settings.json" || got[0].Rule != "protected" {
		t.Errorf("%+v", got)
	}
}

// TestObservedWhereItHappens: what a session does to another repository is
// noted there, and where nothing governs nothing is written.
func TestObservedWhereItHappens(t *testing.T) {
	m := newMachine(t)
	m.env.Observe = spool.Append
	m.repo("one")
	m.row("one", seatread.Row{Seats: map[string]seatread.Seat{".": held()}})
	m.repo("two")
	m.row("two", seatread.Row{Seats: map[string]seatread.Seat{".": held()}})
	before := m.files()
	m.hook(m.edit(m.path("other"), m.path("other/x")))
	m.hook(m.bash(m.path("other"), "rm -rf x"))
	m.hook(m.edit(m.path("other"), m.path("home/.satelle/keys/x")))
	if after := m.files(); !reflect.DeepEqual(after, before) {
		t.Errorf("written where nothing governs: %v", after)
	}
	m.hook(m.edit(m.path("one"), m.path("two/src/a.py")))
	m.hook(m.edit(m.path("other"), m.path("two/src/b.py")))
	if got := m.observed("two"); len(got) != 2 || got[0].Targets[0] != "src/a.py" || got[1].Targets[0] != "src/b.py" {
		t.Errorf("%+v", got)
	}
	if got := m.observed("one"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	// A repository without a ledger denies, and has no place for a note.
	m.repo("three")
	m.hook(m.edit(m.path("three"), "src/a.py"))
	if _, err := os.Stat(filepath.Dir(m.ledger("three"))); !os.IsNotExist(err) {
		t.Errorf("a folder was made: %v", err)
	}
}

// files lists what lies in satelle's folder.
func (m *machine) files() []string {
	m.t.Helper()
	var all []string
	err := filepath.WalkDir(m.env.Home, func(path string, _ os.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return all
}

// TestFullDisk: what may change files and can't be noted is denied, with the
// reason; a denial stays one, and reading goes on.
func TestFullDisk(t *testing.T) {
	m := newMachine(t)
	calls := 0
	m.env.Observe = func(string, *spool.Line) error {
		calls++
		return &os.PathError{Op: "write", Path: "/a/path", Err: syscall.ENOSPC}
	}
	m.repo("repo")
	m.row("repo", seatread.Row{Seats: map[string]seatread.Seat{".": held("src/**")}})
	dir := m.path("repo")
	for _, call := range []string{m.edit(dir, "src/a.py"), m.bash(dir, "echo x > src/a.py")} {
		if out := m.hook(call); !strings.Contains(out, `"deny"`) || !strings.Contains(out, "no space left on device") || strings.Contains(out, "/a/path") {
			t.Errorf("%s: %s", call, out)
		}
	}
	if out := m.hook(m.edit(dir, "b.py")); !strings.Contains(out, "path scopes") {
		t.Error(out)
	}
	if calls != 3 {
		t.Errorf("%d notes", calls)
	}
	for _, call := range []string{m.bash(dir, "ls"), m.call(dir, "Read", map[string]any{"file_path": "src/a.py"}), sent("PostToolUse", "1", dir, "Write", map[string]any{"file_path": "src/a.py"})} {
		if out := m.hook(call); out != "" {
			t.Errorf("%s: %s", call, out)
		}
	}
	m.row("repo", seatread.Row{Gate: seatread.Gate{Mode: map[string]string{seatread.RuleEdit: seatread.ModeWarn}}})
	if out := m.hook(m.edit(dir, "src/a.py")); !strings.Contains(out, `"deny"`) {
		t.Errorf("what is to be recorded passes unrecorded: %s", out)
	}
}

// TestSpoolThatIsNone: whatever stands in the spool's place, an edit is denied
// at once.
func TestSpoolThatIsNone(t *testing.T) {
	m := newMachine(t)
	m.env.Observe = spool.Append
	m.repo("repo")
	m.row("repo", seatread.Row{Seats: map[string]seatread.Seat{".": held()}})
	if err := os.WriteFile(filepath.Join(filepath.Dir(m.ledger("repo")), "spool"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := m.hook(m.edit(m.path("repo"), "src/a.py")); !strings.Contains(out, `"deny"`) || !strings.Contains(out, "not a directory") {
		t.Error(out)
	}
}

// TestCanariesAreNotNoted: the calls that doctor makes up are answered like
// any other, and no more.
func TestCanariesAreNotNoted(t *testing.T) {
	m := newMachine(t)
	m.env.Observe = spool.Append
	m.repo("repo")
	m.row("repo", seatread.Row{})
	real := m.edit(m.path("repo"), "src/a.py")
	probe := strings.Replace(real, `"session_id":"s"`, `"session_id":"`+CanarySession+`"`, 1)
	if out := m.hook(probe); out == "" || out != m.hook(real) {
		t.Errorf("%q", out)
	}
	if got := m.observed("repo"); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}
