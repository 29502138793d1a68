package engine

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"satelle/internal/fault"
	"satelle/ledger/seatread"
	"satelle/workflow"
)

func TestGateOfConfig(t *testing.T) {
	all := map[string]string{}
	for _, kind := range workflow.SoftRules {
		all[kind] = seatread.ModeAudit
	}
	for _, tt := range []struct {
		name, toml string
		want       seatread.Gate
		refusal    string
	}{
		{"none", "", seatread.Gate{}, ""},
		{"the defaults, said aloud", "outside = \"temp\"\nmode = \"enforce\"\nreaders = []", seatread.Gate{}, ""},
		{"one mode", "mode = \"audit\"", seatread.Gate{Mode: all}, ""},
		{"modes", "[gate.mode]\nedit = \"warn\"\nscope = \"enforce\"", seatread.Gate{Mode: map[string]string{"edit": "warn"}}, ""},
		{"readers", "readers = [\"go  test **\"]\nreader_tools = [\"mcp__a__b\"]\noutside = \"deny\"", seatread.Gate{
			Outside: "deny", Readers: [][]string{{"go", "test", "**"}}, Tools: []string{"mcp__a__b"},
		}, ""},
		{"a mode that is a number", "mode = 1", seatread.Gate{}, "enforce, warn or audit"},
		{"a mode of a number", "[gate.mode]\nedit = 1", seatread.Gate{}, "gate.mode.edit"},
		{"an unknown kind", "[gate.mode]\nprotected = \"warn\"", seatread.Gate{}, "no kind of rule"},
		{"an unknown key", "reader = []", seatread.Gate{}, "unknown key `gate.reader`"},
		{"a pattern for a program", "readers = [\"*\"]", seatread.Gate{}, "stands for one word"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := load(t, "project = \"p\"\n[gate]\n"+tt.toml+"\n")
			if tt.refusal != "" {
				if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), tt.refusal) {
					t.Fatalf("err = %v, want a refusal with %q", err, tt.refusal)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.gate()
			if err != nil {
				t.Fatal(err)
			}
			got.Readers = slices.Clip(got.Readers)
			if len(got.Tools) == 0 {
				got.Tools = nil
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// What init proposes is a gate that the hook can hold to.
func TestProposedReaders(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"Makefile": "all:\ntest: all\n\tgo test\nbuild:\n", "go.mod": "module x\n", "Cargo.toml": "", "package.json": `{"scripts":{"test":"x","lint":"y"}}`,
		"pnpm-lock.yaml": "", "pyproject.toml": "[tool.pytest]\n", "tox.ini": "", "pom.xml": "", "build.gradle": "", "mix.exs": "", "Gemfile": "gem 'rspec'\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	readers := proposeReaders(dir)
	for _, want := range []string{"make test", "make build", "go test **", "cargo check", "pnpm run lint", "pytest **", "./gradlew test"} {
		if !slices.Contains(readers, want) {
			t.Errorf("%q is not proposed: %q", want, readers)
		}
	}
	for _, not := range []string{"make lint", "npm test", "npm run test"} {
		if slices.Contains(readers, not) {
			t.Errorf("%q is proposed", not)
		}
	}
	if _, err := load(t, string(newConfig("p", "make test", readers))); err != nil {
		t.Error(err)
	}
	if none := proposeReaders(t.TempDir()); len(none) != 0 {
		t.Errorf("without a manifest: %q", none)
	}
}
