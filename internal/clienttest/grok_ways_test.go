//go:build clients

package clienttest

import (
	"fmt"
	"path/filepath"
	"strings"
)

var grok = &harness{
	name: "grok", title: "Grok", pin: "@xai-official/grok-linux-x64", install: []string{"--trust"},
	yolo: []string{"--always-approve"},
	play: (*world).grok,
	last: []way{{name: "write of 200 KB", hidden: true, parts: []part{{call: func(w *world, file string) Call {
		// The hook gets to see the first 128 KB of such an input, as a string.
		return Call{"write", object{"file_path": filepath.Join(w.repo, file), "content": "changed\n" + strings.Repeat("x", 200<<10)}}
	}}}}},
	edit: grokWrite, shell: grokShell,
	reads: []func(*world) Call{
		func(*world) Call { return grokShell("ls") },
		func(w *world) Call {
			return Call{"read_file", object{"target_file": filepath.Join(w.repo, "main-old.txt")}}
		},
		func(*world) Call { return Call{"list_dir", object{"target_directory": "."}} },
	},
	ways: []way{
		{name: "write", parts: []part{grokWrite}, quick: true},
		{name: "search_replace", parts: []part{{prepare: old, call: func(w *world, file string) Call {
			return Call{"search_replace", object{"file_path": filepath.Join(w.repo, file), "old_string": "old", "new_string": "changed"}}
		}}}},
		{name: "run_terminal_command", parts: []part{grokRun}, quick: true},
		{name: "monitor", parts: []part{{call: func(_ *world, file string) Call {
			return Call{"monitor", object{"command": "echo changed > " + file, "description": "watch"}}
		}}}},
		{name: "use_tool (MCP)", parts: []part{{
			look: func(*world, string) Call { return Call{"search_tool", object{"query": "put"}} },
			call: func(w *world, file string) Call {
				return Call{"use_tool", object{"tool_name": "probe__put", "tool_input": object{"path": filepath.Join(w.repo, file), "text": "changed"}}}
			},
		}}},
		{name: "image and video tools", remote: true, parts: []part{
			grokMedia("image_gen", object{"prompt": "a cat"}),
			grokMedia("image_edit", object{"prompt": "a cat", "image": []string{"main-old.txt"}}),
			grokMedia("image_to_video", object{"prompt": "a cat", "image": "main-old.txt"}),
			grokMedia("reference_to_video", object{"prompt": "a cat", "aspect_ratio": "1:1"}),
		}},
		{name: "spawn_subagent", main: true, parts: []part{grokWrite, grokRun}, spawn: func(prompt string) Call {
			return Call{"spawn_subagent", object{"prompt": prompt, "description": "sub", "background": false}}
		}},
		{name: "spawn_subagent in a work tree of its own", parts: []part{grokRun}, spawn: func(prompt string) Call {
			return Call{"spawn_subagent", object{"prompt": prompt, "description": "sub", "background": false, "isolation": "worktree"}}
		}},
		{name: "workflow", parts: []part{grokWrite, grokRun}, spawn: func(prompt string) Call {
			return Call{"workflow", object{"source": object{
				"type": "script", "script": "let meta = #{ name: \"w\", description: \"d\" };\nlet r = agent(\"" + prompt + "\");\nr",
			}}}
		}},
		{name: "scheduler_create", parts: []part{grokRun}, spawn: func(prompt string) Call {
			return Call{"scheduler_create", object{"interval": "1h", "prompt": prompt, "fire_immediately": true}}
		}},
	},
}

var (
	grokWrite = part{call: func(w *world, file string) Call {
		return Call{"write", object{"file_path": filepath.Join(w.repo, file), "content": "changed\n"}}
	}}
	grokRun = part{call: func(_ *world, file string) Call { return grokShell("echo changed > " + file) }}
)

func grokShell(command string) Call {
	return Call{"run_terminal_command", object{"command": command, "description": "run"}}
}

// grokMedia is a tool whose work a service does.
func grokMedia(tool string, input object) part {
	return part{
		call: func(*world, string) Call { return Call{tool, input} },
		done: func(*world, string) bool { return false },
	}
}

// grok plays a script to Grok.
func (w *world) grok(model *Server, mode ...string) (int, string) {
	w.t.Helper()
	config := fmt.Sprintf("[mcp_servers.probe]\ncommand = %s\nargs = []\nenabled = true\nenv = { %s = \"1\" }\n", encode(self()), asServer)
	w.put(filepath.Join(w.home, ".grok", "config.toml"), []byte(config), 0o644)
	if len(mode) == 0 {
		mode = []string{"--always-approve"}
	}
	env := []string{
		"XAI_API_KEY=dummy", "GROK_MODELS_BASE_URL=" + model.URL + "/v1",
		"GROK_TELEMETRY_ENABLED=0", "GROK_DISABLE_AUTOUPDATER=1",
	}
	return w.start(env, append([]string{filepath.Join(clients, "grok"), "-p", w.asks(), "--output-format", "json"}, mode...)...)
}
