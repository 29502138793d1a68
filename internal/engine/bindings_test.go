package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"satelle/agents"
	"satelle/internal/fault"
)

// files makes the folders of a repository and a machine and returns the
// substrate that reads them.
func files(t *testing.T, content map[string]string) substrate {
	t.Helper()
	dir := t.TempDir()
	s := substrate{home: filepath.Join(dir, "home"), dir: filepath.Join(dir, "repo", ".satelle")}
	s.config.Vars = map[string]string{"PLAIN": "committed", "BOTH": "committed"}
	for name, text := range content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// What agent validate says of a performer's channel, a dispatch says too, for
// whatever grant.
func TestChannelIsOneQuestion(t *testing.T) {
	words := []string{"Bash", "Bash(satelle:*)", "Bash(*)", "*", "read_file", "Read", "Bash(git:*)", "bash", "read_files", "Bash(satelle)", ",", " ", "(", ")", ""}
	rapid.Check(t, func(rt *rapid.T) {
		tools := strings.Join(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(words), rapid.StringMatching(`[a-zA-Z(),*: _]{0,12}`))).Draw(rt, "tools"), rapid.SampledFrom([]string{",", ", ", " ", ""}).Draw(rt, "between"))
		role := rapid.SampledFrom([]string{"agent", "reviewer"}).Draw(rt, "role")
		s := files(t, map[string]string{
			"repo/.satelle/workflows/agents.toml": fmt.Sprintf("[x]\nrole = %q\ncommand = \"sh -c true\"\ntools = %q\n", role, tools),
		})
		file, vars, err := s.bindings()
		if err != nil {
			rt.Fatal(err)
		}
		bound := s.bound(file, vars)
		validated, refused := file.Dispatchable(), bound["x"].Refusal
		if (validated == nil) != (refused == nil) {
			rt.Fatalf("tools %q of a %s: validate says %v, a dispatch %v", tools, role, validated, refused)
		}
		// Nobody asks a reviewer for a channel.
		if role == "reviewer" && validated != nil {
			rt.Fatalf("a reviewer was judged by its grant %q: %v", tools, validated)
		}
	})
}

func TestLocalVarsWinKeyByKey(t *testing.T) {
	s := files(t, map[string]string{"repo/.satelle/satelle.local.toml": "[vars]\nBOTH = \"local\"\nOWN = \"local\"\n"})
	vars, err := s.vars()
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(vars.Values, vars.Secret); got != "map[BOTH:local OWN:local PLAIN:committed] [BOTH OWN]" {
		t.Error(got)
	}
	// A linked work tree has none of its own, or not all.
	linked := files(t, map[string]string{
		"repo/.satelle/satelle.local.toml": "[vars]\nBOTH = \"linked\"\n",
		"main/.satelle/satelle.local.toml": "[vars]\nBOTH = \"main\"\nPLAIN = \"main\"\n",
	})
	linked.trees = []string{filepath.Join(filepath.Dir(linked.home), "main")}
	if vars, err = linked.vars(); err != nil || fmt.Sprint(vars.Values, vars.Secret) != "map[BOTH:linked PLAIN:main] [BOTH PLAIN]" {
		t.Error(vars, err)
	}
	if s.config.Vars["BOTH"] != "committed" {
		t.Error("reading the local file changed the configuration")
	}
	if vars, err := files(t, nil).vars(); err != nil || vars.Values["PLAIN"] != "committed" || vars.Secret != nil {
		t.Errorf("without the local file: %+v, %v", vars, err)
	}
}

func TestWhatCannotBeReadRefuses(t *testing.T) {
	tests := []struct{ name, text, says string }{
		{"repo/.satelle/satelle.local.toml", "[vars]\nA = 1\n", "line 2"},
		{"repo/.satelle/satelle.local.toml", "[var]\nA = \"b\"\n", "unknown key"},
		{"repo/.satelle/satelle.local.toml", "[vars]\nA = \"b\"\nA = \"c\"\n", "line 3"},
		{"repo/.satelle/satelle.local.toml", strings.Repeat("#", maxConfig+1), "at most"},
		{"home/config.toml", "[agent]\ncli = \"vim\"\n", "config.toml:2"},
		{"home/config.toml", strings.Repeat("#", maxConfig+1), "at most"},
		{"repo/.satelle/workflows/agents.toml", strings.Repeat("#", maxConfig+1), "at most"},
		{"repo/.satelle/workflows/agents.toml", "[a]\ncommand = \"claude\"\n", "bare name"},
	}
	for _, tt := range tests {
		s := files(t, map[string]string{tt.name: tt.text})
		if _, _, err := s.bindings(); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.says)
		}
	}
}

// A performer that lacks something is refused by itself; the others work.
func TestRefusalsAreABindingsOwn(t *testing.T) {
	s := files(t, map[string]string{"repo/.satelle/workflows/agents.toml": `
[good]
command = "sh -c true"
tools = "Bash"
[variable]
command = "sh -c true"
tools = "Bash"
env = { A = "${NOBODY_SET_IT}" }
[channel]
command = "sh -c true"
tools = "Read"
[missing]
command = "no-such-program x"
tools = "Bash"
[here]
command = "in-loop"
`})
	file, vars, err := s.bindings()
	if err != nil {
		t.Fatal(err)
	}
	for name, says := range map[string]string{"good": "", "here": "", "variable": "[variable] env A needs ${NOBODY_SET_IT}", "channel": "no way to its context", "missing": `"no-such-program"`} {
		refusal := s.bound(file, vars)[name].Refusal
		if says == "" && refusal != nil || says != "" && (refusal == nil || !strings.Contains(refusal.Error(), says)) {
			t.Errorf("%s: %v", name, refusal)
		}
	}
}

func TestFilesOf(t *testing.T) {
	s := files(t, map[string]string{
		"repo/.satelle/workflows/agents.toml": "",
		"repo/tools/judge.sh":                 "",
		"repo/real/judge.sh":                  "",
		"repo/Makefile":                       "",
		"repo/docs/x":                         "",
		"repo/system/x":                       "",
		"repo/payload":                        "",
		"outside.sh":                          "",
	})
	top := filepath.Dir(s.dir)
	if err := os.Symlink("../real/judge.sh", filepath.Join(top, "tools", "link")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ command, want string }{
		{"sh tools/judge.sh {system}", "tools/judge.sh"},
		{"./tools/judge.sh", "tools/judge.sh"},
		{filepath.Join(top, "tools/judge.sh"), "tools/judge.sh"},
		{"sh tools/link", "real/judge.sh tools/link"},
		{"tools/../tools/judge.sh", "tools/judge.sh"},
		{`sh -c 'cat|sh tools/judge.sh;true'`, "tools/judge.sh"},
		{"make --file=Makefile review", "Makefile"},
		{"judge --in tools --with nothing", "tools"},
		{"judge -C .", ""},
		{"sh ../outside.sh", ""},
		{"claude -p --settings tools/judge.sh --append-system-prompt {system}", "tools/judge.sh"},
		{`claude -p --append-system-prompt "mind the docs"`, ""},
		{"judge {system} --in={payload}", ""},
		{"opencode run --agent docs", ""},
		{"opencode run --dir ./docs", "docs"},
		{"in-loop", ""},
	} {
		got := strings.Join(s.filesOf(agents.Binding{Command: tt.command}), " ")
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.command, got, tt.want)
		}
	}
}
