package decide

import (
	"os"
	"strings"
	"time"

	"satelle/hooks/dialect"
)

// CanarySession is the session id by which `satelle doctor` marks the calls
// that it makes up. No harness makes such an id (Claude, Codex and Grok use
// UUIDs, and refuse to be given another). It decides nothing: a marked call is
// answered like any other, but is not noted, and makes nobody known as a
// session as long as it could not speak to satelle in a person's place.
const CanarySession = "satelle-canary"

// canary reports whether doctor made the call up.
func canary(c dialect.Call) bool { return c.Session == CanarySession }

// tame reports whether all that an act does is known, and calls no satelle.
func (a Act) tame() bool {
	return !a.beyond() && len(a.Effect.Satelle) == 0
}

// checkShare is how much of the deadline, in tenths, the look at the
// installation may take when a session starts. The rest is for the answer.
const checkShare = 6

// sessionStart tells a session what governs it.
func (w *world) sessionStart(c dialect.Call, err error) []byte {
	if err != nil {
		return nil
	}
	here, err := w.here(true)
	if err != nil || !here.Governed {
		return nil
	}
	if !canary(c) {
		w.register(c)
	}
	if c.Harness == dialect.Grok {
		w.owe(c)
		return nil
	}
	if w.welcomed(c) {
		return nil
	}
	return w.welcome(c, here)
}

// welcome tells who holds the seat, the principles, and what of the
// enforcement is not whole.
func (w *world) welcome(c dialect.Call, here Spot) []byte {
	said := c
	said.Tool = "change"
	say := speaker{call: said, facts: Facts{Here: here, Program: w.program(), Who: w.standing()}}
	if say.facts.Who != NoWorker {
		return dialect.Context(c, say.welcomeWorker(here))
	}
	text := say.welcome(here)
	if list := principles(here.Tree); list != "" {
		text += "\n" + list
	}
	if w.checks != nil && !canary(c) {
		if wrong := w.checks(w.home+"/bin/satelle", w.dir, string(c.Harness), w.deadline*checkShare/10); wrong != "" {
			text += "\nWARNING: satelle's enforcement is not whole in this session, tell the person. " + wrong
		}
	}
	return dialect.Context(c, text)
}

// welcome says in a few lines what governs a session.
func (s speaker) welcome(here Spot) string {
	head := "satelle governs this work tree: files change only while a story holds its seat; reading is free. "
	if here.Holding != Held {
		// No call was denied yet.
		why := strings.NewReplacer(
			s.act("")+": no story holds the seat of this work tree.", "", // as is said before
			s.act("")+": ", "", " ; then repeat the call.", " .").Replace(needSeat(s, here).Reason)
		return head + "Now nobody may change it. " + strings.TrimSpace(why)
	}
	text := head + "Story " + plain(here.Seat.Story) + " (" + quoted(here.Seat.Title) + ") holds it in step " + plain(here.Seat.Step) +
		". When the work is done, commit it, then run: " + s.program() + " story set " + plain(here.Seat.Story) + " --next"
	for i, p := range here.Seat.Paths {
		if i == 0 {
			text += "\nIt may change only: "
		} else {
			text += ", "
		}
		text += quoted(p)
	}
	return text
}

// maxCheck bounds what the look at the installation may say.
const maxCheck = 1000

// check asks the installed program what is wrong with the installation, as far
// as it can tell at once. A program that is missing, fails or takes too long
// says nothing: the hook itself is at work, since it asks.
func check(program, dir, harness string, limit time.Duration) string {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return ""
	}
	defer null.Close()
	from, to, err := os.Pipe()
	if err != nil {
		return ""
	}
	defer from.Close()
	p, err := os.StartProcess(program, []string{program, "doctor", "--session", harness}, &os.ProcAttr{
		Dir: dir, Env: os.Environ(), Files: []*os.File{null, to, null}, Sys: ownGroup(),
	})
	to.Close()
	if err != nil {
		return ""
	}
	// Without a deadline nothing is read: it must not be waited for.
	said := ""
	if from.SetReadDeadline(time.Now().Add(limit)) == nil {
		said = readAll(from)
	}
	killGroup(p.Pid)
	_, _ = p.Wait() // it was killed; how it ended says nothing
	return said
}

// readAll returns what was written before the end of the input, nothing where
// that did not come in time.
func readAll(from *os.File) string {
	buf := make([]byte, 0, maxCheck)
	for {
		n, err := from.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil || n == 0 {
			if os.IsTimeout(err) {
				return ""
			}
			return oneLine(string(buf))
		}
	}
}
