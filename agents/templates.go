package agents

import (
	"cmp"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"satelle/internal/fault"
	"satelle/internal/tomledit"
)

// The commands that satelle proposes. Each is a full argv, so that a person
// reads in the file what will run; the placeholders are filled token by token.
const (
	// DefaultClaudeCommand takes the work on stdin. It can't write.
	DefaultClaudeCommand = "claude -p --output-format json --disallowedTools Write,Edit,NotebookEdit,Bash --append-system-prompt {system} --allowedTools {tools} --model {model} --effort {effort}"
	// DefaultGrokCommand takes the work as an argument. It can't write. Of Grok's
	// formats streaming-json alone keeps the final message apart from what came
	// before it, and tells of usage and of a turn that was cancelled.
	DefaultGrokCommand = "grok -p {payload} --system-prompt-override {system} --tools read_file,grep,list_dir -m {model} --deny Write --deny Edit --deny Bash --output-format streaming-json --max-turns 8 --no-subagents --reasoning-effort {effort}"
	// DefaultCodexExecCommand takes the work on stdin. Its sandbox is read-only.
	DefaultCodexExecCommand = `codex exec -s read-only -m {model} -c model_reasoning_effort="{effort}" {system}`
	// DefaultOpencodeCommand takes the work on stdin. It has no flag for tools:
	// what keeps it from writing is OPENCODE_PERMISSION in its environment.
	DefaultOpencodeCommand = "opencode run --format json --agent plan --variant {effort} -m {model} {system}"
	// DefaultCodexACPCommand is the preferred way to Codex, with interface = "acp".
	DefaultCodexACPCommand = "npx -y @agentclientprotocol/codex-acp"
	// DefaultGrokACPCommand is Grok with interface = "acp".
	DefaultGrokACPCommand = "grok agent stdio"
)

// templates are the commands that a bare name stood for in older files.
var templates = map[string]string{
	claude:   DefaultClaudeCommand,
	grok:     DefaultGrokCommand,
	codex:    DefaultCodexExecCommand,
	opencode: DefaultOpencodeCommand,
}

// templateEnv is what the template of a CLI needs beside its command, so that it
// can't write.
var templateEnv = map[string]map[string]string{opencode: {permissionKey: readOnlyRules}}

// readers are the tools that a reviewer is granted, in the words of each CLI.
var readers = map[string]string{
	claude: "Read,Grep,Glob", grok: "read_file,grep,list_dir", codex: "read_file,grep,list_dir", opencode: "read,grep,glob",
}

// Expand returns an agents.toml in which every command that is the bare name of
// a CLI is the full template instead, and whether there was one. Every other
// byte stays.
func Expand(doc []byte) (out []byte, changed bool, err error) {
	if len(doc) > MaxSize {
		return nil, false, fault.New(fault.Refused, "the file has more than %d bytes", MaxSize)
	}
	var tables map[string]any
	if err := toml.Unmarshal(doc, &tables); err != nil {
		return nil, false, fault.Wrap(err, fault.Refused, "expanding bare commands")
	}
	out = doc
	for name, t := range tables {
		binding, ok := t.(map[string]any)
		if !ok || binding["interface"] == InterfaceACP {
			continue
		}
		for _, key := range []string{"command", "harness"} {
			bare, _ := binding[key].(string)
			full := templates[strings.TrimSpace(bare)]
			if full == "" {
				continue
			}
			if out, err = tomledit.Replace(out, quote(full), name, key); err != nil {
				return nil, false, fault.Wrap(err, fault.Refused, "expanding bare commands")
			}
			changed = true
			// A table of its own, or none: an inline table is left alone, and validate
			// tells what it lacks.
			env, _ := binding["env"].(map[string]any)
			for key, rules := range templateEnv[strings.TrimSpace(bare)] {
				if _, set := env[key]; set || binding["role"] != RoleReviewer && name != Reviewer {
					continue
				}
				if out, err = tomledit.Set(out, quote(rules), name, "env", key); err != nil {
					return nil, false, fault.Wrap(err, fault.Refused, "expanding bare commands")
				}
			}
		}
	}
	return out, changed, nil
}

// quote writes a command as a TOML string that needs no escapes.
func quote(command string) string {
	if strings.Contains(command, `"`) {
		return "'" + command + "'"
	}
	return `"` + command + `"`
}

// Preset returns the agents.toml that init writes. The CLI that this machine's
// person has chosen reviews; without a choice Claude, if the machine has it or
// has no agent at all, else an agent that it has.
func Preset(chosen string, have func(cli string) bool) []byte {
	cli := cmp.Or(chosen, claude)
	if chosen == "" && !have(claude) {
		for _, other := range []string{grok, codex, opencode} {
			if have(other) {
				cli = other
				break
			}
		}
	}
	env := ""
	for key, rules := range templateEnv[cli] {
		env = "env     = { " + key + " = " + quote(rules) + " }\n"
	}
	return []byte(`# How the agents of this repository run. Every table is a binding that the route
# names; satelle help agent-dispatch explains the keys.

# The session that drives a story does the work of these steps itself.
[executor]
command = "in-loop"

# Judges wherever the route names no other reviewer. It reads and changes nothing.
[reviewer]
role    = "reviewer"
command = ` + quote(templates[cli]) + `
tools   = "` + readers[cli] + `"
` + env)
}
