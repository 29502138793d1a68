package agents

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"satelle/internal/fault"
)

const sample = `
[defaults]
secondary = "fallback-grok"

[executor]
command = "in-loop"

[reviewer]

[planner]
command = "claude -p --append-system-prompt {system} --allowedTools {tools} --model {model}"
tools   = "Read,Grep,Glob,Bash(satelle:*)"
model   = "glm-4.6"
effort  = "high"
env     = { BASE_URL = "https://example.org", TOKEN = "${KEY}" }
timeout = "90m"
worktree = true
max_tokens = 12000
settings = "s.json"
inject_principles = false

[fallback-grok]
interface = "acp"
harness   = "grok agent stdio"
tools     = "read_file,grep,list_dir"

[reviewer-codex-exec]
role      = "reviewer"
command   = "codex exec -s read-only -m {model} -c model_reasoning_effort=\"{effort}\" {system}"
principles = "session"
secondary = ""
`

func TestParse(t *testing.T) {
	f, err := Parse("agents.toml", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	want := []Binding{
		{Name: "executor", Interface: "command", Command: "in-loop", Role: "agent", Principles: "session", Timeout: time.Hour, Line: 5},
		{Name: "reviewer", Interface: "command", Command: DefaultClaudeCommand, Role: "reviewer", Principles: "session", Timeout: 10 * time.Minute, Line: 8},
		{
			Name: "planner", Interface: "command", Role: "agent",
			Command: "claude -p --append-system-prompt {system} --allowedTools {tools} --model {model}",
			Tools:   "Read,Grep,Glob,Bash(satelle:*)", Model: "glm-4.6", Effort: "high", Secondary: "fallback-grok", Principles: "none",
			Env: map[string]string{"BASE_URL": "https://example.org", "TOKEN": "${KEY}"}, Timeout: 90 * time.Minute,
			Settings: "s.json", Worktree: true, MaxTokens: 12000, Line: 10,
		},
		{Name: "fallback-grok", Interface: "acp", Command: "grok agent stdio", Role: "agent", Tools: "read_file,grep,list_dir", Principles: "session", Timeout: time.Hour, Line: 22},
		{Name: "reviewer-codex-exec", Interface: "command", Command: DefaultCodexExecCommand, Role: "reviewer", Principles: "session", Timeout: 10 * time.Minute, Line: 27},
	}
	for i, b := range f.Bindings {
		want[i].Path = "agents.toml"
		if i >= len(want) || !reflect.DeepEqual(b, want[i]) {
			t.Errorf("got  %+v\nwant %+v", b, want[i])
		}
	}
	if len(f.Warnings) != 1 || f.Warnings[0] != "agents.toml:24: [fallback-grok] harness is the older name of command" {
		t.Errorf("warnings = %q", f.Warnings)
	}
}

func TestCommandWinsOverHarness(t *testing.T) {
	f, err := Parse("a", []byte("[x]\nharness = \"old one\"\ncommand = \"new one\"\n"))
	if err != nil || f.Bindings[0].Command != "new one" {
		t.Errorf("%+v, %v", f.Bindings, err)
	}
}

func TestThereIsAlwaysAReviewer(t *testing.T) {
	for _, doc := range []string{"", "[reviewer]\n"} {
		f, err := Parse("a", []byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		b, found := f.Binding(Reviewer)
		if !found || b.Command != DefaultClaudeCommand || b.Role != RoleReviewer || b.Timeout != ReviewerTimeout || b.Principles != PrinciplesSession {
			t.Errorf("%q: %+v", doc, b)
		}
		if _, found := f.Binding("nobody"); found {
			t.Error("found a binding that nobody wrote")
		}
	}
}

func TestRefused(t *testing.T) {
	tests := []struct{ name, doc, says string }{
		{"an unknown key", "[planner]\ncommand = \"a b\"\nmodle = \"x\"\n", `a.toml:3: unknown key "modle" in [planner]: did you mean "model"?`},
		{"an unknown key far off", "[planner]\nwork-tree = true\n", `a.toml:2: unknown key "work-tree" in [planner]: did you mean "worktree"?`},
		{"an unknown table in a binding", "[planner.enf]\nA = \"b\"\n", `did you mean "env"?`},
		{"a key in the wrong table", "[defaults]\nmodel = \"x\"\n", `a.toml:2: unknown key "model" in [defaults]`},
		{"a key twice", "[a]\ntools = \"x\"\ntools = \"y\"\n", "a.toml:3: "},
		{"a table twice", "[a]\n[a]\n", "a.toml:2: "},
		{"a key outside of a table", "model = \"x\"\n", "a.toml:1: "},
		{"a wrong type", "[a]\n\nmodel = 3\n", "a.toml:3: "},
		{"a wrong type in env", "[a]\nenv = { A = 1 }\n", "a.toml:2: "},
		{"no TOML", "[a\n", "a.toml:1: "},
		{"binary", "\x00\x01", "a.toml:1: "},
		{"deeply nested", "[a]\nenv = " + strings.Repeat("[", 100000), "a.toml:2: "},
		{"too large", strings.Repeat("#", MaxSize+1), "more than"},
		{"an interface", "[a]\ninterface = \"app-server\"\n", `a.toml:2: [a] interface "app-server": use command or acp`},
		{"a role", "[a]\nrole = \"boss\"\n", `a.toml:2: [a] role "boss": use agent or reviewer`},
		{"a reviewer by another role", "[reviewer]\nrole = \"agent\"\n", "a.toml:2: [reviewer] has the role agent"},
		{"principles", "[a]\nprinciples = \"some\"\n", "use session or none"},
		{"contrary principles", "[a]\nprinciples = \"session\"\ninject_principles = false\n", "a.toml:3: [a] inject_principles contradicts"},
		{"a timeout of zero", "[a]\ntimeout = \"0s\"\n", "a.toml:2: [a] timeout"},
		{"a timeout without unit", "[a]\ntimeout = \"10\"\n", "a.toml:2: [a] timeout"},
		{"no tokens", "[a]\nmax_tokens = 0\n", "a.toml:2: [a] max_tokens"},
		{"a name", "[\"a b\"]\ncommand = \"x y\"\n", "is no name"},

		{"a placeholder by ACP", "[a]\ninterface = \"acp\"\ncommand = \"grok agent {system}\"\n", "a.toml:1: [a] command holds {system}, but by ACP"},
		{"any placeholder by ACP", "[a]\ninterface = \"acp\"\ncommand = \"grok agent --x={modle}\"\n", "holds {modle}, but by ACP"},
		{"Claude by ACP", "[a]\ninterface = \"acp\"\ncommand = \"claude agent stdio\"\n", "[a] starts claude, which does not speak ACP"},
		{"an unknown placeholder", "[a]\ncommand = \"c -m {modle}\"\n", "a.toml:1: [a] command holds the unknown placeholder {modle}: did you mean {model}?"},
		{"a placeholder for the program", "[a]\ncommand = \"{model} x\"\n", "its first word is the program"},
		{"a variable in the command", "[a]\ncommand = \"c ${KEY}\"\n", "filled in env values only"},
		{"a quote without an end", "[a]\ncommand = \"c 'x\"\n", "nothing ends the quote"},
		{"a name of a variable", "[a]\nenv = { \"A=B\" = \"x\" }\n", "is no name of a variable"},
		{"satelle's own variable", "[a]\nenv = { SATELLE_HOME = \"x\" }\n", "satelle sets its own variables itself"},
		{"a variable without an end", "[a]\nenv = { A = \"${B\" }\n", "a.toml:2: [a] env A holds a ${ that no } ends"},
		{"a secondary with another role", "[a]\ncommand = \"x y\"\nsecondary = \"reviewer\"\n[reviewer]\n", "must have the same"},
		{"a secondary in the loop", "[a]\ncommand = \"x y\"\nsecondary = \"b\"\n[b]\ncommand = \"in-loop\"\n", "nothing to start"},
		{"a bare tool with a blank", "[a]\ncommand = \"mytool \"\n", "is a bare name"},

		{"a bare claude", "[a]\ncommand = \"claude\"\n", `a.toml:1: [a] command "claude" is a bare name`},
		{"a bare grok", "[a]\nharness = \" grok \"\n", "is a bare name"},
		{"a bare codex", "[a]\ncommand = \"codex\"\n", "is a bare name"},
		{"any bare name", "[a]\ncommand = \"/usr/bin/claude\"\n", "is a bare name"},
		{"a bare name by ACP", "[a]\ninterface = \"acp\"\ncommand = \"codex\"\n", DefaultCodexACPCommand},
		{"an executor of its own", "[executor]\ncommand = \"claude -p\"\n", "[executor] is the session itself"},
		{"a reviewer in the loop", "[reviewer]\ncommand = \"in-loop\"\n", "judge itself"},
		{"a secondary that is not there", "[a]\ncommand = \"x y\"\nsecondary = \"b\"\n", `no other binding`},
		{"a secondary of itself", "[a]\ncommand = \"x y\"\nsecondary = \"a\"\n", `no other binding`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Parse("a.toml", []byte(tt.doc))
			if err == nil {
				err = f.Validate()
			}
			if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error = %v, want %q", err, tt.says)
			}
		})
	}
}

// What nobody has completed stops those who need it, and nobody else.
func TestOpenBinding(t *testing.T) {
	f, err := Parse("a.toml", []byte("[a]\nmodel = \"x\"\n[b]\ncommand = \"x {system}\"\ntools = \"Bash\"\n"))
	if err == nil {
		err = f.Validate()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Resolve("b", Vars{}); err != nil {
		t.Error(err)
	}
	const want = "a.toml:1: [a] has no command"
	if _, err := f.Resolve("a", Vars{}); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), want) || fault.TryOf(err) == "" {
		t.Errorf("Resolve: %v", err)
	}
	if err := f.Dispatchable(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Dispatchable: %v", err)
	}
	if b, _ := f.Binding("a"); f.Executes(b, Vars{}) != "" {
		t.Error("it has to be trusted")
	}
	if f, err = Parse("a.toml", []byte("[a]\nsecondary = \"c\"\n")); err == nil {
		err = f.Validate()
	}
	if err == nil || !strings.Contains(err.Error(), "no other binding") {
		t.Errorf("a secondary that is not there: %v", err)
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agents.toml")
	if _, err := Load(path); err == nil {
		t.Error("loaded what is not there")
	}
	for _, tt := range []struct {
		doc string
		ok  bool
	}{{sample, true}, {"[a]\ncommand = \"claude\"\n", false}, {"[a", false}} {
		if err := os.WriteFile(path, []byte(tt.doc), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); (err == nil) != tt.ok {
			t.Errorf("%q: %v", tt.doc, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("[a]\nmodle = 1"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		file, err := Parse("a", doc)
		if err != nil {
			return
		}
		// Whether it validates or not, asking must not fail.
		_ = file.Validate()
		out, _, err := Expand(doc)
		if err != nil {
			t.Fatalf("a file that parses can't be expanded: %v", err)
		}
		if _, err := Parse("a", out); err != nil {
			t.Fatalf("expanded to what does not parse: %v\n%s", err, out)
		}
	})
}
