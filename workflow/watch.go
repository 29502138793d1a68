package workflow

import (
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

// watched are the changed files that a check rests on: whoever changes them
// could make it accept.
func watched(check route.Skill, changed []string) []string {
	if check.Kind != route.KindCheck || len(check.Watch) == 0 {
		return nil
	}
	var out []string
	for _, p := range changed {
		if seatread.InScope(check.Watch, p) {
			out = append(out, p)
		}
	}
	return out
}

// withWatch completes a gate at which a check judges a change of what it rests
// on: then somebody else judges as well. That is a reviewer or a person whom the
// gate asks anyway, or else a person.
func withWatch(judges []Judge, lane route.Lane, changed []string) []Judge {
	var all []string
	for i, j := range judges {
		files := watched(lane.Skills[j.Skill], changed)
		judges[i].Watched = files[:min(len(files), maxWatched)]
		all = append(all, judges[i].Watched...)
	}
	if len(all) == 0 || slices.ContainsFunc(judges, func(j Judge) bool {
		return j.Mandatory && (j.Kind == route.KindRubric || j.Skill == route.Human)
	}) {
		return judges
	}
	judges = slices.DeleteFunc(judges, func(j Judge) bool { return j.Skill == route.Human }) // one that need not be heard
	return append(judges, Judge{Skill: route.Human, Kind: route.KindBuiltin, Mandatory: true, Watched: all[:min(len(all), maxWatched)]})
}

// saidOfWatched is what a check's verdict says of the files it rests on.
func saidOfWatched(files []string) string {
	const shown = 5
	more := ""
	if len(files) > shown {
		more = fmt.Sprintf(" and %d more", len(files)-shown)
		files = files[:shown]
	}
	return "this change touches what the check rests on: " + strings.Join(quoteAll(files), ", ") + more
}
