package route

import (
	"strings"
	"testing"
)

const allotDone = `---
name: done
type: workflow
description: d
---

## *
- raised
- designed
- coded
- closed
cancel: cancelled
`

func TestAllot(t *testing.T) {
	holders := map[string]Holder{
		"architect": {}, "judge": {Reviewer: true}, "executor": {InLoop: true}, "here": {InLoop: true}, "stronger": {},
	}
	skills := map[string][]byte{
		"rubric": []byte("---\nname: rubric\ndescription: d\n---\nJudge.\n"),
		"plan":   []byte("---\nname: plan\ndescription: d\noutput_name: plan\nattempt_escalate_max: 1\nattempt_escalate_binding: nobody\n---\nPlan.\n"),
		"raise":  []byte("---\nname: raise\ndescription: d\noutput_name: plan\nattempt_escalate_max: 1\nattempt_escalate_binding: judge\n---\nPlan.\n"),
	}
	tests := []struct {
		name, design, after, gate string
		wrong, note               string // "" for none
	}{
		{"sound", "agent: architect\nskills: rubric", "reviewers: rubric", "", "", ""},
		{"judged by a gate", "agent: architect\nskills: rubric", "", "## gate rubric\non: in_progress\nagent: judge\n", "", ""},
		{"judged by itself", "agent: here", "", "", "", ""},
		{"nobody", "agent: nobody\nskills: rubric", "reviewers: rubric", "", "step.md:10: agents.toml has no [nobody], which performs `design`", ""},
		{"a reviewer performs", "agent: judge\nskills: rubric", "reviewers: rubric", "", "step.md:10: [judge] reviews and performs nothing", ""},
		{"a performer judges", "agent: architect\nskills: rubric", "reviewers: rubric\nreviewer_agent: architect", "", "step.md:18: [architect] is to judge, but its role is no reviewer's", ""},
		{"nobody judges", "agent: architect\nskills: rubric", "reviewers: rubric\nreviewer_agent: nobody", "", "step.md:18: agents.toml has no [nobody], which is to judge", ""},
		{"the default judges", "agent: architect\nskills: rubric", "reviewers: rubric\nreviewer_agent: reviewer", "", "", ""},
		{"a performer at a gate", "agent: architect\nskills: rubric", "", "## gate rubric\non: in_progress\nagent: stronger\n", "[stronger] is to judge", ""},
		{"without skills", "agent: architect", "reviewers: rubric", "", "", "step.md:9: `design` is dispatched to [architect] without `skills`"},
		{"unjudged", "agent: architect\nskills: rubric", "", "", "", "step.md:9: `design` is dispatched to [architect], and no gate judges what it did when lane `*` leaves it"},
		{"judged by no mandatory gate", "agent: architect\nskills: rubric", "", "## gate rubric\non: in_progress\nmandatory: false\n", "", "no gate judges"},
		{"escalated to nobody", "agent: architect\nskills: plan", "reviewers: rubric", "", "agents.toml has no [nobody], to which the skill `plan` escalates", ""},
		{"escalated to a reviewer", "agent: architect\nskills: raise", "reviewers: rubric", "", "the skill `raise` escalates to [judge], which is not dispatched", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			step := "---\nname: step\ntype: workflow\ndescription: d\n---\n## backlog\nprovides: raised\n\n" +
				"## design\n" + tt.design + "\nprovides: designed\nrequires: raised\n\n" +
				"## in_progress\nagent: executor\n" + tt.after + "\nprovides: coded\nrequires: designed\n\n" +
				"## done\nreviewers: human\nprovides: closed\nrequires: coded\n\n" + tt.gate
			r, err := Parse(Source{Done: []byte(allotDone), Step: []byte(step), Skills: skills})
			if err != nil {
				t.Fatalf("%v\n%s", err, step)
			}
			wrong, notes := r.Allot(holders)
			says(t, "wrong", wrong, tt.wrong)
			says(t, "notes", notes, tt.note)
		})
	}
}

func says(t *testing.T, what string, got Problems, want string) {
	t.Helper()
	if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got.Error(), want)) {
		t.Errorf("%s: %v, want %q", what, got, want)
	}
}
