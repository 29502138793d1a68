package agents

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"satelle/internal/fault"
)

const machine = `
[agent]
cli = "codex"

[bindings.planner]
interface = "acp"
command   = "my agent"
role      = "reviewer"
tools     = "*"
model     = "opus"
effort    = "high"
timeout   = "5m"
settings  = "s.json"
env       = { TOKEN = "machine", PROXY = "p" }
max_tokens = 9

[bindings.codex-acp]
interface = "acp"
command   = "sh '/a b/satelle-codex'"
tools     = "read_file"

[bindings.half]
model = "x"
`

func TestCatalogueFillsWhatIsOpen(t *testing.T) {
	c, err := ParseCatalogue("config.toml", []byte(machine))
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Parse("agents.toml", []byte(`
[planner]
command = "claude -p"
tools = "Read"
effort = "low"
env = { TOKEN = "repo" }

[half]
command = "c d"
`))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := f.Binding("planner")
	want := Binding{
		Name: "planner", Interface: "command", Command: "claude -p", Role: "agent", Tools: "Read", Model: "opus", Effort: "low",
		Principles: "session", Env: map[string]string{"TOKEN": "repo", "PROXY": "p"}, Timeout: 5 * time.Minute, Settings: "s.json",
		MaxTokens: 9, Private: []string{"PROXY"}, Path: "agents.toml", Line: 2,
	}
	if !reflect.DeepEqual(b, want) {
		t.Errorf("got  %+v\nwant %+v", b, want)
	}
	b, found := f.Binding("codex-acp")
	if !found || b.Path != "config.toml" || b.Line != 17 || !reflect.DeepEqual(b.Argv(Values{}), []string{"sh", "/a b/satelle-codex"}) {
		t.Errorf("%+v", b)
	}
	if b, _ = f.Binding("half"); b.Model != "x" || b.Command != "c d" {
		t.Errorf("%+v", b)
	}
	if err := f.Validate(); err != nil {
		t.Error(err)
	}
}

// The machine's tools never become those of a binding that the repository has.
func TestCatalogueNeverRaises(t *testing.T) {
	c, err := ParseCatalogue("config.toml", []byte("[bindings.a]\ncommand = \"c d\"\ntools = \"*\"\nrole = \"reviewer\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Parse("agents.toml", []byte("[a]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := f.Binding("a"); b.Tools != "" || b.Role != RoleAgent || b.Command != "c d" {
		t.Errorf("%+v", b)
	}
}

// The machine's choice is a command template; ACP has to be written.
func TestChosenCLIReviews(t *testing.T) {
	for cli, command := range map[string]string{"": DefaultClaudeCommand, "claude": DefaultClaudeCommand, "codex": DefaultCodexExecCommand, "grok": DefaultGrokCommand, "opencode": DefaultOpencodeCommand} {
		c := Catalogue{CLI: cli}
		for _, doc := range []string{"", "[reviewer]\n", "[reviewer]\nmodel = \"m\"\n"} {
			f, err := c.Parse("a", []byte(doc))
			if err != nil {
				t.Fatal(err)
			}
			b, _ := f.Binding(Reviewer)
			if b.Command != command || b.Interface != InterfaceCommand || b.Role != RoleReviewer {
				t.Errorf("%s, %q: %+v", cli, doc, b)
			}
			if err := f.Validate(); err != nil || b.ceiling() != "" {
				t.Errorf("%s, %q: %v, %s", cli, doc, err, b.ceiling())
			}
		}
	}
}

func TestChoose(t *testing.T) {
	old := "# mine\n[bindings.x]\nmodel = \"y\" # kept\n"
	for _, launcher := range []string{"", `/a folder/satelle-codex`, `/it's "here"/satelle-codex`} {
		doc, err := Choose([]byte(old), "codex", launcher)
		if strings.Contains(launcher, `"`) {
			if err == nil {
				if c, perr := ParseCatalogue("c", doc); perr != nil || c.CLI != "codex" {
					t.Errorf("%q: %v", doc, perr)
				}
			}
			continue
		}
		if err != nil || !strings.Contains(string(doc), old) {
			t.Fatalf("%v\n%s", err, doc)
		}
		c, err := ParseCatalogue("config.toml", doc)
		if err != nil || c.CLI != "codex" {
			t.Fatalf("%v\n%s", err, doc)
		}
		f, err := c.Parse("a", nil)
		if err != nil {
			t.Fatal(err)
		}
		b, found := f.Binding("codex-acp")
		if found != (launcher != "") {
			t.Errorf("%q: %+v", launcher, b)
		}
		if found && (!reflect.DeepEqual(b.Argv(Values{}), []string{"sh", launcher}) || b.Interface != InterfaceACP || f.Dispatchable() == nil) {
			// [bindings.x] has no command, so the file as a whole does not hold.
			t.Errorf("%+v", b)
		}
	}
}

func TestCatalogueRefused(t *testing.T) {
	tests := []struct{ doc, says string }{
		{"[agent]\ncli = \"vim\"\n", `c.toml:2: [agent] cli "vim": use one of claude, codex, grok, opencode`},
		{"[agents]\n", `c.toml:1: unknown key "agents"`},
		{"[bindings.a]\nmodle = \"x\"\n", `c.toml:2: unknown key "modle" in [a]: did you mean "model"?`},
		{"[bindings.a]\nrole = \"boss\"\n", `c.toml:2: [a] role "boss"`},
		{"[bindings.a]\ntimeout = \"0\"\n", "c.toml:2: [a] timeout"},
		{"[bindings", "c.toml:1: "},
		{strings.Repeat("#", MaxSize+1), "more than"},
	}
	for _, tt := range tests {
		if _, err := ParseCatalogue("c.toml", []byte(tt.doc)); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("error = %v, want %q", err, tt.says)
		}
	}
}

func FuzzParseCatalogue(f *testing.F) {
	f.Add([]byte(machine), []byte(sample))
	f.Fuzz(func(t *testing.T, catalogue, doc []byte) {
		c, err := ParseCatalogue("c", catalogue)
		if err != nil {
			return
		}
		alone, err := Parse("a", doc)
		if err != nil {
			return
		}
		both, err := c.Parse("a", doc)
		if err != nil {
			return // such as contrary principles
		}
		for _, b := range alone.Bindings {
			m, found := both.Binding(b.Name)
			if !found || m.Tools != b.Tools || m.Role != b.Role {
				t.Errorf("the catalogue made %+v of %+v", m, b)
			}
		}
		_ = both.Dispatchable()
	})
}
