//go:build clients

package clienttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

var codexYolo = []string{"--dangerously-bypass-approvals-and-sandbox"}

var codex = &harness{
	name: "codex", title: "Codex", pin: "@openai/codex", install: []string{"--trust"},
	yolo: codexYolo, untrusted: append([]string{"--dangerously-bypass-hook-trust"}, codexYolo...),
	play: (*world).codex,
	edit: codexPatch, shell: codexShell,
	reads: []func(*world) Call{
		func(*world) Call { return codexShell("ls") },
		func(*world) Call { return codexShell("cat main-old.txt") },
	},
	ways: []way{
		{name: "exec_command", parts: []part{codexExec}, quick: true},
		{name: "apply_patch: add", parts: []part{codexPatch}, quick: true},
		{name: "apply_patch: update", parts: []part{{prepare: old, call: func(_ *world, file string) Call {
			return Call{"apply_patch", patch("*** Update File: "+file, "@@", "-old", "+changed")}
		}}}},
		{name: "apply_patch: move", parts: []part{{
			prepare: func(w *world, file string) { w.write("from-"+file, "old\n") },
			call: func(_ *world, file string) Call {
				return Call{"apply_patch", patch("*** Update File: from-"+file, "*** Move to: "+file, "@@", "-old", "+changed")}
			},
		}}},
		{name: "apply_patch: delete", parts: []part{{
			prepare: old,
			call:    func(_ *world, file string) Call { return Call{"apply_patch", patch("*** Delete File: " + file)} },
			done: func(w *world, file string) bool {
				_, err := os.Stat(filepath.Join(w.repo, file))
				return os.IsNotExist(err)
			},
		}}},
		{name: "apply_patch in shell text", parts: []part{{call: func(_ *world, file string) Call {
			return codexShell("apply_patch <<'EOF'\n" + patch("*** Add File: "+file, "+changed") + "EOF\n")
		}}}},
		{name: "MCP", parts: []part{{call: func(w *world, file string) Call {
			return Call{"mcp__probe.put", object{"path": filepath.Join(w.repo, file), "text": "changed"}}
		}}}},
		{name: "spawn_agent", main: true, parts: []part{codexExec, codexPatch}, spawn: func(prompt string) Call {
			return Call{"multi_agent_v1.spawn_agent", object{"message": prompt, "agent_type": "default"}}
		}},
	},
}

// Some models of Codex write JavaScript, in which the tools are called.
var codeMode = &harness{
	name: "codex", title: "Codex in code mode", pin: codex.pin, install: codex.install,
	yolo:      append([]string{"-m", "gpt-6-sol"}, codexYolo...),
	untrusted: append([]string{"-m", "gpt-6-sol", "--dangerously-bypass-hook-trust"}, codexYolo...),
	play:      (*world).codex,
	edit:      codePatch,
	shell:     func(command string) Call { return inScript("exec_command", object{"cmd": command}) },
	reads: []func(*world) Call{
		func(*world) Call { return inScript("exec_command", object{"cmd": "ls"}) },
		func(*world) Call { return inScript("exec_command", object{"cmd": "cat main-old.txt"}) },
	},
	ways: []way{
		{name: "exec: exec_command", parts: []part{codeExec}, quick: true},
		{name: "exec: apply_patch", parts: []part{codePatch}, quick: true},
		{name: "exec: MCP", parts: []part{{call: func(w *world, file string) Call {
			return inScript("mcp__probe__put", object{"path": filepath.Join(w.repo, file), "text": "changed"})
		}}}},
		{name: "spawn_agent", main: true, parts: []part{codeExec, codePatch}, spawn: func(prompt string) Call {
			name := strings.NewReplacer(" ", "_", ".", "").Replace(strings.ToLower(prompt))
			return Call{"collaboration.spawn_agent", object{"message": prompt, "task_name": name}}
		}},
	},
}

var (
	codexExec  = part{call: func(_ *world, file string) Call { return codexShell("echo changed > " + file) }}
	codexPatch = part{call: func(_ *world, file string) Call { return Call{"apply_patch", patch("*** Add File: "+file, "+changed")} }}
	codeExec   = part{call: func(_ *world, file string) Call {
		return inScript("exec_command", object{"cmd": "echo changed > " + file})
	}}
	codePatch = part{call: func(_ *world, file string) Call {
		return inScript("apply_patch", patch("*** Add File: "+file, "+changed"))
	}}
)

func codexShell(command string) Call { return Call{"exec_command", object{"cmd": command}} }

func patch(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
}

// inScript calls a tool in JavaScript, which says what became of it.
func inScript(tool string, input any) Call {
	return Call{"exec", fmt.Sprintf("try { text(JSON.stringify(await tools.%s(%s))) } catch (e) { text(String(e)) }", tool, encode(input))}
}

// codex plays a script to Codex.
func (w *world) codex(model *Server, mode ...string) (int, string) {
	w.t.Helper()
	args := []string{
		filepath.Join(clients, "codex"), "exec", "--json", "-m", "gpt-5.5", "-c", `model_provider="scripted"`,
		"-c", `mcp_servers.probe={command=` + encode(self()) + `,env={` + asServer + `="1"}}`,
		"-c", fmt.Sprintf(`model_providers.scripted={name="scripted",base_url="%s/v1",wire_api="responses",env_key="MODEL_KEY"}`, model.URL),
	}
	if len(mode) == 0 {
		mode = codexYolo
	}
	if mode[0] == "-m" { // may stand there only once
		args = append(args[:3], args[5:]...)
	}
	env := []string{"CODEX_HOME=" + filepath.Join(w.home, ".codex"), "MODEL_KEY=dummy"}
	return w.start(env, append(append(args, mode...), w.asks())...)
}
