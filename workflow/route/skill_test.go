package route

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// skillOf parses one skill, named s, from the lines of its front matter and its
// body.
func skillOf(t *testing.T, frontLines, body string) (Skill, string) {
	t.Helper()
	var r report
	s := parseSkill(&r, SkillPath("s"), "s", []byte("---\nname: s\n"+frontLines+"---\n"+body))
	if err := r.err(); err != nil {
		return s, strings.ReplaceAll(err.Error(), SkillPath("s")+":", "")
	}
	return s, ""
}

func TestSkillKinds(t *testing.T) {
	tests := []struct{ name, front, body, kind, check string }{
		{"rubric", "description: Judge it\n", "\n\nBe strict.\n", KindRubric, ""},
		{"check", "timeout: 90s\n", "Text.\n\n```check\nset -e\n\tgo test ./...\n```\n\nMore.\n", KindCheck, "set -e\n\tgo test ./...\n"},
		{"check of a type", "type: check\n", "```check\ntrue\n```\n", KindCheck, "true\n"},
		{"check with more info", "", "```check sh\ntrue\n```\n", KindCheck, "true\n"},
		{"check with a blank before", "", "``` check\ntrue\n```\n", KindCheck, "true\n"},
		{"check in a longer fence", "", "````check\ncat <<'E'\n```\nE\n````\n", KindCheck, "cat <<'E'\n```\nE\n"},
		{"check by tildes", "", "~~~check\ntrue\n~~~\n", KindCheck, "true\n"},
		{"check in a list", "", "1. Run\n\n   ```check\n   true\n     false\n   ```\n", KindCheck, "true\n  false\n"},
		{"other blocks", "type: rubric\n", "```sh\ntrue\n```\n", KindRubric, ""},
		{"an example of a check", "", "Write:\n\n````markdown\n```check\ntrue\n```\n````\n", KindRubric, ""},
		{"a check after an example", "", "~~~\n```check\nfalse\n```\n~~~\n```check\ntrue\n```\n", KindCheck, "true\n"},
		{"code in a line", "", "Say ```check``` for a check.\n", KindRubric, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, problems := skillOf(t, tt.front, tt.body)
			if problems != "" {
				t.Fatal(problems)
			}
			if s.Kind != tt.kind || tt.kind == KindCheck && s.Check != tt.check {
				t.Errorf("%s %q, want %s %q", s.Kind, s.Check, tt.kind, tt.check)
			}
			if want := strings.Trim(tt.body, "\n") + "\n"; s.Body != want {
				t.Errorf("body %q", s.Body)
			}
		})
	}
}

func TestSkillKeys(t *testing.T) {
	s, problems := skillOf(t, `description: 'Plan it'
output_name: plan
output_type: document
output_required: true
output_schema: body
output_ac_coverage: true
attempt_repair_max: 1
attempt_escalate_max: 2
attempt_max_total: 3
attempt_token_budget: 12000
attempt_time_budget: 8m
attempt_on_exhaust: fail
attempt_initial_effort: low
attempt_repair_effort: medium
attempt_escalate_effort: high
attempt_escalate_binding: stronger-planner
`, "Plan.\n")
	want := Skill{
		Name: "s", Kind: KindRubric, Description: "Plan it", Body: "Plan.\n",
		Output: OutputContract{Name: "plan", Type: "document", Required: true, Schema: "body", ACCoverage: true},
		Attempt: AttemptPolicy{
			RepairMax: 1, EscalateMax: 2, MaxTotal: 3, TokenBudget: 12000, TimeBudget: 8 * time.Minute, OnExhaust: "fail",
			InitialEffort: "low", RepairEffort: "medium", EscalateEffort: "high", EscalateBinding: "stronger-planner",
		},
		Digest: s.Digest,
	}
	if problems != "" || !reflect.DeepEqual(s, want) {
		t.Errorf("%s\ngot  %+v\nwant %+v", problems, s, want)
	}
}

// What a contract and a policy mean where keys are not given.
func TestSkillDefaults(t *testing.T) {
	tests := []struct {
		front   string
		output  OutputContract
		attempt AttemptPolicy
	}{
		{"", OutputContract{}, AttemptPolicy{}},
		{"output_name: plan\n", OutputContract{Name: "plan", Type: "plan", Schema: "body"}, AttemptPolicy{OnExhaust: "fail"}},
		{
			"output_name: plan\nattempt_repair_max: 2\n",
			OutputContract{Name: "plan", Type: "plan", Schema: "body"},
			AttemptPolicy{RepairMax: 2, OnExhaust: "fail"},
		},
		{
			"output_name: plan\nattempt_repair_max: 5\nattempt_escalate_max: 5\nattempt_max_total: 3\n",
			OutputContract{Name: "plan", Type: "plan", Schema: "body"},
			AttemptPolicy{RepairMax: 5, EscalateMax: 5, MaxTotal: 3, OnExhaust: "fail"},
		},
	}
	for _, tt := range tests {
		s, problems := skillOf(t, tt.front, "x\n")
		if problems != "" || s.Output != tt.output || s.Attempt != tt.attempt {
			t.Errorf("%q: %s\n%+v %+v", tt.front, problems, s.Output, s.Attempt)
		}
	}
}

// Each attempt_* key stands by itself.
func TestSkillAttemptKeysAlone(t *testing.T) {
	values := map[string]string{
		"attempt_repair_max": "1", "attempt_escalate_max": "1", "attempt_max_total": "1", "attempt_token_budget": "1",
		"attempt_time_budget": "1s", "attempt_on_exhaust": "fail", "attempt_initial_effort": "low", "attempt_repair_effort": "low",
		"attempt_escalate_effort": "low", "attempt_escalate_binding": "b",
	}
	for _, key := range placeKeys[inSkill] {
		if !strings.HasPrefix(key, "attempt_") {
			continue
		}
		if _, problems := skillOf(t, "output_name: x\n"+key+": "+values[key]+"\n", "x\n"); problems != "" {
			t.Errorf("%s", problems)
		}
		if _, problems := skillOf(t, key+": "+values[key]+"\n", "x\n"); problems != "3: `"+key+"` stands without an output contract; add `output_name: …`, the document that the attempts are at" {
			t.Errorf("%s", problems)
		}
	}
}

func TestBadSkills(t *testing.T) {
	const block = "```check\ntrue\n```\n"
	tests := []struct{ name, front, body, want string }{
		{"unknown output key", "output_name: x\noutput_nme: y\n", "x\n", "4: unknown key `output_nme` in the front matter; the nearest known key is `output_name`"},
		{"model", "model: opus\n", "x\n", "3: unknown key `model` in the front matter; set it at the binding in .satelle/workflows/agents.toml: the route says who, agents.toml says how"},
		{"key of a state", "reviewers: x\n", "x\n", "3: unknown key `reviewers` in the front matter; it belongs to a `## <state>` section of .satelle/workflows/step.md"},
		{"output without name", "output_required: true\n", "x\n", "3: `output_required` stands without `output_name`; add `output_name: …`, the name of the document"},
		{"other schema", "output_name: x\noutput_schema: json\n", "x\n", "4: `json` is no value of `output_schema`; write `body`"},
		{"no flag", "output_name: x\noutput_ac_coverage: 1\n", "x\n", "4: `1` is no value of `output_ac_coverage`; write `true` or `false`"},
		{"other exhaustion", "output_name: x\nattempt_on_exhaust: attach\n", "x\n", "4: `attach` is no value of `attempt_on_exhaust`; write `fail`"},
		{"bad budget", "output_name: x\nattempt_time_budget: soon\n", "x\n", "4: `soon` is no value of `attempt_time_budget`; write a time such as 90s, 8m or 1h30m, more than 0 and at most 24h"},
		{"no total", "output_name: x\nattempt_max_total: 0\n", "x\n", "4: `0` is no value of `attempt_max_total`; write a whole number from 1 to 300"},
		{"negative repairs", "output_name: x\nattempt_repair_max: -1\n", "x\n", "4: `-1` is no value of `attempt_repair_max`; write a whole number from 0 to 100"},
		{"no timeout", "timeout: 0s\n", block, "3: `0s` is no value of `timeout`; write a time such as 90s, 8m or 1h30m, more than 0 and at most 24h"},
		{"timeout of a rubric", "timeout: 10m\n", "x\n", "3: only a check has a `timeout` of its own; set it at the binding in .satelle/workflows/agents.toml: the route says who, agents.toml says how"},
		{"a check hands back", "output_name: x\n", block, "3: a check hands nothing back; take the `output_…` keys out"},
		{"two checks", "", block + block, "7: there is a second ```check block, the first is in line 4; make one of the two"},
		{"open check", "", "x\n```check\ntrue\n", "5: the fenced block does not end; close it with a line ```"},
		{"open block before a check", "", "````sh\n" + block, "4: the fenced block does not end; close it with a line ````"},
		{"empty check", "", "```check\n\n# later\n```\n", "4: the ```check block does nothing, so it would accept everything; write a command whose exit code judges"},
		{"another case", "", "```Check\ntrue\n```\n", "4: the block is marked `Check`; write ```check"},
		{"indented check", "", "x\n\n    ```check\n    true\n    ```\n", "6: the ```check block is indented, so it is none; begin the line with ```check"},
		{"check that is none", "type: check\n", "x\n", "3: the skill is a check and has no ```check block; add the block, or write `type: rubric`"},
		{"rubric that is a check", "type: rubric\n", block, "3: the skill is a rubric and has a ```check block; write `type: check`, or take the block out"},
		{"unknown type", "type: gate\n", "x\n", "3: `gate` is no value of `type`; write `skill`, `check` or `rubric`"},
		{"says nothing", "", " \n", "1: the skill says nothing; write the rubric, or a ```check block"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := skillOf(t, tt.front, tt.body); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

// A digest changes with what is run or judged by and with nothing else.
func TestSkillDigest(t *testing.T) {
	of := func(front, body string) string {
		s, problems := skillOf(t, front, body)
		if problems != "" {
			t.Fatal(problems)
		}
		return s.Digest
	}
	script := of("", "```check\ntrue\n```\n")
	if of("description: d\ntimeout: 1m\n", "Other text.\n\n```check\ntrue\n```\n") != script {
		t.Error("a check is trusted by its script; the text around it runs nothing")
	}
	if of("", "```check\ntrue \n```\n") == script {
		t.Error("the script changed and the digest did not")
	}
	judge := of("", "Judge.\n")
	if of("description: d\n", "Judge.\r\n") != judge {
		t.Error("neither a description nor line ends are judged by")
	}
	if of("", "Judge!\n") == judge || of("output_name: x\n", "Judge.\n") == judge || of("", "true\n") == script {
		t.Error("another rubric, the same digest")
	}
}
