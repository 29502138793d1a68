package engine

import (
	"encoding/json"
	"strings"

	"github.com/cockroachdb/errors"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow"
	"satelle/workflow/route"
)

// maxPayloadDoc bounds a document in the payload of a judge.
const maxPayloadDoc = 64 << 10

// Payload is the work item that a check or an agent receives on stdin.
// (Seed 001, "The dispatch contract": story, from, to, review_skill; docs are
// pushed to reviewers.)
type Payload struct {
	Story       PayloadStory `json:"story"`
	From        string       `json:"from"`
	To          string       `json:"to"`
	ReviewSkill string       `json:"review_skill"`
	Docs        []PayloadDoc `json:"docs"`
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

// questions puts a transition's slow judges into questions.
func (e *Engine) questions(look Lookup, s workflow.Story, lane route.Lane, text workflow.Text) ([]workflow.Question, error) {
	t := s.Transition
	docs := []PayloadDoc{}
	for _, d := range s.Docs {
		b, err := look.Blob(d.Ref)
		if errors.Is(err, ledger.ErrRedacted) {
			b = []byte("[redacted]")
		} else if err != nil {
			return nil, fault.Wrap(err, nil, "reading document %s", d.Name)
		}
		doc := PayloadDoc{Name: d.Name, Type: d.Type, Body: string(b)}
		if len(b) > maxPayloadDoc {
			doc.Body, doc.Truncated = strings.ToValidUTF8(string(b[:maxPayloadDoc]), ""), true
		}
		docs = append(docs, doc)
	}
	var out []workflow.Question
	for _, j := range t.Gate {
		if j.Kind == route.KindBuiltin {
			continue
		}
		payload, err := json.Marshal(Payload{
			Story: PayloadStory{
				ID: s.ID, Title: s.Title, Body: text.Body, AcceptanceCriteria: append([]string{}, text.Criteria...),
				Category: s.Category, Tags: append([]string{}, s.Tags...),
			},
			From: t.From, To: t.To, ReviewSkill: j.Skill, Docs: docs,
		})
		if err != nil {
			return nil, fault.Wrap(err, nil, "writing the payload")
		}
		out = append(out, workflow.Question{Judge: j, Skill: lane.Skills[j.Skill], Payload: payload})
	}
	return out, nil
}
