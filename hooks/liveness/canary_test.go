package liveness

import (
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"satelle/hooks/install"
)

// A hook that runs and does not hold is found by what it does.
func TestCanary(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, engine, finding, what string }{
		{"lets everything through", "cat >/dev/null", "not-denied", "let through"},
		{"denies everything", `echo '{"decision":"block","reason":"no"}'`, "canary", "what changes nothing was answered"},
		{"logs before it answers", "echo loading\n" + engine, "canary", "no JSON object"},
		{"two objects", engine + "echo '{}'", "canary", "no JSON object"},
		{"two writes", `printf '{"decision":'; printf '"block","reason":"no"}'`, "canary", "in more than one write"},
		{"a denial without a reason", `echo '{"decision":"block"}'`, "not-denied", "no denial that"},
		{"a child holds the output", "sleep 60 &\n" + engine, "canary", "left behind holds its output"},
		{"hangs", "exec sleep 600", "hangs", "no answer within 100ms"},
		{"the engine is not to be run", "\x7fELF garbage", "engine-fallback", "can't run here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.finding == "hangs" {
				w.testOnlyPatience = 100 * time.Millisecond
			}
			text := "#!/bin/sh\n" + c.engine
			if c.finding == "engine-fallback" {
				text = c.engine
			}
			w.program("built here/satelle-hook", text)
			w.program("home/.satelle/bin/satelle-hook", text)
			r := w.examine()
			found := named(r, c.finding)
			if len(found) == 0 || !strings.Contains(found[0].What, c.what) || r.OK {
				t.Errorf("%+v", r.Findings)
			}
			for _, name := range install.Names() {
				if h := w.hook(r, name, install.Project); h.Live {
					t.Errorf("%+v", h)
				}
			}
		})
	}
}

// What the canary sends is what the harness would send.
func TestCanaryAsTheHarness(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	log := w.path("log")
	text := strings.Replace(engine, "payload=$(cat)", `payload=$(cat)
printf '%s\n' "$payload" "$(pwd)" "${CLAUDE_PROJECT_DIR:-} ${GROK_WORKSPACE_ROOT:-} ${GROK_HOOK_EVENT:-}" >> '`+log+`'`, 1)
	w.program("built here/satelle-hook", text)
	w.program("home/.satelle/bin/satelle-hook", text)
	w.write("my repo/sub/x", "")
	w.Dir = w.path("my repo/sub")
	w.examine()
	lines := strings.Split(strings.TrimSuffix(w.read("log"), "\n"), "\n")
	seen := map[string]bool{}
	for i := 0; i+2 < len(lines); i += 3 {
		call, dir, env := gjson.Parse(lines[i]), lines[i+1], lines[i+2]
		harness, wantDir, wantEnv := "claude", w.Dir, w.repo+"  "
		switch {
		case call.Get("hookEventName").Exists():
			harness, wantDir, wantEnv = "grok", w.repo, w.repo+" "+w.repo+" "+call.Get("hookEventName").Str
			if call.Get("workspaceRoot").Str != w.repo+"/" || call.Get("toolName").Str != call.Get("tool_name").Str {
				t.Errorf("Grok sends %s", call.Raw)
			}
		case call.Get("model").Exists():
			harness, wantEnv = "codex", "  "
		}
		seen[harness+" "+call.Get("hook_event_name").Str+" "+call.Get("tool_name").Str] = true
		if dir != wantDir || env != wantEnv || call.Get("cwd").Str != w.Dir {
			t.Errorf("%s runs in %q with %q: %s", harness, dir, env, call.Raw)
		}
		if call.Get("session_id").Str != "satelle-canary" {
			t.Errorf("no mark: %s", call.Raw)
		}
	}
	for _, want := range []string{
		"claude PreToolUse Write", "claude PreToolUse Bash", "claude PreSkillShellCommand Bash", "claude ConfigChange ", "claude PostToolUse Bash", "claude SessionStart ",
		"codex PreToolUse apply_patch", "codex PreToolUse Bash", "codex SessionStart ",
		"grok PreToolUse write", "grok PreToolUse run_terminal_command", "grok PostToolUse run_terminal_command", "grok SessionStart ",
	} {
		if !seen[want] {
			t.Errorf("no %s among %v", want, seen)
		}
	}
}

func TestDenial(t *testing.T) {
	for _, c := range []struct {
		harness, event, answer string
		want                   bool
	}{
		{"claude", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"x"}}`, true},
		{"codex", "PreToolUse", `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"x"}}`, false},
		{"codex", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":" "}}`, false},
		{"claude", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"x"}}`, false},
		{"grok", "PreToolUse", `{"decision":"deny","reason":"x"}`, true},
		{"claude", "PreToolUse", `{"decision":"deny","reason":"x"}`, false},
		{"grok", "PreToolUse", `{"hookSpecificOutput":{"permissionDecision":"allow"},"decision":"deny","reason":"x"}`, false},
		{"claude", "ConfigChange", `{"decision":"block","reason":"x"}`, true},
		{"claude", "ConfigChange", `{}`, false},
	} {
		if _, got := denial(c.harness, c.event, gjson.Parse(c.answer)); got != c.want {
			t.Errorf("%s, %s: %v", c.harness, c.answer, got)
		}
	}
}
