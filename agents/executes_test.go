package agents

import (
	"strings"
	"testing"
)

func TestExecutes(t *testing.T) {
	c, err := ParseCatalogue("config.toml", []byte("[bindings.machine]\ncommand = \"c d\"\n[bindings.both]\nenv = { A = \"b\" }\n"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Parse("agents.toml", []byte(`[executor]
[reviewer]
model = "m"
[both]
role = "reviewer"
interface = "acp"
tools = "read_file"
command = "`+DefaultGrokACPCommand+`"
[opencode]
role = "reviewer"
command = "`+DefaultOpencodeCommand+`"
env = { OPENCODE_PERMISSION = '`+readOnlyRules+`' }
[own]
command = "sh x {system}"
settings = "s"
[performs]
interface = "acp"
command = "`+DefaultGrokACPCommand+`"
tools = "read_file,run_terminal_command"
[around]
interface = "acp"
command = "`+DefaultCodexACPCommand+`"
env = { NODE_OPTIONS = "--require ./x.js" }
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"executor": "", Reviewer: "", "both": "", "machine": "", "opencode": "",
		"performs": DefaultGrokACPCommand + "\ntools \"read_file,run_terminal_command\"",
		"own":      "sh x {system}\nsettings \"s\"", "around": DefaultCodexACPCommand + "\nenv NODE_OPTIONS = \"--require ./x.js\"",
	} {
		b, found := f.Binding(name)
		if got := f.Executes(b); got != want || !found {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	// A [reviewer] that no file has is satelle's own.
	if b, _ := (File{Path: "agents.toml"}).Binding(Reviewer); strings.TrimSpace(File{Path: "agents.toml"}.Executes(b)) != "" {
		t.Error("the default reviewer has to be trusted")
	}
}
