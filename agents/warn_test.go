package agents

import (
	"slices"
	"strings"
	"testing"
)

func TestWarn(t *testing.T) {
	f, err := Parse("a.toml", []byte(`[r]
role = "reviewer"
command = "claude -p"
tools = "Read,Bash(satelle:*),Edit"

[s]
command = "c --key sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA-AAAAAAAA x"
tools = "Bash"
env = { MY_TOKEN = "literal", OTHER_TOKEN = "${T}", PLAIN = "x", HALF_KEY = "Bearer ${T}" }
`))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Dispatchable(); err != nil {
		t.Errorf("a warning became an error: %v", err)
	}
	all := f.Warn()
	for _, want := range []string{
		"a.toml:1: [r] grants its reviewer Bash(satelle:*)",
		"a.toml:1: [r] grants its reviewer Edit",
		"a.toml:7: [s] command looks like a secret",
		"a.toml:9: [s] env MY_TOKEN looks like a secret",
	} {
		if !slices.ContainsFunc(all, func(w string) bool { return strings.HasPrefix(w, want) }) {
			t.Errorf("%q is not in\n%s", want, strings.Join(all, "\n"))
		}
	}
	if len(all) != 4 {
		t.Errorf("%d warnings:\n%s", len(all), strings.Join(all, "\n"))
	}
	b, _ := f.Binding("s")
	shown := b.Shown()
	if strings.Contains(shown.Command, "sk-ant") || shown.Env["MY_TOKEN"] == "literal" || shown.Env["OTHER_TOKEN"] != "${T}" || shown.Env["PLAIN"] != "x" {
		t.Errorf("%+v", shown)
	}
	if b.Env["MY_TOKEN"] != "literal" {
		t.Error("showing a binding changed it")
	}
	// The machine's catalogue is where literals belong.
	c, err := ParseCatalogue("c", []byte("[bindings.s]\nenv = { MY_TOKEN = \"literal\" }\n"))
	if err != nil {
		t.Fatal(err)
	}
	if f, err = c.Parse("a", []byte("[s]\ncommand = \"c d\"\n")); err != nil || len(f.Warn()) > 0 {
		t.Errorf("%q, %v", f.Warn(), err)
	}
	if r, err := f.Resolve("s", Vars{}); err != nil || !slices.Contains(r.Secrets, "literal") {
		t.Errorf("%q, %v", r.Secrets, err)
	}
}
