package decide

import (
	"errors"
	"strings"
	"testing"

	"satelle/hooks/dialect"
	"satelle/hooks/shell"
	"satelle/ledger/seatread"
)

// TestDecide goes through the table of the contract, row by row, for each
// harness, without and with a seat.
func TestDecide(t *testing.T) {
	free := Spot{Path: "src/a.py", Governed: true, InScope: true}
	seat := free
	seat.Holding, seat.Seat = Held, held()
	with := func(s Spot, change func(*Spot)) Spot { change(&s); return s }
	edit := func(s Spot) Facts {
		return Facts{Act: Act{Kind: Edits, Paths: []string{s.Path}, What: s.Path}, Here: s, Targets: []Spot{s}}
	}
	command := func(s Spot, e shell.Effect) Facts {
		return Facts{Act: Act{Kind: Command, Effect: e, What: "command"}, Here: s}
	}
	reads, changes := shell.Effect{}, shell.Effect{Changes: true, Why: "command"}
	known := shell.Effect{Changes: true, Known: true, Why: "> a"}

	const allow = ""
	for _, c := range []struct {
		row        string
		facts      func(s Spot) Facts
		free, held string // a part of the reason
	}{
		{"halted", func(s Spot) Facts { s.Row.Halt = "look first"; return edit(s) }, `"look first"`, `"look first"`},
		{"halted: a command", func(s Spot) Facts { s.Row.Halt = "look first"; return command(s, changes) }, "satelle resume", "satelle resume"},
		{"halted: reading", func(s Spot) Facts { s.Row.Halt = "look first"; return command(s, reads) }, allow, allow},
		{"a tool that reads", func(s Spot) Facts { return Facts{Act: Act{Kind: Reads}, Here: s} }, allow, allow},
		{"a secret", func(s Spot) Facts { return Facts{Act: Act{Kind: Reads}, Here: s, Secret: ownKeys} }, "secret", "secret"},
		{"a tool that changes files", edit, "no story holds the seat", allow},
		{"outside of the path scopes", func(s Spot) Facts {
			s.InScope, s.Seat.Paths = false, []string{"docs/**"}
			return edit(s)
		}, "no story holds the seat", `"docs/**"`},
		{"a protected path", func(s Spot) Facts { s.Protected = settings; return edit(s) }, "is protected", "is protected"},
		{"a protected path in a command", func(s Spot) Facts { f := command(s, changes); f.Mentioned = settings; return f }, "is protected", "is protected"},
		{"a guard of git", func(s Spot) Facts { e := changes; e.Bypass = "--no-verify"; return command(s, e) }, `without "--no-verify"`, `without "--no-verify"`},
		{".satelle under another story", func(s Spot) Facts { s.Protected, s.Substrate = substrate, true; return edit(s) }, "--category substrate", "--category substrate"},
		{".satelle in a command", func(s Spot) Facts { f := command(s, changes); f.Mentioned = substrate; return f }, "--category substrate", "--category substrate"},
		{".satelle under an approved substrate story", func(s Spot) Facts {
			s.Protected, s.Substrate, s.Seat.Substrate = substrate, true, true
			return edit(s)
		}, "is protected", allow},
		{"satelle's folder under an approved substrate story", func(s Spot) Facts {
			s.Protected, s.Seat.Substrate = ownFolder, true
			return edit(s)
		}, "is protected", "is protected"},
		{"outside of every tree", func(s Spot) Facts {
			f := edit(s)
			f.Targets = []Spot{{Path: "/etc/x"}}
			return f
		}, "outside of every governed tree", "outside of every governed tree"},
		{"a temporary folder", func(s Spot) Facts {
			f := edit(s)
			f.Targets = []Spot{{Path: "/tmp/x", Outside: Temporary}}
			return f
		}, allow, allow},
		{"two targets, one of them inside", func(s Spot) Facts {
			f := edit(s)
			f.Targets = []Spot{{Path: "/tmp/x", Outside: Temporary}, s}
			return f
		}, "no story holds the seat", allow},
		{"a target in another place", func(s Spot) Facts {
			f := edit(s)
			f.Targets = []Spot{free}
			return f
		}, "no story holds the seat", "no story holds the seat"},
		{"a command that reads", func(s Spot) Facts { return command(s, reads) }, allow, allow},
		{"a command that changes files", func(s Spot) Facts { return command(s, changes) }, "no story holds the seat", allow},
		{"a command that changes one file elsewhere", func(s Spot) Facts {
			f := command(s, known)
			f.Targets = []Spot{{Path: "/tmp/x", Outside: Temporary}}
			return f
		}, allow, allow},
		{"a tool that nobody knows", func(s Spot) Facts { return Facts{Here: s} }, "no story holds the seat", allow},
		{"a person's verb", func(s Spot) Facts { f := command(s, reads); f.Verb = "trust"; return f }, "a person's", "a person's"},
		{"another satelle", func(s Spot) Facts { f := command(s, reads); f.Foreign = "./satelle"; return f }, "not, or can't be known to be", "not, or can't be known to be"},
		{"an idle seat", func(s Spot) Facts {
			if s.Holding == Held {
				s.Holding = Suspended
			}
			return edit(s)
		}, "no story holds the seat", "satelle story join sty_abcdefgh"},
		{"a seat lent to a worker", func(s Spot) Facts {
			if s.Holding == Held {
				s.Holding = Lent
			}
			return edit(s)
		}, "no story holds the seat", "satelle story wait sty_abcdefgh"},
		{"a damaged ledger", func(s Spot) Facts { s.RowErr = seatread.ErrCorrupt; return edit(s) }, "damaged", "damaged"},
		{"a newer ledger", func(s Spot) Facts { s.RowErr = seatread.ErrNewer; return command(s, changes) }, "newer", "newer"},
		{"a busy ledger", func(s Spot) Facts { s.RowErr = seatread.ErrBusy; return edit(s) }, "busy", "busy"},
		{"a damaged ledger, reading", func(s Spot) Facts { s.RowErr = seatread.ErrCorrupt; return command(s, reads) }, allow, allow},
		{"no ledger on this machine", func(s Spot) Facts { s.NoLedger = true; return edit(s) }, "satelle init", "satelle init"},
		{"a tree without .satelle", func(s Spot) Facts { s.NoRoot = true; return edit(s) }, "lacks .satelle", "lacks .satelle"},
		{"a place that can't be told", func(s Spot) Facts { f := edit(s); f.Err = errors.New("odd \x1b[8m"); return f }, `"odd  [8m"`, `"odd  [8m"`},
		{"a place that can't be told, reading", func(s Spot) Facts { f := command(s, reads); f.Err = errors.New("odd"); return f }, allow, allow},
		{"nothing governed", func(s Spot) Facts { return edit(with(s, func(s *Spot) { s.Governed = false })) }, allow, allow},
	} {
		for _, harness := range []dialect.Harness{dialect.Claude, dialect.Codex, dialect.Grok} {
			for name, spot := range map[string]Spot{"no seat": free, "seat": seat} {
				want := c.free
				if spot.Holding == Held {
					want = c.held
				}
				d := Decide(dialect.Call{Harness: harness, Event: dialect.PreTool, Tool: "Tool"}, c.facts(spot))
				if d.Deny != (want != allow) || !strings.Contains(d.Reason, want) {
					t.Errorf("%s, %s, %s: got %+v, want %q", c.row, harness, name, d, want)
				}
				if d.Deny && (!strings.Contains(d.Reason, `"Tool"`) || len(d.Reason) > maxReason) {
					t.Errorf("%s: the reason does not name the tool, or is too long: %s", c.row, d.Reason)
				}
			}
		}
	}
}

// TestReasonsNameTheRule holds what a denied command is told.
func TestReasonsNameTheRule(t *testing.T) {
	here := Spot{Governed: true, InScope: true}
	f := Facts{Here: here, Act: Act{
		Kind: Command, What: "ls; echo x > f",
		Effect: shell.Effect{Changes: true, Why: "> f", Rule: "redirect"},
	}}
	got := Decide(dialect.Call{Tool: "Bash"}, f).Reason
	for _, want := range []string{`by "> f": rule redirect (satelle help hooks redirect)`, `satelle appeal "WHY"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in: %s", want, got)
		}
	}
	f.Act = Act{Kind: Edits, Paths: []string{"a"}, What: "a"}
	f.Targets = []Spot{here}
	if got := Decide(dialect.Call{Tool: "Write"}, f).Reason; strings.Contains(got, "rule") {
		t.Errorf("an edit has no part that decided: %s", got)
	}
}

func TestReasonsLeadOn(t *testing.T) {
	c := dialect.Call{Harness: dialect.Grok, Event: dialect.PreTool, Tool: "write"}
	s := Spot{Path: strings.Repeat("long/", 60) + "a", Governed: true, InScope: true}
	s.Row.Open = []seatread.Open{{Story: "sty_openopen", Title: strings.Repeat("title \"q\" ", 40), Next: "in_progress"}}
	d := Decide(c, Facts{Act: Act{Kind: Edits}, Here: s, Targets: []Spot{s}, Program: "/h/.satelle/bin/satelle"})
	if want := "/h/.satelle/bin/satelle story set sty_openopen --status in_progress"; !strings.Contains(d.Reason[:256], want) {
		t.Errorf("the command is not within 256 characters: %s", d.Reason)
	}
	if !strings.Contains(d.Reason, "/h/.satelle/bin/satelle story start --title") {
		t.Errorf("no way to start another story: %s", d.Reason)
	}
	for _, hostile := range []string{"a\nb", "a\x1b[8mb", "a\u202eb", "a\u2028b", "a\x00b", "\xff\xfe", strings.Repeat("é", 500), `a"b\c`} {
		q := quoted(hostile)
		if strings.ContainsAny(q[1:len(q)-1], "\n\x1b\x00\"") || strings.ContainsRune(q, '\u202e') || strings.ContainsRune(q, '\u2028') || len(q) > maxQuote+16 {
			t.Errorf("quoted(%q) = %s", hostile, q)
		}
	}
	if got := plain("sty_a; rm -rf / $(x)"); got != "sty_arm-rfx" {
		t.Errorf("plain: %q", got)
	}
}

func TestProtectedName(t *testing.T) {
	for p, want := range map[string]string{
		"/r/.git": gitFolder, "/r/.git/config": gitFolder, "/r/.GIT/config": gitFolder, "/r/.gitignore": "", "/r/a.git/x": "",
		"/r/.husky/pre-commit": gitHooks, "/r/.satelle/satelle.toml": substrate, "/r/.claude": settings,
		"/r/.claude/settings.json": settings, "/r/.claude/Settings.Local.json": settings, "/r/.claude/hooks/x": settings,
		"/r/.claude/commands/x.md": settings, "/r/.claude/skills/x/SKILL.md": settings, "/r/.claude/agents/a.md": settings,
		"/r/.claude/CLAUDE.md": "", "/r/.claude/plans/p.md": "", "/r/.claude/worktrees/w/src/a": "",
		"/r/.claude/worktrees/w/.claude/settings.json": settings, "/r/.claude/worktrees/w/.git": gitFolder,
		"/r/.codex/hooks.json": settings, "/r/.codex/config.toml": settings, "/h/.codex/worktrees/w/a": "", "/h/.codex/memories/m": "",
		"/r/.grok/hooks/x.json": settings, "/h/.grok/worktrees/w/a": "", "/h/.grok/config.toml": settings,
		"/r/.gemini/settings.json": settings, "/r/.cursor/hooks.json": settings, "/r/.opencode/plugins/x.js": settings,
		"/h/.config/opencode/opencode.json": settings, "/h/.config/other": "", "/r/src/a.py": "", "/": "",
	} {
		if got := protectedName(p, false); got != want {
			t.Errorf("protectedName(%q) = %q, want %q", p, got, want)
		}
	}
	for text, want := range map[string]string{
		"open('.claude/settings.json','w')": settings, "s/x/.git/": gitFolder, "rm -rf .satelle": substrate,
		"https://example.invalid/x.git": "", "a.claude/settings": "", ".claudeignore": "", "see .github/workflows": "",
		"--git-dir=.git": gitFolder, "no paths here": "",
	} {
		if got := mentioned(text, false); got != want {
			t.Errorf("mentioned(%q) = %q, want %q", text, got, want)
		}
	}
	for pattern, want := range map[string]string{
		".cl*": settings, ".c?aude/x": "", ".c*ude/set*": settings, ".g?t": gitFolder, "*": "", "*/settings.json": "", ".*": gitFolder, "src/*.py": "",
	} {
		if got := mentioned(pattern, true); got != want {
			t.Errorf("the pattern %q: %q, want %q", pattern, got, want)
		}
	}
}

func TestInScope(t *testing.T) {
	for _, c := range []struct {
		globs []string
		path  string
		want  bool
	}{
		{nil, "a", true},
		{[]string{"src"}, "src/a", true},
		{[]string{"src/"}, "src/a/b", true},
		{[]string{"src/**"}, "src/a/b", true},
		{[]string{"src/*"}, "src/a/b", true},
		{[]string{"src/*.go"}, "src/a.go", true},
		{[]string{"src/*.go"}, "src/a.py", false},
		{[]string{"**/*.md"}, "a.md", true},
		{[]string{"**/*.md"}, "x/y/a.md", true},
		{[]string{"src"}, "srcs/a", false},
		{[]string{"docs", "src"}, "src/a", true},
		{[]string{"src"}, "a", false},
		{[]string{"src/**"}, "", false},
		{[]string{"["}, "a", false},
		{[]string{"./src/../docs"}, "docs/a", true},
		{[]string{"../x"}, "x", true}, // a scope can't reach out of the work tree
	} {
		if got := inScope(c.globs, c.path); got != c.want {
			t.Errorf("inScope(%q, %q) = %v", c.globs, c.path, got)
		}
	}
}

// TestModes softens each kind of rule that can be softened, and sees that
// nothing else gives way.
func TestModes(t *testing.T) {
	all := map[string]string{}
	for _, kind := range []string{
		seatread.RuleEdit, seatread.RuleCommand, seatread.RuleTool, seatread.RuleScope, seatread.RuleOutside,
		ruleSecret, ruleProtected, rulePerson, ruleForeign, ruleHalt, ruleState, ruleInput,
	} {
		all[kind] = seatread.ModeWarn
	}
	spot := Spot{Path: "a", Governed: true, InScope: true}
	spot.Row.Gate.Mode = all
	seated := spot
	seated.Holding, seated.Seat = Held, held()
	edit := func(targets ...Spot) Facts {
		return Facts{Act: Act{Kind: Edits, Paths: []string{"a"}, What: "a"}, Here: spot, Targets: targets}
	}
	command := func(f Facts) Facts {
		f.Act = Act{Kind: Command, Effect: shell.Effect{Changes: true, Why: "x"}, What: "x"}
		f.Here = spot
		return f
	}
	with := func(s Spot, change func(*Spot)) Spot { change(&s); return s }
	for _, tt := range []struct {
		name  string
		facts Facts
		rule  string
		deny  bool
	}{
		{"an edit", edit(spot), seatread.RuleEdit, false},
		{"a command", command(Facts{}), seatread.RuleCommand, false},
		{"a tool", Facts{Here: spot}, seatread.RuleTool, false},
		{"an idle seat", edit(with(seated, func(s *Spot) { s.Holding = Suspended })), seatread.RuleEdit, false},
		{"a scope", edit(with(seated, func(s *Spot) { s.InScope = false })), seatread.RuleScope, false},
		{"outside", edit(Spot{Path: "/etc/x"}), seatread.RuleOutside, false},
		{"outside, and protected after it", edit(Spot{Path: "/etc/x"}, with(spot, func(s *Spot) { s.Protected = settings })), ruleProtected, true},
		{"an edit here, and one elsewhere", edit(spot, with(spot, func(s *Spot) { s.Row.Gate.Mode = nil })), seatread.RuleEdit, true},
		{"protected", edit(with(spot, func(s *Spot) { s.Protected = settings })), ruleProtected, true},
		{"protected in a command", command(Facts{Mentioned: settings}), ruleProtected, true},
		{"a secret", Facts{Act: Act{Kind: Reads}, Here: spot, Secret: ownKeys}, ruleSecret, true},
		{"a person's verb", command(Facts{Verb: "trust"}), rulePerson, true},
		{"another satelle", command(Facts{Foreign: "./satelle"}), ruleForeign, true},
		{"no ledger", edit(with(spot, func(s *Spot) { s.NoLedger = true })), ruleState, true},
		{"a damaged ledger", edit(with(spot, func(s *Spot) { s.RowErr = seatread.ErrCorrupt })), ruleState, true},
		{"no .satelle", edit(with(spot, func(s *Spot) { s.NoRoot = true })), ruleState, true},
		{"halted", edit(with(spot, func(s *Spot) { s.Row.Halt = "look" })), ruleHalt, true},
		{"a place that can't be told", Facts{Here: spot, Err: errors.New("odd")}, ruleState, true},
		{"nothing", edit(seated), "", false},
	} {
		d := Decide(dialect.Call{Event: dialect.PreTool, Tool: "Tool"}, tt.facts)
		mode := seatread.ModeWarn
		if tt.deny {
			mode = seatread.ModeEnforce
		} else if tt.rule == "" {
			mode = ""
		}
		if d.Deny != tt.deny || d.Rule != tt.rule || d.Mode != mode || (d.Reason == "") != (tt.rule == "") {
			t.Errorf("%s: %+v, want rule %q, deny %v", tt.name, d, tt.rule, tt.deny)
		}
	}
	spot.Row.Gate.Mode = map[string]string{seatread.RuleEdit: "off"}
	if d := Decide(dialect.Call{Tool: "Tool"}, edit(spot)); !d.Deny {
		t.Errorf("an unknown mode lets pass: %+v", d)
	}
}

// TestOutside goes through the settings of what may change outside.
func TestOutside(t *testing.T) {
	for _, tt := range []struct {
		gate string
		open [3]bool // Elsewhere, Temporary, HarnessOwn
	}{
		{"", [3]bool{false, true, true}},
		{seatread.OutsideTemp, [3]bool{false, true, true}},
		{seatread.OutsideDeny, [3]bool{false, false, true}},
		{seatread.OutsideAllow, [3]bool{true, true, true}},
		{"something newer", [3]bool{false, true, true}},
	} {
		here := Spot{Governed: true, InScope: true}
		here.Row.Gate.Outside = tt.gate
		for what, open := range tt.open {
			f := Facts{Act: Act{Kind: Edits, What: "/x"}, Here: here, Targets: []Spot{{Path: "/x", Outside: Outside(what)}}}
			if d := Decide(dialect.Call{Tool: "Tool"}, f); d.Deny == open {
				t.Errorf("outside = %q, kind %d: %+v", tt.gate, what, d)
			}
		}
		// What is protected stays so, wherever it lies.
		f := Facts{Act: Act{Kind: Edits, What: "/x"}, Here: here, Targets: []Spot{{Path: "/x", Protected: settings}}}
		if d := Decide(dialect.Call{Tool: "Tool"}, f); !d.Deny || d.Rule != ruleProtected {
			t.Errorf("outside = %q: protected passes: %+v", tt.gate, d)
		}
	}
}
