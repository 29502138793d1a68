package engine

import (
	"context"
	"os/user"

	"satelle/internal/ancestry"
	"satelle/ledger"
	"satelle/workflow"
)

// Actor says who runs this command. A registered harness session among the
// process's ancestors makes it that session's; otherwise it is a person's. If
// the ancestors cannot be read, nothing shows a person, so it is a session's.
func (e *Engine) Actor(ctx context.Context) ledger.Actor {
	s, found, err := ancestry.Find(e.Home)
	switch {
	case err != nil:
		return ledger.Actor{Kind: workflow.ActorSession, Host: e.host, Auth: workflow.AuthAsserted}
	case found:
		return ledger.Actor{
			Kind: workflow.ActorSession, Name: s.Harness, Session: s.ID, Harness: s.Harness,
			Host: e.host, Auth: workflow.AuthAncestry,
		}
	}
	return ledger.Actor{Kind: workflow.ActorPerson, Name: e.personName(ctx), Host: e.host, Auth: workflow.AuthAncestry}
}

func (e *Engine) personName(ctx context.Context) string {
	if name, err := e.repo.Config(ctx, "user.email"); err == nil && name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "somebody"
}

// self is the actor of what satelle does by itself.
func (e *Engine) self() ledger.Actor {
	return ledger.Actor{Kind: workflow.ActorEngine, Name: "satelle", Host: e.host, Auth: workflow.AuthAsserted}
}
