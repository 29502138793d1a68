package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"satelle/workflow"
)

// TestStoryGetHoldsEveryField compares the keys of `story get --json` with the
// fields that the fold keeps.
func TestStoryGetHoldsEveryField(t *testing.T) {
	s := newScratch(t, map[string]string{"brief.txt": "brief"})
	parent := s.must("satelle", "story", "create", "--title", "All of it", "--json")
	parent = parent[strings.Index(parent, "sty_"):][:12]
	out := s.must("satelle", "story", "create", "--parent", parent, "--title", "A", "--body", "why", "--ac", "a", "--category", "feature", "--tag", "x",
		"--priority", "high", "--due", "2026-12-31", "--project", "p", "--assignee", "ada", "--path", "src/**", "--json")
	id := out[strings.Index(out, "sty_"):][:12]
	child := s.must("satelle", "story", "create", "--title", "B", "--ac", "b", "--parent", id)
	child = child[strings.Index(child, "sty_"):][:12]
	s.must("satelle", "story", "comment", id, "--body", "said")
	s.must("satelle", "story", "attach", id, "--name", "brief", "--file", "brief.txt")
	var got map[string]any
	if err := json.Unmarshal([]byte(s.must("satelle", "story", "get", id, "--json")), &got); err != nil {
		t.Fatal(err)
	}
	for field := range reflect.TypeFor[workflow.Story]().Fields() {
		name, opts, _ := strings.Cut(field.Tag.Get("json"), ",")
		if _, ok := got[name]; !ok && opts != "omitempty" {
			t.Errorf("the field %q is missing", name)
		}
	}
	for key, want := range map[string]any{
		"title": "A", "body": "why", "category": "feature", "priority": "high", "due": "2026-12-31",
		"project": "p", "assignee": "ada", "status": "backlog", "parent": parent,
		"tags": []any{"x"}, "paths": []any{"src/**"}, "acceptance_criteria": []any{"a"}, "children": []any{child},
	} {
		if !reflect.DeepEqual(got[key], want) {
			t.Errorf("%s = %v, want %v", key, got[key], want)
		}
	}
	for key, want := range map[string][2]string{"docs": {"name", "brief"}, "comments": {"body", "said"}} {
		list, _ := got[key].([]any)
		if len(list) != 1 || list[0].(map[string]any)[want[0]] != want[1] {
			t.Errorf("%s = %v, want one with the %s %q", key, got[key], want[0], want[1])
		}
	}
}

// TestNoWayPastTheFirstStep: there is no flag, verb or id by which a story
// could start further on, nor one that appends a record by hand.
func TestNoWayPastTheFirstStep(t *testing.T) {
	s := newScratch(t, nil)
	for _, args := range [][]string{
		{"satelle", "story", "create", "--title", "A", "--status", "done"},
		{"satelle", "story", "start", "--title", "A", "--ac", "a", "--status", "done"},
		{"satelle", "story", "edit", "sty_00000000", "--status", "done"},
		{"satelle", "ledger", "append", "transition.committed"},
		{"satelle", "ledger", "import", "records.jsonl"},
	} {
		cmd := s.command(args...)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("%v ended with %v: %s", args, err, out)
		}
	}
}
