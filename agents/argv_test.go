package agents

import (
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"
)

func TestArgv(t *testing.T) {
	v := Values{System: "be kind", Payload: `{"story":1}`}
	tests := []struct {
		name string
		b    Binding
		want []string
	}{
		{
			"all",
			Binding{Command: "c --s {system} -p {payload} -t {tools} -m {model} -e {effort} --settings {settings}", Tools: "A,B", Model: "m", Effort: "high", Settings: "s.json"},
			[]string{"c", "--s", "be kind", "-p", `{"story":1}`, "-t", "A,B", "-m", "m", "-e", "high", "--settings", "s.json"},
		},
		{
			"empty ones drop with their flag",
			Binding{Command: "c -p -t {tools} -m {model} -e {effort} --settings {settings} {system}"},
			[]string{"c", "-p", "be kind"},
		},
		{"a flag of its own", Binding{Command: "c --verbose --model={model} x"}, []string{"c", "--verbose", "x"}},
		{"a flag that has its value", Binding{Command: "c --sandbox=ro {model} x"}, []string{"c", "--sandbox=ro", "x"}},
		{"an operand before it stays", Binding{Command: "c exec {model} x"}, []string{"c", "exec", "x"}},
		{"the program stays", Binding{Command: "-c {model} x"}, []string{"-c", "x"}},
		{"one flag for one word", Binding{Command: "c -a -b {model} {effort} x"}, []string{"c", "-a", "x"}},
		{
			"fused",
			Binding{Command: `c -c model_reasoning_effort="{effort}" x`, Effort: "high"},
			[]string{"c", "-c", `model_reasoning_effort="high"`, "x"},
		},
		{"fused and empty", Binding{Command: `c -c model_reasoning_effort="{effort}" x`}, []string{"c", "x"}},
		{"fused and empty after an operand", Binding{Command: `c exec model_reasoning_effort="{effort}" x`}, []string{"c", "exec", "x"}},
		{"fused from several", Binding{Command: "c -c x={model}/{effort} y", Model: "m"}, []string{"c", "y"}},
		{
			"quoted words",
			Binding{Command: `sh "/a folder/satelle-codex" '-x "y"' --k="a b"`},
			[]string{"sh", "/a folder/satelle-codex", `-x "y"`, `--k="a`, `b"`},
		},
		{"an unknown placeholder stays", Binding{Command: "c {modle}"}, []string{"c", "{modle}"}},
		{"no variables", Binding{Command: "c {model}", Model: "${X} $X"}, []string{"c", "${X} $X"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.b.Argv(v); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// An empty payload drops nothing: flag and word stay.
func TestArgvKeepsAnEmptyPayload(t *testing.T) {
	got := Binding{Command: "grok -p {payload} --s {system}"}.Argv(Values{System: "s"})
	if want := []string{"grok", "-p", "", "--s", "s"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A placeholder is one word whatever its value holds, and what a value holds is
// not filled again.
func TestArgvFillsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("{}modelsyt \n\"'`$()-"))))
		b := Binding{Command: "c --s {system} {payload} -m {model} -t {tools}", Model: text.Draw(t, "model"), Tools: text.Draw(t, "tools")}
		v := Values{System: text.Draw(t, "system") + "{model}$(id)", Payload: text.Draw(t, "payload")}
		want := []string{"c", "--s", v.System, v.Payload}
		if b.Model != "" {
			want = append(want, "-m", b.Model)
		}
		if b.Tools != "" {
			want = append(want, "-t", b.Tools)
		}
		if got := b.Argv(v); !slices.Equal(got, want) {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	})
}

// What Codex takes behind -c is TOML, so the effort stays a quoted string.
func TestCodexEffortIsTOML(t *testing.T) {
	argv := Binding{Command: DefaultCodexExecCommand, Effort: "high", Model: "m"}.Argv(Values{System: "s"})
	i := slices.Index(argv, "-c")
	var config map[string]any
	if err := toml.Unmarshal([]byte(argv[i+1]), &config); err != nil || config["model_reasoning_effort"] != "high" {
		t.Errorf("%q: %v, %v", argv, config, err)
	}
	if argv[len(argv)-1] != "s" {
		t.Errorf("%q does not end with the system prompt", argv)
	}
	if got := (Binding{Command: DefaultCodexExecCommand}).Argv(Values{System: "s"}); !slices.Equal(got, []string{"codex", "exec", "-s", "read-only", "s"}) {
		t.Errorf("%q", got)
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"a b", `a "b c" 'd'`, `a "b`, `a "b"c`, " \t\n", "a=\"b\"", "\f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tokens, err := split(s)
		if err == nil && !strings.ContainsAny(s, `"'`) && !slices.Equal(tokens, strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(blanks, r) })) {
			t.Errorf("%q: %q", s, tokens)
		}
	})
}
