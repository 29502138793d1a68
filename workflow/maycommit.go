package workflow

import (
	"slices"
	"strings"
	"time"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/ledger/seatread"
)

// Committing are the facts of a commit that is about to be made.
type Committing struct {
	Now      time.Time
	WorkTree string
	// Paths are those that the commit itself changes: of a merge, those that
	// are as in none of the parents.
	Paths []string
	// Founding says that HEAD is not governed yet and the commit is.
	Founding bool
	// Merging says that git has merged by itself.
	Merging bool
	// Worker is the agent that satelle started and that commits; nil: none does.
	Worker *Worker
}

// own adds how a person commits an edit of their own.
func (c Committing) own(err error, actor ledger.Actor) error {
	if actor.Kind != ledger.ActorPerson {
		return err
	}
	command := "commit"
	if c.Merging {
		command = "merge"
	}
	return fault.Wrap(err, nil, "this commit needs a story, or is your own edit (git %s --no-verify, which is recorded as yours)", command)
}

// MayCommit refuses a commit that no story answers for: none sits in the work
// tree, the paths lie outside of its scopes, or `.satelle/` changes without a
// substrate story that a person approved. A person's founding commit, of what
// init has written, is answered for by its bootstrap story.
func (st State) MayCommit(c Committing, actor ledger.Actor) error {
	row := st.Row()
	if row.Halt != "" && actor.Kind != ledger.ActorPerson {
		return fault.Try(fault.New(fault.Refused, "satelle is halted: %s", row.Halt), "satelle status")
	}
	if c.Founding && actor.Kind == ledger.ActorPerson {
		return nil
	}
	seat, held := row.Seats[c.WorkTree]
	if err := c.workers(seat, actor); err != nil {
		return err
	}
	if !held || seat.Suspended || seat.IdleAt <= c.Now.Unix() {
		return st.unseated(c, seat, held, actor)
	}
	if p := firstPath(c.Paths, func(p string) bool { return governs(p) && !seat.Substrate }); p != "" {
		return c.own(fault.Try(
			fault.New(fault.Refused, "%s belongs to satelle's governance, and story %s is none of category substrate that a person approved", p, seat.Story),
			`satelle story create --title "…" --ac "…" --category substrate`), actor)
	}
	if p := firstPath(c.Paths, func(p string) bool { return !governs(p) && !seatread.InScope(seat.Paths, p) }); p != "" {
		return c.own(fault.Try(
			fault.New(fault.Refused, "%s is outside of the path scopes of story %s (%s)", p, seat.Story, strings.Join(seat.Paths, ", ")),
			"git restore --staged -- "+quoted(p)), actor)
	}
	return nil
}

// workers refuses what a worker commits beside the seat that is lent to it, and
// what others commit on a seat that is lent.
func (c Committing) workers(seat seatread.Seat, actor ledger.Actor) error {
	switch w := c.Worker; {
	case w != nil && !w.Performs:
		return fault.Try(fault.New(fault.Refused, "an agent that reviews, that works in a copy of the work tree or that left its process commits nothing"), "git status")
	case w != nil && w.ID != seat.Worker:
		return fault.Try(fault.New(fault.Refused, "the seat of this work tree is not lent to this agent: its step holds none, or its dispatch has ended"), "git status")
	case w == nil && seat.Worker != "" && seat.IdleAt > c.Now.Unix():
		return c.own(fault.Try(
			fault.New(fault.Refused, "the seat of this work tree is lent to the agent that performs step %s of story %s (%q)", seat.Step, seat.Story, seat.Title),
			"satelle story wait "+seat.Story), actor)
	}
	return nil
}

// unseated says who could sit in the work tree.
func (st State) unseated(c Committing, seat seatread.Seat, held bool, actor ledger.Actor) error {
	if held {
		return c.own(fault.Try(
			fault.New(fault.Refused, "the seat of this work tree is suspended: story %s (%q) has been idle", seat.Story, seat.Title),
			"satelle story join "+seat.Story), actor)
	}
	err := fault.New(fault.Refused, "no story holds the seat of this work tree, so none answers for this commit")
	if open := st.Row().Open; len(open) > 0 {
		err = fault.New(fault.Refused, "no story holds the seat of this work tree, so none answers for this commit; `satelle story adopt %s` takes what is changed here into %q",
			open[0].Story, open[0].Title)
	}
	return c.own(fault.Try(err, `satelle story start --title "…" --ac "…"`), actor)
}

func firstPath(paths []string, pick func(string) bool) string {
	if i := slices.IndexFunc(paths, pick); i >= 0 {
		return paths[i]
	}
	return ""
}

// governs reports whether a path belongs to satelle's governance files, on a
// disk that ignores case as well.
func governs(path string) bool {
	folder, _, _ := strings.Cut(path, "/")
	return strings.EqualFold(folder, ".satelle")
}

// quoted writes a path as one word of a shell.
func quoted(path string) string {
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
