package decide

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"satelle/ledger/seatread"
)

type input = map[string]any

// envelope makes a payload of a harness's shape.
func (m *machine) envelope(harness, dir, tool string, in any) string {
	m.t.Helper()
	p := input{"session_id": "0b6c", "cwd": dir, "hook_event_name": "PreToolUse", "permission_mode": "bypassPermissions", "transcript_path": "/h/t.jsonl"}
	switch harness {
	case "claude":
		maps.Copy(p, input{"prompt_id": "p", "effort": input{"level": "medium"}, "tool_name": tool, "tool_input": in, "tool_use_id": "toolu_1"})
		if server, _, is := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__"); is {
			p["mcp_server"] = input{"name": server, "source": "dynamic"}
		}
	case "codex":
		maps.Copy(p, input{"turn_id": "t", "model": "gpt-5.5", "tool_name": tool, "tool_input": in, "tool_use_id": "call_1"})
	case "grok":
		maps.Copy(p, input{
			"hookEventName": "pre_tool_use", "sessionId": "0b6c", "workspaceRoot": dir + "/", "transcriptPath": "/h/t.jsonl", "permissionMode": "bypassPermissions",
			"toolName": tool, "toolUseId": "call_1", "toolInput": in, "toolInputTruncated": false, "tool_name": tool, "tool_use_id": "call_1", "tool_input": in,
		})
	}
	b, err := json.Marshal(p)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(b)
}

// TestEveryTool holds each tool that the harnesses offer to what it does:
// reads, or changes files and so needs the seat.
func TestEveryTool(t *testing.T) {
	m := newMachine(t)
	m.repo("free")
	m.row("free", seatread.Row{})
	m.repo("held")
	m.row("held", seatread.Row{Seats: map[string]seatread.Seat{".": held()}})
	patch := "*** Begin Patch\n*** Update File: src/a.py\n@@\n-a\n+b\n*** End Patch\n"
	const (
		reads = iota
		needs
	)
	for harness, tools := range map[string][]struct {
		tool string
		does int
		in   input
	}{
		"claude": {
			{"Read", reads, input{"file_path": "src/a.py"}},
			{"Glob", reads, input{"pattern": "*.txt"}},
			{"Grep", reads, input{"pattern": "x", "path": "src"}},
			{"Write", needs, input{"file_path": "src/a.py", "content": "x"}},
			{"Edit", needs, input{"file_path": "src/a.py", "old_string": "a", "new_string": "b", "replace_all": false}},
			{"NotebookEdit", needs, input{"notebook_path": "n.ipynb", "cell_id": "c1", "new_source": "2", "cell_type": "code", "edit_mode": "replace"}},
			{"Bash", reads, input{"command": "ls", "description": "list", "run_in_background": true, "dangerouslyDisableSandbox": true}},
			{"Bash", needs, input{"command": "echo hi > b.txt", "description": "write"}},
			{"PowerShell", needs, input{"command": "Set-Content p.txt hi"}},
			{"Monitor", needs, input{"description": "m", "timeout_ms": 2000, "command": "echo m > m.txt"}},
			{"Monitor", reads, input{"description": "m", "timeout_ms": 2000, "command": "tail -n 3 src/a.py"}},
			{"Agent", reads, input{"description": "d", "prompt": "edit src/a.py", "subagent_type": "general-purpose", "run_in_background": false}},
			{"Agent", reads, input{"description": "d", "prompt": "p", "subagent_type": "general-purpose", "isolation": "worktree"}},
			{"Task", reads, input{"description": "d", "prompt": "p", "subagent_type": "general-purpose"}},
			{"Workflow", reads, input{"script": "export const meta = {name: 'w', description: 'd'}\nreturn await agent('x')"}},
			{"Skill", reads, input{"skill": "greet"}},
			{"ListAgents", reads, input{}},
			{"SendMessage", reads, input{"to": "a", "message": "m"}},
			{"TaskStop", reads, input{"task_id": "1"}},
			{"ReportFindings", reads, input{"level": "high", "findings": []input{{"file": "src/a.py", "summary": "s"}}}},
			{"ScheduleWakeup", reads, input{"delaySeconds": 600, "reason": "r", "prompt": "p", "noop": true}},
			{"ToolSearch", reads, input{"query": "q", "max_results": 3}},
			{"DeferredToolPlaceholder", reads, input{}},
			{"WebFetch", reads, input{"url": "http://127.0.0.1:9/x", "prompt": "p"}},
			{"WebSearch", reads, input{"query": "q"}},
			{"CronCreate", reads, input{"cron": "0 0 1 1 *", "prompt": "x"}},
			{"CronCreate", needs, input{"cron": "0 0 1 1 *", "prompt": "x", "durable": true}},
			{"CronCreate", needs, input{"cron": "0 0 1 1 *", "prompt": "x", "durable": "false"}}, // no boolean: who knows
			{"CronDelete", reads, input{"id": "1"}},
			{"CronList", reads, input{}},
			{"EnterWorktree", needs, input{"name": "wt1"}},
			{"EnterWorktree", needs, input{}},
			{"EnterWorktree", reads, input{"path": ".claude/worktrees/wt1"}},
			{"ExitWorktree", reads, input{"action": "keep"}},
			{"ExitWorktree", needs, input{"action": "remove"}},
			{"mcp__fs__put", needs, input{"path": "mcp.txt", "text": "x"}},
			{"mcp__fs__get", needs, input{"path": "src/a.py"}},
			{"SuperEditor", needs, input{"target": "src/a.py"}},
			{"Read ", needs, input{"file_path": "src/a.py"}},
		},
		"codex": {
			{"Bash", reads, input{"command": "cat src/a.py"}},
			{"Bash", needs, input{"command": "echo c > c.txt"}},
			{"Bash", needs, input{"command": "apply_patch <<'EOF'\n" + patch + "EOF\n"}},
			{"apply_patch", needs, input{"command": patch}},
			{"write_stdin", reads, input{"session_id": 3, "chars": ""}},
			{"write_stdin", needs, input{"session_id": 3, "chars": "rm x\n"}},
			{"view_image", reads, input{"path": "img.png"}},
			{"get_goal", reads, input{}},
			{"create_goal", reads, input{"objective": "x"}},
			{"update_goal", reads, input{"status": "complete"}},
			{"request_user_input", reads, input{"questions": []input{{"id": "q", "header": "h", "question": "q?"}}}},
			{"request_user_input_async", reads, input{"questions": []input{}}},
			{"tool_search", reads, input{"query": "q", "limit": 2}},
			{"list_mcp_resources", reads, input{"server": "s"}},
			{"list_mcp_resource_templates", reads, input{"server": "s"}},
			{"read_mcp_resource", reads, input{"server": "s", "uri": "docs://x"}},
			{"spawn_agent", reads, input{"message": "go", "agent_type": "default"}},
			{"multi_agent_v1wait_agent", reads, input{"targets": []string{"a"}, "timeout_ms": 20000}},
			{"collaborationspawn_agent", reads, input{"message": "go", "task_name": "a"}},
			{"collaborationwait_agent", reads, input{"timeout_ms": 20000}},
			{"send_message", reads, input{"to": "a", "message": "m"}},
			{"followup_task", reads, input{"to": "a"}},
			{"interrupt_agent", reads, input{"target": "a"}},
			{"list_agents", reads, input{}},
			{"wait_agent", reads, input{"targets": []string{"a"}}},
			{"update_plan", reads, input{"plan": []input{{"step": "edit", "status": "pending"}}}},
			{"mcp__probe__write_file", needs, input{"path": "mcp.txt", "text": "m"}},
			{"exec", needs, input{"input": "tools.exec_command({cmd: 'ls'})"}},
		},
		"grok": {
			{"read_file", reads, input{"target_file": "src/a.py"}},
			{"list_dir", reads, input{"target_directory": "."}},
			{"grep", reads, input{"pattern": "x", "path": "src"}},
			{"write", needs, input{"file_path": "@/w.txt", "content": "W"}},
			{"search_replace", needs, input{"file_path": "src/a.py", "old_string": "a", "new_string": "b"}},
			{"run_terminal_command", reads, input{"command": "ls", "description": "list", "background": true}},
			{"run_terminal_command", needs, input{"command": "echo x > a", "description": "write"}},
			{"monitor", needs, input{"command": "echo m > m.txt", "description": "m"}},
			{"kill_command_or_subagent", reads, input{"task_id": "1"}},
			{"get_command_or_subagent_output", reads, input{"task_ids": []string{"1"}}},
			{"wait_commands_or_subagents", reads, input{"task_ids": []string{"1"}}},
			{"todo_write", reads, input{"merge": false, "todos": []input{{"id": "1", "content": "x", "status": "pending"}}}},
			{"spawn_subagent", reads, input{"prompt": "p", "description": "d", "background": false}},
			{"spawn_subagent", reads, input{"prompt": "p", "description": "d", "isolation": "worktree"}},
			{"scheduler_create", reads, input{"interval": "1h", "prompt": "p", "fire_immediately": true}},
			{"scheduler_create", needs, input{"interval": "1h", "prompt": "p", "durable": true}},
			{"scheduler_create", reads, input{"interval": "1h", "prompt": "p", "durable": nil}},
			{"scheduler_delete", reads, input{"id": "1"}},
			{"scheduler_list", reads, input{}},
			{"search_tool", reads, input{"query": "note"}},
			{"use_tool", needs, input{"tool_name": "fakemcp__note", "tool_input": input{"text": "x"}}},
			{"fakemcp__note", needs, input{"tool_name": "fakemcp__note", "tool_input": input{"text": "x"}}},
			{"workflow", reads, input{"source": input{"type": "script", "script": "agent(\"x\")"}}},
			{"enter_plan_mode", reads, input{}},
			{"exit_plan_mode", reads, input{}},
			{"ask_user_question", reads, input{"questions": []input{}}},
			{"send_feedback", reads, input{"title": "t", "details": "d", "type": "bug"}},
			{"web_search", reads, input{"query": "q"}},
			{"image_gen", needs, input{"prompt": "a cat"}},
			{"image_edit", needs, input{"prompt": "a cat", "image": []string{"a.png"}}},
			{"image_to_video", needs, input{"prompt": "a cat", "image": "a.png"}},
			{"reference_to_video", needs, input{"prompt": "a cat", "images": []string{"a.png"}}},
		},
	} {
		for _, c := range tools {
			name := harness + "/" + c.tool
			in := func(repo string) input {
				all := maps.Clone(c.in)
				if p, ok := all["file_path"].(string); ok {
					all["file_path"] = strings.Replace(p, "@", m.path(repo), 1)
				}
				return all
			}
			answer := m.hook(m.envelope(harness, m.path("free"), c.tool, in("free")))
			if c.does == reads && answer != "" {
				t.Errorf("%s %v reads, and got %s", name, c.in, answer)
			}
			if c.does == needs && !strings.Contains(answer, "story start") {
				t.Errorf("%s %v changes files, and got %q", name, c.in, answer)
			}
			if answer := m.hook(m.envelope(harness, m.path("held"), c.tool, in("held"))); answer != "" {
				t.Errorf("%s %v with a seat: %s", name, c.in, answer)
			}
		}
	}
}

// A tool of a server reads only where the gate that a person trusts says so,
// by its exact name.
func TestReaderTools(t *testing.T) {
	m := newMachine(t)
	m.repo("free")
	m.row("free", seatread.Row{Gate: seatread.Gate{Tools: []string{"mcp__db__query", "db__query", "Write", "mcp__db__*"}}})
	for _, c := range []struct {
		harness, tool string
		in            input
		passes        bool
	}{
		{"claude", "mcp__db__query", input{"sql": "drop table x"}, true},
		{"codex", "mcp__db__query", input{"sql": "x"}, true},
		{"grok", "db__query", input{"tool_name": "db__query", "tool_input": input{"sql": "x"}}, true},
		{"grok", "db__query", input{"tool_name": "db__write", "tool_input": input{"sql": "x"}}, false},
		{"grok", "db__query", input{"tool_name": []string{"x"}}, false},
		{"claude", "mcp__db__query", input{"tool_name": "x"}, true}, // an argument like any other
		{"claude", "mcp__db__query2", input{}, false},
		{"claude", "MCP__db__query", input{}, false},
		{"claude", "mcp__db__write", input{}, false},
		{"claude", "Write", input{"file_path": "src/a.py", "content": "x"}, false},
		{"claude", "mcp__db__query", input{"path": m.path("home/.satelle/keys/log.key")}, false},
	} {
		answer := m.hook(m.envelope(c.harness, m.path("free"), c.tool, c.in))
		if (answer == "") != c.passes {
			t.Errorf("%s %s %v: %s", c.harness, c.tool, c.in, answer)
		}
	}
}

// A seat opens a tool that nobody knows, but not what is protected, however
// deep in its input that is named.
func TestStrangeToolsKeepOffWhatIsProtected(t *testing.T) {
	m := newMachine(t)
	m.repo("held")
	m.row("held", seatread.Row{Seats: map[string]seatread.Seat{".": held()}})
	for _, c := range []struct {
		harness, tool string
		in            input
	}{
		{"claude", "mcp__fs__put", input{"path": ".claude/settings.json", "text": "{}"}},
		{"codex", "mcp__fs__put", input{"files": []input{{"name": ".git/hooks/pre-commit"}}}},
		{"grok", "fs__put", input{"tool_name": "fs__put", "tool_input": input{"path": ".grok/hooks/satelle.json"}}},
		{"grok", "use_tool", input{"tool_name": "fs__put", "tool_input": input{"path": "./.git/config"}}},
		{"grok", "fs__put", input{"tool_name": "fs__put", "tool_input": input{"to": "file://" + m.path("held/.claude/settings.json")}}},
		{"claude", "SuperShell", input{"script": "rm -rf .claude"}},
		{"claude", "Workflow2", input{"command": m.path("home/.satelle/bin/satelle") + " trust"}},
	} {
		if answer := m.hook(m.envelope(c.harness, m.path("held"), c.tool, c.in)); answer == "" {
			t.Errorf("%s %v passed", c.tool, c.in)
		}
	}
}

// Every file that the input of an editing tool names counts, wherever in it.
func TestEveryPathOfAnEdit(t *testing.T) {
	m := newMachine(t)
	m.repo("scoped")
	m.row("scoped", seatread.Row{Seats: map[string]seatread.Seat{".": held("src/**")}})
	for _, c := range []struct {
		in     any
		passes bool
	}{
		{input{"file_path": "src/a.py", "edits": []input{{"old_string": "a", "new_string": "docs/file"}}}, true},
		{input{"file_path": "src/a.py", "content": "/etc/passwd"}, true},
		{input{"file_path": "src/a.py", "file_text": "docs/x"}, true},
		{input{"file_path": "src/a.py", "edits": []input{{"file_path": "src/a.py"}, {"file_path": "docs/x"}}}, false},
		{input{"file_path": "src/a.py", "new_file_path": "docs/x"}, false},
		{input{"file_path": "src/a.py", "path": "docs/x"}, false},
		{input{"file_path": "src/a.py", "paths": []string{"src/b.py", "docs/x"}}, false},
		{input{"file_path": []string{"src/a.py"}}, false},
		{input{"file_path": "src/a.py\x00x"}, false},
		{input{"file_path": 3}, false},
		{input{"file_path": nil}, false},
		{input{"file_path": ""}, false},
		{input{}, false},
		{"src/a.py", false},
	} {
		answer := m.hook(m.call(m.path("scoped"), "MultiEdit", c.in))
		if (answer == "") != c.passes {
			t.Errorf("%v: %s", c.in, answer)
		}
	}
}

// A patch within a command is held to what it names, like one of the tool.
func TestPatchInACommand(t *testing.T) {
	m := newMachine(t)
	m.repo("scoped")
	m.row("scoped", seatread.Row{Seats: map[string]seatread.Seat{".": held("src/**")}})
	patch := func(head string) string { return "*** Begin Patch\n" + head + "\n@@\n-a\n+b\n*** End Patch\n" }
	in, out := "*** Update File: src/a.py", "*** Update File: docs/a.py"
	here := func(head string) string { return "apply_patch <<'EOF'\n" + patch(head) + "EOF\n" }
	for command, passes := range map[string]bool{
		here(in):                                                    true,
		here(out):                                                   false,
		here(in + "\n*** Move to: docs/b.py"):                       false,
		here("*** Delete File: docs/a.py"):                          false,
		here("*** Add File: .claude/settings.json"):                 false,
		here("*** Add File: /etc/x"):                                false,
		"cd src && " + here("*** Update File: a.py"):                true,
		"cd src && " + here("*** Update File: ../docs/a.py"):        false,
		"cd docs && " + here("*** Update File: a.py"):               false,
		"apply_patch '" + patch(in) + "'":                           true,
		"apply_patch '" + patch(out) + "'":                          false,
		"bash -lc \"apply_patch <<'EOF'\n" + patch(out) + "EOF\n\"": false,
		"applypatch <<EOF\n" + patch(out) + "EOF\n":                 false,
	} {
		if answer := m.hook(m.envelope("codex", m.path("scoped"), "Bash", input{"command": command})); (answer == "") != passes {
			t.Errorf("%q: %s", command, answer)
		}
	}
	argv := input{"command": []string{"bash", "-lc", here(out)}}
	if answer := m.hook(m.envelope("codex", m.path("scoped"), "shell", argv)); answer == "" {
		t.Error("a patch in the words of a command passed")
	}
}

// TestToolsAreListedOnce holds the table to itself.
func TestToolsAreListedOnce(t *testing.T) {
	var all []string
	for _, tool := range tools {
		all = append(all, strings.Fields(tool.names)...)
	}
	slices.Sort(all)
	if once := slices.Compact(slices.Clone(all)); len(once) != len(all) {
		t.Error("a tool is listed twice")
	}
	for _, name := range all {
		if got, ok := toolOf(name); !ok || !slices.Contains(strings.Fields(got.names), name) {
			t.Errorf("%s is not found", name)
		}
	}
}
