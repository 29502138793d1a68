package engine

import (
	"unicode/utf8"

	"satelle/agents"
	"satelle/agents/redact"
	"satelle/ledger"
)

// secretRules take out of a text whatever bindings are given in secret, and what
// looks like a credential.
func secretRules(file agents.File, vars agents.Vars) *redact.Rules {
	var secrets []string
	for _, b := range file.Bindings {
		if r, err := file.Resolve(b.Name, vars); err == nil { // what can't be filled in starts nobody
			secrets = append(secrets, r.Secrets...)
		}
	}
	return redact.New(secrets)
}

// withoutSecrets is what an agent that satelle has started puts into the ledger,
// without what it was given in secret.
func (e *Engine) withoutSecrets(actor ledger.Actor, text []byte) ([]byte, error) {
	if actor.Kind != ledger.ActorWorker || !utf8.Valid(text) {
		return text, nil
	}
	file, vars, err := e.sub.bindings()
	if err != nil {
		return nil, err
	}
	return []byte(secretRules(file, vars).String(string(text))), nil
}
