package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"satelle/internal/audit"
)

// ciDoc is docs/ci.md, and its fenced blocks by language.
func ciDoc(t *testing.T) (text string, blocks map[string][]string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks = map[string][]string{}
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(string(b), -1) {
		blocks[m[1]] = append(blocks[m[1]], m[2])
	}
	return string(b), blocks
}

// TestWorkflowOfCI reads the workflow in docs/ci.md as a forge would, and holds
// the commands in the document against those that there are.
func TestWorkflowOfCI(t *testing.T) {
	_, blocks := ciDoc(t)
	if len(blocks["yaml"]) != 1 {
		t.Fatalf("%d workflows", len(blocks["yaml"]))
	}
	var workflow struct {
		On   map[string]any `yaml:"on"`
		Jobs map[string]struct {
			RunsOn string `yaml:"runs-on"`
			Steps  []struct {
				Name, Uses, Run, If string
				Env, With           map[string]any
			}
		}
		Permissions map[string]string
		Name        string
	}
	d := yaml.NewDecoder(strings.NewReader(blocks["yaml"][0]))
	d.KnownFields(true)
	if err := d.Decode(&workflow); err != nil {
		t.Fatal(err)
	}
	if _, ok := workflow.On["pull_request_target"]; !ok || workflow.Permissions["contents"] != "read" {
		t.Errorf("on %v, permissions %v", workflow.On, workflow.Permissions)
	}
	job := workflow.Jobs["audit"]
	var scripts []string
	for _, s := range job.Steps {
		if (s.Uses == "") == (s.Run == "") {
			t.Errorf("the step %q %q neither uses nor runs one thing", s.Name, s.Uses)
		}
		if strings.Contains(s.Run, "${{") {
			t.Errorf("the step %q puts foreign text into its script", s.Name)
		}
		scripts = append(scripts, s.Run)
	}
	all := strings.Join(append(scripts, blocks[""]...), "\n")
	if !strings.Contains(all, "refs/satelle/logs/*") || !strings.Contains(all, `satelle audit "$BASE..$HEAD" --format sarif`) {
		t.Errorf("the workflow does not fetch the logs or audit:\n%s", all)
	}
	for _, line := range regexp.MustCompile(`(?m)^ *satelle (.*)$`).FindAllStringSubmatch(all, -1) {
		words := strings.Fields(line[1])
		cmd, rest, err := tree().Find(words)
		if err != nil || cmd.Name() == "satelle" {
			t.Errorf("there is no command satelle %s", line[1])
			continue
		}
		for _, w := range rest {
			name, ok := strings.CutPrefix(w, "--")
			if ok && cmd.Flags().Lookup(name) == nil {
				t.Errorf("%s has no flag --%s", cmd.CommandPath(), name)
			}
		}
	}
}

// TestRulesOfAuditAreDocumented holds the table of docs/ci.md against the rules.
func TestRulesOfAuditAreDocumented(t *testing.T) {
	text, _ := ciDoc(t)
	_, text, _ = strings.Cut(text, "## What it finds")
	text, _, _ = strings.Cut(text, "\n## ")
	for _, rule := range audit.Rules {
		if !strings.Contains(text, "`"+rule.ID+"`") {
			t.Errorf("docs/ci.md does not tell of %s", rule.ID)
		}
	}
}
