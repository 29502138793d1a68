package agents

import (
	"strings"
	"testing"
)

func TestWhatDisarmsHooksIsRefused(t *testing.T) {
	tests := []struct {
		table string
		by    string // "" for what is allowed
	}{
		{`command = "claude -p --bare"`, "--bare"},
		{`command = "claude --safe-mode -p"`, "--safe-mode"},
		{`command = "claude -p --setting-sources user"`, "--setting-sources"},
		{`command = "claude -p --setting-sources=user"`, "--setting-sources"},
		{`command = "claude -p --restricted"`, "--restricted"},
		{`command = 'claude -p --settings {"disableAllHooks":true}'`, "disableAllHooks"},
		{"command = 'claude -p --settings {settings}'\nsettings = '{\"disableAllHooks\" : true}'", "disableAllHooks"},
		{"command = 'claude -p'\nenv = { CLAUDE_CODE_SIMPLE = \"1\" }", "env CLAUDE_CODE_SIMPLE"},
		{"command = 'claude -p'\nenv = { CLAUDE_CODE_SAFE_MODE = \"${X}\" }", "env CLAUDE_CODE_SAFE_MODE"},
		{`command = "env CLAUDE_CODE_SIMPLE=1 claude -p"`, "CLAUDE_CODE_SIMPLE"},
		{`command = "sh -c 'claude -p --bare' x"`, "--bare"},
		{`command = "npx -y @anthropic-ai/claude-code -p --bare"`, "--bare"},
		{`command = "claude -p --model x-{model} --barely"`, ""},
		{`command = "claude -p --append-system-prompt 'never --bare'"`, ""},
		{`command = "other -p --bare"`, ""},

		{`command = "codex exec --disable hooks x"`, "features.hooks=false"},
		{`command = "codex exec --disable=hooks x"`, "features.hooks=false"},
		{`command = "codex exec --disable codex_hooks x"`, "features.codex_hooks=false"},
		{`command = "codex exec -c features.hooks=false x"`, "features.hooks=false"},
		{`command = "codex exec -cfeatures.hooks=false x"`, "features.hooks=false"},
		{`command = "codex exec --config=features.codex_hooks=false x"`, "features.codex_hooks=false"},
		{`command = "codex exec -c 'features = { hooks = false }' x"`, "features={hooks=false}"},
		{`command = "codex exec -c hooks.PreToolUse=[] x"`, "hooks.PreToolUse"},
		{`command = "codex exec --enable unified_exec_tty x"`, "features.unified_exec_tty=true"},
		{`command = "codex exec --dangerously-bypass-hook-trust x"`, "--dangerously-bypass-hook-trust"},
		{`command = "codex exec --ignore-user-config x"`, "--ignore-user-config"},
		{`command = "codex exec --disable unified_exec_tty -c features.hooks=true x"`, ""},
		{"interface = \"acp\"\ncommand = \"npx -y @agentclientprotocol/codex-acp -c features.hooks=false\"", "features.hooks=false"},

		{`command = "opencode run --pure x"`, "--pure"},
		{"command = \"opencode run x\"\nenv = { OPENCODE_PURE = \"1\" }", "env OPENCODE_PURE"},
		{"command = \"grok -p x\"\nenv = { GROK_CLAUDE_HOOKS_ENABLED = \"0\" }", "env GROK_CLAUDE_HOOKS_ENABLED"},
	}
	for _, tt := range tests {
		err := validated(t, tt.table+"\n")
		switch {
		case tt.by == "" && err != nil:
			t.Errorf("%s: %v", tt.table, err)
		case tt.by != "" && (err == nil || !strings.Contains(err.Error(), "a.toml:1: [x] turns the hooks off that govern its own agent, by "+tt.by+": delete it")):
			t.Errorf("%s: %v", tt.table, err)
		}
	}
}
