package agents

import (
	"slices"
	"strings"
	"testing"
)

// The samples of the specification, as they are printed there.
const samples = `
[defaults]
secondary = "fallback-grok"   # used when a binding omits secondary=

[fallback-grok]
interface = "acp"
command   = "grok agent stdio"
tools     = "read_file,grep,list_dir"
model     = "grok-4.5"

[reviewer-acp]
role      = "reviewer"
interface = "acp"
command   = "grok agent stdio"
tools     = "read_file,grep,list_dir"
model     = "grok-4.5"
principles = "session"

# Preferred: reuse satelle's ACP client (same as Grok).
[reviewer-summary]
role       = "reviewer"
effort     = "low"
interface  = "acp"
command    = "npx -y @agentclientprotocol/codex-acp"
tools      = "read_file,grep,list_dir"
model      = "o4-mini"
principles = "session"

[retrospective]
role       = "agent"
effort     = "high"
interface  = "acp"
command    = "npx -y @agentclientprotocol/codex-acp"
tools      = "read_file,grep,list_dir,Bash(satelle:*)"
principles = "session"

[blocked-triage]
role       = "agent"
effort     = "high"
interface  = "acp"
command    = "npx -y @agentclientprotocol/codex-acp"
tools      = "read_file,grep,list_dir,Bash(satelle:*)"
principles = "session"

[reviewer-codex-exec]
role      = "reviewer"
command   = "codex exec -s read-only -m {model} -c model_reasoning_effort=\"{effort}\" {system}"
# payload is always on stdin; do not add {payload} to argv
effort    = "high"
model     = "o4-mini"
principles = "session"

[planner]
command = "claude -p --append-system-prompt {system} --allowedTools {tools} --model {model}"
tools   = "Read,Grep,Glob,Bash(satelle:*)"
model   = "glm-4.6"   # the model id the endpoint expects (glm-5.2 is the newest)
env     = { ANTHROPIC_BASE_URL = "https://api.z.ai/api/anthropic", ANTHROPIC_AUTH_TOKEN = "${GLM_API_KEY}" }

[architect]
command = "claude -p --append-system-prompt {system} --allowedTools {tools} --model {model}"
tools   = "Read,Grep,Glob,Bash(satelle:*)"   # read-only + the pull-context CLI
model   = "opus"                              # per-step model selection is the model key

[architect-grok]
command = "grok -p {payload} --system-prompt-override {system} --tools {tools} --always-approve --output-format plain --max-turns 8 --no-subagents"
tools   = "read_file,grep,list_dir,run_terminal_command"  # Grok-native tool ids
# read_file IS a context channel
`

func TestSamplesHold(t *testing.T) {
	f, err := Parse("agents.toml", []byte(samples))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Dispatchable(); err != nil {
		t.Error(err)
	}
	if warnings := f.Warn(); len(warnings) > 0 {
		t.Errorf("%q", warnings)
	}
	argv := func(name string) []string {
		b, _ := f.Binding(name)
		return b.Argv(Values{System: "S", Payload: "P"})
	}
	for name, want := range map[string][]string{
		"reviewer-codex-exec": {"codex", "exec", "-s", "read-only", "-m", "o4-mini", "-c", `model_reasoning_effort="high"`, "S"},
		"architect":           {"claude", "-p", "--append-system-prompt", "S", "--allowedTools", "Read,Grep,Glob,Bash(satelle:*)", "--model", "opus"},
		"architect-grok":      {"grok", "-p", "P", "--system-prompt-override", "S", "--tools", "read_file,grep,list_dir,run_terminal_command", "--always-approve", "--output-format", "plain", "--max-turns", "8", "--no-subagents"},
		"blocked-triage":      strings.Fields(DefaultCodexACPCommand),
		"fallback-grok":       strings.Fields(DefaultGrokACPCommand),
	} {
		if got := argv(name); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	r, err := f.Resolve("planner", Vars{Values: map[string]string{"GLM_API_KEY": "sk-1"}, Secret: []string{"GLM_API_KEY"}})
	if err != nil || !slices.Equal(r.Env, []string{"ANTHROPIC_AUTH_TOKEN=sk-1", "ANTHROPIC_BASE_URL=https://api.z.ai/api/anthropic"}) {
		t.Errorf("%q, %v", r.Env, err)
	}
	for name, secondary := range map[string]string{"planner": "fallback-grok", "fallback-grok": "", "reviewer-acp": ""} {
		if b, _ := f.Binding(name); b.Secondary != secondary {
			t.Errorf("%s: secondary %q", name, b.Secondary)
		}
	}
	for _, b := range f.Bindings {
		if b.Interface != InterfaceACP && b.Interface != InterfaceCommand || b.Principles != PrinciplesSession {
			t.Errorf("%+v", b)
		}
	}
}
