package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"satelle/agents"
)

func topic(t *testing.T, name string) string {
	t.Helper()
	b, err := topics.ReadFile("topics/" + name + ".md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// words is a text without its line breaks.
func words(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestTopicsSayWhatTheyOwe(t *testing.T) {
	for name, phrases := range map[string][]string{
		"global-agents": {
			"A fresh clone", "satelle init", "satelle agents install all", "satelle trust", "satelle doctor",
			"committed: the roles, and the bindings that a clone needs to run gated steps",
			"Keep the committed default on the backend that is always available",
			"Let the gate at the step's exit judge again on the default backend",
		},
		"workflows": {
			"Choosing a lifecycle", "parallel: N", "parallel: 0", "A round at once that is rejected has paid for every reviewer",
		},
		"reviewer-checks": {"Gate skills", "Who judges"},
		"agent-dispatch": {
			"protect raw traces, and remove them after the diagnosis",
			"1. Add the output_* contract to its skill.",
			"2. Let its rubric ask for the JSON artifact instead of `satelle story attach`.",
			"3. Remove Bash(satelle:*) from its binding",
			"4. Keep the review at the step's exit",
			"The default [planner] is Claude's command",
			"copy its benchmark binding into [planner]",
			"npm install -g @agentclientprotocol/codex-acp",
			"satelle asks for neither CODEX_API_KEY nor OPENAI_API_KEY",
			"codex exec --dangerously-bypass-hook-trust",
			"Body, criteria and documents must stand alone",
			"put {payload} there", "`-p` (`--single`)", "For Grok without tools prefer `--output-format plain`", "1 is often too low",
			"Do not define that agent in a folder of one harness", "tied to one vendor",
			"Codex by ACP is preferred", "satelle agent validate", "a cheap gate, such as step-summary", "CODEX_PATH",
			agents.DefaultClaudeCommand, agents.DefaultGrokCommand, agents.DefaultCodexExecCommand, agents.DefaultOpencodeCommand,
			agents.DefaultCodexACPCommand, agents.DefaultGrokACPCommand,
		},
	} {
		var out, errs bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs}
		if code := a.execute(t.Context(), []string{"help", name}); code != 0 {
			t.Errorf("satelle help %s ended with %d: %s", name, code, errs.String())
		}
		text := words(out.String())
		for _, p := range phrases {
			if !strings.Contains(text, p) {
				t.Errorf("satelle help %s does not say %q", name, p)
			}
		}
	}
}

var tomlBlock = regexp.MustCompile("(?s)```toml\n(.*?)```")

// Every sample of the topics holds when it is pasted, each by itself and with a
// fallback where it names one.
func TestSamplesOfTheTopicsHold(t *testing.T) {
	n := 0
	for _, name := range []string{"agent-dispatch", "global-agents"} {
		for _, block := range tomlBlock.FindAllStringSubmatch(topic(t, name), -1) {
			f, err := agents.Parse(name, []byte(block[1]))
			if err == nil {
				err = f.Dispatchable()
			}
			if err != nil || len(f.Warn()) > 0 {
				t.Errorf("%v %q\n%s", err, f.Warn(), block[1])
			}
			n += len(f.Bindings)
		}
	}
	if n < 10 {
		t.Errorf("only %d bindings in the topics", n)
	}
}

// The binding that the topic proposes as a stand-in is the benchmark's.
func TestStandInPlannerIsTheBenchmarks(t *testing.T) {
	bench, err := os.ReadFile(filepath.Join("..", "..", "tests", "plannerbench", "bindings.toml"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(bench), "[planner-grok-acp]\n")
	if !found {
		t.Fatal("the benchmark has no Grok by ACP")
	}
	if !strings.Contains(topic(t, "agent-dispatch"), "[planner]\n"+strings.TrimSpace(table)+"\n") {
		t.Errorf("the topic shows another binding than\n%s", table)
	}
}
