package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/cockroachdb/errors"

	"satelle/internal/fault"
	"satelle/internal/gitrepo"
	"satelle/ledger"
	"satelle/workflow"
	"satelle/workflow/route"
)

// Bounds of the payload of a judge. What is cut or not shown is marked so, and its
// reviewer has to say that it has read the rest.
const (
	maxPayloadDoc  = 64 << 10
	maxPayloadDocs = 256 << 10 // all documents together
	maxPayloadDiff = 64 << 10
	maxPayload     = 2 << 20 // what remains: story, file names, children
)

// Payload is the work item that a check or a reviewer receives on stdin.
// (Seed 001, "The dispatch contract": story, from, to, review_skill; docs are
// pushed to reviewers.)
type Payload struct {
	Story       PayloadStory   `json:"story"`
	From        string         `json:"from"`
	To          string         `json:"to"`
	ReviewSkill string         `json:"review_skill"`
	Docs        []PayloadDoc   `json:"docs"`
	Change      *PayloadChange `json:"change,omitempty"`
	// Children are the child stories, where the gate asks whether they are
	// resolved.
	Children []PayloadChild `json:"children,omitempty"`
}

// PayloadStory is the story in a payload.
type PayloadStory struct {
	ID                 string   `json:"id"`
	Title              string   `json:"title"`
	Body               string   `json:"body"`
	AcceptanceCriteria []string `json:"acceptance_criteria"`
	Category           string   `json:"category"`
	Tags               []string `json:"tags"`
}

// PayloadDoc is a document in a payload; a long body is cut and marked so.
type PayloadDoc struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Body      string `json:"body"`
	Truncated bool   `json:"truncated,omitempty"`
}

// PayloadChange is what has changed since the seat was taken. The list of files
// is whole; the diff may be cut, or leave out what is no text, and is marked then.
type PayloadChange struct {
	Base      string        `json:"base"`
	Files     []PayloadFile `json:"files"`
	Diff      string        `json:"diff"`
	Truncated bool          `json:"truncated,omitempty"`
}

// PayloadFile is a changed file; Status is A, M, D or T as git has it.
type PayloadFile struct {
	Path   string `json:"path"`
	Status string `json:"status"`
}

// PayloadChild is a child story.
type PayloadChild struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Status string `json:"status"`
}

// partial reports whether something of it was cut.
func (p Payload) partial() bool {
	return p.Change != nil && p.Change.Truncated || slices.ContainsFunc(p.Docs, func(d PayloadDoc) bool { return d.Truncated })
}

// change tells what has changed since the story's seat was taken, nil if it
// never sat.
func (e *Engine) change(ctx context.Context, s workflow.Story) (*PayloadChange, error) {
	base, counts := s.ChangedFrom()
	if !counts {
		return nil, nil
	}
	c := &PayloadChange{Base: base, Files: []PayloadFile{}}
	changes, err := e.repo.Changed(ctx, base)
	if err != nil {
		return nil, fault.Wrap(err, nil, "listing what has changed since the seat was taken")
	}
	for _, f := range changes {
		c.Files = append(c.Files, PayloadFile(f))
	}
	diff, truncated, err := e.repo.Diff(ctx, base, maxPayloadDiff)
	if err != nil {
		return nil, fault.Wrap(err, nil, "reading what has changed since the seat was taken")
	}
	c.Diff, c.Truncated = strings.ToValidUTF8(string(diff), "\uFFFD"), truncated || gitrepo.Opaque(diff)
	return c, nil
}

// docs reads a story's documents.
func (l Lookup) docs(s workflow.Story) ([]PayloadDoc, error) {
	docs := []PayloadDoc{}
	left := maxPayloadDocs
	for _, d := range s.Docs {
		b, err := l.Blob(d.Ref)
		if errors.Is(err, ledger.ErrRedacted) {
			b = []byte("[redacted]")
		} else if err != nil {
			return nil, fault.Wrap(err, nil, "reading document %s", d.Name)
		}
		doc := PayloadDoc{Name: d.Name, Type: d.Type}
		if most := min(maxPayloadDoc, left); len(b) > most {
			b, doc.Truncated = b[:most], true
		}
		left -= len(b)
		doc.Body = strings.ToValidUTF8(string(b), "\uFFFD")
		docs = append(docs, doc)
	}
	return docs, nil
}

// trial is what a transition in flight is judged on.
type trial struct {
	story    workflow.Story
	children []workflow.Story
	lane     route.Lane
	text     workflow.Text
	docs     []PayloadDoc
}

// trial reads what the records say of a transition in flight.
func (e *Engine) trial(ctx context.Context, id string, token uint64) (t trial, err error) {
	err = e.View(ctx, func(st workflow.State, look Lookup) (err error) {
		if t.story, err = st.Story(id); err != nil {
			return err
		}
		if t.story.Transition == nil || t.story.Transition.Token != token {
			return fault.New(fault.Refused, "the transition %d of story %s is not in flight", token, id)
		}
		t.children = st.Children(id)
		if t.lane, err = look.Lane(st, t.story); err != nil {
			return err
		}
		if t.text, err = look.Text(t.story); err != nil {
			return err
		}
		t.docs, err = look.docs(t.story)
		return err
	})
	return t, err
}

// questions puts the slow judges of a trial into questions.
func (e *Engine) questions(ctx context.Context, tr trial) ([]workflow.Question, error) {
	s, t := tr.story, tr.story.Transition
	change, err := e.change(ctx, s)
	if err != nil {
		return nil, err
	}
	p := Payload{
		Story: PayloadStory{
			ID: s.ID, Title: s.Title, Body: tr.text.Body, AcceptanceCriteria: append([]string{}, tr.text.Criteria...),
			Category: s.Category, Tags: append([]string{}, s.Tags...),
		},
		From: t.From, To: t.To, Docs: tr.docs, Change: change,
	}
	if slices.ContainsFunc(t.Gate, func(j workflow.Judge) bool { return j.Skill == route.Children }) {
		for _, c := range tr.children {
			p.Children = append(p.Children, PayloadChild{ID: c.ID, Title: c.Title, Status: c.Status})
		}
	}
	var out []workflow.Question
	for _, j := range t.Gate {
		if j.Kind != route.KindCheck && j.Kind != route.KindRubric {
			continue
		}
		p.ReviewSkill = j.Skill
		payload, err := json.Marshal(p)
		if err != nil {
			return nil, fault.Wrap(err, nil, "writing the payload")
		}
		if len(payload) > maxPayload {
			return nil, fault.Try(fault.New(fault.Refused, "what the gate to %s would be asked has %d bytes; at most %d are put before a judge: split the story, or shorten its text", t.To, len(payload), maxPayload),
				"satelle story get "+s.ID)
		}
		out = append(out, workflow.Question{Judge: j, Skill: tr.lane.Skills[j.Skill], Payload: payload, Partial: p.partial()})
	}
	return out, nil
}
