package agents

import (
	"strings"
	"testing"
)

func TestExecutes(t *testing.T) {
	c, err := ParseCatalogue("config.toml", []byte("[bindings.machine]\ncommand = \"c d\"\n[bindings.both]\nenv = { A = \"b\" }\n[bindings.steered]\ncommand = \"c\"\nenv = { URL = \"${BASE}/${KEY}\" }\n"))
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
[fills]
command = "c"
env = { A = "${BASE}-${KEY}-${NONE}", B = "${BASE}" }
`))
	if err != nil {
		t.Fatal(err)
	}
	vars := Vars{Values: map[string]string{"BASE": "of-the-repository", "KEY": "of-the-person", "UNUSED": "x"}, Secret: []string{"KEY"}}
	for name, want := range map[string]string{
		"executor": "", Reviewer: "", "both": "", "machine": "", "opencode": "",
		"steered":  "var BASE = \"of-the-repository\"",
		"fills":    "c\nenv A = \"${BASE}-${KEY}-${NONE}\"\nenv B = \"${BASE}\"\nvar BASE = \"of-the-repository\"",
		"performs": DefaultGrokACPCommand + "\ntools \"read_file,run_terminal_command\"",
		"own":      "sh x {system}\nsettings \"s\"", "around": DefaultCodexACPCommand + "\nenv NODE_OPTIONS = \"--require ./x.js\"",
	} {
		b, found := f.Binding(name)
		if got := f.Executes(b, vars); got != want || !found {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	// A [reviewer] that no file has is satelle's own.
	if b, _ := (File{Path: "agents.toml"}).Binding(Reviewer); strings.TrimSpace(File{Path: "agents.toml"}.Executes(b, vars)) != "" {
		t.Error("the default reviewer has to be trusted")
	}
}
