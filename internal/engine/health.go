package engine

import (
	"context"
	"os/exec"

	"golang.org/x/mod/sumdb/note"

	"satelle/agents"
	"satelle/internal/fault"
	"satelle/ledger"
)

// Ailment is one thing that is wrong with a repository's records or bindings.
type Ailment struct {
	Name   string // stable, for scripts
	Broken bool   // decisions fail because of it; else it is worth knowing
	What   string
	Mend   string // the command that mends it
}

// Health looks whether the ledger opens, its newest head is signed by the key
// that it names, and that key is there; whether a person has to trust
// something; and whether the agents of the bindings can be started.
func (e *Engine) Health(ctx context.Context) []Ailment {
	var out []Ailment
	err := e.with(ctx, func(log *ledger.Log) error {
		head, err := log.Head()
		if err != nil {
			return err
		}
		verifier, err := note.NewVerifier(log.VKey())
		if err != nil {
			return fault.Wrap(err, fault.Integrity, "reading the log's key")
		}
		if _, err := note.Open([]byte(head.Note), note.VerifierList(verifier)); err != nil {
			out = append(out, Ailment{"ledger-head", true, "the ledger's newest head is not signed by its key: " + err.Error(), "satelle ledger verify"})
		}
		if _, err := e.cfg.Keys.Signer(log.VKey()); err != nil {
			out = append(out, Ailment{"ledger-key", true, "the ledger's key can't be used, so nothing can be recorded: " + err.Error(), "look into $SATELLE_HOME/keys, or move ledger.db aside and run: satelle init"})
		}
		return nil
	})
	if err != nil {
		out = append(out, Ailment{"ledger", true, "the ledger can't be opened: " + err.Error(), tryOr(err, "satelle ledger verify")})
		return out
	}
	pending, err := e.Pending(ctx)
	switch {
	case err != nil:
		out = append(out, Ailment{"substrate", true, "what this repository brings can't be read: " + err.Error(), tryOr(err, "satelle workflow validate")})
	case pending.Gate != nil:
		out = append(out, Ailment{"gate-untrusted", false, "[gate] of satelle.toml is not in force: nobody trusted it on this machine", "satelle trust"})
	}
	if n := len(pending.Executables); n > 0 {
		out = append(out, Ailment{"untrusted", false, "checks or commands of this repository will not run: nobody trusted them on this machine", "satelle trust"})
	}
	return append(out, e.bindingHealth()...)
}

// bindingHealth looks whether the bindings' programs are there.
func (e *Engine) bindingHealth() []Ailment {
	bindings, err := e.Bindings()
	if err != nil {
		return []Ailment{{"bindings", true, "the bindings can't be read: " + err.Error(), tryOr(err, "satelle agent validate")}}
	}
	var out []Ailment
	for _, b := range bindings {
		if b.Command == agents.InLoop {
			continue
		}
		words := b.Argv(agents.Values{})
		if _, err := exec.LookPath(words[0]); err != nil {
			out = append(out, Ailment{"binding", false, "the agent " + b.Name + " can't run: " + words[0] + " is not on the PATH", "install " + words[0] + ", or name another command for [" + b.Name + "] in .satelle/workflows/agents.toml"})
		}
	}
	return out
}

// tryOr is the command that an error names, or another one.
func tryOr(err error, other string) string {
	if try := fault.TryOf(err); try != "" {
		return try
	}
	return other
}
