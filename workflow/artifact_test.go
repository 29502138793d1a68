package workflow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"satelle/workflow/route"
)

const whole = `{"artifact":{"name":"plan","type":"plan","body":"# Plan"}}`

func TestDecodeArtifact(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		refuse     string // "" takes it
	}{
		{"the form", whole, ""},
		{"another order", `{"artifact":{"body":"# Plan","type":"plan","name":"plan"}}`, ""},
		{"blanks around", "\n  " + whole + " \n", ""},
		{"escapes", `{"artifact":{"name":"plan","type":"plan","body":"\u0023 Plan"}}`, ""},
		{"nothing", "", "it is empty"},
		{"blanks", " \n", "it is empty"},
		{"prose", "Here is the plan.", "invalid character"},
		{"prose before", "Here it is: " + whole, "invalid character"},
		{"prose after", whole + " Done.", "something follows"},
		{"a fence", "```json\n" + whole + "\n```", "invalid character"},
		{"two objects", whole + whole, "something follows"},
		{"a list", "[" + whole + "]", `"[" stands where "{" belongs`},
		{"another key", `{"artifacts":{}}`, `"artifacts" stands where "artifact" belongs`},
		{"another spelling", strings.Replace(whole, "artifact", "Artifact", 1), "belongs"},
		{"a key before", `{"note":"x","artifact":{"name":"plan","type":"plan","body":"x"}}`, "belongs"},
		{"a key after", `{"artifact":{"name":"plan","type":"plan","body":"x"},"note":"x"}`, `"note" stands beside the artifact`},
		{"the key twice", `{"artifact":{"name":"plan","type":"plan","body":"x"},"artifact":{"name":"plan","type":"plan","body":"y"}}`, "stands beside"},
		{"an extra key", `{"artifact":{"name":"plan","type":"plan","body":"x","path":"/etc"}}`, `has the key "path"`},
		{"a name twice", `{"artifact":{"name":"plan","name":"plan","type":"plan","body":"x"}}`, `"name" twice`},
		{"no body", `{"artifact":{"name":"plan","type":"plan"}}`, "has no body"},
		{"no name", `{"artifact":{"type":"plan","body":"x"}}`, "has no name"},
		{"a number", `{"artifact":{"name":"plan","type":"plan","body":7}}`, "body is no text"},
		{"null", `{"artifact":{"name":"plan","type":"plan","body":null}}`, "body is no text"},
		{"an object for a body", `{"artifact":{"name":"plan","type":"plan","body":{"body":"x"}}}`, "body is no text"},
		{"a list of artifacts", `{"artifact":[]}`, `"[" stands where "{" belongs`},
		{"cut short", whole[:len(whole)-1], "unexpected"},
		{"deep", strings.Repeat(`{"artifact":`, 100_000), "the key \"artifact\""},
		{"no UTF-8", "{\"artifact\":{\"name\":\"plan\",\"type\":\"plan\",\"body\":\"\xff\"}}", "no UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := DecodeArtifact(tt.text)
			if tt.refuse == "" {
				if err != nil || a.Name != "plan" || a.Type != "plan" || string(a.Body) != "# Plan" {
					t.Errorf("%+v, %v", a, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.refuse) {
				t.Errorf("%+v, %v; want %q", a, err, tt.refuse)
			}
		})
	}
}

func TestCandidate(t *testing.T) {
	plan := route.OutputContract{Name: "plan", Type: "plan", Schema: "body", Required: true}
	optional, covering := plan, plan
	optional.Required, covering.ACCoverage = false, true
	of := func(name, typ, body string) string {
		return fmt.Sprintf(`{"artifact":{"name":%q,"type":%q,"body":%q}}`, name, typ, body)
	}
	for _, tt := range []struct {
		name     string
		contract route.OutputContract
		text     string
		doc      bool
		findings []string
	}{
		{"valid", plan, of("plan", "plan", "x"), true, nil},
		{"another name", plan, of("plan2", "plan", "x"), false, []string{`name is "plan2"`}},
		{"another type", plan, of("plan", "note", "x"), false, []string{`type is "note"`}},
		{"no body", plan, of("plan", "plan", " \n"), false, []string{"body is empty"}},
		{"all of it", plan, of("a", "b", ""), false, []string{"name is", "type is", "body is empty"}},
		{"too much", plan, of("plan", "plan", strings.Repeat("x", MaxArtifact+1)), false, []string{"at most 1048576"}},
		{"none, required", plan, "All done.", false, []string{"the final message is not one object"}},
		{"none, not required", optional, "All done.", false, nil},
		{"one, not required", optional, of("plan", "plan", "x"), true, nil},
		{"a bad one, not required", optional, of("plan", "plan", "x") + "!", false, []string{"something follows"}},
		{"coverage not asked for", plan, of("plan", "plan", "x"), true, nil},
		{"coverage missing", covering, of("plan", "plan", "# AC11\n- AC2: x"), false, []string{"AC1:", "AC3:"}},
		{"coverage", covering, of("plan", "plan", "# AC1, AC3\n- AC2: x"), true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, findings := Candidate(tt.contract, 3, tt.text)
			if (a != nil) != tt.doc || len(findings) != len(tt.findings) {
				t.Fatalf("%v, %q", a != nil, findings)
			}
			for i, want := range tt.findings {
				if !strings.Contains(findings[i], want) {
					t.Errorf("%q, want %q", findings[i], want)
				}
			}
		})
	}
}

func TestCoverage(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		covers     bool
	}{
		{"a heading", "## AC1", true},
		{"within a heading", "### How AC1 is met", true},
		{"a heading behind a colon", "## Plan: AC1.", true},
		{"a heading that is underlined", "The plan for AC1\n===", true},
		{"a list item", "- AC1: a form", true},
		{"a list item with a star", "* AC1", true},
		{"a numbered item", "12. AC1", true},
		{"a nested item", "- x\n    - AC1", true},
		{"an item in bold", "- **AC1** a form", true},
		{"a box to tick", "- [x] AC1", true},
		{"after a block", "```\nx\n```\n- AC1", true},
		{"prose", "This does AC1.", false},
		{"the end of an item", "- a form for AC1", false},
		{"AC11", "## AC11", false},
		{"AC10 in an item", "- AC10: x", false},
		{"part of a word", "## XAC1", false},
		{"part of a longer word", "## AC1x", false},
		{"with an underscore", "## AC1_2", false},
		{"a letter beyond ASCII", "## éAC1", false},
		{"lower case", "## ac1", false},
		{"no heading", "####### AC1", false},
		{"a tag", "#AC1", false},
		{"an indented heading", "    ## AC1", false},
		{"a block", "```\n## AC1\n```", false},
		{"a block of tildes", "~~~\n- AC1\n~~~", false},
		{"a block within a longer one", "````\n```\n## AC1\n```\n````", false},
		{"a block in an item", "- x\n\n      ```\n      - AC1\n      ```", false},
		{"a block that opens an item", "- ```\n  - AC1\n  ```", false},
		{"a block in a quotation", "> ```\n> - AC1\n> ```", false},
		{"a block that does not end", "```\n## AC1", false},
		{"a rule after an item", "- x AC1\n---", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := len(uncovered(tt.text, 1)) == 0; got != tt.covers {
				t.Errorf("covers: %v", got)
			}
		})
	}
	// AC1 to AC11, of which AC1 is missing.
	var b strings.Builder
	for i := 2; i <= 11; i++ {
		fmt.Fprintf(&b, "## AC%d\n", i)
	}
	if got := uncovered(b.String(), 11); len(got) != 1 || got[0] != 1 {
		t.Errorf("uncovered: %v", got)
	}
}

// FuzzCandidate: whatever an agent says, what is taken is one object of the
// form, and writing it anew gives the same document.
func FuzzCandidate(f *testing.F) {
	f.Add(whole)
	f.Add(whole + whole)
	const covering = `{"artifact":{"name":"plan","type":"plan","body":"## AC1\n- AC2"}}`
	f.Add(covering)
	f.Add(covering + covering)
	f.Add(strings.Replace(covering, `{"name"`, `{"path":"x","name"`, 1))
	f.Add(strings.TrimSuffix(covering, "}") + `,"note":{}}`)
	f.Fuzz(func(t *testing.T, text string) {
		contract := route.OutputContract{Name: "plan", Type: "plan", Schema: "body", Required: true, ACCoverage: true}
		a, findings := Candidate(contract, 2, text)
		if (a == nil) == (len(findings) == 0) {
			t.Fatalf("%+v with %q", a, findings)
		}
		if a == nil {
			return
		}
		if a.Name != "plan" || a.Type != "plan" || !utf8.Valid(a.Body) || len(uncovered(string(a.Body), 2)) > 0 {
			t.Fatalf("took %+v", a)
		}
		var all map[string]map[string]string // in which a text that goes on is none
		err := json.Unmarshal([]byte(text), &all)
		if got := all["artifact"]; err != nil || len(all) != 1 || len(got) != 3 || got["name"] != a.Name || got["type"] != a.Type || got["body"] != string(a.Body) {
			t.Fatalf("took %q: %v", text, err)
		}
	})
}
