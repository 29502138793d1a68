package workflow

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"satelle/ledger/seatread"
	"satelle/workflow/route"
)

const (
	// maxGlobs bounds the globs of `[checks] watch`.
	maxGlobs = 200
	// maxWatched bounds the files that a record names for them.
	maxWatched = 20
)

// CheckGlobs reports the first of some globs that is none below the work tree.
func CheckGlobs(globs []string) error {
	if len(globs) > maxGlobs {
		return fmt.Errorf("there are %d globs; at most %d are read", len(globs), maxGlobs)
	}
	for _, g := range globs {
		if _, err := path.Match(g, ""); err != nil || g == "" || !oneLine(g) || path.IsAbs(g) || slices.Contains(strings.Split(g, "/"), "..") {
			return fmt.Errorf("%q is no glob below the work tree", g)
		}
	}
	return nil
}

// watched are the changed files that a judge rests on: whoever changes them could
// make it accept. They are those of `[checks] watch` for a check and for a reviewer
// that is a program of one's own; and for any reviewer those that its command
// names, or that lie below a folder which it names.
func watched(j Judge, globs []string, bindings map[string]Bound, changed []string) []string {
	var names []string
	own := j.Kind == route.KindCheck
	if j.Kind == route.KindRubric {
		bound := bindings[cmp.Or(j.Agent, route.AgentReviewer)]
		second := bindings[bound.Secondary]
		names, own = append(slices.Clone(bound.Files), second.Files...), bound.Own || second.Own
	}
	var out []string
	for _, p := range changed {
		if own && len(globs) > 0 && seatread.InScope(globs, p) ||
			slices.ContainsFunc(names, func(n string) bool { return p == n || strings.HasPrefix(p, n+"/") }) {
			out = append(out, p)
		}
	}
	return out
}

// withWatch completes a gate at which somebody judges a change of what their
// judgement rests on. Then somebody else judges as well. That is another reviewer or a person whom the
// gate asks anyway, or else a person.
func withWatch(judges []Judge, lane route.Lane, bindings map[string]Bound, changed []string) []Judge {
	var all []string
	for i, j := range judges {
		files := watched(j, lane.Skills[j.Skill].Watch, bindings, changed)
		judges[i].Watched = files[:min(len(files), maxWatched)]
		all = append(all, judges[i].Watched...)
	}
	if len(all) == 0 || slices.ContainsFunc(judges, func(j Judge) bool {
		return j.Mandatory && (j.Kind == route.KindRubric && len(j.Watched) == 0 || j.Skill == route.Human)
	}) {
		return judges
	}
	judges = slices.DeleteFunc(judges, func(j Judge) bool { return j.Skill == route.Human }) // one that need not be heard
	return append(judges, Judge{Skill: route.Human, Kind: route.KindBuiltin, Mandatory: true, Watched: all[:min(len(all), maxWatched)]})
}

// saidOfWatched is what a verdict says of the files that it rests on.
func saidOfWatched(files []string) string {
	const shown = 5
	more := ""
	if len(files) > shown {
		more = fmt.Sprintf(" and %d more", len(files)-shown)
		files = files[:shown]
	}
	return "this change touches what the check or reviewer rests on: " + strings.Join(quoteAll(files), ", ") + more
}
