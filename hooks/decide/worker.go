package decide

import (
	"bytes"
	"io"
	"os"
	"path"
	"strings"

	"satelle/internal/ancestry"
	"satelle/internal/place"
	"satelle/ledger/seatread"
)

// Standing says who asks: a session, or an agent that satelle has started. That
// is told by the process that it runs below, and never by what a harness says.
type Standing int

// Who asks. The zero value is a session, or nobody that satelle has started.
const (
	NoWorker  Standing = iota
	Performer          // does the work of a step: the seat may be lent to it
	Reviewer           // reviews, or runs below satelle and below no agent: it changes nothing
	Stray              // has a worker's token and is below no worker; or that can't be told
)

// tokenEnv bears a worker's token. On the hook's way it says that one has it, and
// no more: what a token alone allows, the hook refuses.
const tokenEnv = "SATELLE_TOKEN"

// standing finds out who asks, once a call.
func (w *world) standing() Standing {
	if w.asked {
		return w.who
	}
	w.asked = true
	found, err := false, error(nil)
	if w.finds != nil {
		w.worker, found, err = w.finds(w.home)
	}
	switch {
	case err != nil:
		w.who = Stray
	case found && w.worker.Role == ancestry.RoleAgent:
		w.who = Performer
	case found:
		w.who = Reviewer
	case w.variable(tokenEnv) != "":
		w.who = Stray
	}
	return w.who
}

// lent finds the seat that a worker may use in a place: the one that is lent to
// it, and only in the work tree where it was set to work, a copy or not, and in
// those that its harness created there.
func (w *world) lent(p place.Place, r seatread.Row) (seatread.Seat, Holding) {
	s, ok := r.Seats[p.TreeID]
	if !ok {
		s, ok = w.inherited(p, r)
	}
	if w.standing() != Performer {
		return s, Apart
	}
	switch {
	case p.WorkTree == w.worker.Tree:
		for _, other := range r.Seats {
			if other.Worker == w.worker.ID {
				s, ok = other, true
			}
		}
	case w.inCopy(w.worker.Tree):
		return s, Apart // of the tree that it works in a copy of, it has no part
	}
	if !ok || s.Worker != w.worker.ID || w.now.Unix() >= s.IdleAt {
		return s, Apart
	}
	return s, Held
}

// inCopy reports whether a real path lies in the copy of a work tree that this
// worker was given to work in. It lies in satelle's folder.
func (w *world) inCopy(real string) bool {
	return within(real, w.realHome) && w.standing() == Performer && within(w.worker.Tree, w.realHome) && within(real, w.worker.Tree)
}

// outOfCopy names paths in a worker's copy as if the copy were all there is, so
// that the folder around it is not taken for them.
func (w *world) outOfCopy(text string) string {
	if !strings.Contains(text, "/") || w.standing() != Performer || !within(w.worker.Tree, w.realHome) {
		return text
	}
	for _, tree := range [...]string{w.worker.Tree, w.home + strings.TrimPrefix(w.worker.Tree, w.realHome)} {
		text = strings.ReplaceAll(text, tree+"/", "/")
	}
	return text
}

// unlent refuses a worker a seat that is not lent to it.
func (s speaker) unlent(t Spot) Decision {
	return deny(ruleWorker, "Leave it, and say so in the final message. ", s.act(s.target(t)),
		": this is an agent that satelle started, and the seat of ", s.tree(t), " is not lent to it: it is another's, its step holds none, or its dispatch has ended.")
}

// reviews refuses a reviewer what is more than reading.
func (s speaker) reviews() Decision {
	return deny(ruleWorker, "Judge without it: a reviewer reads, and its answer is its verdict. ", s.act(s.facts.Act.What),
		": this agent may change nothing, whoever holds the seat.", s.because())
}

// welcome for a worker says what it is; its system prompt says the rest.
func (s speaker) welcomeWorker(here Spot) string {
	if s.facts.Who == Performer && here.Holding == Held {
		return "satelle has dispatched this agent for story " + plain(here.Seat.Story) + ", step " + plain(here.Seat.Step) +
			": until it has answered, the seat of its work tree is lent to it alone. It never moves the story."
	}
	return "satelle has started this agent: it reads, and answers. It changes no files and never moves a story."
}

// environment reports whether a path, or a pattern of the shell, may be the file
// in which Linux shows a process's environment.
func environment(p string) bool {
	parts := strings.Split(path.Clean(p), "/")
	return len(parts) >= 4 && match(parts[1], "proc", true) && match(parts[len(parts)-1], "environ", true)
}

// tokens reports whether there may be an environment with a token.
func (w *world) tokens() bool {
	all, err := ancestry.Workers(w.home)
	return err != nil || len(all) > 0
}

// maxEnvironment bounds how much of an environment is searched.
const maxEnvironment = 4 << 20

// bearsToken reports whether an environment has a worker's token, or may have.
func bearsToken(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false // whoever reads it is refused, too
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxEnvironment))
	return err != nil || len(b) == maxEnvironment || bytes.HasPrefix(b, []byte(tokenEnv+"=")) || bytes.Contains(b, []byte("\x00"+tokenEnv+"="))
}
