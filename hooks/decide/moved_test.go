package decide

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"satelle/ledger/seatread"
)

// TestElsewhere plays calls that a session makes from outside of the governed
// place that it was opened on: what it runs there can still change its files.
func TestElsewhere(t *testing.T) {
	m := newMachine(t)
	m.repo("free")
	m.row("free", seatread.Row{})
	m.repo("held")
	m.row("held", seatread.Row{Seats: map[string]seatread.Seat{".": held()}})
	m.repo("reads")
	m.row("reads", seatread.Row{Gate: seatread.Gate{Readers: [][]string{{"make", "test"}}}})
	tmp := m.path("tmp")
	started, project := "/", ""
	m.env.Dir = func() string { return started }
	m.env.Variable = func(name string) string {
		if name == "CLAUDE_PROJECT_DIR" {
			return project
		}
		return ""
	}
	grok := func(command string) string {
		return `{"hookEventName":"pre_tool_use","cwd":"` + tmp + `","workspaceRoot":"` + m.path("free") + `/","sessionId":"s","toolName":"run_terminal_command","toolInput":{"command":"` + command + `"}}`
	}
	for _, c := range []struct{ want, name, started, project, payload string }{
		{"deny", "the harness's process", "free", "", m.bash(tmp, "python3 x.py")},
		{"deny", "the harness's variable", "", "free", m.bash(tmp, "python3 x.py")},
		{"deny", "the payload", "", "", grok("python3 x.py")},
		{"deny", "a tool that nobody knows", "free", "", m.call(tmp, "mcp__x__y", map[string]string{})},
		{"deny", "what counts as reading at home", "reads", "", m.bash(tmp, "make test")},
		{"deny", "a verb of a person", "held", "", m.bash(tmp, m.path("home/.satelle/bin/satelle")+" trust")},
		{"allow", "a seat", "held", "", m.bash(tmp, "python3 x.py")},
		{"allow", "what it writes is known", "free", "", m.bash(tmp, "echo x > a")},
		{"allow", "reading", "free", "", m.bash(tmp, "cat x.py")},
		{"allow", "no governed place at all", "other", "other", m.bash(tmp, "python3 x.py")},
	} {
		started, project = "/", ""
		if c.started != "" {
			started = m.path(c.started)
		}
		if c.project != "" {
			project = m.path(c.project)
		}
		got := m.hook(c.payload)
		if (got != "") != (c.want == "deny") {
			t.Errorf("%s: want %s, got %q", c.name, c.want, got)
		}
		if c.name == "the payload" && !strings.Contains(got, "run: cd "+m.path("free")+" && ") {
			t.Errorf("%s: the way on is not told: %q", c.name, got)
		}
	}
}

// TestInnerRepository: in a repository within a governed one, a denial leads to
// the outer one, which holds the seat.
func TestInnerRepository(t *testing.T) {
	m := newMachine(t)
	m.repo("free")
	m.row("free", seatread.Row{})
	m.mkdir("free/sub/deep")
	m.git("init", "-q", "free/sub")
	for dir, away := range map[string]bool{"free": false, "free/src": false, "free/sub": true, "free/sub/deep": true} {
		for _, payload := range []string{m.edit(m.path(dir), "a"), m.bash(m.path(dir), "unknown")} {
			got := m.hook(payload)
			if !strings.Contains(got, "no story holds the seat") || strings.Contains(got, "cd "+m.path("free")+" && ") != away {
				t.Errorf("in %s: %s", dir, got)
			}
		}
	}
}

// TestFolderFields plays fields by which a shell may be started elsewhere, and
// which a harness that does not know them passes over.
func TestFolderFields(t *testing.T) {
	m := newMachine(t)
	m.repo("free")
	m.row("free", seatread.Row{})
	m.repo("held")
	m.row("held", seatread.Row{Seats: map[string]seatread.Seat{".": held()}})
	m.repo("reads")
	m.row("reads", seatread.Row{Gate: seatread.Gate{Readers: [][]string{{"make", "test"}}}})
	for _, key := range strings.Fields(folderKeys) {
		for _, c := range []struct{ want, from, command, dir string }{
			{"deny", "held", "echo x > config", ".git"},
			{"deny", "tmp", "echo x > f", m.path("free")},
			{"deny", "free", "echo x > f", m.path("tmp")},
			{"deny", "reads", "make test", m.path("tmp")},
			{"allow", "reads", "make test", "src"},
			{"allow", "held", "echo x > f", "src"},
			{"allow", "free", "cat f", m.path("tmp")},
		} {
			got := m.hook(m.call(m.path(c.from), "run_shell_command", map[string]string{"command": c.command, key: c.dir}))
			if (got != "") != (c.want == "deny") {
				t.Errorf("%s in %s with %s %s: want %s, got %q", c.command, c.from, key, c.dir, c.want, got)
			}
		}
	}
}

// TestMoved plays changes of what decides whether a hook runs, in a gate that
// lets everything pass that can be.
func TestMoved(t *testing.T) {
	m := newMachine(t)
	m.repo("open")
	soft := map[string]string{}
	for _, rule := range []string{seatread.RuleEdit, seatread.RuleCommand, seatread.RuleTool, seatread.RuleScope, seatread.RuleOutside, seatread.RuleCommit} {
		soft[rule] = seatread.ModeAudit
	}
	m.row("open", seatread.Row{Gate: seatread.Gate{Outside: seatread.OutsideAllow, Mode: soft}})
	m.mkdir("dots/git")
	if err := os.Symlink(m.path("dots/gitconfig"), m.path("home/.gitconfig")); err != nil {
		t.Fatal(err)
	}
	m.env.Variable = func(name string) string {
		return map[string]string{
			"CODEX_HOME": m.path("codex"), "CLAUDE_CONFIG_DIR": m.path("claude"), "GROK_HOME": m.path("tmp/grok"), "XDG_CONFIG_HOME": m.path("xdg"),
			"GIT_CONFIG_GLOBAL": m.path("dots/git/global"), "ZDOTDIR": m.path("zsh"),
		}[name]
	}
	open := m.path("open")
	for file, want := range map[string]string{
		m.path("codex/config.toml"):        "deny",
		m.path("codex/hooks.json"):         "deny",
		m.path("codex/memories/x"):         "allow",
		m.path("claude/settings.json"):     "deny",
		m.path("claude/plans/x"):           "allow",
		m.path("tmp/grok/hooks/x.json"):    "deny",
		m.path("xdg/opencode/x"):           "deny",
		m.path("xdg/git/config"):           "deny",
		m.path("xdg/fish/config.fish"):     "deny",
		m.path("xdg/other"):                "allow",
		m.path("dots/git/global"):          "deny",
		m.path("dots/gitconfig"):           "deny",
		m.path("dots/other"):               "allow",
		m.path("zsh/.zshenv"):              "deny",
		m.path("zsh/.zshrc"):               "allow",
		m.path("home/.zshenv"):             "deny",
		m.path("home/.gitconfig"):          "deny",
		m.path("home/.config/git/config"):  "deny",
		m.path("home/.config/git/ignore"):  "deny",
		m.path("home/.config/fish/conf.d"): "deny",
		m.path("home/other"):               "allow",
		"~/.gitconfig":                     "deny",
		open + "/.gitconfig":               "allow", // a file like any other
	} {
		for _, payload := range []string{m.edit(open, file), m.bash(open, "unknown "+file), m.bash(open, "echo x > "+file)} {
			if got := m.hook(payload); strings.Contains(got, `"deny"`) != (want == "deny") {
				var call struct{ Tool_input json.RawMessage }
				_ = json.Unmarshal([]byte(payload), &call)
				t.Errorf("%s: want %s, got %q", call.Tool_input, want, got)
			}
		}
	}
	for _, tree := range []string{"home/.config", "xdg", "dots/git"} {
		if got := m.hook(m.bash(open, "rm -rf "+m.path(tree))); !strings.Contains(got, `"deny"`) {
			t.Errorf("rm of %s: %q", tree, got)
		}
	}
}
