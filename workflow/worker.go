package workflow

import (
	"maps"
	"slices"

	"satelle/internal/fault"
	"satelle/ledger"
)

// Worker is an agent that satelle has started, as far as the rules have to know
// it. (Decision Q02.)
type Worker struct {
	// ID is what the seat knows it by, a digest of its token.
	ID string
	// Story is the one that it works for, "" where that is not known: its time is
	// up, or it has left what tells.
	Story string
	// Performs says that it does a step's work. One that reviews, or of which
	// nothing is known, only reads.
	Performs bool
}

// Access is what of satelle's verbs a worker may use.
type Access int

// The classes of verbs, by who among the workers may use them.
const (
	Nobody Access = iota
	Performers
	Everybody
)

// workerVerbs has every verb. A performer comments on its story, attaches
// documents to it and creates children of it, which wait; everybody reads; git
// and a harness call their hooks, which decide by themselves. Nobody moves a
// story, starts an agent, sets anything up or speaks for a person.
var workerVerbs = map[string]Access{
	"": Everybody, "help": Everybody, "version": Everybody, "completion": Everybody,
	"status": Everybody, "doctor": Everybody, "audit": Everybody, "hook": Everybody, "git-hook": Everybody,

	"story": Everybody, "story list": Everybody, "story get": Everybody, "story route": Everybody, "story diff": Everybody,
	"story cost": Everybody, "story docs": Everybody, "story doc": Everybody, "story wait": Everybody,
	"story create": Performers, "story comment": Performers, "story attach": Performers,
	"story start": Nobody, "story set": Nobody, "story edit": Nobody, "story join": Nobody, "story adopt": Nobody, "story restamp": Nobody,

	"ledger": Everybody, "ledger list": Everybody, "ledger show": Everybody, "ledger stats": Everybody, "ledger verify": Everybody,
	"ledger checkpoint": Everybody, "ledger prove": Everybody, "ledger export": Everybody,
	"ledger otel": Nobody, "ledger redact": Nobody, "ledger rotate-key": Nobody,

	"workflow": Everybody, "workflow show": Everybody, "workflow validate": Everybody,
	"agent": Everybody, "agent list": Everybody, "agent validate": Everybody, "agent run": Nobody, "agent use": Nobody,
	"agents": Everybody, "agents status": Everybody, "agents install": Nobody, "agents remove": Nobody,

	"init": Nobody, "migrate": Nobody, "judge": Nobody, "appeal": Nobody,
	"approve": Nobody, "trust": Nobody, "halt": Nobody, "resume": Nobody,
}

// WorkerVerbs lists the verbs that are known here.
func WorkerVerbs() []string { return slices.Sorted(maps.Keys(workerVerbs)) }

// VerbAccess tells which workers may use a verb; of one that is not known,
// nobody.
func VerbAccess(verb string) Access { return workerVerbs[verb] }

// MayUse refuses a verb that is not for this worker.
func (w Worker) MayUse(verb string) error {
	switch access := VerbAccess(verb); {
	case access == Everybody || access == Performers && w.Performs && w.Story != "":
		return nil
	case w.Story == "":
		return fault.Try(fault.New(fault.Refused, "%s is not for what satelle has started, be it a check, or an agent whose time is up or that left its process: that may only read", verb), "satelle story list")
	case !w.Performs:
		return fault.Try(fault.New(fault.Refused, "%s is not for a reviewer: it reads, and its answer is its verdict", verb), "satelle story get "+w.Story)
	}
	return fault.Try(fault.New(fault.Refused, "%s is not for an agent that satelle dispatched: it does the work of its step and answers, and satelle moves story %s when its gates accept", verb, w.Story),
		`satelle story comment `+w.Story+` --kind question --body "…"`)
}

// MayAppend refuses a change that is none of this worker's business, whichever
// verb asks for it.
func (w Worker) MayAppend(c Change) error {
	for _, d := range c.Drafts {
		switch {
		case d.Actor.Kind != ledger.ActorWorker:
		case !w.Performs:
			return fault.Try(fault.New(fault.Refused, "an agent that reviews, or whose time is up, changes nothing (%s): it reads", d.Kind), "satelle story list")
		case !w.owns(d):
			return fault.Try(fault.New(fault.Refused, "an agent that satelle dispatched comments on its own story %s, attaches documents to it and creates children of it, and no more (%s)", w.Story, d.Kind),
				`satelle story comment `+w.Story+` --kind question --body "…"`)
		}
	}
	return nil
}

func (w Worker) owns(d ledger.Draft) bool {
	if w.Story == "" {
		return false
	}
	switch d.Kind {
	case KindCommented, KindAttached:
		return d.Story == w.Story
	case KindCreated:
		b, is := d.Body.(storyCreated)
		return is && b.Parent == w.Story
	case KindLanePinned, KindPrepared, KindRewritten: // with a child, and with a commit that [State.MayCommit] let pass
		return true
	}
	return false
}
