package audit

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// judge says what there is to say of one commit.
func (a *auditor) judge(c *caseOf) {
	add := func(f Finding) { a.report.add(f.of(c.commit)) }
	for _, f := range c.problems {
		if f.Rule == "stale" && c.settled() {
			f.Level = Warning
		}
		add(f)
	}
	if !c.settled() {
		if len(c.problems) == 0 && !c.hopeless {
			for _, f := range c.unvouched(a.exempt(c.commit)) {
				add(f)
			}
		}
		return
	}
	if c.how == byRequest {
		a.report.Bound++
		add(found("moved", "it has the content of commit %s, and all that led there is vouched for", short(c.request)))
		return
	}
	if c.bound == nil { // a merge, or the undoing of a commit: nothing of its own
		if c.how == byRevert {
			add(found("revert", "it undoes commit %s exactly", short(c.undoes)))
		}
		for _, f := range substrate(c.paths, nil) {
			add(f)
		}
		return
	}
	a.report.Bound++
	for _, f := range a.bound(c) {
		add(f)
	}
}

// bound says what there is to say of a commit that a record vouches for.
func (a *auditor) bound(c *caseOf) (all []Finding) {
	p := c.bound
	answers := a.answers(p)
	e := answers[0]
	if p.story == "" && e.person {
		f := found("person", "a person committed this without a story").at(p)
		if i := slices.IndexFunc(c.paths, governance); i >= 0 {
			f.Level, f.Path = Warning, c.paths[i]
			f.Message = "a person changed governance without a story: " + c.paths[i]
		}
		return append(all, f)
	}
	if p.story != "" {
		a.last[storyKey{e.log.Origin, p.story}] = c.commit
	}
	swallowed := ""
	if c.amend {
		swallowed = a.swallowed(p)
	}
	switch {
	case p.story == "":
		all = append(all, found("no-seat", "a session made it, and no story held the seat").at(p))
	case e.unseated != "":
		all = append(all, found("no-seat", "when it was made, %s", e.unseated).at(p))
	}
	if swallowed != "" {
		all = append(all, found("ungoverned", "it took the place of commit %s, which no log knows", short(swallowed)).at(p))
	}
	if c.how == byTree || c.how == byWhole {
		answers = slices.Concat(answers, c.facts, c.hinted)
	}
	if f, ok := scopes(c.paths, p, answers); !ok {
		all = append(all, f)
	}
	all = append(all, substrate(c.paths, answers)...)
	if slices.ContainsFunc(answers, func(p *prepared) bool { return p.adopted }) {
		all = append(all, found("adopted", "story %s had adopted work that was done before it", p.story).at(p))
	}
	switch {
	case c.how == byRewrite:
		all = append(all, found("rewritten", "commit %s was made anew as this one", short(p.old)).at(p))
	case c.how == byPatch:
		all = append(all, found("moved", "it applies the patch of record %d in another place", p.seq).at(p))
	case c.how == byWhole:
		all = append(all, found("moved", "it is the whole change of story %s as of record %d", p.story, p.seq).at(p))
	case c.how == byTree:
		all = append(all, found("moved", "it has the content of record %d on other parents", p.seq).at(p))
	case len(c.own) == 0:
		all = append(all, found("no-trailer", "it bears no trailers, but record %d is of it", p.seq).at(p))
	}
	return all
}

// maxReplays bounds the way back through commits that were made out of others.
const maxReplays = 100

// answers are the records that answer for a record: its own, and those that it
// replays. The first is of a moment at which the story sat, if there is one: a
// patch that was committed under a seat may be put elsewhere without it.
func (a *auditor) answers(p *prepared) []*prepared {
	all, best := []*prepared{p}, 0
	for i := 0; i < len(all) && i < maxReplays; i++ {
		at := all[i]
		for _, q := range a.replayed(at) {
			if q.story != p.story || slices.Contains(all, q) {
				continue
			}
			all = append(all, q)
			if !all[best].entitled() && q.entitled() && at.samePatch(q) {
				best = len(all) - 1
			}
		}
	}
	all[0], all[best] = all[best], all[0]
	return all
}

// replayed are the records that a record names as those it was made of.
func (a *auditor) replayed(p *prepared) (all []*prepared) {
	points := p.body.Replays
	if p.replaces() {
		points = slices.Concat(points, p.body.Amend.Replays)
	}
	for _, at := range points {
		if l := a.logs[at.Origin]; l != nil && at.Size > 0 && l.prepared[at.Size-1] != nil {
			all = append(all, l.prepared[at.Size-1])
		}
	}
	return all
}

// swallowed names the commit that an amended one took the place of, if no
// record is of that.
func (a *auditor) swallowed(p *prepared) string {
	for _, point := range p.body.Amend.Replays {
		if l := a.logs[point.Origin]; l != nil && point.Size > 0 && l.prepared[point.Size-1] != nil {
			return ""
		}
	}
	return p.body.Parents[0]
}

// scopes checks paths against what the records that answer for them allow.
func scopes(paths []string, p *prepared, answers []*prepared) (Finding, bool) {
	if p.story == "" {
		return Finding{}, true // that nobody sat is said already
	}
	for _, path := range paths {
		if !answers[0].entitled() || slices.ContainsFunc(answers, func(q *prepared) bool { return q.entitled() && q.covers(path) }) {
			continue
		}
		f := found("out-of-scope", "%s lies outside of what story %s may change: %s", path, p.story, strings.Join(answers[0].paths, " ")).at(p)
		f.Path = path
		return f, false
	}
	return Finding{}, true
}

// substrate checks that changes of governance have a story for it.
func substrate(paths []string, answers []*prepared) []Finding {
	i := slices.IndexFunc(paths, governance)
	if i < 0 || slices.ContainsFunc(answers, func(q *prepared) bool { return q.substrate }) {
		return nil
	}
	f := found("substrate", "%s is governance, and no approved story of the category substrate answers for it", paths[i])
	if len(answers) > 0 {
		f = f.at(answers[0])
	}
	f.Path = paths[i]
	return []Finding{f}
}

// governance reports whether a path belongs to satelle itself.
func governance(path string) bool {
	dir, _, _ := strings.Cut(path, "/")
	return strings.EqualFold(dir, ".satelle")
}

// endings looks at what became of the stories that have commits.
func (a *auditor) endings() {
	keys := slices.SortedFunc(maps.Keys(a.last), func(x, y storyKey) int {
		return cmp.Or(cmp.Compare(x.origin, y.origin), cmp.Compare(x.story, y.story))
	})
	for _, k := range keys {
		s, ok := a.logs[k.origin].stories[k.story]
		var f Finding
		switch {
		case !ok:
			continue
		case !s.Terminal():
			f = found("story-open", "story %s (%q) is in %s", s.ID, s.Title, s.Status)
		case s.Plan.Cancel != "" && s.Status == s.Plan.Cancel:
			f = found("story-cancelled", "story %s (%q) was cancelled", s.ID, s.Title)
		default:
			continue
		}
		f.Story, f.Origin = k.story, k.origin
		a.report.add(f.of(a.last[k]))
	}
}

// exempt reports whether the trusted side exempts the author.
func (a *auditor) exempt(c *Commit) bool {
	return slices.ContainsFunc(a.in.Exempt, func(pattern string) bool { return glob(pattern, c.Author) })
}

// glob matches a pattern in which only * means something: any text.
func glob(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	rest, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, p)
		if i < 0 {
			return false
		}
		rest = rest[i+len(p):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}
