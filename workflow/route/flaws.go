package route

import (
	"fmt"
	"slices"
)

// flaw is what is wrong with a lane as a whole: at a key of a step or, without a
// step, at a key of the lane.
type flaw struct {
	step, key  string
	what, mend string
}

// use is one naming of a skill by a lane.
type use struct {
	step, key, skill string
	performs         bool // by who does the work; else to judge
}

// uses are all skills that the lane names, in order.
func (l Lane) uses() []use {
	var all []use
	for _, s := range l.Steps {
		for _, g := range s.Gates {
			all = append(all, use{s.Name, "", g.Skill, false})
		}
		for _, name := range s.Reviewers {
			all = append(all, use{s.Name, "reviewers", name, false})
		}
		for _, name := range s.Skills {
			all = append(all, use{s.Name, "skills", name, true})
		}
	}
	if l.Park != nil && l.Park.Skill != "" {
		all = append(all, use{"", "park", l.Park.Skill, false})
	}
	return all
}

// flaws are the laws of a lane, whichever way it came: derived now, or pinned
// long ago.
func (l Lane) flaws() []flaw {
	var all []flaw
	add := func(step, key, mend, what string, args ...any) {
		all = append(all, flaw{step, key, fmt.Sprintf(what, args...), mend})
	}
	if len(l.Steps) < 2 {
		add("", "", "let it owe what at least two steps provide", "lane `%s` would be done when it begins", l.Category)
		return all
	}
	states := map[string]bool{}
	for _, s := range l.Steps {
		if states[s.Name] {
			add(s.Name, "", "make one of the two", "the step `%s` is in the lane twice", s.Name)
		}
		states[s.Name] = true
		for _, g := range s.Gates {
			if slices.Contains(s.Reviewers, g.Skill) {
				add(s.Name, "reviewers", "take it out of `reviewers`", "`%s` judges entry to `%s` twice, as reviewer and as gate", g.Skill, s.Name)
			}
		}
	}
	first := l.Steps[0]
	if first.Agent != "" {
		add(first.Name, "agent", "delete the line, or let another step come first",
			"`%s` is the first step of lane `%s` and has an agent, but creating a story starts no work", first.Name, l.Category)
	}
	if len(first.Reviewers) > 0 || len(first.Gates) > 0 {
		add(first.Name, "reviewers", "let them judge entry to the next step",
			"`%s` is the first step of lane `%s` and has reviewers, but creating a story has no gate", first.Name, l.Category)
	}
	exit := func(key, state string) {
		if states[state] {
			add("", key, "give one of the two another name", "`%s` is a step of lane `%s` and the state of its `%s`", state, l.Category, key)
		}
	}
	exit("cancel", l.Cancel)
	if l.Park != nil {
		exit("park", l.Park.State)
		if l.Park.State == l.Cancel {
			add("", "cancel", "give one of the two another name", "`%s` is where the lane parks and where it cancels", l.Cancel)
		}
	}
	size := 0
	for _, s := range l.Skills {
		size += len(s.Description) + len(s.Body) + len(s.Check)
	}
	if size > maxLane {
		add("", "", fmt.Sprintf("keep them under %d, so that the lane can be pinned", maxLane), "the skills of lane `%s` have %d bytes", l.Category, size)
	}
	for _, u := range l.uses() {
		switch s, ok := l.Skills[u.skill]; {
		case !ok:
			add(u.step, u.key, "write it, or take the name out", "there is no skill `%s`", u.skill)
		case u.performs && s.Kind != KindRubric:
			add(u.step, u.key, "move it to `reviewers`", "`%s` is a %s, which judges; `skills` are rubrics for the performer", u.skill, s.Kind)
		}
	}
	for _, s := range l.Steps {
		by := ""
		for _, name := range s.Skills {
			switch {
			case l.Skills[name].Output == (OutputContract{}):
			case by != "":
				add(s.Name, "skills", "take the `output_…` keys out of one of them", "`%s` and `%s` both say what `%s` hands back", by, name, s.Name)
			default:
				by = name
			}
		}
	}
	return all
}
