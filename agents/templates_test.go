package agents

import (
	"slices"
	"strings"
	"testing"
)

func TestDefaultTemplates(t *testing.T) {
	tests := []struct{ got, begins, holds string }{
		{DefaultClaudeCommand, "claude -p --output-format json --disallowedTools Write,Edit,NotebookEdit,Bash --append-system-prompt {system} --allowedTools {tools} --model {model}", "--effort {effort}"},
		{DefaultGrokCommand, "grok -p {payload} --system-prompt-override {system} --tools read_file,grep,list_dir -m {model} --deny Write --deny Edit", "--output-format streaming-json --max-turns 8 --no-subagents --reasoning-effort {effort}"},
		{DefaultCodexExecCommand, `codex exec -s read-only -m {model} -c model_reasoning_effort="{effort}" {system}`, ""},
		{DefaultOpencodeCommand, "opencode run --format json --agent plan ", "--variant {effort}"},
		{DefaultGrokACPCommand, "grok agent stdio", ""},
		{DefaultCodexACPCommand, "npx -y @agentclientprotocol/codex-acp", ""},
	}
	for _, tt := range tests {
		if !strings.HasPrefix(tt.got, tt.begins) || !strings.Contains(tt.got, tt.holds) {
			t.Errorf("%q", tt.got)
		}
	}
	// Without an effort the argv is the printed one.
	argv := Binding{Command: DefaultClaudeCommand, Tools: "T", Model: "M"}.Argv(Values{System: "S"})
	if got := strings.Join(argv, " "); got != "claude -p --output-format json --disallowedTools Write,Edit,NotebookEdit,Bash --append-system-prompt S --allowedTools T --model M" {
		t.Errorf("%s", got)
	}
	if strings.Contains(DefaultClaudeCommand, "{payload}") || strings.Contains(DefaultCodexExecCommand, "{payload}") {
		t.Error("a CLI that reads stdin gets its work twice")
	}
}

func TestExpand(t *testing.T) {
	doc := "# our agents\r\n[reviewer] # judges\r\nrole = \"reviewer\"\r\n  command   =   'claude'   # bare\r\ntools=\"Read\"\r\n\r\n" +
		"[planner]\r\nharness = \"grok\"\r\n[coder]\r\ncommand = \"codex\"\r\n[x]\r\ncommand = \"in-loop\"\r\n[y]\r\ncommand = \"claude -p\"\r\n[z]\r\ninterface = \"acp\"\r\ncommand = \"codex\""
	want := strings.NewReplacer(
		"'claude'   # bare", `"`+DefaultClaudeCommand+`"   # bare`,
		`harness = "grok"`, `harness = "`+DefaultGrokCommand+`"`,
		"[coder]\r\ncommand = \"codex\"", "[coder]\r\ncommand = '"+DefaultCodexExecCommand+"'",
	).Replace(doc)
	got, changed, err := Expand([]byte(doc))
	if err != nil || !changed || string(got) != want {
		t.Errorf("got\n%s\nwant\n%s\n%v %v", got, want, changed, err)
	}
	again, changed, err := Expand(got)
	if err != nil || changed || string(again) != want {
		t.Errorf("expanding twice: %v, %v\n%s", changed, err, again)
	}
	if _, _, err := Expand([]byte("[")); err == nil {
		t.Error("expanded what is no TOML")
	}
}

func TestExpandOpencode(t *testing.T) {
	doc := "[reviewer]\ncommand = \"opencode\"\n\n[other]\ncommand = \"opencode\"\ntools = \"read_file\"\n"
	got, changed, err := Expand([]byte(doc))
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	f, err := Parse("a", got)
	if err == nil {
		err = f.Validate()
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	if b, _ := f.Binding(Reviewer); b.Command != DefaultOpencodeCommand || b.Env[permissionKey] != readOnlyRules {
		t.Errorf("%+v", b)
	}
	if b, _ := f.Binding("other"); b.Env != nil {
		t.Errorf("%+v", b)
	}
}

func TestPreset(t *testing.T) {
	tests := []struct {
		chosen  string
		have    []string
		command string
	}{
		{"", nil, DefaultClaudeCommand},
		{"", []string{"claude"}, DefaultClaudeCommand},
		{"", []string{"claude", "codex", "grok", "opencode"}, DefaultClaudeCommand},
		{"", []string{"grok"}, DefaultGrokCommand},
		{"", []string{"codex"}, DefaultCodexExecCommand},
		{"", []string{"codex", "grok"}, DefaultGrokCommand},
		{"", []string{"opencode"}, DefaultOpencodeCommand},
		{"codex", []string{"claude", "codex"}, DefaultCodexExecCommand},
	}
	for _, tt := range tests {
		doc := Preset(tt.chosen, func(cli string) bool { return slices.Contains(tt.have, cli) })
		f, err := Parse("agents.toml", doc)
		if err == nil {
			err = f.Validate()
		}
		if err != nil {
			t.Fatalf("%v: %v\n%s", tt.have, err, doc)
		}
		b, _ := f.Binding(Reviewer)
		if b.Command != tt.command || b.Role != RoleReviewer || b.Tools == "" || b.Line == 0 {
			t.Errorf("%v: %+v", tt.have, b)
		}
		if _, changed, err := Expand(doc); changed || err != nil {
			t.Errorf("%v: the preset holds a bare command: %v", tt.have, err)
		}
	}
}
