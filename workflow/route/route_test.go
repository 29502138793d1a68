package route

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"satelle/internal/fault"
)

// fullDone and fullStep use every form that the two files have.
const (
	fullDone = `---
name: done
type: workflow
description: "what done means: here"
---

# Done

Free text, even with a colon: here. An example:

` + "```" + `
## not a section
park: nowhere
` + "```" + `

## *

> A remark.

- raised
- coded
- closed
park: blocked @blocked-review
cancel: cancelled
advisor: retrospective
advisor: architect, planner
+ surface:ui design-reviewed
+ risk:high design-reviewed
+ risk:high audited

## chore
- raised
- closed
`
	fullStep = `---
# written by people
name: step
type: workflow

---
## backlog
provides: raised

## in_progress
agent: executor
skills: code
intent: act-pr
reviewers: plan-review, scope-review
reviewer_agent: strict
parallel: 0
provides: coded, tested
requires: raised

## design_review
agent: reviewer
provides: design-reviewed
requires: coded

## audit
agent: auditor
provides: audited
requires: tested

## done
provides: closed
requires: raised

## gate lint
for: *
on: done, in_progress

## gate step-summary
agent: reviewer
mandatory: false
`
)

func fullSource() Source {
	return Source{
		Done: []byte(fullDone), Step: []byte(fullStep),
		Skills: map[string][]byte{
			"code": rubric("code"), "plan-review": rubric("plan-review"), "scope-review": rubric("scope-review"),
			"blocked-review": rubric("blocked-review"), "step-summary": rubric("step-summary"), "lint": check("lint"),
			"unnamed": check("unnamed"),
		},
	}
}

func mustParse(t testing.TB, src Source) *Route {
	t.Helper()
	r, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustLane(t testing.TB, r *Route, category string, tags ...string) Lane {
	t.Helper()
	lane, err := r.Lane(category, tags)
	if err != nil {
		t.Fatal(err)
	}
	return lane
}

func TestLanes(t *testing.T) {
	r := mustParse(t, fullSource())
	const (
		head  = "backlog\nin_progress by executor [lint] [step-summary]? <plan-review> <scope-review>\n"
		tail  = "done [lint] [step-summary]?\npark blocked <blocked-review>\ncancel cancelled\n"
		ui    = "design_review by reviewer [step-summary]?\n"
		audit = "audit by auditor [step-summary]?\n"
	)
	tests := []struct {
		category string
		tags     []string
		want     string
	}{
		{"*", nil, head + tail},
		{"feature", nil, head + tail},
		{"", nil, head + tail},
		{"feature", []string{"other", "surface:ui"}, head + ui + tail},
		{"feature", []string{"risk:high"}, head + ui + audit + tail},
		{"feature", []string{"risk:high", "surface:ui", "risk:high"}, head + ui + audit + tail},
		{"chore", []string{"risk:high"}, "backlog\ndone [step-summary]?\n"},
	}
	for _, tt := range tests {
		if got := outline(mustLane(t, r, tt.category, tt.tags...)); got != tt.want {
			t.Errorf("%s %q:\n%s\nwant:\n%s", tt.category, tt.tags, got, tt.want)
		}
	}
}

func TestLaneInFull(t *testing.T) {
	lane := mustLane(t, mustParse(t, fullSource()), "x")
	zero := 0
	want := Step{
		Name: "in_progress", Agent: "executor", Skills: []string{"code"}, Intent: "act-pr",
		Reviewers: []string{"plan-review", "scope-review"}, ReviewerAgent: "strict", Parallel: &zero,
		Provides: []string{"coded", "tested"}, Requires: []string{"raised"},
		Gates: []Gate{{Skill: "lint", Mandatory: true}, {Skill: "step-summary", Agent: "reviewer"}},
	}
	if got := lane.Steps[1]; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if !slices.Equal(lane.Advisors, []string{"retrospective", "architect", "planner"}) {
		t.Errorf("advisors %q", lane.Advisors)
	}
	var named []string
	for name, s := range lane.Skills {
		named = append(named, name+" "+s.Kind)
	}
	slices.Sort(named)
	if want := []string{"blocked-review rubric", "code rubric", "lint check", "plan-review rubric", "scope-review rubric", "step-summary rubric"}; !slices.Equal(named, want) {
		t.Errorf("skills %q, want %q", named, want)
	}
}

func TestPerforming(t *testing.T) {
	r := mustParse(t, fullSource())
	for _, s := range mustLane(t, r, "x", "risk:high").Steps {
		wants := map[string]struct {
			performing bool
			intent     string
		}{
			"backlog": {}, "in_progress": {true, "act-pr"}, "design_review": {false, "review"}, "audit": {true, "work"}, "done": {},
		}
		if want := wants[s.Name]; s.Performing() != want.performing || s.Intent != want.intent {
			t.Errorf("%s: performing %v, intent %q", s.Name, s.Performing(), s.Intent)
		}
	}
}

// Without a lane `*`, a category that no lane names has no way to go.
func TestNoLane(t *testing.T) {
	src := Source{Done: []byte(strings.Replace(goodDone, "## *", "## feature", 1)), Step: []byte(goodStep)}
	r := mustParse(t, src)
	if _, err := r.Lane("chore", nil); !fault.Is(err, fault.Refused) || fault.TryOf(err) == "" {
		t.Errorf("err = %v", err)
	}
	if lane := mustLane(t, r, "feature"); lane.Category != "feature" {
		t.Errorf("lane %q", lane.Category)
	}
}

// Whoever has a lane may do with it what they like.
func TestLaneIsOwn(t *testing.T) {
	r := mustParse(t, fullSource())
	want := Encode(mustLane(t, r, "x"))
	lane := mustLane(t, r, "x")
	lane.Steps[1].Reviewers[0], lane.Steps[1].Skills[0], lane.Steps[1].Provides[0], lane.Steps[1].Requires[0] = "y", "y", "y", "y"
	*lane.Steps[1].Parallel = 7
	lane.Steps[1].Gates[0].Skill, lane.Advisors[0], lane.Park.State = "y", "y", "y"
	lane.Skills["code"] = Skill{}
	if got := Encode(mustLane(t, r, "x")); string(got) != string(want) {
		t.Error("a change of a lane is a change of the route")
	}
}

// CRLF, a byte order mark and blanks around a line say nothing.
func TestLineEnds(t *testing.T) {
	src := fullSource()
	want := Encode(mustLane(t, mustParse(t, src), "x"))
	odd := func(b []byte) []byte {
		return []byte("\ufeff" + strings.ReplaceAll(string(b), "\n", "\r\n"))
	}
	src.Done, src.Step = odd(src.Done), odd(src.Step)
	for name, b := range src.Skills {
		src.Skills[name] = odd(b)
	}
	if got := Encode(mustLane(t, mustParse(t, src), "x")); string(got) != string(want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSkills(t *testing.T) {
	r := mustParse(t, fullSource())
	var names []string
	for _, s := range r.Skills() {
		names = append(names, s.Name)
	}
	if want := []string{"blocked-review", "code", "lint", "plan-review", "scope-review", "step-summary", "unnamed"}; !slices.Equal(names, want) {
		t.Errorf("skills %q", names)
	}
	if got := Builtins(); !slices.Equal(got, []string{Children, DoneCheck, Human, ProseOnly, Structure}) {
		t.Errorf("built in are %q", got)
	}
}

func TestPin(t *testing.T) {
	for _, lane := range []Lane{
		mustLane(t, mustParse(t, fullSource()), "x", "risk:high"),
		mustLane(t, mustParse(t, fullSource()), "chore"),
		mustLane(t, mustParse(t, shippedSource()), "substrate"),
	} {
		data := Encode(lane)
		got, err := Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, lane) {
			t.Errorf("got  %+v\nwant %+v", got, lane)
		}
		if !slices.Equal(Encode(got), data) {
			t.Error("the same lane, other bytes")
		}
	}
}

// pinnedV1 was written when format 1 was new; it opens for ever.
const pinnedV1 = `{"format":1,"category":"*","steps":[{"name":"backlog","provides":["raised"]},` +
	`{"name":"in_progress","agent":"executor","skills":["plan"],"intent":"work","reviewers":["lint"],"parallel":0,"provides":["coded"],"requires":["raised"],` +
	`"gates":[{"skill":"structure","mandatory":true}]}],"park":{"state":"blocked"},"cancel":"cancelled","advisors":["retrospective"],"skills":{` +
	`"lint":{"name":"lint","kind":"check","check":"true\n","body":"` + "```check\\ntrue\\n```\\n" + `","timeout_ns":60000000000,"digest":"d1"},` +
	`"plan":{"name":"plan","kind":"rubric","body":"Plan.\n","output":{"name":"plan","type":"plan","required":true,"schema":"body"},` +
	`"attempt":{"repair_max":1,"max_total":2,"time_budget_ns":480000000000,"on_exhaust":"fail"},"digest":"d2"},` +
	`"structure":{"name":"structure","kind":"builtin","digest":"d3"}}}`

func TestPinnedForEver(t *testing.T) {
	lane, err := Decode([]byte(pinnedV1))
	if err != nil {
		t.Fatal(err)
	}
	if lane.Skills["lint"].Timeout != time.Minute || lane.Skills["plan"].Attempt.MaxTotal != 2 || *lane.Steps[1].Parallel != 0 {
		t.Errorf("%+v", lane)
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := map[string]string{
		"nothing":           "",
		"no object":         "[]",
		"null":              "null",
		"truncated":         pinnedV1[:len(pinnedV1)-2],
		"trailing":          pinnedV1 + "\n",
		"two":               pinnedV1 + pinnedV1,
		"newer format":      strings.Replace(pinnedV1, `"format":1`, `"format":2`, 1),
		"no format":         strings.Replace(pinnedV1, `"format":1,`, ``, 1),
		"unknown key":       strings.Replace(pinnedV1, `"park"`, `"x":1,"park"`, 1),
		"key twice":         strings.Replace(pinnedV1, `"cancel":"cancelled"`, `"cancel":"a","cancel":"cancelled"`, 1),
		"another spelling":  strings.Replace(pinnedV1, `"cancel"`, `"Cancel"`, 1),
		"a blank":           strings.Replace(pinnedV1, `,`, `, `, 1),
		"wrong type":        strings.Replace(pinnedV1, `"parallel":0`, `"parallel":"0"`, 1),
		"a flaw":            strings.Replace(pinnedV1, `"state":"blocked"`, `"state":"backlog"`, 1),
		"a missing skill":   strings.Replace(pinnedV1, `"skill":"structure"`, `"skill":"human"`, 1),
		"deep":              strings.Repeat("[", 100_000),
		"larger than it is": `{"format":1,"category":"` + strings.Repeat("x", maxPinned) + `"}`,
	}
	for name, data := range tests {
		if data == pinnedV1 {
			t.Fatalf("%s: the row changes nothing", name)
		}
		if _, err := Decode([]byte(data)); err == nil {
			t.Errorf("%s: decoded", name)
		}
	}
}
