//go:build clients

package clienttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"
)

var claude = &harness{
	name: "claude", title: "Claude Code", pin: "@anthropic-ai/claude-code",
	yolo: []string{"--dangerously-skip-permissions"},
	play: (*world).claude,
	edit: claudeWrite, shell: claudeShell,
	last: []way{claudeTree},
	reads: []func(*world) Call{
		func(w *world) Call { return Call{"Read", object{"file_path": filepath.Join(w.repo, "main-old.txt")}} },
		func(*world) Call { return claudeShell("ls") },
	},
	ways: []way{
		{name: "Write", parts: []part{claudeWrite}, quick: true},
		{name: "Edit", parts: []part{{prepare: old, look: claudeRead, call: func(w *world, file string) Call {
			return Call{"Edit", object{"file_path": filepath.Join(w.repo, file), "old_string": "old", "new_string": "changed"}}
		}}}},
		{name: "NotebookEdit", parts: []part{{prepare: oldBook, look: claudeRead, ext: ".ipynb", call: func(w *world, file string) Call {
			return Call{"NotebookEdit", object{
				"notebook_path": filepath.Join(w.repo, file), "cell_id": "c1", "new_source": "changed", "cell_type": "code", "edit_mode": "replace",
			}}
		}}}},
		{name: "Bash", parts: []part{claudeBash}, quick: true},
		{name: "Monitor", parts: []part{{call: func(_ *world, file string) Call {
			return Call{"Monitor", object{"command": "echo changed > " + file, "description": "watch", "timeout_ms": 5000}}
		}}}},
		{name: "PowerShell", parts: []part{{call: func(_ *world, file string) Call {
			return Call{"PowerShell", object{"command": "Set-Content " + file + " changed", "description": "write"}}
		}}}},
		{name: "MCP", parts: []part{{call: func(w *world, file string) Call {
			return Call{"mcp__probe__put", object{"path": filepath.Join(w.repo, file), "text": "changed"}}
		}}}},
		{name: "CronCreate, durable", parts: []part{{
			call: func(_ *world, file string) Call {
				return Call{"CronCreate", object{"cron": "0 0 1 1 *", "prompt": file, "durable": true, "recurring": true}}
			},
			done: func(w *world, file string) bool {
				text, err := os.ReadFile(filepath.Join(w.cwd, ".claude", "scheduled_tasks.json"))
				return err == nil && strings.Contains(string(text), file)
			},
		}}},
		{name: "Skill with a shell preamble", parts: []part{{
			prepare: func(w *world, file string) {
				w.write(".claude/skills/"+skill(file)+"/SKILL.md", fmt.Sprintf("---\nname: %s\ndescription: greets\n---\nGreeting: !`echo changed > %s`\n", skill(file), file))
			},
			call: func(_ *world, file string) Call { return Call{"Skill", object{"skill": skill(file)}} },
			also: skillText,
		}}},
		{name: "Agent", main: true, parts: []part{claudeWrite, claudeBash}, spawn: func(prompt string) Call {
			return Call{"Agent", object{"description": "sub", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": false}}
		}},
		{name: "Agent in a work tree of its own", parts: []part{claudeBash}, spawn: func(prompt string) Call {
			return Call{"Agent", object{
				"description": "sub", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": false, "isolation": "worktree",
			}}
		}},
		{name: "Workflow", parts: []part{claudeWrite, claudeBash}, spawn: func(prompt string) Call {
			return Call{"Workflow", object{"script": "export const meta = {name: 'w', description: 'd'}\nreturn await agent('" + prompt + "')"}}
		}},
	},
}

var (
	claudeTree = way{name: "EnterWorktree", parts: []part{{
		ext:  "-tree",
		call: func(_ *world, file string) Call { return Call{"EnterWorktree", object{"name": file}} },
		done: func(w *world, file string) bool {
			_, err := os.Stat(filepath.Join(w.repo, ".claude", "worktrees", file, ".git"))
			return err == nil
		},
	}}}
	claudeWrite = part{call: func(w *world, file string) Call {
		return Call{"Write", object{"file_path": filepath.Join(w.repo, file), "content": "changed\n"}}
	}}
	claudeBash = part{call: func(_ *world, file string) Call { return claudeShell("echo changed > " + file) }}
)

func claudeShell(command string) Call {
	return Call{"Bash", object{"command": command, "description": "run"}}
}

func claudeRead(w *world, file string) Call {
	return Call{"Read", object{"file_path": filepath.Join(w.repo, file)}}
}

// old and oldBook prepare what is to be edited.
func old(w *world, file string)     { w.write(file, "old\n") }
func oldBook(w *world, file string) { w.write(file, notebook) }

// skillText is what the model gets to read of a skill.
func skillText(model *Server, file string) string {
	var found string
	all := model.Requests()
	for _, m := range gjson.GetBytes(all[len(all)-1].Body, "messages").Array() {
		for _, block := range m.Get("content").Array() {
			if text := block.Get("text").String(); strings.Contains(text, "/skills/"+skill(file)+"\n") {
				found += text[strings.Index(text, "\n"):]
			}
		}
	}
	return found
}

func skill(file string) string { return strings.TrimSuffix(file, ".txt") }

// claude plays a script to Claude Code and returns its exit code and what it
// printed.
func (w *world) claude(model *Server, args ...string) (int, string) {
	w.t.Helper()
	env := []string{
		"ANTHROPIC_BASE_URL=" + model.URL, "ANTHROPIC_API_KEY=dummy", "CLAUDE_CODE_MAX_RETRIES=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_USE_POWERSHELL_TOOL=1",
	}
	servers := filepath.Join(w.dir, "servers.json")
	w.put(servers, []byte(encode(object{"mcpServers": object{"probe": object{"command": self(), "args": []string{}, "env": object{asServer: "1"}}}})), 0o644)
	argv := append([]string{filepath.Join(clients, "claude"), "-p", w.asks(), "--output-format", "json", "--mcp-config", servers}, args...)
	return w.start(env, argv...)
}
