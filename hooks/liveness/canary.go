package liveness

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"satelle/hooks/decide"
	"satelle/hooks/install"
)

// slow is when an answer is worth a finding. The engine needs milliseconds;
// each call of an agent waits for it.
const slow = 500 * time.Millisecond

// canaries runs every installed hook command.
func (l *look) canaries(ctx context.Context) {
	for i := range l.report.Hooks {
		h := &l.report.Hooks[i]
		entries := l.entries(h.Harness, h.File)
		if len(entries) == 0 {
			continue
		}
		h.Proof = ProofCanary
		for _, e := range entries {
			// One that hangs would hang for each of its events.
			if l.canary(ctx, h, e); l.hangs(h) {
				break
			}
		}
	}
}

// canary fires one entry with what it must deny and with what it must pass.
func (l *look) canary(ctx context.Context, h *Hook, e install.Entry) {
	target := l.target(h)
	switch e.Event {
	case "PreToolUse":
		out := l.shoot(ctx, h, e, change(h.Harness, target))
		if h.Denies = l.mustDeny(h, e, out); h.Denies {
			h.Millis = out.took.Milliseconds()
			if out.took > slow {
				l.find(Note, "slow", h.Harness, h.Scope, "look for what keeps this machine busy", "the hook took %d ms to deny", out.took.Milliseconds())
			}
		}
		if l.hangs(h) {
			return
		}
		out = l.shoot(ctx, h, e, read(h.Harness))
		l.mustPass(h, e, out)
		h.Millis = max(h.Millis, out.took.Milliseconds())
	case "PreSkillShellCommand":
		l.mustDeny(h, e, l.shoot(ctx, h, e, map[string]any{
			"hook_event_name": e.Event, "tool_name": "Bash", "tool_input": map[string]any{"command": "echo > " + word(target)},
			"tool_use_id": "toolu_canary:preamble-0", "command_name": "canary", "command_source": "projectSettings", "invoked_by": "claude",
		}))
	case "ConfigChange":
		if l.report.Governed {
			l.mustDeny(h, e, l.shoot(ctx, h, e, map[string]any{"hook_event_name": e.Event, "source": "project_settings", "file_path": target}))
		}
	default:
		l.mustPass(h, e, l.shoot(ctx, h, e, passive(h.Harness, e.Event)))
	}
}

// hangs reports whether a canary of a hook ran out of patience.
func (l *look) hangs(h *Hook) bool {
	return slices.ContainsFunc(l.report.Findings, func(f Finding) bool {
		return f.Name == "hangs" && f.Harness == h.Harness && f.Scope == h.Scope
	})
}

// target is a file that nobody may change, whoever holds the seat: the settings
// themselves, and where nothing is governed satelle's own program.
func (l *look) target(h *Hook) string {
	if l.report.Governed {
		return h.File
	}
	return filepath.Join(l.SatelleHome, "bin", "satelle-hook")
}

// change is a call that must be denied, as the harness sends it.
func change(harness, target string) map[string]any {
	switch harness {
	case "codex":
		return map[string]any{
			"hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_use_id": "call_canary",
			"tool_input": map[string]any{"command": "*** Begin Patch\n*** Update File: " + target + "\n@@\n-canary\n+canary\n*** End Patch\n"},
		}
	case "grok":
		return grokCall("PreToolUse", "write", map[string]any{"file_path": target, "content": "canary\n"})
	}
	return map[string]any{
		"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_use_id": "toolu_canary",
		"tool_input": map[string]any{"file_path": target, "content": "canary\n"},
	}
}

// read is a call that must pass.
func read(harness string) map[string]any {
	input := map[string]any{"command": "ls"}
	if harness == "grok" {
		input["description"] = "List"
		return grokCall("PreToolUse", "run_terminal_command", input)
	}
	return map[string]any{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "canary", "tool_input": input}
}

// passive is an event whose answer can block nothing.
func passive(harness, event string) map[string]any {
	call := map[string]any{"hook_event_name": event}
	if harness == "grok" {
		call["hookEventName"] = grokEvent(event)
	}
	if event == "SessionStart" {
		call["source"] = "startup"
		return call
	}
	if harness == "grok" {
		call = grokCall(event, "run_terminal_command", map[string]any{"command": "ls"})
		call["toolResult"], call["tool_response"] = "canary", "canary"
		return call
	}
	call["tool_name"], call["tool_use_id"] = "Bash", "canary"
	call["tool_input"], call["tool_response"] = map[string]any{"command": "ls"}, "canary"
	return call
}

// grokCall has each key in both of Grok's spellings.
func grokCall(event, tool string, input map[string]any) map[string]any {
	return map[string]any{
		"hookEventName": grokEvent(event), "hook_event_name": event, "toolName": tool, "tool_name": tool,
		"toolInput": input, "tool_input": input, "toolInputTruncated": false, "toolUseId": "call_canary", "tool_use_id": "call_canary",
	}
}

// shoot fires an entry's command as its harness does: in its shell, its folder
// and its environment.
func (l *look) shoot(ctx context.Context, h *Hook, e install.Entry, call map[string]any) outcome {
	s := shot{dir: l.Dir, env: append([]string(nil), l.Env...)}
	call["session_id"], call["cwd"], call["permission_mode"] = decide.CanarySession, l.Dir, "bypassPermissions"
	root := l.tree
	if root == "" {
		root = l.Dir
	}
	switch h.Harness {
	case "codex":
		s.argv = []string{l.Shell, "-c", e.Command}
		call["turn_id"], call["model"] = "canary", "canary"
		if e.Event == "SessionStart" {
			delete(call, "turn_id")
		}
	case "grok":
		s.argv = []string{"/bin/sh", "-c", strings.ReplaceAll(e.Command, "${HOME:-}", l.env["HOME"])}
		s.dir = root
		s.env = append(s.env, "GROK_HOOK_EVENT="+grokEvent(e.Event), "GROK_HOOK_NAME="+h.Scope+"/satelle", "GROK_SESSION_ID="+decide.CanarySession,
			"GROK_WORKSPACE_ROOT="+root, "CLAUDE_PROJECT_DIR="+root)
		call["sessionId"], call["workspaceRoot"], call["permissionMode"] = decide.CanarySession, root+"/", "bypassPermissions"
	default:
		s.argv = []string{"/bin/sh", "-c", e.Command}
		s.env = append(s.env, "CLAUDE_PROJECT_DIR="+root, "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID="+decide.CanarySession, "CLAUDE_CODE_ENTRYPOINT=cli")
	}
	s.payload, _ = json.Marshal(call) // strings and maps of them
	return fire(ctx, s, l.patience())
}

// grokEvent is an event's name as Grok spells it.
func grokEvent(event string) string {
	return map[string]string{"PreToolUse": "pre_tool_use", "PostToolUse": "post_tool_use", "SessionStart": "session_start"}[event]
}

// fallbacks tell the denials that the engine did not give.
var fallbacks = []string{"is missing or broken on this machine", "is not installed on this machine, or is broken"}

// mustDeny reports whether an answer is a denial that the harness obeys.
func (l *look) mustDeny(h *Hook, e install.Entry, out outcome) bool {
	bad := func(name, what string, args ...any) bool {
		l.died(name, h, e, fmt.Sprintf(what, args...))
		return false
	}
	if out.late {
		return bad("hangs", "no answer within %v", l.patience())
	}
	if why := amiss(out); why != "" {
		return bad("canary", "%s", why)
	}
	if len(out.stdout) == 0 {
		return bad("not-denied", "a change that nobody may make was let through")
	}
	reason, ok := denial(h.Harness, e.Event, gjson.ParseBytes(out.stdout))
	if !ok {
		return bad("not-denied", "the answer is no denial that %s obeys: %s", title(h.Harness), clip(string(out.stdout)))
	}
	for _, text := range fallbacks {
		if strings.Contains(reason, text) {
			return bad("engine-fallback", "the engine can't run here, so its fallback denies all but plain reading")
		}
	}
	return true
}

// mustPass looks that a call which changes nothing is passed.
func (l *look) mustPass(h *Hook, e install.Entry, out outcome) {
	if out.late {
		l.died("hangs", h, e, fmt.Sprintf("no answer within %v", l.patience()))
		return
	}
	why := amiss(out)
	if why == "" && len(out.stdout) > 0 && e.Event != "SessionStart" {
		why = "what changes nothing was answered with " + clip(string(out.stdout))
	}
	if why != "" {
		l.died("canary", h, e, why)
	}
}

// died takes in what a canary died of, once for all events.
func (l *look) died(name string, h *Hook, e install.Entry, why string) {
	for _, f := range l.report.Findings {
		if f.Name == name && f.Harness == h.Harness && f.Scope == h.Scope {
			return
		}
	}
	l.find(Broken, name, h.Harness, h.Scope, installing(h.Harness, h.Scope), "%s of %s: %s", e.Event, h.File, why)
}

// amiss says what of a run no harness would take well, "" if nothing.
func amiss(out outcome) string {
	detail := ""
	if len(out.stderr) > 0 {
		detail = ": " + clip(string(out.stderr))
	}
	switch {
	case out.err != nil:
		return "the command could not be started: " + out.err.Error()
	case out.code < 0:
		return "the command was killed" + detail
	case out.code != 0:
		return "the command failed with exit code " + strconv.Itoa(out.code) + detail
	case out.held:
		return "a process that the command left behind holds its output"
	case len(out.stdout) > 0 && (!gjson.ValidBytes(out.stdout) || !gjson.ParseBytes(out.stdout).IsObject()):
		return "the answer is no JSON object: " + clip(string(out.stdout))
	case out.writes > 1:
		return "the answer came in more than one write"
	}
	return ""
}

// denial returns the reason of an answer, and whether the harness takes it for
// a denial.
func denial(harness, event string, answer gjson.Result) (reason string, ok bool) {
	specific := answer.Get("hookSpecificOutput")
	decision, why := specific.Get("permissionDecision").Str, specific.Get("permissionDecisionReason").Str
	plain := answer.Get("decision").Str
	switch {
	case decision != "":
		return why, decision == "deny" && strings.TrimSpace(why) != "" && (harness == "grok" || specific.Get("hookEventName").Str == "PreToolUse")
	case harness == "grok":
		return answer.Get("reason").Str, plain == "deny" || plain == "block"
	}
	return answer.Get("reason").Str, plain == "block" && strings.TrimSpace(answer.Get("reason").Str) != ""
}
