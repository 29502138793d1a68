package route

import (
	"fmt"
	"slices"
	"strings"
)

// connect finds the one step behind each obligation and reports where there is
// none, more than one, or a circle of steps that wait for each other.
func (route *Route) connect(r *report) {
	for _, s := range route.steps {
		for _, word := range s.Provides {
			if other := route.by[word]; other != nil {
				s.problem(s.at("provides"), fmt.Sprintf("the steps `%s` and `%s` both provide `%s`", other.Name, s.Name, word), "let one of them provide it")
				continue
			}
			route.by[word] = s
		}
	}
	var words []string
	for _, s := range route.steps {
		words = append(words, s.Provides...)
	}
	for _, s := range route.steps {
		for _, word := range s.Requires {
			if route.by[word] == nil {
				s.problem(s.at("requires"), fmt.Sprintf("the step `%s` requires `%s`, which no step provides", s.Name, word), provideMend(word, words))
			}
		}
	}
	for _, l := range route.lanes {
		for _, o := range l.obligations {
			if route.by[o.word] == nil {
				l.problem(o.line, fmt.Sprintf("lane `%s` owes `%s`, which no step provides", l.category, o.word), provideMend(o.word, words))
			}
		}
	}
	route.circles(r)
}

func provideMend(word string, known []string) string {
	mend := "let a step of step.md provide it"
	if near := meant(word, known); near != "" {
		mend += ", or write `" + near + "`"
	}
	return mend
}

// circles reports steps that require each other in a circle, each step at most
// once.
func (route *Route) circles(r *report) {
	const (
		open = 1 + iota
		closed
	)
	state := map[*stepDef]int{}
	var path []*stepDef
	var visit func(s *stepDef)
	visit = func(s *stepDef) {
		state[s] = open
		path = append(path, s)
		for _, word := range s.Requires {
			switch next := route.by[word]; {
			case next == nil:
			case state[next] == open:
				var names []string
				for _, member := range path[slices.Index(path, next):] {
					names = append(names, "`"+member.Name+"`")
				}
				names = append(names, "`"+next.Name+"`")
				s.problem(s.at("requires"), "steps require each other in a circle: "+strings.Join(names, " → "), fmt.Sprintf("take `%s` out of `requires`, or another of the circle", word))
			case state[next] == 0:
				visit(next)
			}
		}
		path = path[:len(path)-1]
		state[s] = closed
	}
	for _, s := range route.steps {
		if state[s] == 0 {
			visit(s)
		}
	}
}

// order gives the steps that provide these obligations and, transitively, what
// they require. Obligations are met in the order in which they are listed, each
// after what its step requires; so the order is a topological one, and where
// requires leaves it open, the list decides. A step that is listed late but
// required early comes early.
func (route *Route) order(owed []string) []*stepDef {
	var steps []*stepDef
	var meet func(word string)
	meet = func(word string) {
		s := route.by[word]
		if slices.Contains(steps, s) {
			return
		}
		for _, w := range s.Requires {
			meet(w)
		}
		steps = append(steps, s)
	}
	for _, word := range owed {
		meet(word)
	}
	return steps
}

// derive makes the lane of a story with these tags.
func (route *Route) derive(def *laneDef, tags []string) Lane {
	lane := Lane{Category: def.category, Cancel: def.cancel, Advisors: slices.Clone(def.advisors)}
	if def.park != nil {
		park := *def.park
		lane.Park = &park
	}
	for i, s := range route.order(def.owed(tags)) {
		step := s.Step
		step.Skills, step.Reviewers = slices.Clone(s.Skills), slices.Clone(s.Reviewers)
		step.Provides, step.Requires = slices.Clone(s.Provides), slices.Clone(s.Requires)
		if s.Parallel != nil {
			n := *s.Parallel
			step.Parallel = &n
		}
		for _, g := range route.gates {
			if i > 0 && g.standsOn(def.category, s.Name) {
				step.Gates = append(step.Gates, g.Gate)
			}
		}
		lane.Steps = append(lane.Steps, step)
	}
	lane.Skills = map[string]Skill{}
	for _, use := range lane.uses() {
		if skill, ok := route.skill(use.skill); ok {
			lane.Skills[use.skill] = skill
		}
	}
	if len(lane.Skills) == 0 {
		lane.Skills = nil
	}
	return lane
}

// standsOn reports whether the gate judges entry to a state in a lane. Without
// `on:` it stands on every state; the first step of a lane is never asked for.
func (g *gateDef) standsOn(category, state string) bool {
	return (g.lanes == nil || slices.Contains(g.lanes, category)) && (g.on == nil || slices.Contains(g.on, state))
}
