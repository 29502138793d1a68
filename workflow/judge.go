package workflow

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"satelle/internal/fault"
	"satelle/workflow/route"
)

// Judge is one voice of a gate.
type Judge struct {
	Skill string `json:"skill"`
	// Kind is the kind of the skill: builtin, check or rubric.
	Kind string `json:"kind"`
	// Agent is the binding that runs a rubric; "" is the default reviewer.
	Agent string `json:"agent,omitempty"`
	// Digest identifies what a check executes.
	Digest string `json:"digest,omitempty"`
	// Mandatory judges refuse by a reject; others are heard and recorded.
	Mandatory bool `json:"mandatory"`
	// Watched are the changed files, some of them, that a check rests on and for
	// the sake of which a person is asked.
	Watched []string `json:"watched,omitempty"`
}

// Decisions of a verdict.
const (
	Accept = "accept"
	Reject = "reject"
)

// Verdict is what one judge said.
type Verdict struct {
	Skill    string
	Decision string
	Notes    string
	Elapsed  time.Duration
	// Binding is the agent that judged, "" if none did.
	Binding string
	// Bound is the digest of what an agent's accept rests on: rubric, payload,
	// binding and content. Reused is the position of the accept that was taken
	// again on the same grounds, 0 if the agent was asked.
	Bound  string
	Reused uint64
	// Try is the command that leads on from a reject, "" for none of its own.
	Try string
}

// refuses reports whether the verdict stands in the way of its judge's gate.
func (v Verdict) refuses(j Judge) bool { return v.Decision != Accept && j.Mandatory }

// gate lists what an edge has to pass, in list order: what the step that is left
// owes, the target's reviewers, then its always-on gates. A stale story is judged again by the gates it
// has passed. A step back, a return from the park and a cancellation ask
// nobody; a park asks the skill that the route names, if any. Where judges
// judge a change of what they rest on, somebody else judges as well.
func gate(s Story, e Edge, lane route.Lane, bindings map[string]Bound, changed []string) []Judge {
	var judges []Judge
	add := func(skill, agent string, mandatory bool) {
		if slices.ContainsFunc(judges, func(j Judge) bool { return j.Skill == skill }) {
			return
		}
		sk, ok := lane.Skills[skill]
		if !ok {
			sk = route.Skill{Name: skill, Kind: kindMissing}
		}
		judges = append(judges, Judge{Skill: skill, Kind: sk.Kind, Agent: agent, Digest: sk.Digest, Mandatory: mandatory})
	}
	switch e.Kind {
	case Advance:
		if c, ok := ContractOf(lane, e.From); ok {
			judges = append(judges, Judge{Skill: outputJudge + c.Output.Name, Kind: route.KindBuiltin, Mandatory: true})
		}
		for i, step := range lane.Steps {
			passed := s.Stale && i > 0 && i <= s.Plan.index(e.From)
			if !passed && step.Name != e.To {
				continue
			}
			for _, skill := range step.Reviewers {
				add(skill, step.ReviewerAgent, true)
			}
			for _, g := range step.Gates {
				add(g.Skill, g.Agent, g.Mandatory)
			}
		}
	case Park:
		if lane.Park != nil && lane.Park.Skill != "" {
			add(lane.Park.Skill, "", true)
		}
	}
	return withWatch(judges, lane, bindings, changed)
}

// ready refuses a gate that cannot be asked: a skill that does not exist, or
// something executable that nobody on this machine trusts.
func (st State) ready(s Story, judges []Judge) error {
	for _, j := range judges {
		switch {
		case j.Kind == kindMissing:
			return fault.Try(fault.New(fault.Refused, "the gate asks for the skill %q, which story %s's lane does not hold", j.Skill, s.ID),
				"satelle workflow validate")
		case j.Kind == route.KindCheck && !st.Trusted(j.Digest):
			return fault.Try(fault.New(fault.Refused, "the check %q is not trusted on this machine; a person looks at it and trusts it", j.Skill),
				"satelle trust")
		case j.Kind == route.KindBuiltin && !slices.Contains(pureJudges, j.Skill) && !strings.HasPrefix(j.Skill, outputJudge):
			return fault.Try(fault.New(fault.Refused, "the gate asks for %q, but the repository names no check: a person sets [checks] done in .satelle/satelle.toml, trusts it and restamps the story", j.Skill),
				"satelle story restamp "+s.ID)
		}
	}
	return nil
}

// kindMissing is the kind of a skill that a gate names and its lane lacks.
const kindMissing = "missing"

// pureJudges are the built-in judges that need nothing but records and facts.
var pureJudges = []string{route.Structure, route.ProseOnly, route.Children, route.Human}

// judge asks a built-in judge.
func (st State) judge(j Judge, s Story, e Edge, f Facts) Verdict {
	name, why := j.Skill, ""
	if strings.HasPrefix(name, outputJudge) {
		why = output(s, f, e.From)
	}
	switch name {
	case route.Structure:
		why = structure(s, f.Text)
	case route.ProseOnly:
		why = proseOnly(f)
	case route.Children:
		why = resolved(s.ID, st.Children(s.ID))
	case route.Human:
		why = approved(s, e, f)
	}
	v := Verdict{Skill: name, Decision: Accept}
	if why != "" && name == route.Human {
		v.Try = "satelle approve " + s.ID
	}
	if why != "" {
		if len(j.Watched) > 0 {
			why = saidOfWatched(j.Watched) + ": " + why
		}
		v.Decision, v.Notes = Reject, why
	}
	return v
}

func structure(s Story, t Text) string {
	if strings.TrimSpace(s.Title) == "" && strings.TrimSpace(t.Body) == "" {
		return "the story states no goal: give it a title or a body with `satelle story edit " + s.ID + " --title …`"
	}
	if len(t.Criteria) == 0 {
		return "the story has no acceptance criterion: add one with `satelle story edit " + s.ID + " --ac …`"
	}
	for i, c := range t.Criteria {
		if strings.TrimSpace(c) == "" {
			return fmt.Sprintf("AC%d is empty", i+1)
		}
	}
	return ""
}

// prose are the endings of files that a story of the lane `docs` may change.
var prose = []string{".md", ".markdown", ".txt", ".rst", ".adoc", ".asciidoc", ".org"}

// isProse says so by name, of what is a plain file. What is under `.satelle/`
// governs, however it is written.
func isProse(p string) bool {
	if p == ".satelle" || strings.HasPrefix(p, ".satelle/") {
		return false
	}
	name := path.Base(p)
	return slices.Contains(prose, strings.ToLower(path.Ext(name))) || slices.Contains([]string{"LICENSE", "NOTICE", "AUTHORS"}, name)
}

func proseOnly(f Facts) string {
	var other []string
	for _, p := range f.Changed {
		if !isProse(p) || slices.Contains(f.NotFiles, p) {
			other = append(other, p)
		}
	}
	if len(other) == 0 {
		return ""
	}
	const shown = 5
	more := ""
	if len(other) > shown {
		more = fmt.Sprintf(" and %d more", len(other)-shown)
		other = other[:shown]
	}
	return fmt.Sprintf("not only prose has changed: %s%s", strings.Join(quoteAll(other), ", "), more)
}

func quoteAll(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%q", w)
	}
	return out
}

func resolved(parent string, children []Story) string {
	if len(children) == 0 {
		return "the story has no children to resolve: create one with `satelle story create --title … --parent " + parent + "`"
	}
	var open []string
	for _, c := range children {
		if !c.Terminal() {
			open = append(open, c.ID+" ("+c.Status+")")
		}
	}
	if len(open) == 0 {
		return ""
	}
	return "children are still open: " + strings.Join(open, ", ")
}

func approved(s Story, e Edge, f Facts) string {
	ask := "a person approves it, outside of the agent's session, with `satelle approve " + s.ID + "`"
	a := s.Approval
	switch {
	case a == nil:
		return "no person has approved the move to " + e.To + ": " + ask
	case a.To != e.To || a.Edits != s.Edits:
		return "the approval was for something else, which has changed since: " + ask
	case !a.Accept:
		return fmt.Sprintf("a person rejected the move to %s: `satelle ledger show %d` says why", e.To, a.Seq)
	case s.Plan.performed(e.From) && a.Tree != f.Tree:
		return "the work tree has changed since it was approved: " + ask
	}
	return ""
}
