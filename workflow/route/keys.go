package route

import (
	"slices"

	"satelle/internal/nearest"
)

// place is a part of a file that has keys of its own.
type place int

const (
	inWorkflow place = iota // the front matter of done.md and step.md
	inSkill                 // the front matter of a skill
	inLane                  // a section of done.md
	inState                 // a `## <state>` section of step.md
	inGate                  // a `## gate <skill>` section of step.md
)

// placeKeys are the closed lists of keys.
var placeKeys = map[place][]string{
	inWorkflow: {"name", "type", "description"},
	inSkill: {
		"name", "type", "description", "timeout",
		"output_name", "output_type", "output_required", "output_schema", "output_ac_coverage",
		"attempt_repair_max", "attempt_escalate_max", "attempt_max_total",
		"attempt_token_budget", "attempt_time_budget", "attempt_on_exhaust",
		"attempt_initial_effort", "attempt_repair_effort", "attempt_escalate_effort", "attempt_escalate_binding",
	},
	inLane:  {"park", "cancel", "advisor"},
	inState: {"agent", "skills", "intent", "reviewers", "reviewer_agent", "parallel", "provides", "requires"},
	inGate:  {"agent", "on", "for", "mandatory"},
}

func (p place) what() string {
	return [...]string{"the front matter", "the front matter", "a lane", "a state", "a gate"}[p]
}

// form says which lines may stand there.
func (p place) form() string {
	if p == inLane {
		return "write `- obligation`, `+ tag obligation`, `park: state`, `cancel: state` or `advisor: name`, and begin a remark with `>`"
	}
	if p == inWorkflow || p == inSkill {
		return "write `key: value`"
	}
	return "write `key: value`, and begin a remark with `>`"
}

// bindingKeys are set in agents.toml, once for every step that the binding serves.
var bindingKeys = []string{
	"model", "tools", "effort", "command", "harness", "interface", "role", "env", "settings",
	"secondary", "principles", "inject_principles", "timeout", "worktree", "max_tokens",
}

// entryKeys are what others call the firing of an agent on entry to a state.
var entryKeys = []string{"on_enter", "on-enter", "onenter", "on_entry", "on_exit", "dispatch"}

// keyMend says where a key that is not known at a place belongs, or which key
// was meant.
func keyMend(at place, key string) string {
	switch {
	case slices.Contains(bindingKeys, key):
		return "set it at the binding in .satelle/workflows/agents.toml: the route says who, agents.toml says how"
	case slices.Contains(entryKeys, key):
		return "no step fires an agent at itself: allocate the step with `agent: <name>`, or name an `advisor:` in done.md"
	}
	if near := meant(key, placeKeys[at]); near != "" {
		return "the nearest known key is `" + near + "`"
	}
	for _, other := range []struct {
		place
		mend string
	}{
		{inLane, "it belongs to a `## <category>` section of .satelle/workflows/done.md"},
		{inState, "it belongs to a `## <state>` section of .satelle/workflows/step.md"},
		{inGate, "it belongs to a `## gate <skill>` section of .satelle/workflows/step.md"},
		{inSkill, "it belongs to the front matter of a skill"},
	} {
		if slices.Contains(placeKeys[other.place], key) {
			return other.mend
		}
	}
	return "delete it; known are " + join(placeKeys[at], "and")
}

// meant returns the known word that s was probably meant to be, or "".
func meant(s string, known []string) string {
	if word, edits := nearest.Word(s, known); edits <= min(3, len(s)/2) {
		return word
	}
	return ""
}
