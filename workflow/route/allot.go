package route

import (
	"fmt"
	"slices"
)

// Holder is what the route has to know of a binding that it names.
type Holder struct {
	InLoop   bool // the driving session does the work itself
	Reviewer bool // it judges and performs nothing
}

// Allot holds the agents that step.md names against the bindings that there
// are, by name. wrong is what refuses a transition; notes is what is safe to run
// and easily regretted. Both name file and line. (Seed 001, "Gate binding by
// agent name" and "What makes a step safe to dispatch".)
func (r *Route) Allot(holders map[string]Holder) (wrong, notes Problems) {
	var bad, doubtful report
	for _, s := range r.steps {
		r.allotStep(&bad, &doubtful, s, holders)
		judges(&bad, s.fields, "reviewer_agent", s.ReviewerAgent, holders)
	}
	for _, g := range r.gates {
		judges(&bad, g.fields, "agent", g.Agent, holders)
	}
	return bad.sorted(), doubtful.sorted()
}

func (r *Route) allotStep(bad, doubtful *report, s *stepDef, holders map[string]Holder) {
	if s.Agent == "" || s.Agent == AgentExecutor || s.Agent == AgentReviewer {
		return
	}
	at := s.at("agent")
	h, known := holders[s.Agent]
	switch {
	case !known:
		bad.add(s.file, at, fmt.Sprintf("agents.toml has no [%s], which performs `%s`", s.Agent, s.Name), "write that table, or name another agent")
		return
	case h.Reviewer:
		bad.add(s.file, at, fmt.Sprintf("[%s] reviews and performs nothing, so it can't perform `%s`", s.Agent, s.Name), "name a binding with `role = \"agent\"`")
		return
	case h.InLoop:
		return
	}
	for _, name := range s.Skills {
		to := r.skills[name].Attempt.EscalateBinding
		if to == "" {
			continue
		}
		switch h, known := holders[to]; {
		case !known:
			bad.add(s.file, s.at("skills"), fmt.Sprintf("agents.toml has no [%s], to which the skill `%s` escalates", to, name), "write that table, or take `attempt_escalate_binding` out of the skill")
		case h.Reviewer || h.InLoop:
			bad.add(s.file, s.at("skills"), fmt.Sprintf("the skill `%s` escalates to [%s], which is not dispatched", name, to), "name a binding with `role = \"agent\"` and a command of its own")
		}
	}
	if len(s.Skills) == 0 {
		doubtful.add(s.file, s.line, fmt.Sprintf("`%s` is dispatched to [%s] without `skills`, so its agent gets the charter and the story, and no instructions", s.Name, s.Agent), "name a rubric in `skills: …`")
	}
	for _, lane := range r.exits(s.Name) {
		doubtful.add(s.file, s.line, fmt.Sprintf("`%s` is dispatched to [%s], and no gate judges what it did when lane `%s` leaves it", s.Name, s.Agent, lane), "give the next step `reviewers: …`")
	}
}

// exits are the lanes in which no gate stands behind a state.
func (r *Route) exits(state string) []string {
	var open []string
	for _, def := range r.lanes {
		for _, tags := range def.tagSets() {
			steps := r.derive(def, tags).Steps
			i := slices.IndexFunc(steps, func(s Step) bool { return s.Name == state })
			if i < 0 || slices.Contains(open, def.category) {
				continue
			}
			if i+1 == len(steps) || len(steps[i+1].Reviewers) == 0 && !slices.ContainsFunc(steps[i+1].Gates, func(g Gate) bool { return g.Mandatory }) {
				open = append(open, def.category)
			}
		}
	}
	return open
}

// judges reports a gate whose binding can't judge. [reviewer] is always there.
func judges(bad *report, f *fields, key, name string, holders map[string]Holder) {
	if name == "" || name == AgentReviewer {
		return
	}
	switch h, known := holders[name]; {
	case !known:
		bad.add(f.file, f.at(key), fmt.Sprintf("agents.toml has no [%s], which is to judge", name), "write that table, or delete the line: then [reviewer] judges")
	case !h.Reviewer:
		bad.add(f.file, f.at(key), fmt.Sprintf("[%s] is to judge, but its role is no reviewer's", name), "name a binding with `role = \"reviewer\"`, or delete the line")
	}
}
