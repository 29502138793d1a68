package route

import (
	"fmt"
	"strings"
)

// stepDef is a `## <state>` section of step.md.
type stepDef struct {
	*fields
	Step
}

// gateDef is a `## gate <skill>` section of step.md.
type gateDef struct {
	*fields
	Gate
	on, lanes []string // nil is every one
}

// maxParallel bounds `parallel:`; no list is longer.
const maxParallel = maxItems

// parseStep reads step.md and reports whether it could be read at all.
func (route *Route) parseStep(r *report, data []byte) bool {
	sections, ok := workflowFile(r, StepPath, data)
	for _, s := range sections {
		first, rest, two := strings.Cut(s.title, " ")
		if first == "gate" {
			route.parseGate(r, s, rest)
			continue
		}
		f := newFields(r, StepPath, s.line, inState)
		if two || !validName(s.title) {
			f.problem(s.line, fmt.Sprintf("`%s` is no state", clip(s.title)), nameMend)
		}
		for _, l := range s.lines {
			f.take(l)
		}
		step := Step{
			Name:          s.title,
			Agent:         f.name("agent"),
			Skills:        f.names("skills"),
			Reviewers:     f.names("reviewers"),
			ReviewerAgent: f.judge("reviewer_agent"),
			Parallel:      f.number("parallel", 0, maxParallel),
			Provides:      f.names("provides"),
			Requires:      f.names("requires"),
		}
		step.Intent = f.oneOf("intent", defaultIntent(step), "work", "act-pr", "review")
		if f.has("intent") && step.Agent == "" {
			f.problem(f.at("intent"), fmt.Sprintf("nobody performs `%s`, so it has no intent", clip(s.title)), "add `agent: …`, or delete the line")
		}
		if len(step.Provides) == 0 && !f.has("provides") {
			f.problem(s.line, fmt.Sprintf("the step `%s` provides nothing, so no lane can need it", clip(s.title)), "add `provides: obligation`, or delete the section")
		}
		route.steps = append(route.steps, &stepDef{f, step})
	}
	return ok
}

// defaultIntent is what a step without `intent:` is there for.
func defaultIntent(s Step) string {
	switch {
	case s.Performing():
		return "work"
	case s.Agent == AgentReviewer:
		return "review"
	}
	return ""
}

func (route *Route) parseGate(r *report, s section, skill string) {
	f := newFields(r, StepPath, s.line, inGate)
	if !validName(skill) {
		f.problem(s.line, fmt.Sprintf("`## %s` names no skill", clip(s.title)), "write `## gate skill`; "+nameMend)
	}
	for _, l := range s.lines {
		f.take(l)
	}
	route.gates = append(route.gates, &gateDef{
		fields: f,
		Gate:   Gate{Skill: skill, Agent: f.judge("agent"), Mandatory: f.flag("mandatory", true)},
		on:     f.names("on"),
		lanes:  f.list("for", func(s string) bool { return s == AnyCategory || validName(s) }),
	})
}

// judge reads the name of a binding that judges.
func (f *fields) judge(key string) string {
	name := f.name(key)
	if name == AgentExecutor {
		f.problem(f.at(key), "the executor does the work, so it cannot judge it", "name a binding with `role = \"reviewer\"`, or delete the line")
		return ""
	}
	return name
}
