package agents

import (
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
	// DefaultGrokCommand takes the work as an argument. It can't write.
	DefaultGrokCommand = "grok -p {payload} --system-prompt-override {system} --tools read_file,grep,list_dir -m {model} --deny Write --deny Edit --deny Bash --output-format plain --max-turns 8 --no-subagents --reasoning-effort {effort}"
	// DefaultCodexExecCommand takes the work on stdin. Its sandbox is read-only.
	DefaultCodexExecCommand = `codex exec -s read-only -m {model} -c model_reasoning_effort="{effort}" {system}`
	// DefaultCodexACPCommand is the preferred way to Codex, with interface = "acp".
	DefaultCodexACPCommand = "npx -y @agentclientprotocol/codex-acp"
)

// templates are the commands that a bare name stood for in older files.
var templates = map[string]string{
	"claude": DefaultClaudeCommand,
	"grok":   DefaultGrokCommand,
	"codex":  DefaultCodexExecCommand,
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

// Preset returns the agents.toml that init writes: Claude reviews if this
// machine has it or has no agent at all, else an agent that it has.
func Preset(have func(cli string) bool) []byte {
	cli, tools := "claude", "Read,Grep,Glob"
	if !have("claude") {
		for _, other := range []string{"grok", "codex"} {
			if have(other) {
				cli, tools = other, "read_file,grep,list_dir"
				break
			}
		}
	}
	return []byte(`# How the agents of this repository run. Every table is a binding that the route
# names; satelle help bindings explains the keys.

# The session that drives a story does the work of these steps itself.
[executor]
command = "in-loop"

# Judges wherever the route names no other reviewer. It reads and changes nothing.
[reviewer]
role    = "reviewer"
command = ` + quote(templates[cli]) + `
tools   = "` + tools + `"
`)
}
