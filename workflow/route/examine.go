package route

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// resolve reports names that lead nowhere: skills, lanes, states.
func (route *Route) resolve(r *report) {
	known := slices.Sorted(maps.Keys(route.skills))
	known = append(known, Builtins()...)
	want := func(f *fields, at int, name string) {
		if _, ok := route.skill(name); ok {
			return
		}
		mend := fmt.Sprintf("write %s, or take the name out", SkillPath(name))
		if near := meant(name, known); near != "" {
			mend += "; near is `" + near + "`"
		}
		f.problem(at, fmt.Sprintf("there is no skill `%s`", name), mend)
	}
	states := map[string]*stepDef{}
	for _, s := range route.steps {
		states[s.Name] = s
		for _, name := range s.Reviewers {
			want(s.fields, s.at("reviewers"), name)
		}
		for _, name := range s.Skills {
			want(s.fields, s.at("skills"), name)
		}
	}
	for _, g := range route.gates {
		if validName(g.Skill) {
			want(g.fields, g.line, g.Skill)
		}
	}
	for _, l := range route.lanes {
		exits := map[string]string{"cancel": l.cancel}
		if l.park != nil {
			exits["park"] = l.park.State
			if l.park.Skill != "" {
				want(l.fields, l.at("park"), l.park.Skill)
			}
		}
		for key, state := range exits {
			if s := states[state]; s != nil {
				s.problem(s.line, fmt.Sprintf("`%s` is a step and, in %s:%d, the state of `%s`", state, DonePath, l.at(key), key), "give one of the two another name")
			}
		}
	}
}

// examine holds every lane to the laws, and reports steps and gates that are
// written and never met: a gate that stands nowhere is worse than none.
func (route *Route) examine(r *report) {
	met := map[string]bool{}       // states in any lane
	behind := map[[2]string]bool{} // lane and state, but for first steps
	for _, def := range route.lanes {
		for _, tags := range def.tagSets() {
			lane := route.derive(def, tags)
			for i, s := range lane.Steps {
				met[s.Name] = true
				if i > 0 {
					behind[[2]string{def.category, s.Name}] = true
				}
			}
			for _, fl := range lane.flaws() {
				f := def.fields
				if i := slices.IndexFunc(route.steps, func(s *stepDef) bool { return s.Name == fl.step }); i >= 0 {
					f = route.steps[i].fields
				}
				f.problem(f.at(fl.key), fl.what, fl.mend)
			}
		}
	}
	for _, s := range route.steps {
		if !met[s.Name] {
			s.problem(s.line, fmt.Sprintf("no lane needs `%s`", s.Name), "add one of its obligations ("+strings.Join(s.Provides, ", ")+") to a lane of done.md, or delete the section")
		}
	}
	categories := route.Categories()
	for _, g := range route.gates {
		lanes := g.lanes
		if lanes == nil {
			lanes = categories
		}
		for _, name := range g.lanes {
			if !slices.Contains(categories, name) {
				g.problem(g.at("for"), fmt.Sprintf("done.md has no lane `%s`", name), "known are "+join(categories, "and"))
			} else if !slices.ContainsFunc(route.states(), func(state string) bool { return g.standsOn(name, state) && behind[[2]string{name, state}] }) {
				g.problem(g.at("for"), fmt.Sprintf("the gate `%s` stands nowhere in lane `%s`", g.Skill, name), "name one of the lane's states in `on`, or take the lane out")
			}
		}
		for _, state := range g.on {
			if !slices.ContainsFunc(lanes, func(lane string) bool { return behind[[2]string{lane, state}] }) {
				g.problem(g.at("on"), fmt.Sprintf("the gate `%s` never stands on `%s`: no lane of it has that state behind its first step", g.Skill, state), "name a state that the lanes have; creating a story has no gate, and a park state takes `park: state @skill`")
			}
		}
	}
}

func (route *Route) states() []string {
	names := make([]string, len(route.steps))
	for i, s := range route.steps {
		names[i] = s.Name
	}
	return names
}

// tagSets are sets of tags that between them show every first step and every
// state that a lane can have: none, each alone, all.
func (l *laneDef) tagSets() [][]string {
	sets := [][]string{nil}
	var all []string
	for _, o := range l.obligations {
		if o.tag != "" && !slices.Contains(all, o.tag) {
			all = append(all, o.tag)
			sets = append(sets, []string{o.tag})
		}
	}
	if len(all) > 1 {
		sets = append(sets, all)
	}
	return sets
}
