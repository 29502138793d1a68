package route

import (
	"maps"
	"slices"

	"satelle/internal/fault"
)

// Where the files of a route live, as problems name them.
const (
	DonePath = ".satelle/workflows/done.md"
	StepPath = ".satelle/workflows/step.md"
)

// SkillPath is the file of a skill.
func SkillPath(name string) string { return ".satelle/skills/" + name + ".md" }

// AnyCategory is the name of the lane for stories whose category no lane names.
const AnyCategory = "*"

// Source is what a route is made of: the bytes of its files.
type Source struct {
	Done, Step []byte            // done.md and step.md; nil is a file that is not there
	Skills     map[string][]byte // by name: what is in .satelle/skills/<name>.md
}

// Route is a route without problems.
type Route struct {
	lanes  []*laneDef // in the order of done.md
	steps  []*stepDef // in the order of step.md
	gates  []*gateDef
	skills map[string]Skill
	by     map[string]*stepDef // the step that provides an obligation
}

// Lane is the way of one story: everything that decides about it, resolved. Two
// stories of a category have different lanes if their tags differ.
type Lane struct {
	Category string           `json:"category"` // the lane's name, such as `*`
	Steps    []Step           `json:"steps"`    // in order; creation enters the first, the last is where the story ends
	Park     *Park            `json:"park,omitempty"`
	Cancel   string           `json:"cancel,omitempty"`
	Advisors []string         `json:"advisors,omitempty"` // who may be consulted; never dispatched
	Skills   map[string]Skill `json:"skills,omitempty"`   // all that the lane names
}

// Park is the state in which a story waits, and the skill that gates entry to
// it, if any.
type Park struct {
	State string `json:"state"`
	Skill string `json:"skill,omitempty"`
}

// Step is one state of a lane.
type Step struct {
	Name          string   `json:"name"`
	Agent         string   `json:"agent,omitempty"`     // executor, reviewer, the name of a binding, or ""
	Skills        []string `json:"skills,omitempty"`    // rubrics for the performer
	Intent        string   `json:"intent,omitempty"`    // work, act-pr or review; "" only if there is no agent
	Reviewers     []string `json:"reviewers,omitempty"` // skills that judge entry, in order
	ReviewerAgent string   `json:"reviewer_agent,omitempty"`
	Parallel      *int     `json:"parallel,omitempty"` // nil: at once; 0: one after another, the first reject stops; n: n at once
	Provides      []string `json:"provides,omitempty"`
	Requires      []string `json:"requires,omitempty"`
	// Gates judge entry beside the reviewers, in the order of step.md. The first
	// step has none: creation enters it, and creation has no gate.
	Gates []Gate `json:"gates,omitempty"`
}

// The agents that are no bindings.
const (
	AgentExecutor = "executor" // the session that drives the story
	AgentReviewer = "reviewer" // nobody performs; the step is there to be judged
)

// Performing reports whether somebody works in this step: the driving session
// or a binding. A story in such a step holds the seat.
func (s Step) Performing() bool { return s.Agent != "" && s.Agent != AgentReviewer }

// Gate is a gate that always stands on entry to a step.
type Gate struct {
	Skill     string `json:"skill"`
	Agent     string `json:"agent,omitempty"` // the binding that judges by a rubric; "" is [reviewer]
	Mandatory bool   `json:"mandatory"`       // false: its verdict is recorded and refuses nothing
}

// Parse reads a route. The error is Problems: all that can be found at once, of
// every file, the skills that nothing names included.
func Parse(src Source) (*Route, error) {
	var r report
	route := &Route{skills: parseSkills(&r, src.Skills), by: map[string]*stepDef{}}
	doneRead := route.parseDone(&r, src.Done)
	stepRead := route.parseStep(&r, src.Step)
	if doneRead && stepRead {
		route.connect(&r)
		route.resolve(&r)
	}
	// What follows from a mistake in one of the files is not told as another.
	if len(r.problems) == 0 {
		route.examine(&r)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return route, nil
}

// Categories are the names of the lanes, in the order of done.md.
func (r *Route) Categories() []string {
	names := make([]string, len(r.lanes))
	for i, l := range r.lanes {
		names[i] = l.category
	}
	return names
}

// Skills are the skills that have a file, by name, whether a lane names them or
// not. A story's tags decide which of them it meets; a person who is asked to
// trust them has to see them all.
func (r *Route) Skills() []Skill {
	var all []Skill
	for _, name := range slices.Sorted(maps.Keys(r.skills)) {
		all = append(all, r.skills[name])
	}
	return all
}

// Lane derives the lane of a story: that of its category, or else the lane `*`;
// without either it refuses. The result shares nothing with the route.
func (r *Route) Lane(category string, tags []string) (Lane, error) {
	named := func(name string) int {
		return slices.IndexFunc(r.lanes, func(l *laneDef) bool { return l.category == name })
	}
	i := named(category)
	if i < 0 {
		i = named(AnyCategory)
	}
	if i < 0 {
		return Lane{}, fault.Try(
			fault.New(fault.Refused, "no lane of the route takes the category %q, and there is no lane `*`", category),
			"satelle workflow show")
	}
	lane := r.derive(r.lanes[i], tags)
	if flaws := lane.flaws(); len(flaws) > 0 {
		return Lane{}, fault.New(fault.Refused, "lane `%s`: %s; %s", lane.Category, flaws[0].what, flaws[0].mend)
	}
	return lane, nil
}
