//go:build clients

package clienttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"satelle/agents"
)

// An agent is a real client under the binding that satelle proposes for it.
type agent struct {
	name string
	// reviews and plans are the tables of its bindings, without their names.
	reviews, plans string
	// prepare writes what the client needs to find the model at url, and returns
	// the environment that it needs for that.
	prepare func(w *world, url string) (env []string)
	// writes are calls by which a reviewer tries to change the file: by a tool,
	// and by a shell.
	writes []func(w *world, file string) Call
	// usage says what the client reports of two requests to the model: "tokens",
	// "tokens and cost", or "" for nothing.
	usage string
}

// agentsUnderTest are those that satelle proposes a binding for.
var agentsUnderTest = []*agent{
	{
		name:    "claude",
		reviews: proposed("claude"),
		plans:   fmt.Sprintf("command = %q\ntools = \"Read,Grep,Glob,Bash(satelle:*)\"\n", agents.DefaultClaudeCommand),
		prepare: claudeSees,
		writes:  []func(*world, string) Call{claudeWrite.call, claudeBash.call},
		usage:   "tokens and cost",
	},
	{
		name:    "codex",
		reviews: proposed("codex") + "model = \"gpt-5.5\"\n",
		plans:   fmt.Sprintf("command = '%s'\nmodel = \"gpt-5.5\"\ntools = \"read_file\"\n", agents.DefaultCodexExecCommand),
		prepare: codexSees,
		writes:  []func(*world, string) Call{codexPatch.call, codexExec.call},
	},
	{
		name:    "codex-acp",
		reviews: "role = \"reviewer\"\n" + overACP(agents.DefaultCodexACPCommand),
		plans:   overACP(agents.DefaultCodexACPCommand),
		prepare: codexACPSees,
		writes:  []func(*world, string) Call{codexPatch.call, codexExec.call},
		usage:   "tokens",
	},
	{
		name:    "grok",
		reviews: proposed("grok"),
		plans:   fmt.Sprintf("command = %q\ntools = \"read_file,grep,list_dir\"\n", agents.DefaultGrokCommand),
		usage:   "tokens",
		prepare: grokSees,
		writes:  []func(*world, string) Call{grokWrite.call, grokRun.call},
	},
	{
		name:    "grok-acp",
		reviews: "role = \"reviewer\"\n" + overACP(agents.DefaultGrokACPCommand),
		plans:   overACP(agents.DefaultGrokACPCommand),
		prepare: grokSees,
		writes:  []func(*world, string) Call{grokWrite.call, grokRun.call},
		usage:   "tokens",
	},
	{
		name:    "opencode",
		reviews: proposed("opencode") + "model = \"scripted/m1\"\n",
		plans:   fmt.Sprintf("command = %q\nmodel = \"scripted/m1\"\ntools = \"read_file\"\n", agents.DefaultOpencodeCommand),
		prepare: opencodeSees,
		writes: []func(*world, string) Call{
			func(w *world, file string) Call {
				return Call{"write", object{"filePath": filepath.Join(w.repo, file), "content": "changed\n"}}
			},
			func(_ *world, file string) Call {
				return Call{"bash", object{"command": "echo changed > " + file, "description": "run"}}
			},
		},
		usage: "tokens and cost",
	},
}

// proposed is the reviewer that init writes where this CLI is chosen.
func proposed(cli string) string {
	_, table, _ := strings.Cut(string(agents.Preset(cli, nil)), "\n["+agents.Reviewer+"]\n")
	return table
}

func overACP(command string) string {
	return fmt.Sprintf("interface = \"acp\"\ncommand = %q\ntools = \"read_file,grep,list_dir\"\n", command)
}

// each runs a test for every agent.
func each(t *testing.T, test func(t *testing.T, a *agent)) {
	t.Parallel()
	for _, a := range agentsUnderTest {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			test(t, a)
		})
	}
}

// withClients is the environment in which the clients are found.
func (w *world) withClients(more ...string) []string {
	path := filepath.Join(w.home, ".satelle", "bin") + ":" + programs + ":" + clients + ":/usr/local/bin:/usr/bin:/bin"
	return append([]string{"PATH=" + path}, more...)
}

func claudeSees(w *world, url string) []string {
	return w.withClients("ANTHROPIC_BASE_URL="+url, "ANTHROPIC_API_KEY=dummy", "CLAUDE_CODE_MAX_RETRIES=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1")
}

func codexSees(w *world, url string) []string {
	home := filepath.Join(w.home, ".codex")
	w.mkdir(home)
	w.put(filepath.Join(home, "config.toml"), fmt.Appendf(nil, `model = "gpt-5.5"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
wire_api = "responses"
env_key = "MODEL_KEY"
request_max_retries = 0
stream_max_retries = 0
`, url), 0o600)
	return w.withClients("CODEX_HOME="+home, "MODEL_KEY=dummy")
}

// codexACPSees also lays the adapter where npx finds it without asking anybody:
// in a folder above the repository.
func codexACPSees(w *world, url string) []string {
	env := codexSees(w, url)
	modules := filepath.Join(w.dir, "node_modules")
	installed := filepath.Join(filepath.Dir(clients), "node_modules", "@agentclientprotocol", "codex-acp")
	w.mkdir(filepath.Join(modules, ".bin"))
	w.mkdir(filepath.Join(modules, "@agentclientprotocol"))
	w.link(installed, filepath.Join(modules, "@agentclientprotocol", "codex-acp"))
	w.link(filepath.Join(installed, "dist", "index.js"), filepath.Join(modules, ".bin", "codex-acp"))
	return append(env, "npm_config_offline=true", "npm_config_registry=http://127.0.0.1:9/", "npm_config_update_notifier=false")
}

// grokSees bounds the retries where Grok lets itself be told; a 503 it asks for
// seven times all the same, within 45 s.
func grokSees(w *world, url string) []string {
	return w.withClients("XAI_API_KEY=dummy", "GROK_MODELS_BASE_URL="+url+"/v1", "GROK_MAX_RETRIES=1",
		"GROK_TELEMETRY_ENABLED=0", "GROK_DISABLE_AUTOUPDATER=1")
}

func opencodeSees(w *world, url string) []string {
	config := filepath.Join(w.home, ".config", "opencode")
	w.mkdir(config)
	w.put(filepath.Join(config, "opencode.json"), []byte(encode(object{
		"model": "scripted/m1", "small_model": "scripted/m1", "enabled_providers": []string{"scripted"}, "share": "disabled",
		"provider": object{"scripted": object{
			"npm": "@ai-sdk/openai-compatible", "options": object{"baseURL": url + "/v1", "apiKey": "dummy"},
			"models": object{"m1": object{"name": "m1", "cost": object{"input": 1, "output": 2}}},
		}},
	})), 0o600)
	return w.withClients("OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1",
		"npm_config_registry=http://127.0.0.1:9/", "npm_config_fetch_retries=0", "npm_config_offline=true")
}

func (w *world) mkdir(path string) {
	w.t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) link(target, path string) {
	w.t.Helper()
	if err := os.Symlink(target, path); err != nil {
		w.t.Fatal(err)
	}
}
