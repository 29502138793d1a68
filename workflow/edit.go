package workflow

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow/route"
)

// Bounds of what a story may hold.
const (
	maxTitle    = 200
	maxText     = 1 << 20
	maxCriteria = 100
	maxPaths    = 50
	maxTags     = 50
	maxWord     = 100
	maxDoc      = 8 << 20
	maxDocs     = 500
)

// Fields are those of a story that a person or an agent writes. A nil one is
// left as it is, or empty on creation.
type Fields struct {
	Title    *string
	Body     *string
	Criteria *[]string
	Category *string
	Tags     *[]string
	Parent   *string
	Priority *string
	Due      *string
	Project  *string
	Assignee *string
	Paths    *[]string
}

// Create makes a story in the first step of its lane; there is no way to
// create one anywhere else. The error is Refused where the id is taken (draw
// another) and Usage where a field is out of bounds.
func (st State) Create(id string, f Fields, lane route.Lane, actor ledger.Actor) (Change, error) {
	var c Change
	if err := f.check(); err != nil {
		return c, err
	}
	if f.Title == nil || strings.TrimSpace(*f.Title) == "" {
		return c, fault.Try(fault.New(fault.Usage, "a story needs a title"), `satelle story start --title "…" --ac "…"`)
	}
	if _, taken := readStory(st.rows, id); taken {
		return c, fault.New(fault.Refused, "the id %s is taken", id)
	}
	body := storyCreated{Title: *f.Title}
	set(&body.Category, f.Category)
	set(&body.Tags, f.Tags)
	set(&body.Parent, f.Parent)
	set(&body.Priority, f.Priority)
	set(&body.Due, f.Due)
	set(&body.Project, f.Project)
	set(&body.Assignee, f.Assignee)
	set(&body.Paths, f.Paths)
	if body.Parent != "" {
		if _, err := st.Story(body.Parent); err != nil {
			return c, fault.Wrap(err, nil, "finding the parent")
		}
	}
	var text Text
	set(&text.Body, f.Body)
	set(&text.Criteria, f.Criteria)
	body.Criteria = len(text.Criteria)
	body.Text = c.text(text)
	body.Plan = st.pin(&c, lane, actor)
	c.add(KindCreated, id, actor, body)
	return c, nil
}

// Edit changes fields of a story. A change of title, body, criteria, category
// or path scopes after the first gate makes the accepts so far stale. lane is
// the lane of the new category and tags, and only read where [Story.Relane]
// says so; text is the story's prose as it is.
func (st State) Edit(id string, f Fields, text Text, lane route.Lane, actor ledger.Actor) (Change, error) {
	var c Change
	s, err := st.Story(id)
	if err != nil {
		return c, err
	}
	if err := f.check(); err != nil {
		return c, err
	}
	if s.Terminal() {
		return c, fault.New(fault.Refused, "story %s is %s: it has ended and is edited no more", id, s.Status)
	}
	if s.Transition != nil {
		return c, fault.Try(fault.New(fault.Busy, "story %s is being judged on its way to %s", id, s.Transition.To), "satelle story wait "+id)
	}
	if f.Parent != nil {
		return c, fault.New(fault.Usage, "a story's parent is fixed when it is created")
	}
	if f.Title != nil && strings.TrimSpace(*f.Title) == "" {
		return c, fault.New(fault.Usage, "a story needs a title")
	}
	body := storyEdited{
		Title: f.Title, Category: f.Category, Tags: f.Tags, Priority: f.Priority,
		Due: f.Due, Project: f.Project, Assignee: f.Assignee, Paths: f.Paths,
	}
	if f.Body != nil || f.Criteria != nil {
		set(&text.Body, f.Body)
		set(&text.Criteria, f.Criteria)
		ref := c.text(text)
		body.Text, body.Criteria = &ref, len(text.Criteria)
	}
	if f.Category != nil && *f.Category != s.Category && s.Moves > 0 {
		return c, fault.New(fault.Refused, "story %s has left its first step: its category picked its lane and stays", id)
	}
	if s.Relane(f) {
		plan := st.pin(&c, lane, actor)
		body.Plan = &plan
	}
	body.Stale = f.Title != nil || f.Body != nil || f.Criteria != nil || f.Category != nil || f.Paths != nil || body.Plan != nil
	c.add(KindEdited, id, actor, body)
	return c, nil
}

// Relane reports whether an edit puts the story on another lane: its category
// and its tags pick it, until the story has moved.
func (s Story) Relane(f Fields) bool {
	return s.Moves == 0 && (f.Category != nil && *f.Category != s.Category || f.Tags != nil)
}

// Restamp moves a story to today's lane; it is a person's. Accepts that were
// given become stale.
func (st State) Restamp(id string, lane route.Lane, actor ledger.Actor) (Change, error) {
	var c Change
	if err := st.Person("restamp", actor); err != nil {
		return c, err
	}
	s, err := st.Story(id)
	if err != nil {
		return c, err
	}
	if s.Terminal() {
		return c, fault.New(fault.Refused, "story %s is %s: it has ended and needs no other lane", id, s.Status)
	}
	if s.Transition != nil {
		return c, fault.Try(fault.New(fault.Busy, "story %s is being judged on its way to %s", id, s.Transition.To), "satelle story wait "+id)
	}
	plan := st.pin(&c, lane, actor)
	stands := s.Status
	if s.Parked() {
		stands = s.ParkedFrom
		if plan.Park != s.Plan.Park {
			return c, fault.New(fault.Refused, "today's lane parks in %q, the story stands in %q: take it back to %s first", plan.Park, s.Plan.Park, stands)
		}
	}
	switch {
	case s.Moves == 0:
		// It begins in the first step, whatever that is called today.
	case plan.index(stands) < 0:
		return c, fault.New(fault.Refused, "today's lane has no step %q, in which story %s stands", stands, id)
	case plan.ends(stands):
		return c, fault.New(fault.Refused, "in today's lane %q is where a story ends, and no gate has let story %s end", stands, id)
	case !s.Parked() && s.Seat == nil && plan.Performs(stands):
		return c, fault.Try(fault.New(fault.Refused, "in today's lane somebody performs %q, and story %s holds no seat: park it first", stands, id),
			"satelle story set "+id+" --status "+s.Plan.Park)
	}
	c.add(KindRestamped, id, actor, storyRestamped{Plan: plan, After: s.Last})
	return c, nil
}

// Comment kinds.
var commentKinds = []string{"comment", "question", "plan", "advice"}

// Comment records what somebody has to say of a story.
func (st State) Comment(id, kind string, body []byte, actor ledger.Actor) (Change, error) {
	var c Change
	if !slices.Contains(commentKinds, kind) {
		return c, fault.New(fault.Usage, "a comment is a %s, not %q", list(commentKinds), kind)
	}
	if _, err := st.Story(id); err != nil {
		return c, err
	}
	if len(body) == 0 || len(body) > maxText {
		return c, fault.New(fault.Usage, "a comment has between 1 byte and 1 MiB, not %d", len(body))
	}
	if !utf8.Valid(body) {
		return c, fault.New(fault.Usage, "a comment is UTF-8 text")
	}
	c.add(KindCommented, id, actor, storyCommented{Kind: kind, Body: c.blob("text/markdown", body)})
	return c, nil
}

// Attach adds a document to a story, or replaces the one of that name. Step
// summaries are the engine's own and can't be replaced.
func (st State) Attach(id, name, docType string, data []byte, actor ledger.Actor) (Change, error) {
	var c Change
	s, err := st.Story(id)
	if err != nil {
		return c, err
	}
	if !plainName(name) {
		return c, fault.New(fault.Usage, "a document's name is made of letters, digits, `.`, `-` and `_`, at most %d, not %q", maxWord, name)
	}
	if docType == "" {
		docType = "document"
	}
	if docType == TypeSummary || strings.HasPrefix(strings.ToLower(name), "summary-") {
		return c, fault.New(fault.Refused, "step summaries are written by satelle alone: choose another name and type")
	}
	if len(data) > maxDoc {
		return c, fault.New(fault.Usage, "a document has at most 8 MiB, not %d bytes", len(data))
	}
	if len(s.Docs) >= maxDocs && !slices.ContainsFunc(s.Docs, func(d Doc) bool { return d.Name == name }) {
		return c, fault.New(fault.Refused, "story %s has %d documents already", id, len(s.Docs))
	}
	if !plainName(docType) {
		return c, fault.New(fault.Usage, "a document's type is a plain word, not %q", docType)
	}
	media := "text/plain"
	if path.Ext(name) == ".md" || path.Ext(name) == "" {
		media = "text/markdown"
	}
	if !utf8.Valid(data) {
		media = "application/octet-stream"
	}
	c.add(KindAttached, id, actor, documentAttached{Name: name, Type: docType, Ref: c.blob(media, data)})
	return c, nil
}

// pin keeps the lane by its content, once, and returns the plan of a story
// that follows it.
func (st State) pin(c *Change, lane route.Lane, actor ledger.Actor) Plan {
	digest, content := LaneDigest(lane)
	if _, ok := st.Lane(digest); !ok {
		c.add(KindLanePinned, "", actor, lanePinned{SHA256: digest, Lane: c.blob("application/json", content)})
	}
	plan := Plan{Lane: digest, Name: lane.Category, Cancel: lane.Cancel}
	if lane.Park != nil {
		plan.Park = lane.Park.State
	}
	for i, s := range lane.Steps {
		// Whoever performs the last step is done with it on entry.
		last := i == len(lane.Steps)-1
		plan.Steps = append(plan.Steps, PlanStep{Name: s.Name, Performs: s.Performing() && !last})
	}
	return plan
}

// LaneDigest returns by which digest a lane is pinned, and the content that it
// is of.
func LaneDigest(lane route.Lane) (digest string, content []byte) {
	content = route.Encode(lane)
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), content
}

func (c *Change) text(t Text) ledger.BlobRef {
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings always encode
	}
	return c.blob("application/json", b)
}

func (f Fields) check() error {
	size := 0
	for _, w := range []struct {
		name string
		p    *string
		max  int
	}{
		{"title", f.Title, maxTitle},
		{"category", f.Category, maxWord},
		{"parent", f.Parent, maxWord},
		{"priority", f.Priority, maxWord},
		{"due", f.Due, maxWord},
		{"project", f.Project, maxWord},
		{"assignee", f.Assignee, maxWord},
	} {
		if w.p == nil {
			continue
		}
		if utf8.RuneCountInString(*w.p) > w.max {
			return fault.New(fault.Usage, "the %s has at most %d characters", w.name, w.max)
		}
		if !oneLine(*w.p) {
			return fault.New(fault.Usage, "the %s is one line of text without control characters", w.name)
		}
	}
	if f.Due != nil && *f.Due != "" {
		if _, err := time.Parse(time.DateOnly, *f.Due); err != nil {
			return fault.New(fault.Usage, "due is a date like 2026-12-31, not %q", *f.Due)
		}
	}
	for _, l := range []struct {
		name string
		p    *[]string
		max  int
	}{
		{"tags", f.Tags, maxTags}, {"paths", f.Paths, maxPaths},
	} {
		if l.p == nil {
			continue
		}
		if len(*l.p) > l.max {
			return fault.New(fault.Usage, "a story has at most %d %s", l.max, l.name)
		}
		for _, w := range *l.p {
			if w == "" || utf8.RuneCountInString(w) > maxTitle || !oneLine(w) {
				return fault.New(fault.Usage, "%q is none of the %s that a story can have", w, l.name)
			}
		}
	}
	if f.Paths != nil {
		for _, p := range *f.Paths {
			if _, err := path.Match(p, ""); err != nil || path.IsAbs(p) || slices.Contains(strings.Split(p, "/"), "..") {
				return fault.New(fault.Usage, "%q is no glob below the work tree", p)
			}
		}
	}
	if f.Body != nil {
		size += len(*f.Body)
		if !utf8.ValidString(*f.Body) {
			return fault.New(fault.Usage, "the body is UTF-8 text")
		}
	}
	if f.Criteria != nil {
		if len(*f.Criteria) > maxCriteria {
			return fault.New(fault.Usage, "a story has at most %d acceptance criteria", maxCriteria)
		}
		for i, c := range *f.Criteria {
			size += len(c)
			if !utf8.ValidString(c) {
				return fault.New(fault.Usage, "AC%d is no UTF-8 text", i+1)
			}
		}
	}
	if size > maxText {
		return fault.New(fault.Usage, "a story's text has at most 1 MiB, not %d bytes", size)
	}
	return nil
}

// oneLine keeps out what could make a line speak for something else: control
// characters, line and paragraph separators, and marks that turn its direction.
func oneLine(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
	})
}

func plainName(s string) bool {
	if s == "" || len(s) > maxWord || s[0] == '.' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_')
	})
}
