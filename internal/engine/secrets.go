package engine

import (
	"maps"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"satelle/agents"
	"satelle/agents/redact"
	"satelle/ledger"
	"satelle/workflow"
)

// secretRules take out of a text whatever bindings are given in secret, more values,
// and what looks like a credential.
func secretRules(file agents.File, vars agents.Vars, more ...string) *redact.Rules {
	secrets := slices.Clone(more)
	for _, b := range file.Bindings {
		if r, err := file.Resolve(b.Name, vars); err == nil { // what can't be filled in starts nobody
			secrets = append(secrets, r.Secrets...)
		}
	}
	return redact.New(secrets)
}

// cleaned is an error with another text.
type cleaned struct {
	error
	text string
}

func (c cleaned) Error() string { return c.text }
func (c cleaned) Unwrap() error { return c.error }

// cleanse takes out of the texts of an agent that satelle has started what it was
// given in secret, before they come into the ledger. What is no text loses nothing
// else.
func (e *Engine) cleanse(actor ledger.Actor, texts ...*string) error {
	if actor.Kind != ledger.ActorWorker {
		return nil
	}
	file, vars, err := e.sub.bindings()
	if err != nil {
		return err
	}
	var elsewhere []string // it may work in a copy of a work tree that has secrets of its own
	for _, tree := range e.sub.trees {
		if local, err := localVars(filepath.Join(tree, ".satelle")); err == nil {
			elsewhere = append(elsewhere, slices.Collect(maps.Values(local))...)
		}
	}
	rules := secretRules(file, vars, elsewhere...)
	for _, text := range texts {
		switch {
		case text == nil:
		case utf8.ValidString(*text):
			*text = rules.String(*text)
		default:
			*text = rules.Values(*text)
		}
	}
	return nil
}

// cleanseFields is cleanse for those of a story.
func (e *Engine) cleanseFields(actor ledger.Actor, f workflow.Fields) error {
	texts := []*string{f.Title, f.Body, f.Category, f.Parent, f.Priority, f.Due, f.Project, f.Assignee}
	for _, list := range []*[]string{f.Criteria, f.Tags, f.Paths} {
		for i := 0; list != nil && i < len(*list); i++ {
			texts = append(texts, &(*list)[i])
		}
	}
	return e.cleanse(actor, texts...)
}
