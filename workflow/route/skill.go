package route

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The kinds of skills.
const (
	KindBuiltin = "builtin" // judged by satelle itself
	KindCheck   = "check"   // a script whose exit code judges
	KindRubric  = "rubric"  // instructions for an agent that performs or judges
)

// The skills that need no file. A file of the same name is a problem.
const (
	Structure = "structure"  // the story has a goal and at least one acceptance criterion
	DoneCheck = "done-check" // the repository's own check, `[checks] done`, accepts
	ProseOnly = "prose-only" // nothing but prose has changed
	Children  = "children"   // every child of the story is resolved
	Human     = "human"      // a person approves, with a signature where the project names approvers
)

var builtins = map[string]string{
	Structure: "the story has a goal and at least one acceptance criterion",
	DoneCheck: "the repository's own check accepts",
	ProseOnly: "nothing but prose has changed",
	Children:  "every child is resolved",
	Human:     "a person approves",
}

// Builtins are the names of the skills that need no file, sorted.
func Builtins() []string { return slices.Sorted(maps.Keys(builtins)) }

// Skill is what performs or judges, with all that a run of it needs.
type Skill struct {
	Name        string `json:"name"`
	Kind        string `json:"kind"`
	Description string `json:"description,omitempty"`
	// Check is the script of a check: the text of its ```check block.
	Check string `json:"check,omitempty"`
	// Body is the text after the front matter, of checks and rubrics.
	Body    string        `json:"body,omitempty"`
	Timeout time.Duration `json:"timeout_ns,omitempty"` // of a check; 0: the engine's default
	// Watch are globs of the files that a check, or a reviewer that is a program of
	// one's own, rests on, as `[checks] watch` names them: where a change touches one,
	// who rests on it does not suffice.
	Watch   []string       `json:"watch,omitempty"`
	Output  OutputContract `json:"output,omitzero"`
	Attempt AttemptPolicy  `json:"attempt,omitzero"`
	// Digest is the SHA-256, in hex, of what is run or judged by: the script of a
	// check; the body and the contract of a rubric. A person trusts a check by it.
	Digest string `json:"digest"`
}

// OutputContract is what a dispatched step has to hand back; the zero value asks
// for nothing.
type OutputContract struct {
	Name       string `json:"name"`
	Type       string `json:"type"`                  // the name, if the skill gives none
	Required   bool   `json:"required,omitempty"`    // refuse a result without the artifact
	Schema     string `json:"schema"`                // body: the artifact's body is not empty
	ACCoverage bool   `json:"ac_coverage,omitempty"` // its body covers every acceptance criterion
}

// AttemptPolicy bounds the attempts at an output contract; the zero value
// belongs to a skill without one.
type AttemptPolicy struct {
	RepairMax       int           `json:"repair_max,omitempty"`
	EscalateMax     int           `json:"escalate_max,omitempty"`
	MaxTotal        int           `json:"max_total"` // of all attempts, failovers included; 0 if not given
	TokenBudget     int64         `json:"token_budget,omitempty"`
	TimeBudget      time.Duration `json:"time_budget_ns,omitempty"`
	OnExhaust       string        `json:"on_exhaust"` // fail
	InitialEffort   string        `json:"initial_effort,omitempty"`
	RepairEffort    string        `json:"repair_effort,omitempty"`
	EscalateEffort  string        `json:"escalate_effort,omitempty"`
	EscalateBinding string        `json:"escalate_binding,omitempty"`
}

const (
	maxAttempts = 100
	maxTokens   = 1 << 40
)

// parseSkills reads all skills, named by the route or not.
func parseSkills(r *report, files map[string][]byte) map[string]Skill {
	skills := map[string]Skill{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := SkillPath(name)
		if !validName(name) {
			r.add(SkillPath(clip(name)), 1, fmt.Sprintf("`%s` is no name of a skill", clip(name)), nameMend)
			continue
		}
		if _, ours := builtins[name]; ours {
			r.add(file, 1, fmt.Sprintf("`%s` is built in, and a file cannot stand for it", name), "give the file another name")
			continue
		}
		skills[name] = parseSkill(r, file, name, files[name])
	}
	return skills
}

// parseSkill reads one skill. What it returns is whole only if it reported
// nothing.
func parseSkill(r *report, file, name string, data []byte) Skill {
	skill := Skill{Name: name, Kind: KindRubric}
	lines, ok := split(r, file, data)
	if !ok {
		return skill
	}
	f, rest, ok := frontMatter(r, file, lines, inSkill)
	if !ok {
		return skill
	}
	if given := f.text("name"); given != name {
		f.problem(f.at("name"), fmt.Sprintf("the skill is named `%s` and its file `%s.md`", clip(given), name), fmt.Sprintf("write `name: %s`", name))
	}
	skill.Description = f.text("description")
	skill.Timeout = f.duration("timeout")
	skill.Output = f.output()
	skill.Attempt = f.attempt(skill.Output)

	body := make([]string, len(rest))
	for i, l := range rest {
		body[i] = l.text
	}
	skill.Body = strings.Trim(strings.Join(body, "\n"), "\n") + "\n"
	check, at := checkBlock(r, file, rest)
	if at > 0 {
		skill.Kind, skill.Check = KindCheck, check
	}
	f.agrees(skill)
	skill.Digest = digest(skill)
	return skill
}

// agrees reports where the front matter does not fit what the skill is.
func (f *fields) agrees(s Skill) {
	switch kind := f.oneOf("type", "", "skill", KindCheck, KindRubric); {
	case kind == KindCheck && s.Kind != KindCheck:
		f.problem(f.at("type"), "the skill is a check and has no ```check block", "add the block, or write `type: rubric`")
	case kind == KindRubric && s.Kind != KindRubric:
		f.problem(f.at("type"), "the skill is a rubric and has a ```check block", "write `type: check`, or take the block out")
	}
	if s.Kind == KindRubric {
		if f.has("timeout") {
			f.problem(f.at("timeout"), "only a check has a `timeout` of its own", keyMend(inState, "timeout"))
		}
		if strings.TrimSpace(s.Body) == "" {
			f.problem(f.line, "the skill says nothing", "write the rubric, or a ```check block")
		}
	}
	if s.Kind == KindCheck && s.Output != (OutputContract{}) {
		f.problem(f.at("output_name"), "a check hands nothing back", "take the `output_…` keys out")
	}
}

// checkBlock returns the text of the only ```check block and its line, 0 if
// there is none.
func checkBlock(r *report, file string, lines []line) (string, int) {
	var text []string
	var block fence
	at, begin := 0, 0
	inCheck := false
	for _, l := range lines {
		was := block
		held := block.holds(l.text)
		switch {
		case was.mark == 0 && held:
			begin, inCheck = l.no, false
			switch word, _, _ := strings.Cut(block.info, " "); {
			case word == KindCheck && at > 0:
				r.add(file, l.no, fmt.Sprintf("there is a second ```check block, the first is in line %d", at), "make one of the two")
			case word == KindCheck:
				at, inCheck = l.no, true
			case strings.EqualFold(word, KindCheck):
				r.add(file, l.no, fmt.Sprintf("the block is marked `%s`", clip(word)), "write ```check")
			}
		case was.mark != 0 && block.mark != 0 && inCheck:
			text = append(text, block.content(l.text))
		case !held && strings.HasPrefix(l.trimmed(), "```check"):
			r.add(file, l.no, "the ```check block is indented, so it is none", "begin the line with ```check")
		}
	}
	if block.mark != 0 {
		r.add(file, begin, "the fenced block does not end", "close it with a line "+strings.Repeat(string(block.mark), block.width))
	}
	if at > 0 && idle(text) {
		r.add(file, at, "the ```check block does nothing, so it would accept everything", "write a command whose exit code judges")
	}
	return strings.Join(text, "\n") + "\n", at
}

// idle reports a script of blank lines and comments.
func idle(script []string) bool {
	return !slices.ContainsFunc(script, func(s string) bool {
		s = strings.TrimSpace(s)
		return s != "" && !strings.HasPrefix(s, "#")
	})
}

// output reads the output_* keys.
func (f *fields) output() OutputContract {
	if key := f.first("output_"); key == "" {
		return OutputContract{}
	} else if !f.has("output_name") {
		f.problem(f.at(key), fmt.Sprintf("`%s` stands without `output_name`", key), "add `output_name: …`, the name of the document")
	}
	out := OutputContract{
		Name:       f.name("output_name"),
		Type:       f.name("output_type"),
		Required:   f.flag("output_required", false),
		Schema:     f.oneOf("output_schema", "body", "body"),
		ACCoverage: f.flag("output_ac_coverage", false),
	}
	if out.Type == "" {
		out.Type = out.Name
	}
	if strings.HasPrefix(out.Name, "summary-") || out.Type == "step-summary" {
		f.problem(f.at("output_name"), "step summaries are written by satelle alone", "give the document another name and type")
	}
	return out
}

// attempt reads the attempt_* keys.
func (f *fields) attempt(out OutputContract) AttemptPolicy {
	if key := f.first("attempt_"); key != "" && out == (OutputContract{}) {
		f.problem(f.at(key), fmt.Sprintf("`%s` stands without an output contract", key), "add `output_name: …`, the document that the attempts are at")
	}
	if out == (OutputContract{}) {
		return AttemptPolicy{}
	}
	number := func(key string, least, most, absent int) int {
		if n := f.number(key, least, most); n != nil {
			return *n
		}
		return absent
	}
	p := AttemptPolicy{
		RepairMax:       number("attempt_repair_max", 0, maxAttempts, 0),
		EscalateMax:     number("attempt_escalate_max", 0, maxAttempts, 0),
		TokenBudget:     int64(number("attempt_token_budget", 1, maxTokens, 0)),
		TimeBudget:      f.duration("attempt_time_budget"),
		OnExhaust:       f.oneOf("attempt_on_exhaust", "fail", "fail"),
		InitialEffort:   f.name("attempt_initial_effort"),
		RepairEffort:    f.name("attempt_repair_effort"),
		EscalateEffort:  f.name("attempt_escalate_effort"),
		EscalateBinding: f.name("attempt_escalate_binding"),
	}
	p.MaxTotal = number("attempt_max_total", 1, 3*maxAttempts, 0)
	return p
}

// first is the first key of the skill's list with this prefix that is there.
func (f *fields) first(prefix string) string {
	for _, key := range placeKeys[f.where] {
		if strings.HasPrefix(key, prefix) && f.has(key) {
			return key
		}
	}
	return ""
}

// skill finds a skill by name, built in or from a file.
func (route *Route) skill(name string) (Skill, bool) {
	if what, ok := builtins[name]; ok {
		s := Skill{Name: name, Kind: KindBuiltin, Description: what}
		s.Digest = digest(s)
		return s, true
	}
	s, ok := route.skills[name]
	return s, ok
}

// digest identifies what a skill runs or judges by, apart for each kind.
func digest(s Skill) string {
	text := s.Body
	switch s.Kind {
	case KindBuiltin:
		text = s.Name
	case KindCheck:
		text = s.Check
	}
	h := sha256.New()
	fmt.Fprintf(h, "satelle %s\n%d\n%s", s.Kind, len(text), text)
	if s.Kind == KindRubric {
		contract, err := json.Marshal(s.Output)
		if err != nil {
			panic(err) // strings and bools always marshal
		}
		h.Write(contract)
	}
	return hex.EncodeToString(h.Sum(nil))
}
