package decide

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"satelle/ledger/seatread"
)

// TestHook plays calls on a machine with real repositories.
func TestHook(t *testing.T) {
	m := newMachine(t)
	m.repo("free")
	m.row("free", seatread.Row{})
	m.repo("held")
	m.repo("old")
	if err := os.RemoveAll(m.path("old/.satelle")); err != nil {
		t.Fatal(err)
	}
	seats := map[string]seatread.Seat{".": held()}
	m.row("held", seatread.Row{Seats: seats})
	m.row("old", seatread.Row{Seats: seats})
	m.repo("scoped")
	m.row("scoped", seatread.Row{Seats: map[string]seatread.Seat{".": held("src/**")}})
	m.repo("clone") // governed, without a ledger
	m.mkdir("held/vendor")
	m.git("init", "-q", "held/vendor/nested")
	m.git("init", "-q", "free/nested")
	m.git("-C", "held", "worktree", "add", "-q", ".claude/worktrees/child")
	m.git("-C", "held", "worktree", "add", "-q", "../sibling")
	m.git("-C", "held", "worktree", "add", "-q", m.path("home/.grok/worktrees/far"))
	m.git("-C", "free", "worktree", "add", "-q", ".claude/worktrees/child")
	m.write("home/.claude/settings.json", "{}")
	m.write("home/.claude/plans/p.md", "")
	m.mkdir("free/docs")
	for link, target := range map[string]string{
		"held/link": ".claude", "held/escape": m.path("other"), "other/into": m.path("free/src"),
		"tmp/key": m.path("home/.satelle/keys/log.key"), "held/out": m.path("tmp"), "tmp/satelle": m.path("other/satelle"),
	} {
		if err := os.Symlink(target, m.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"held/hard.json": "held/.claude/settings.json", "held/hard.key": "home/.satelle/keys/log.key"} {
		if err := os.Link(m.path(target), m.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	m.write("other/satelle", "#!/bin/sh\n")
	cli := m.path("home/.satelle/bin/satelle")

	const allow = ""
	for _, c := range []struct{ name, payload, want string }{
		{"write without a seat", m.edit(m.path("free"), m.path("free/src/a.py")), cli + " story start --title"},
		{"write with a seat", m.edit(m.path("held"), m.path("held/src/a.py")), allow},
		{"a relative path", m.edit(m.path("held/src"), "a.py"), allow},
		{"a new file in a new folder", m.edit(m.path("held"), "x/y/z"), allow},
		{"from elsewhere into a governed tree", m.edit(m.path("other"), m.path("free/src/a.py")), "no story holds"},
		{"from elsewhere through a link", m.edit(m.path("other"), m.path("other/into/a.py")), "no story holds"},
		{"from a held tree into a free one", m.edit(m.path("held"), m.path("free/src/a.py")), "no story holds"},
		{"a link that leads out", m.edit(m.path("held"), "escape/x"), "outside of every governed tree"},
		{"a link into a temporary folder", m.edit(m.path("held"), "out/x"), allow},
		{"elsewhere", m.edit(m.path("other"), m.path("other/x")), allow},
		{"a temporary folder", m.edit(m.path("free"), m.path("tmp/x")), allow},
		{"the user's home", m.edit(m.path("held"), m.path("home/notes.txt")), "outside of every governed tree"},
		{"the harness's plans", m.edit(m.path("free"), m.path("home/.claude/plans/p.md")), allow},
		{"the user's settings", m.edit(m.path("held"), m.path("home/.claude/settings.json")), "settings is protected"},
		{"the user's settings by a tilde", m.edit(m.path("held"), "~/.claude/settings.json"), "settings is protected"},
		{"the user's settings from elsewhere", m.edit(m.path("other"), m.path("home/.claude/settings.json")), allow},
		{"satelle's folder from elsewhere", m.edit(m.path("other"), m.ledger("free")), "folder is protected"},
		{"a ledger", m.edit(m.path("held"), m.ledger("held")), "folder is protected"},
		{"settings", m.edit(m.path("held"), ".claude/settings.json"), "settings is protected"},
		{"settings through a link", m.edit(m.path("held"), "link/settings.json"), "settings is protected"},
		{"settings by another name", m.edit(m.path("held"), "hard.json"), "settings is protected"},
		{"git's configuration", m.edit(m.path("held"), ".git/config"), "git repository is protected"},
		{"the .git file of a work tree", m.edit(m.path("held"), m.path("sibling/.git")), "git repository is protected"},
		{"substrate", m.edit(m.path("held"), ".satelle/workflows/step.md"), "--category substrate"},
		{"in scope", m.edit(m.path("scoped"), "src/x"), allow},
		{"out of scope", m.edit(m.path("scoped"), "docs/x"), `"src/**"`},
		{"a command out of scope", m.bash(m.path("scoped"), "echo x > docs.txt"), `"src/**"`},
		{"a nested repository without a seat", m.edit(m.path("free/nested"), "x"), "no story holds"},
		{"a nested repository with a seat", m.edit(m.path("held/vendor/nested"), "x"), allow},
		{"a child of a held tree", m.edit(m.path("held/.claude/worktrees/child"), "src/a.py"), allow},
		{"a child in the user's home", m.edit(m.path("home/.grok/worktrees/far"), "src/a.py"), allow},
		{"a child of a free tree", m.edit(m.path("free/.claude/worktrees/child"), "src/a.py"), "no story holds"},
		{"a work tree that nobody's harness made", m.edit(m.path("sibling"), "src/a.py"), "no story holds"},
		{"a tree without .satelle", m.edit(m.path("old"), "src/a.py"), "lacks .satelle"},
		{"no ledger yet", m.edit(m.path("clone"), "src/a.py"), "satelle init"},
		{"init where no ledger is", m.bash(m.path("clone"), cli+" init"), allow},
		{"init where one is", m.bash(m.path("free"), cli+" init"), "no story holds"},
		{"read", m.call(m.path("free"), "Read", map[string]string{"file_path": "src/a.py"}), allow},
		{"read a key", m.call(m.path("held"), "Read", map[string]string{"file_path": m.path("home/.satelle/keys/log.key")}), "is secret"},
		{"read a key through a link", m.call(m.path("held"), "Read", map[string]string{"file_path": m.path("tmp/key")}), "is secret"},
		{"read a key by another name", m.call(m.path("held"), "Read", map[string]string{"file_path": "hard.key"}), "is secret"},
		{"search satelle's folder", m.call(m.path("held"), "Grep", map[string]string{"pattern": "x", "path": m.path("home/.satelle")}), "is secret"},
		{"read the local settings", m.call(m.path("held"), "Read", map[string]string{"file_path": ".satelle/satelle.local.toml"}), "is secret"},
		{"read the project's settings", m.call(m.path("held"), "Read", map[string]string{"file_path": ".satelle/satelle.toml"}), allow},
		{"cat a key", m.bash(m.path("held"), "cat "+m.path("home/.satelle/keys/log.key")), "is secret"},
		{"cat a key by a tilde", m.bash(m.path("free"), "cat ~/.satelle/keys/log.key"), "is secret"},
		{"cat a key by a pattern", m.bash(m.path("free"), "cat ~/.satelle/k*/*"), "is secret"},
		{"cat a key after cd", m.bash(m.path("free"), "cd ~/.satelle && cat keys/log.key"), "is secret"},
		{"cat a key in code", m.bash(m.path("held"), "python3 -c 'print(open(\""+m.path("home/.satelle/keys/log.key")+"\").read())'"), "is secret"},
		{"cat the local settings", m.bash(m.path("held"), "cat .satelle/satelle.local.toml"), "is secret"},
		{"grep for its name", m.bash(m.path("held"), "grep -rn satelle.local.toml src"), allow},
		{"ls", m.bash(m.path("free"), "ls -la && git status --short"), allow},
		{"git in another governed tree", m.bash(m.path("free"), "git -C ../sibling status"), allow},
		{"git where an agent may have written", m.bash(m.path("free"), "git -C "+m.path("tmp")+" status"), "no story holds"},
		{"a redirection", m.bash(m.path("free"), "echo x > f"), `"Bash" of "echo x > f"`},
		{"a redirection with a seat", m.bash(m.path("held"), "echo x > f"), allow},
		{"a redirection into a temporary folder", m.bash(m.path("free"), "echo x > "+m.path("tmp/f")), allow},
		{"mktemp", m.bash(m.path("free"), `f=$(mktemp); echo x > "$f"; cat "$f"; rm -f "$f"`), allow},
		{"a redirection out of the tree", m.bash(m.path("held"), "echo x > ../other/f"), "outside of every governed tree"},
		{"make", m.bash(m.path("free"), "make"), "no story holds"},
		{"make with a seat", m.bash(m.path("held"), "make"), allow},
		{"make elsewhere", m.bash(m.path("other"), "make"), allow},
		{"from elsewhere by cd", m.bash(m.path("other"), "cd "+m.path("free")+" && make"), "no story holds"},
		{"from elsewhere by a redirection", m.bash(m.path("other"), "echo x > ../free/f"), "no story holds"},
		{"from elsewhere by an operand", m.bash(m.path("other"), "unknown ../free/src"), "no story holds"},
		{"from a held tree by cd", m.bash(m.path("held"), "cd ../free && make"), "cd " + m.path("free") + " && " + cli},
		{"from a held tree by an option", m.bash(m.path("held"), "make -C ../free"), "another work tree"},
		{"from a held tree by git", m.bash(m.path("held"), "git -C ../free commit -am x"), "another work tree"},
		{"from a held tree by a variable", m.bash(m.path("held"), "GIT_WORK_TREE=../free git checkout -- ."), "another work tree"},
		{"from a held tree by code", m.bash(m.path("held"), `python3 -c 'open("`+m.path("free/y")+`", "w")'`), "another work tree"},
		{"from a held tree by an unknown tool", m.call(m.path("held"), "mcp__fs__put", map[string]string{"path": m.path("free/y")}), "another work tree"},
		{"a held tree's child by its path", m.bash(m.path("held"), "make -C .claude/worktrees/child"), allow},
		{"a program of another tree", m.bash(m.path("held"), m.path("free/src/a.py")+" x"), allow},
		{"from a held tree, reading", m.bash(m.path("held"), "make && cat ../free/src/a.py"), allow},
		{"settings by an option's value", m.bash(m.path("held"), "unknown --out=link/settings.json"), "settings is protected"},
		{"from elsewhere, reading", m.bash(m.path("other"), "cat ../free/src/a.py"), allow},
		{"settings by a redirection", m.bash(m.path("held"), "echo x > .claude/settings.json"), "settings is protected"},
		{"settings after cd", m.bash(m.path("held"), "cd .claude && echo x > settings.json"), "settings is protected"},
		{"settings by cp", m.bash(m.path("held"), "cp x .codex/hooks.json"), "settings is protected"},
		{"settings by sed", m.bash(m.path("held"), "sed -i s/a/b/ .git/config"), "git repository is protected"},
		{"settings by a script", m.bash(m.path("held"), `python3 -c "open('.claude/settings.json','w')"`), "settings is protected"},
		{"settings through a link by a script", m.bash(m.path("held"), "unknown link/settings.json"), "settings is protected"},
		{"settings by a pattern", m.bash(m.path("held"), "rm -rf .cl*"), "settings is protected"},
		{"settings by a variable", m.bash(m.path("held"), "f=.claude/settings.json; unknown $f"), "settings is protected"},
		{"all of the tree", m.bash(m.path("held"), "rm -rf ."), "is protected"},
		{"the tree by its path", m.bash(m.path("other"), "rm -rf ../held"), "is protected"},
		{"substrate by rm", m.bash(m.path("held"), "rm -rf .satelle"), "--category substrate"},
		{"reading settings", m.bash(m.path("held"), "cat .claude/settings.json; make"), allow},
		{"leaving .git out", m.bash(m.path("held"), "find . -not -path './.git/*' -name '*.py' -exec sed -i s/a/b/ {} +"), allow},
		{"a message about settings", m.bash(m.path("held"), "git commit -m 'mention .claude/settings.json'"), allow},
		{"hooksPath", m.bash(m.path("held"), "git config core.hooksPath /dev/null"), "git's hooks stay on"},
		{"no-verify", m.bash(m.path("held"), "git commit --no-verify -m x"), "git's hooks stay on"},
		{"commit", m.bash(m.path("held"), "git commit -m x"), allow},
		{"a huge text", m.bash(m.path("held"), strings.Repeat("(", 2<<20)), allow},
		{"a huge text without a seat", m.bash(m.path("free"), strings.Repeat("(", 2<<20)), "no story holds"},
		{"a huge text on settings", m.bash(m.path("held"), "rm .claude/settings.json "+strings.Repeat("(", 2<<20)), "settings is protected"},
		{"a session's verb", m.bash(m.path("free"), cli+` story start --title "x" --ac "y"`), allow},
		{"a session's verb by name, not on the path", m.bash(m.path("free"), "satelle status"), cli},
		{"a person's verb", m.bash(m.path("held"), cli+" trust"), "a person's"},
		{"a person's verb in a shell", m.bash(m.path("held"), "sh -c '"+cli+" ledger redact x'"), "a person's"},
		{"a person's verb by an unknown program", m.bash(m.path("held"), "nohup "+cli+" approve x"), "a person's"},
		{"a person's verb in a variable", m.bash(m.path("held"), "v=trust; "+cli+" $v"), "a person's"},
		{"a verb known only later", m.bash(m.path("held"), cli+" $V"), "a person's"},
		{"help of a person's verb", m.bash(m.path("free"), cli+" trust --help"), allow},
		{"another satelle", m.bash(m.path("free"), m.path("other/satelle")+" status"), "is not, or can't be known"},
		{"satelle behind a wrapper", m.bash(m.path("free"), "timeout 5 "+cli+" status"), "is not, or can't be known"},
		{"satelle as a function", m.bash(m.path("held"), "satelle() { :; }; satelle status"), "is not, or can't be known"},
		{"building satelle", m.bash(m.path("held"), "go build -o satelle ./cmd/satelle"), allow},
		{"a verb that needs a seat", m.bash(m.path("free"), cli+" runner start x"), "no story holds"},
		{"a verb that needs a seat, held", m.bash(m.path("held"), cli+" runner start x"), allow},
		{"an unknown tool", m.call(m.path("free"), "SuperEditor", map[string]string{"target": "x"}), "no story holds"},
		{"an MCP tool", m.call(m.path("free"), "mcp__fs__put", map[string]string{"path": "x"}), "no story holds"},
		{"an MCP tool with a seat", m.call(m.path("held"), "mcp__fs__put", map[string]string{"path": "x"}), allow},
		{"a durable job", m.call(m.path("free"), "CronCreate", map[string]any{"durable": true}), "no story holds"},
		{"a job of the session", m.call(m.path("free"), "CronCreate", map[string]any{"cron": "x"}), allow},
		{"leaving a work tree", m.call(m.path("free"), "ExitWorktree", map[string]any{"action": "keep"}), allow},
		{"removing a work tree", m.call(m.path("free"), "ExitWorktree", map[string]any{"action": "remove"}), "no story holds"},
		{"no command", m.call(m.path("free"), "Bash", map[string]any{}), "missing"},
		{"no command elsewhere", m.call(m.path("other"), "Bash", map[string]any{}), allow},
		{"a command of the wrong type", m.call(m.path("held"), "Bash", map[string]any{"command": 1}), "wrong type"},
		{"a path of the wrong type", m.call(m.path("held"), "Write", map[string]any{"file_path": []int{1}}), "wrong type"},
		{"an empty path", m.edit(m.path("held"), ""), "missing"},
		{"a NUL in a path", m.edit(m.path("held"), "a\x00b"), "wrong type"},
		{"a relative working directory", m.edit("free", "x"), "no absolute working directory"},
		{"a relative working directory, reading", m.bash("free", "ls"), allow},
		{"not JSON", "{", "not one JSON object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := m.hook(c.payload)
			if c.want == allow {
				if got != "" {
					t.Errorf("denied: %s", got)
				}
				return
			}
			reason := gjson.Get(got, "hookSpecificOutput.permissionDecisionReason").String()
			if !gjson.Valid(got) || !strings.Contains(reason, c.want) {
				t.Errorf("got %s\nwant %q", got, c.want)
			}
		})
	}
}

func TestForgedWorkTreeIsRefused(t *testing.T) {
	m := newMachine(t)
	m.repo("held")
	m.row("held", seatread.Row{Seats: map[string]seatread.Seat{".": held()}})
	m.repo("free")
	m.row("free", seatread.Row{})
	m.write("free/sub/.git", "gitdir: "+m.path("held/.git"))
	if got := m.hook(m.edit(m.path("free"), "sub/x")); !strings.Contains(got, "does not name this work tree") {
		t.Errorf("a forged .git lent a seat: %s", got)
	}
}

func TestLedgerStates(t *testing.T) {
	m := newMachine(t)
	m.repo("r")
	edit, read := m.edit(m.path("r"), "x"), m.bash(m.path("r"), "ls")
	m.row("r", seatread.Row{Seats: map[string]seatread.Seat{".": held()}})
	good, err := os.ReadFile(m.ledger("r"))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.hook(edit); got != "" {
		t.Fatalf("the seat is held: %s", got)
	}
	for name, content := range map[string][]byte{"empty": nil, "garbage": []byte("garbage"), "cut short": good[:len(good)/2], "zeroes": make([]byte, len(good))} {
		if err := os.WriteFile(m.ledger("r"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := m.hook(edit); !strings.Contains(got, "satelle doctor") {
			t.Errorf("%s: %s", name, got)
		}
		if got := m.hook(read); got != "" {
			t.Errorf("%s: reading was denied: %s", name, got)
		}
	}
	if err := os.WriteFile(m.ledger("r"), good, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, seat := range map[string]seatread.Seat{
		"idle":      {Story: "sty_abcdefgh", IdleAt: testTime},
		"suspended": {Story: "sty_abcdefgh", Suspended: true},
	} {
		m.row("r", seatread.Row{Seats: map[string]seatread.Seat{".": seat}})
		if got := m.hook(edit); !strings.Contains(got, "story join sty_abcdefgh") {
			t.Errorf("%s: %s", name, got)
		}
	}
	m.row("r", seatread.Row{Seats: map[string]seatread.Seat{".": {Story: "sty_abcdefgh", Worker: "sha256:x"}}})
	if got := m.hook(edit); !strings.Contains(got, "story wait sty_abcdefgh") {
		t.Errorf("lent: %s", got)
	}
	m.row("r", seatread.Row{Halt: "stop", Seats: map[string]seatread.Seat{".": held()}})
	if got := m.hook(edit); !strings.Contains(got, "satelle resume") {
		t.Errorf("halted: %s", got)
	}
}

func TestEvents(t *testing.T) {
	m := newMachine(t)
	m.repo("r")
	m.row("r", seatread.Row{Open: []seatread.Open{{Story: "sty_openopen", Title: "T", Next: "in_progress"}}})
	m.repo("held")
	m.row("held", seatread.Row{Seats: map[string]seatread.Seat{".": held("src/**")}})
	event := func(dir, name, rest string) string {
		return `{"session_id":"` + dir + `","cwd":"` + m.path(dir) + `","hook_event_name":"` + name + `"` + rest + `}`
	}
	tool := `,"tool_name":"Write","tool_input":{"file_path":"x"}`
	for _, c := range []struct{ name, payload, want string }{
		{"start, free", event("r", "SessionStart", ""), "story set sty_openopen --status in_progress"},
		{"start, held", event("held", "SessionStart", ""), `It may change only: \"src/**\"`},
		{"start elsewhere", event("other", "SessionStart", ""), ""},
		{"after a tool", event("r", "PostToolUse", tool), ""},
		{"the end", event("r", "SessionEnd", ""), ""},
		{"an unknown event of a writer", event("r", "Novel", tool), "no story holds"},
		{"settings", event("r", "ConfigChange", `,"file_path":"`+m.path("r/.claude/settings.json")+`"`), `{"decision":"block"`},
		{"settings of the user", event("r", "ConfigChange", `,"file_path":"`+m.path("home/.claude/settings.json")+`"`), `{"decision":"block"`},
		{"settings, unnamed", event("r", "ConfigChange", ""), `{"decision":"block"`},
		{"other settings", event("r", "ConfigChange", `,"file_path":"/etc/x"`), ""},
		{"settings elsewhere", event("other", "ConfigChange", `,"file_path":"`+m.path("other/.claude/settings.json")+`"`), ""},
		{"a skill's command", event("r", "PreSkillShellCommand", `,"tool_name":"Bash","tool_input":{"command":"echo > x"}`), `{"decision":"block"`},
		{"a skill's reading command", event("r", "PreSkillShellCommand", `,"tool_name":"Bash","tool_input":{"command":"ls"}`), ""},
	} {
		if got := m.hook(c.payload); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	if found, err := filepath.Glob(m.path("home/.satelle/sessions/*")); err != nil || len(found) != 1 {
		t.Errorf("registered sessions: %q, %v", found, err)
	}
}

func TestNothingIsRegisteredElsewhere(t *testing.T) {
	m := newMachine(t)
	m.hook(m.bash(m.path("other"), "ls"))
	if found, _ := filepath.Glob(m.path("home/.satelle/sessions/*")); len(found) != 0 {
		t.Errorf("registered %q", found)
	}
}

func TestWhoOnlyAsksRegistersNobody(t *testing.T) {
	m := newMachine(t)
	m.repo("r")
	m.row("r", seatread.Row{})
	m.env.Register = nil
	if got := m.hook(m.bash(m.path("r"), "make")); !strings.Contains(got, "no story holds") {
		t.Errorf("another answer: %s", got)
	}
	m.hook(`{"session_id":"s","cwd":"` + m.path("r") + `","hook_event_name":"SessionStart"}`)
	if found, _ := filepath.Glob(m.path("home/.satelle/sessions/*")); len(found) != 0 {
		t.Errorf("registered %q", found)
	}
}

// TestCommandsThatLeadOn pastes what a denial names back as a call: it must
// pass, and name the work tree in which it takes the seat.
func TestCommandsThatLeadOn(t *testing.T) {
	m := newMachine(t)
	m.repo("it's main")
	m.git("-C", "it's main", "worktree", "add", "-q", "../linked")
	cli := m.path("home/.satelle/bin/satelle")
	other := "cd '" + m.root + `/it'\''s main' && ` + cli + " "
	edit := m.edit(m.path("linked"), m.path("it's main/src/a.py"))
	for name, c := range map[string]struct {
		row  seatread.Row
		call string
		want string
	}{
		"free":            {seatread.Row{}, edit, other + `story start --title "WHAT" --ac "WHEN IT IS DONE"`},
		"open":            {seatread.Row{Open: []seatread.Open{{Story: "sty_openopen", Title: "T", Next: "in_progress"}}}, edit, other + "story set sty_openopen --status in_progress"},
		"idle":            {seatread.Row{Seats: map[string]seatread.Seat{".": {Story: "sty_idleidle", Suspended: true}}}, edit, other + "story join sty_idleidle"},
		"lent":            {seatread.Row{Seats: map[string]seatread.Seat{".": {Story: "sty_lentlent", Worker: "x"}}}, edit, other + "story wait sty_lentlent"},
		"from elsewhere":  {seatread.Row{}, m.edit(m.path("other"), m.path("linked/src/a.py")), "cd " + m.path("linked") + " && " + cli + " story start"},
		"a shell command": {seatread.Row{}, m.bash(m.path("linked"), "echo x > "+shellWord(m.path("it's main/x"))), other + "story start"},
		"here":            {seatread.Row{}, m.edit(m.path("it's main/src"), "a.py"), "run: " + cli + " story start"},
		"substrate":       {seatread.Row{}, m.edit(m.path("it's main"), ".satelle/workflows/step.md"), cli + ` story create --title "WHAT" --category substrate --ac "WHEN IT IS DONE"`},
		"substrate there": {seatread.Row{}, m.edit(m.path("linked"), m.path("it's main/.satelle/workflows/step.md")), other + "story create"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.row.Seats == nil {
				c.row.Seats = map[string]seatread.Seat{}
			}
			if name != "from elsewhere" {
				c.row.Seats["linked"] = held()
			}
			m.row("it's main", c.row)
			reason := gjson.Get(m.hook(c.call), "hookSpecificOutput.permissionDecisionReason").String()
			_, command, _ := strings.Cut(reason, "run: ")
			command, _, _ = strings.Cut(command, " ; ")
			command, _, _ = strings.Cut(command, " . ")
			if !strings.Contains(reason, c.want) {
				t.Fatalf("%s\nwant %s", reason, c.want)
			}
			if strings.HasPrefix(c.want, "cd ") && !strings.Contains(reason, "another work tree") {
				t.Errorf("it does not say that the target lies elsewhere: %s", reason)
			}
			if got := m.hook(m.bash(m.path("linked"), command)); got != "" {
				t.Errorf("%s: its own command is denied: %s", command, got)
			}
		})
	}
	m.row("it's main", seatread.Row{})
	reason := m.hook(m.edit(m.path("it's main"), ".satelle/satelle.toml"))
	for _, part := range []string{cli + " approve ID", cli + " story set ID --next"} {
		if !strings.Contains(reason, part) {
			t.Errorf("substrate: %q is missing: %s", part, reason)
		}
	}
}

// TestHowSatelleIsCalled gives satelle's folder a place on the PATH: its name is
// enough, but not for Codex, whose commands run in a login shell.
func TestHowSatelleIsCalled(t *testing.T) {
	m := newMachine(t)
	m.repo("free")
	m.row("free", seatread.Row{})
	m.env.Path = m.path("home/.satelle/bin") + ":" + m.env.Path
	call := m.edit(m.path("free"), "src/a.py")
	codex := strings.Replace(call, `"hook_event_name"`, `"turn_id":"t","model":"m","hook_event_name"`, 1)
	for payload, want := range map[string]string{call: "run: satelle story start", codex: "run: " + m.path("home/.satelle/bin/satelle") + " story start"} {
		if got := m.hook(payload); !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestClippedInput says what leads on where Grok cut an input off.
func TestClippedInput(t *testing.T) {
	m := newMachine(t)
	m.repo("free")
	m.row("free", seatread.Row{})
	got := m.hook(`{"hookEventName":"pre_tool_use","toolName":"write","toolInput":"{\"file_path\": [truncated]","toolInputTruncated":true,"cwd":"` + m.path("free") + `"}`)
	if !strings.Contains(got, `"decision":"deny"`) || !strings.Contains(got, "Give the tool less at once") {
		t.Errorf("%s", got)
	}
}

// stuck is an input that never ends.
type stuck struct{ done chan struct{} }

func (s stuck) Read([]byte) (int, error) { <-s.done; return 0, io.EOF }

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("closed") }

type panicky struct{}

func (panicky) Read([]byte) (int, error) { panic("odd") }

func TestRunAlwaysAnswers(t *testing.T) {
	m := newMachine(t)
	env := m.env
	env.Deadline = 20 * time.Millisecond
	var out bytes.Buffer
	s := stuck{make(chan struct{})}
	defer close(s.done)
	ended := make(chan int)
	env.Exit = func(code int) { ended <- code }
	go Run(s, &out, io.Discard, env)
	if code := <-ended; code != 0 || !strings.Contains(out.String(), "ran out of time") {
		t.Errorf("%d, %s", code, out.String())
	}
	// What was heard of the call before tells in which form.
	for payload, form := range map[string]string{
		`{"hook_event_name":"preToolUse","workspace_roots":[],"tool_name":"Write","tool_input":{"file_path":"x"}}`: `{"permission":"deny"`,
		`{"hook_event_name":"BeforeTool","tool_name":"write_file","tool_input":{"file_path":"x"}}`:                 `{"decision":"deny"`,
		`{"hook_event_name":"PreSkillShellCommand","tool_name":"Bash","tool_input":{"command":"x"}}`:               `{"decision":"block"`,
		`{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"x"}}`:                      `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"`,
	} {
		out = bytes.Buffer{}
		env.Dir = func() string { <-s.done; return "/" }
		go Run(strings.NewReader(payload), &out, io.Discard, env)
		if <-ended; !strings.HasPrefix(out.String(), form) {
			t.Errorf("%s: %s", payload, out.String())
		}
		out = bytes.Buffer{}
		panics := env
		panics.Deadline, panics.Dir = time.Minute, func() string { panic("no folder") }
		if Run(strings.NewReader(payload), &out, io.Discard, panics); !strings.HasPrefix(out.String(), form) {
			t.Errorf("%s: %s", payload, out.String())
		}
	}
	out = bytes.Buffer{}
	env.Deadline = time.Minute
	if code := Run(panicky{}, &out, io.Discard, env); code != 0 || !strings.Contains(out.String(), "the hook failed") {
		t.Errorf("%d, %s", code, out.String())
	}
	if code := Run(strings.NewReader(""), brokenWriter{}, io.Discard, env); code != 2 {
		t.Errorf("an answer that nobody got ends with %d", code)
	}
	env.HomeErr = errors.New("no home")
	out.Reset()
	if Run(strings.NewReader(m.edit("/", "x")), &out, io.Discard, env); !strings.Contains(out.String(), "no home") {
		t.Errorf("without a home: %s", out.String())
	}
	out.Reset()
	if Run(strings.NewReader(m.bash("/", "ls")), &out, io.Discard, env); out.Len() != 0 {
		t.Errorf("without a home, reading: %s", out.String())
	}
}
