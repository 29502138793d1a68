package route

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"satelle/internal/fault"
)

// front is the front matter of a workflow file: four lines.
const front = "---\nname: x\ntype: workflow\n---\n"

const (
	goodDone = front + "## *\n- raised\n- coded\n- closed\npark: blocked\ncancel: cancelled\n"
	goodStep = front + "## backlog\nprovides: raised\n## in_progress\nagent: executor\nprovides: coded\nrequires: raised\n## done\nprovides: closed\nrequires: coded\n"
)

func rubric(name string) []byte { return []byte("---\nname: " + name + "\n---\nJudge.\n") }

func check(name string) []byte {
	return []byte("---\nname: " + name + "\n---\n```check\ntrue\n```\n")
}

// problems parses and shows what is wrong, paths and mends as they are.
func problems(t *testing.T, src Source) string {
	t.Helper()
	route, err := Parse(src)
	if err == nil {
		return ""
	}
	if route != nil {
		t.Error("a route with problems was returned")
	}
	var ps Problems
	if !errors.As(err, &ps) || len(ps) == 0 || !fault.Is(err, fault.Refused) {
		t.Fatalf("error %T is not Problems of the class Refused", err)
	}
	return ps.Error()
}

// TestGoodBase keeps the table below honest: what its rows start from is right.
func TestGoodBase(t *testing.T) {
	if got := problems(t, Source{Done: []byte(goodDone), Step: []byte(goodStep)}); got != "" {
		t.Errorf("%s", got)
	}
}

func TestBadDone(t *testing.T) {
	tests := []struct{ name, done, want string }{
		{"empty", "", "1: the file is empty; write it, or run `satelle init` for the shipped one"},
		{"blank", " \n\n", "1: the file is empty; write it, or run `satelle init` for the shipped one"},
		{"no front matter", "## *\n- raised\n", "1: the file does not begin with front matter; begin it with a line `---`, then `name: …`, then a line `---`"},
		{"open front matter", "---\nname: x\n", "1: the front matter does not end; close it with a line `---`"},
		{"no name, no type", "---\ndescription: d\n---\n## *\n- raised\n- closed\n", "1: the front matter has no `name`; add `name: …`\n1: the type is ``; write `type: workflow`"},
		{"another type", "---\nname: x\ntype: skill\n---\n## *\n- raised\n", "3: the type is `skill`; write `type: workflow`"},
		{"unknown front key", "---\nname: x\ntype: workflow\ndescripton: d\n---\n## *\n- raised\n", "4: unknown key `descripton` in the front matter; the nearest known key is `description`"},
		{"no key in front", "---\nname: x\ntype: workflow\nhello\n---\n## *\n- raised\n", "4: `hello` is no line of the front matter; write `key: value`"},
		{"no section", front + "text\n", "5: the file has no section; add a `## …` section"},
		{"no blank in heading", front + "##*\n- raised\n- coded\n- closed\n", "5: `##*` is no heading; put a blank after `##`, and a name"},
		{"bad category", front + "## Über\n- raised\n- closed\n", "5: `Über` is no category; use at most 64 of a-z, 0-9, _, - and :, and begin with a letter or digit, or write `## *`"},
		{"two sections", goodDone + "## *\n- raised\n", "11: the section `## *` is here twice, first in line 5; make one of the two"},
		{"owes nothing", goodDone + "## x\npark: blocked\n", "11: lane `x` owes nothing; add a line `- obligation` for what done means"},
		{"owes only by tag", goodDone + "## x\n+ t raised\n", "11: lane `x` owes nothing; add a line `- obligation` for what done means"},
		{"bad obligation", goodDone + "- Raised It\n", "11: `Raised It` is no obligation; " + nameMend},
		{"obligation twice", goodDone + "- coded\n", "11: the obligation `coded` is here twice, first in line 7; keep one of the two"},
		{"obligation twice, by tag", goodDone + "+ t coded\n", "11: the obligation `coded` is here twice, first in line 7; keep one of the two"},
		{"tag without obligation", goodDone + "+ ui\n", "11: `+ ui` names no obligation; write `+ tag obligation`"},
		{"bad tag", goodDone + "+ UI x\n", "11: `UI` is no tag; " + nameMend},
		{"nobody provides", goodDone + "- close\n", "11: lane `*` owes `close`, which no step provides; let a step of step.md provide it, or write `closed`"},
		{"park twice", goodDone + "park: b\n", "11: the key `park` is here twice, first in line 9; keep one of the two"},
		{"park by no skill", strings.Replace(goodDone, "park: blocked", "park: blocked review", 1), "9: `review` is no skill; write `park: state` or `park: state @skill`"},
		{"park at no state", strings.Replace(goodDone, "park: blocked", "park: @review", 1), "9: `@review` is no state; " + nameMend},
		{"park by a missing skill", strings.Replace(goodDone, "park: blocked", "park: blocked @structur", 1), "9: there is no skill `structur`; write .satelle/skills/structur.md, or take the name out; near is `structure`"},
		{"park is cancel", strings.Replace(goodDone, "park: blocked", "park: cancelled", 1), "10: `cancelled` is where the lane parks and where it cancels; give one of the two another name"},
		{"park has no value", strings.Replace(goodDone, "park: blocked", "park:", 1), "9: the key `park` has no value; give it one, or delete the line"},
		{"advisor twice", goodDone + "advisor: a, b\nadvisor: a\n", "12: `advisor` lists `a` twice; keep one of the two"},
		{"step key", goodDone + "reviewers: r\n", "11: unknown key `reviewers` in a lane; it belongs to a `## <state>` section of .satelle/workflows/step.md"},
		{"prose in a lane", goodDone + "Some text.\n", "11: `Some text.` is no line of a lane; write `- obligation`, `+ tag obligation`, `park: state`, `cancel: state` or `advisor: name`, and begin a remark with `>`"},
		{"lost key", front + "park: blocked\n" + goodDone[len(front):], "5: `park:` stands before the first section; move it under its `## …` heading"},
		{"one step", front + "## *\n- raised\n", "5: lane `*` would be done when it begins; let it owe what at least two steps provide"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := Source{Done: []byte(tt.done), Step: []byte(goodStep)}
			if tt.name == "one step" {
				src.Step = []byte(front + "## backlog\nprovides: raised\n")
			}
			want := DonePath + ":" + strings.ReplaceAll(tt.want, "\n", "\n"+DonePath+":")
			if got := problems(t, src); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestBadStep(t *testing.T) {
	const belongs = "set it at the binding in .satelle/workflows/agents.toml: the route says who, agents.toml says how"
	tests := []struct{ name, step, want string }{
		{"empty", "", "1: the file is empty; write it, or run `satelle init` for the shipped one"},
		{"on_enter", goodStep + "on_enter: x\n", "14: unknown key `on_enter` in a state; no step fires an agent at itself: allocate the step with `agent: <name>`, or name an `advisor:` in done.md"},
		{"model", goodStep + "model: x\n", "14: unknown key `model` in a state; " + belongs},
		{"tools", goodStep + "tools: x\n", "14: unknown key `tools` in a state; " + belongs},
		{"model of a gate", goodStep + "## gate structure\nmodel: x\n", "15: unknown key `model` in a gate; " + belongs},
		{"misspelt", goodStep + "reviewer: x\n", "14: unknown key `reviewer` in a state; the nearest known key is `reviewers`"},
		{"key of a gate", goodStep + "mandatory: true\n", "14: unknown key `mandatory` in a state; it belongs to a `## gate <skill>` section of .satelle/workflows/step.md"},
		{"key of a lane", goodStep + "park: x\n", "14: unknown key `park` in a state; it belongs to a `## <category>` section of .satelle/workflows/done.md"},
		{"key of nothing", goodStep + "## gate structure\nfrobnicate: x\n", "15: unknown key `frobnicate` in a gate; delete it; known are `agent`, `on`, `for` and `mandatory`"},
		{"no key", goodStep + "- closed\n", "14: `- closed` is no line of a state; write `key: value`, and begin a remark with `>`"},
		{"key twice", goodStep + "requires: coded\n", "14: the key `requires` is here twice, first in line 13; keep one of the two"},
		{"bad state", goodStep + "## In Progress\nprovides: x\n", "14: `In Progress` is no state; " + nameMend},
		{"gate of nothing", goodStep + "## gate\n", "14: `## gate` names no skill; write `## gate skill`; " + nameMend},
		{"gate twice", goodStep + "## gate structure\n## gate  structure\n", "15: the section `## gate structure` is here twice, first in line 14; make one of the two"},
		{"state twice", goodStep + "## done\nprovides: z\n", "14: the section `## done` is here twice, first in line 11; make one of the two"},
		{"provides nothing", goodStep + "## x\nagent: executor\n", "14: the step `x` provides nothing, so no lane can need it; add `provides: obligation`, or delete the section"},
		{"nobody needs it", goodStep + "## x\nprovides: reviewed\n", "14: no lane needs `x`; add one of its obligations (reviewed) to a lane of done.md, or delete the section"},
		{"two provide", goodStep + "## x\nprovides: coded\n", "15: the steps `in_progress` and `x` both provide `coded`; let one of them provide it"},
		{"requires what nobody provides", strings.Replace(goodStep, "requires: coded", "requires: codded", 1), "13: the step `done` requires `codded`, which no step provides; let a step of step.md provide it, or write `coded`"},
		{"circle", strings.Replace(goodStep, "provides: raised", "provides: raised\nrequires: closed", 1), "11: steps require each other in a circle: `backlog` → `done` → `in_progress` → `backlog`; take `raised` out of `requires`, or another of the circle"},
		{"requires itself", strings.Replace(goodStep, "requires: coded", "requires: closed", 1), "13: steps require each other in a circle: `done` → `done`; take `closed` out of `requires`, or another of the circle"},
		{"bad parallel", goodStep + "parallel: -1\n", "14: `-1` is no value of `parallel`; write a whole number from 0 to 100"},
		{"parallel is no number", goodStep + "parallel: two\n", "14: `two` is no value of `parallel`; write a whole number from 0 to 100"},
		{"parallel is no whole number", goodStep + "parallel: 1.5\n", "14: `1.5` is no value of `parallel`; write a whole number from 0 to 100"},
		{"bad intent", goodStep + "agent: executor\nintent: play\n", "15: `play` is no value of `intent`; write `work`, `act-pr` or `review`"},
		{"intent of nobody", goodStep + "intent: work\n", "14: nobody performs `done`, so it has no intent; add `agent: …`, or delete the line"},
		{"bad agent", goodStep + "agent: My Agent\n", "14: `My Agent` is no name for `agent`; " + nameMend},
		{"executor judges", goodStep + "reviewer_agent: executor\n", "14: the executor does the work, so it cannot judge it; name a binding with `role = \"reviewer\"`, or delete the line"},
		{"executor gates", goodStep + "## gate structure\nagent: executor\n", "15: the executor does the work, so it cannot judge it; name a binding with `role = \"reviewer\"`, or delete the line"},
		{"empty item", goodStep + "reviewers: structure,,human\n", "14: `reviewers` has an empty item; take the extra comma out"},
		{"item twice", goodStep + "reviewers: human, human\n", "14: `reviewers` lists `human` twice; keep one of the two"},
		{"missing reviewer", goodStep + "reviewers: plan-review\n", "14: there is no skill `plan-review`; write .satelle/skills/plan-review.md, or take the name out"},
		{"missing rubric", goodStep + "agent: executor\nskills: coed\n", "15: there is no skill `coed`; write .satelle/skills/coed.md, or take the name out; near is `code`"},
		{"missing gate", goodStep + "## gate step-summary\n", "14: there is no skill `step-summary`; write .satelle/skills/step-summary.md, or take the name out"},
		{"check as rubric", goodStep + "agent: executor\nskills: lint\n", "15: `lint` is a check, which judges; `skills` are rubrics for the performer; move it to `reviewers`"},
		{"builtin as rubric", goodStep + "agent: executor\nskills: human\n", "15: `human` is a builtin, which judges; `skills` are rubrics for the performer; move it to `reviewers`"},
		{"mandatory is no flag", goodStep + "## gate structure\nmandatory: yes\n", "15: `yes` is no value of `mandatory`; write `true` or `false`"},
		{"gate for no lane", goodStep + "## gate structure\nfor: docs, *\n", "15: done.md has no lane `docs`; known are `*`"},
		{"gate on no state", goodStep + "## gate structure\non: done, review\n", "15: the gate `structure` never stands on `review`: no lane of it has that state behind its first step; name a state that the lanes have; creating a story has no gate, and a park state takes `park: state @skill`"},
		{"gate on creation", goodStep + "## gate structure\non: done, backlog\n", "15: the gate `structure` never stands on `backlog`: no lane of it has that state behind its first step; name a state that the lanes have; creating a story has no gate, and a park state takes `park: state @skill`"},
		{"gate and reviewer", goodStep + "reviewers: human\n## gate human\n", "14: `human` judges entry to `done` twice, as reviewer and as gate; take it out of `reviewers`"},
		{"park is a step", goodStep + "## blocked\nprovides: coded2\n", "14: `blocked` is a step and, in .satelle/workflows/done.md:9, the state of `park`; give one of the two another name"},
		{"cancel is a step", goodStep + "## cancelled\nprovides: coded2\n", "14: `cancelled` is a step and, in .satelle/workflows/done.md:10, the state of `cancel`; give one of the two another name"},
		{"agent at creation", strings.Replace(goodStep, "provides: raised", "provides: raised\nagent: executor", 1), "7: `backlog` is the first step of lane `*` and has an agent, but creating a story starts no work; delete the line, or let another step come first"},
		{"reviewers at creation", strings.Replace(goodStep, "provides: raised", "provides: raised\nreviewers: human", 1), "7: `backlog` is the first step of lane `*` and has reviewers, but creating a story has no gate; let them judge entry to the next step"},
	}
	skills := map[string][]byte{"code": rubric("code"), "lint": check("lint")}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := StepPath + ":" + tt.want
			if got := problems(t, Source{Done: []byte(goodDone), Step: []byte(tt.step), Skills: skills}); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// What is no text of bounded size gets one sentence, whichever file it is.
func TestBadBytes(t *testing.T) {
	tests := []struct{ name, data, want string }{
		{"huge", strings.Repeat("x\n", maxFile), "1: the file has 2097152 bytes; keep it under 1048576"},
		{"long line", front + strings.Repeat("x", maxLine+1), "5: the line has 65537 bytes; keep it under 65536"},
		{"binary", front + "a\x00b", "5: the line holds the control character U+0000; take it out"},
		{"escape", front + "a\x1b[2Jb", "5: the line holds the control character U+001B; take it out"},
		{"bare return", front + "a\rb", "5: the line holds the control character U+000D; take it out"},
		{"reversed", front + "a\u202eb", "5: the line holds the control character U+202E; take it out"},
		{"no UTF-8", front + "\n\xff\xfe\n", "6: the line is not valid UTF-8; save the file as UTF-8 text"},
	}
	for _, tt := range tests {
		data := []byte(tt.data)
		for file, src := range map[string]Source{
			DonePath:       {Done: data, Step: []byte(goodStep)},
			StepPath:       {Done: []byte(goodDone), Step: data},
			SkillPath("s"): {Done: []byte(goodDone), Step: []byte(goodStep), Skills: map[string][]byte{"s": data}},
		} {
			if got, want := problems(t, src), file+":"+tt.want; got != want {
				t.Errorf("%s:\n%s\nwant:\n%s", tt.name, got, want)
			}
		}
	}
}

// All problems are told at once, in order, of all files; but not without end.
func TestProblemsAtOnce(t *testing.T) {
	got := problems(t, Source{
		Done:   []byte(front + "## *\nfoo: 1\n- raised\nbar: 2\n"),
		Step:   []byte(front + "## a\nmodel: 1\nprovides: x\n"),
		Skills: map[string][]byte{"s": []byte("---\nname: t\n---\nx\n"), "human": rubric("human"), "Bad Name": rubric("x")},
	})
	var at []string
	for line := range strings.Lines(got) {
		at = append(at, strings.Join(strings.SplitN(line, ":", 3)[:2], ":"))
	}
	want := "[.satelle/skills/Bad Name.md:1 .satelle/skills/human.md:1 .satelle/skills/s.md:2 .satelle/workflows/done.md:6 .satelle/workflows/done.md:7 .satelle/workflows/done.md:8 .satelle/workflows/step.md:6]"
	if fmt.Sprint(at) != want {
		t.Errorf("got %v\nwant %s\n%s", at, want, got)
	}
	endless := problems(t, Source{Done: []byte(front + "## *\n" + strings.Repeat("bad\n", 10_000)), Step: []byte(goodStep)})
	if n := strings.Count(endless, "\n") + 1; n > maxProblems {
		t.Errorf("%d problems are told", n)
	}
	if !strings.Contains(endless, "there are more problems than are told here") {
		t.Error("nobody says that there is more")
	}
}

func TestNothing(t *testing.T) {
	const want = ":1: the file is not there; write it, or run `satelle init` for the shipped one"
	if got := problems(t, Source{}); got != DonePath+want+"\n"+StepPath+want {
		t.Errorf("%s", got)
	}
}

func TestBounds(t *testing.T) {
	var b strings.Builder
	b.WriteString(goodStep)
	for i := range maxSections {
		fmt.Fprintf(&b, "## s%d\nprovides: p%d\n", i, i)
	}
	if got := problems(t, Source{Done: []byte(goodDone), Step: []byte(b.String())}); !strings.Contains(got, "there are more than 200 sections; split the route") {
		t.Errorf("%s", got)
	}
	items := strings.Repeat("x, ", maxItems) + "y"
	if got := problems(t, Source{Done: []byte(goodDone), Step: []byte(goodStep + "reviewers: " + items + "\n")}); got != StepPath+":14: `reviewers` lists 101 items; keep it at 100" {
		t.Errorf("%s", got)
	}
	skills := map[string][]byte{}
	for _, name := range []string{"a1", "a2", "a3", "a4", "a5"} {
		skills[name] = append(rubric(name), strings.Repeat(strings.Repeat("\"", 1023)+"\n", maxFile/1024-1)...)
	}
	src := Source{Done: []byte(goodDone), Step: []byte(goodStep + "reviewers: a1, a2, a3\n"), Skills: skills}
	if lane := mustLane(t, mustParse(t, src), "x"); len(Encode(lane)) > maxPinned {
		t.Errorf("a lane takes %d bytes", len(Encode(lane)))
	}
	src.Step = []byte(goodStep + "reviewers: a1, a2, a3, a4, a5\n")
	if got := problems(t, src); !strings.HasPrefix(got, DonePath+":5: the skills of lane `*` have 5") {
		t.Errorf("%s", got)
	}
	long := strings.Repeat("n", maxName+1)
	if got := problems(t, Source{Done: []byte(goodDone), Step: []byte(goodStep + "agent: " + long + "\n")}); !strings.Contains(got, "is no name for `agent`") {
		t.Errorf("%s", got)
	}
}
