package agents

import (
	"fmt"
	"strings"
	"testing"
)

// validated is what Validate says to one binding.
func validated(t *testing.T, table string) error {
	t.Helper()
	f, err := Parse("a.toml", []byte("[x]\n"+table))
	if err != nil {
		t.Fatal(err)
	}
	return f.Validate()
}

func TestCodexReviewersAreReadOnly(t *testing.T) {
	tests := []struct {
		command string
		ok      bool
	}{
		{"codex exec -s read-only {system}", true},
		{"codex exec --sandbox read-only {system}", true},
		{"codex exec --sandbox=read-only {system}", true},
		{"codex exec -sread-only {system}", true},
		{"codex -s read-only exec {system}", true},
		{"npx -y @openai/codex exec -s read-only {system}", true},
		{"codex exec -s read-only -c sandbox_mode=read-only {system}", true},
		{DefaultCodexExecCommand, true},

		{"codex exec {system}", false},
		{"codex exec -m read-only {system}", false},
		{"timeout 5 codex exec -- -s read-only", false},
		{"codex exec -s workspace-write {system}", false},
		{"codex exec -s danger-full-access {system}", false},
		{"codex exec --dangerously-bypass-approvals-and-sandbox {system}", false},
		{"codex exec -s read-only --dangerously-bypass-approvals-and-sandbox {system}", false},
		{"codex exec -s read-only --yolo {system}", false},
		{"codex exec -s read-only --full-auto {system}", false},
		{"codex exec -s read-only --approve-for-me {system}", false},
		{"codex exec -s read-only --add-dir / {system}", false},
		{"codex exec -s read-only -s workspace-write {system}", false},
		{"codex exec -s read-only -sworkspace-write {system}", false},
		{"codex exec -s read-only -s=workspace-write {system}", false},
		{"codex exec -s read-only --sandbox workspace-write {system}", false},
		{"codex exec -s read-only --sandbox=danger-full-access {system}", false},
		{"codex exec -s workspace-write -s read-only {system}", false},
		{"codex exec -s read-only -c sandbox_mode=workspace-write {system}", false},
		{`codex exec -s read-only -c sandbox_mode="danger-full-access" {system}`, false},
		{`codex exec -s read-only -csandbox_mode="danger-full-access" {system}`, false},
		{`codex exec -s read-only '-c sandbox_mode = "danger-full-access"' {system}`, false},
		{`codex exec -s read-only --config=sandbox_mode="workspace-write" {system}`, false},
		{`codex exec -s read-only --config sandbox_mode="workspace-write" {system}`, false},
		{`codex exec -s read-only -c profiles.p.sandbox_mode="workspace-write" {system}`, false},
		{`codex exec -s read-only -c 'default_permissions=":workspace"' {system}`, false},
		{"/usr/local/bin/codex exec {system}", false},
		{"env A=b codex exec {system}", false},
		{"sh -c 'codex exec -s workspace-write' {system}", false},
		{"npx -y @openai/codex@1.2 exec {system}", false},
	}
	for _, tt := range tests {
		err := validated(t, "role = \"reviewer\"\ncommand = '''"+tt.command+"'''\n")
		if (err == nil) != tt.ok || err != nil && !strings.Contains(err.Error(), "a.toml:1: [x] reviews, so nothing may let it write") {
			t.Errorf("%s: %v", tt.command, err)
		}
		if err := validated(t, "command = '''"+tt.command+"'''\n"); err != nil {
			t.Errorf("%s is refused to a performer: %v", tt.command, err)
		}
	}
	// What a placeholder brings counts as well.
	if validated(t, "role = \"reviewer\"\ncommand = \"codex exec -s read-only -s {settings} {system}\"\nsettings = \"workspace-write\"\n") == nil {
		t.Error("settings brought another sandbox")
	}
}

func TestCodexReviewersByACPNeedNoSandbox(t *testing.T) {
	acp := "role = \"reviewer\"\ninterface = \"acp\"\n"
	for table, ok := range map[string]bool{
		"command = \"npx -y @agentclientprotocol/codex-acp\"\n":                                                true,
		"command = \"sh /h/agents/bin/satelle-codex\"\n":                                                       true,
		"command = \"codex-acp x\"\nenv = { INITIAL_AGENT_MODE = \"read-only\" }\n":                            true,
		"command = \"codex-acp x\"\nenv = { INITIAL_AGENT_MODE = \"agent-full-access\" }\n":                    false,
		"command = \"env INITIAL_AGENT_MODE=agent codex-acp x\"\n":                                             false,
		"command = 'npx -y @agentclientprotocol/codex-acp -c sandbox_mode=\"danger-full-access\"'\n":           false,
		"command = \"npx -y @agentclientprotocol/codex-acp --dangerously-bypass-approvals-and-sandbox\"\n":     false,
		"command = \"npx -y @agentclientprotocol/codex-acp@2.6.0 --sandbox=workspace-write\"\ntools = \"x\"\n": false,
	} {
		if err := validated(t, acp+table); (err == nil) != ok {
			t.Errorf("%s: %v", table, err)
		}
	}
}

func TestOpencodeReviewersAreDenied(t *testing.T) {
	command := "role = \"reviewer\"\ncommand = \"" + DefaultOpencodeCommand + "\"\n"
	for env, ok := range map[string]bool{
		"": false,
		"env = { OPENCODE_PERMISSION = '" + readOnlyRules + "' }\n":                                     true,
		"env = { OPENCODE_PERMISSION = '{\"*\":\"deny\",\"read\":\"allow\"}' }\n":                       true,
		"env = { OPENCODE_PERMISSION = '{\"*\":\"deny\",\"bash\":\"allow\"}' }\n":                       false,
		"env = { OPENCODE_PERMISSION = '{\"edit\":\"deny\",\"task\":\"deny\"}' }\n":                     false,
		"env = { OPENCODE_PERMISSION = '{\"edit\":\"deny\",\"bash\":{\"*\":\"allow\"}}' }\n":            false,
		"env = { OPENCODE_PERMISSION = '{\"edit\":\"deny\",\"bash\":\"ask\",\"task\":\"deny\"}' }\n":    false,
		"env = { OPENCODE_PERMISSION = \"deny\" }\n":                                                    false,
		"env = { OPENCODE_PERMISSIONS = '{\"edit\":\"deny\",\"bash\":\"deny\",\"task\":\"deny\"}' }\n":  false,
		"env = { OPENCODE_PERMISSION = '{\"edit\":\"deny\",\"bash\":\"deny\",\"task\":\"deny\"} x' }\n": false,
	} {
		if err := validated(t, command+env); (err == nil) != ok {
			t.Errorf("%s: %v", env, err)
		}
	}
}

// A reviewer that is asked for no permission has to be denied what writes.
func TestReviewersAskForPermission(t *testing.T) {
	const deny = " --disallowedTools Write,Edit,NotebookEdit,Bash "
	for command, ok := range map[string]bool{
		"claude -p --append-system-prompt {system}":                                                           true,
		"claude -p --permission-mode plan --append-system-prompt {system}":                                    true,
		"claude -p --permission-mode default --append-system-prompt {system}":                                 true,
		"claude -p --dangerously-skip-permissions" + deny + "--append-system-prompt {system}":                 true,
		"claude -p --permission-mode=acceptEdits" + deny + "--append-system-prompt {system}":                  true,
		"claude -p --dangerously-skip-permissions --disallowedTools Write Edit NotebookEdit Bash -- {system}": true,
		"grok -p {payload} --always-approve --deny Write --deny Edit --deny Bash --rules {system}":            true,
		DefaultClaudeCommand: true, DefaultGrokCommand: true,

		"claude -p --dangerously-skip-permissions --append-system-prompt {system}":                                   false,
		"claude -p --allow-dangerously-skip-permissions --append-system-prompt {system}":                             false,
		"claude -p --dangerously-skip-permissions --disallowedTools Write,Edit --append-system-prompt {system}":      false,
		"claude -p --dangerously-skip-permissions --disallowedTools Bash(rm:*),Write,Edit --append-system-prompt x":  false,
		"claude -p --dangerously-skip-permissions --disallowedTools Write,Edit,Bash --append-system-prompt {system}": false,
		"claude -p --dangerously-skip-permissions {system} --" + deny:                                                false,
		`claude -p --settings '{"permissions":{"defaultMode":"bypassPermissions"}}' --append-system-prompt {system}`: false,
		"claude -p --permission-mode acceptEdits --append-system-prompt {system}":                                    false,
		"claude -p --permission-mode=bypassPermissions --append-system-prompt {system}":                              false,
		"claude -p --permission-mode auto --append-system-prompt {system}":                                           false,
		"env A=b claude -p --dangerously-skip-permissions --append-system-prompt {system}":                           false,
		"grok -p {payload} --always-approve --system-prompt-override {system}":                                       false,
		"grok -p {payload} --permission-mode bypassPermissions --deny Write --system-prompt-override {system}":       false,
	} {
		line := fmt.Sprintf("command = %q\n", command)
		err := validated(t, "role = \"reviewer\"\n"+line)
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "nothing may let it write") {
			t.Errorf("%s: %v", command, err)
		}
		if err := validated(t, "tools = \"Bash\"\n"+line); err != nil {
			t.Errorf("a performer by %s: %v", command, err)
		}
	}
}
