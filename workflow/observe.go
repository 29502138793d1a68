package workflow

import (
	"strings"
	"time"
	"unicode/utf8"

	"satelle/internal/fault"
	"satelle/internal/spool"
	"satelle/ledger"
)

// What the hook saw comes into the log as records on which no rule rests. The
// last record that a batch of the spool leads to says how far the spool was
// taken, so the log holds each line once, whoever dies in between.

// Kinds of these records.
const (
	KindDenied  = "observed.denied" // a call was refused
	KindWarned  = "observed.warned" // a call should have been refused, but the mode let it pass
	KindChanges = "observed.edit"   // a call was let pass that may change governed files
	KindDone    = "observed.done"   // such a call has ended
	KindGap     = "observed.gap"    // something that was to be observed is missing
	KindAppeal  = "appeal.filed"    // somebody holds that a denial was wrong
)

// observedKinds maps a line of the spool to its record.
var observedKinds = map[string]string{
	spool.Denied: KindDenied, spool.Warned: KindWarned, spool.Edit: KindChanges, spool.Done: KindDone,
}

const (
	// gapGrace is how long a number may be missing: its writer, which has a
	// deadline of two seconds, is dead by then.
	gapGrace = time.Minute
	// maxMissing bounds the stretches that are missing of one session. Beyond
	// it they are reported at once.
	maxMissing = 64
	// maxGaps bounds the gaps that are reported with one batch; what is left is
	// for the next.
	maxGaps = 500
	// maxRepeated is how many lines in a row may have been told already before
	// a record is made for their sake alone.
	maxRepeated = 100
)

// Observation is what the hook saw of one call.
type Observation struct {
	N        uint64   `json:"n"` // counts the session's
	At       string   `json:"at"`
	ID       string   `json:"id,omitempty"` // by which the harness tells the call
	Agent    string   `json:"agent,omitempty"`
	Tool     string   `json:"tool"`
	Targets  []string `json:"targets,omitempty"`
	More     int      `json:"more,omitempty"` // targets that are not listed
	Why      string   `json:"why,omitempty"`
	Cause    string   `json:"cause,omitempty"`
	Rule     string   `json:"rule,omitempty"`
	Mode     string   `json:"mode,omitempty"`
	Failed   bool     `json:"failed,omitempty"`
	WorkTree string   `json:"work_tree"`
	Holding  string   `json:"holding,omitempty"` // of the seat: free, held, suspended or lent
	Step     string   `json:"step,omitempty"`
	Spool    *taken   `json:"spool,omitempty"`
}

// Target names what the call was about, in a word.
func (o Observation) Target() string {
	if len(o.Targets) > 0 {
		return o.Targets[0]
	}
	return o.Why
}

// Gap is what is missing: numbers of a session that were counted and never
// arrived, or stretches of the spool that are no lines.
type Gap struct {
	Session  string `json:"session,omitempty"`
	From     uint64 `json:"from,omitempty"`
	To       uint64 `json:"to,omitempty"`
	Anew     bool   `json:"anew,omitempty"` // the session's numbers begin anew: somebody has deleted its count
	Torn     int    `json:"torn,omitempty"`
	Cut      bool   `json:"cut,omitempty"` // the spool was shorter than before
	Repeated int    `json:"repeated,omitempty"`
	Spool    *taken `json:"spool,omitempty"`
}

// taken says how far the spool was taken, and which numbers were passed over
// since a record tells of their calls already.
type taken struct {
	File   uint64              `json:"file"`
	To     int64               `json:"to"`
	Passed map[string][]uint64 `json:"passed,omitempty"`
}

// Spool is how far the spool was taken.
func (st State) Spool() spool.Position {
	t, _ := getRow[taken](st.rows, rowsSpool, "at")
	return spool.Position{File: t.File, Offset: t.To}
}

// Observe takes a batch of the spool into the log. counts tell how many lines
// sessions have begun to write. While there is more to take, nothing is held to
// be missing.
func (st State) Observe(b spool.Batch, counts []spool.Count, host string, now time.Time) Change {
	var c Change
	seen := newSeen(st.rows)
	sessions := newTally(st.rows)
	passed := map[string][]uint64{}
	self := ledger.Actor{Kind: ledger.ActorEngine, Name: "satelle", Host: host, Auth: ledger.AuthAsserted}
	gap := func(g Gap) { c.add(KindGap, "", self, &g) }
	for _, n := range counts {
		if sessions.load(n.Session); n.Lines < sessions.high[n.Session] {
			gap(Gap{Session: n.Session, Anew: true})
			sessions.forget(n.Session)
		}
	}
	for _, l := range b.Lines {
		at := time.UnixMilli(l.Time)
		sessions.count(l.Session, l.N, at)
		if g, ok := sessions.oldest(l.Session); ok {
			gap(g)
			sessions.settle(g)
		}
		if !seen.add(callKey(l.Session, l.ID, observedKinds[l.Kind], l.N), at) {
			passed[l.Session] = append(passed[l.Session], l.N)
			continue
		}
		st.observed(&c, l, host)
	}
	if b.Torn > 0 || b.Cut {
		gap(Gap{Torn: b.Torn, Cut: b.Cut})
	}
	if !b.More {
		for _, g := range sessions.gaps(counts, now) {
			gap(g)
		}
	}
	if len(c.Drafts) == 0 && len(b.Lines) >= maxRepeated {
		gap(Gap{Repeated: len(b.Lines)})
	}
	if len(c.Drafts) == 0 {
		return c
	}
	mark := &taken{File: b.To.File, To: b.To.Offset, Passed: passed}
	switch body := c.Drafts[len(c.Drafts)-1].Body.(type) {
	case *Observation:
		body.Spool = mark
	case *Gap:
		body.Spool = mark
	}
	return c
}

// observed adds the record of one line.
func (st State) observed(c *Change, l spool.Line, host string) {
	story := ""
	if _, ok := readStory(st.rows, l.Story); ok {
		story = l.Story
	}
	c.add(observedKinds[l.Kind], story, ledger.Actor{
		Kind: ledger.ActorSession, Name: l.Harness, Session: l.Session, Harness: l.Harness, Host: host, Auth: ledger.AuthAsserted,
	}, &Observation{
		N: l.N, At: time.UnixMilli(l.Time).UTC().Format(timeForm), ID: l.ID, Agent: l.Agent, Tool: l.Tool,
		Targets: l.Targets, More: l.More, Why: l.Why, Cause: l.Cause, Rule: l.Rule, Mode: l.Mode, Failed: l.Failed,
		WorkTree: l.Tree, Holding: l.Holding, Step: l.Step,
	})
}

// timeForm is how a body tells a time.
const timeForm = "2006-01-02T15:04:05.000Z"

// Appealed is a denial that somebody holds to be wrong, with what it rested on.
type Appealed struct {
	Denial   uint64         `json:"denial"` // the position of its record
	Session  string         `json:"session"`
	At       string         `json:"at"`
	Tool     string         `json:"tool"`
	Targets  []string       `json:"targets,omitempty"`
	Why      string         `json:"why,omitempty"`
	Cause    string         `json:"cause,omitempty"`
	Rule     string         `json:"rule,omitempty"`
	WorkTree string         `json:"work_tree"`
	Holding  string         `json:"holding,omitempty"`
	Gate     string         `json:"gate"`    // digest of the gate that is in force
	Satelle  string         `json:"satelle"` // version of the program that files it
	Reason   ledger.BlobRef `json:"reason"`
}

// Target names what the denied call was about, in a word.
func (a Appealed) Target() string { return Observation{Targets: a.Targets, Why: a.Why}.Target() }

// Appeal records that a denial was wrong, and why.
func (st State) Appeal(denial ledger.Record, gate, version, why string, actor ledger.Actor) (Change, error) {
	var c Change
	o, ok := decode[Observation](denial)
	if denial.Kind != KindDenied || !ok {
		return c, fault.New(fault.Refused, "record %d is no denial", denial.Seq)
	}
	if strings.TrimSpace(why) == "" || len(why) > maxText || !utf8.ValidString(why) {
		return c, fault.New(fault.Usage, "say why the denial was wrong, in UTF-8 text of at most 1 MiB")
	}
	c.add(KindAppeal, denial.Story, actor, Appealed{
		Denial: denial.Seq, Session: denial.Actor.Session, At: o.At, Tool: o.Tool, Targets: o.Targets, Why: o.Why, Cause: o.Cause, Rule: o.Rule,
		WorkTree: o.WorkTree, Holding: o.Holding, Gate: gate, Satelle: version, Reason: c.blob("text/plain", []byte(why)),
	})
	return c, nil
}

// Appeals is how many appeals were filed.
func (st State) Appeals() int {
	n, _ := getRow[int](st.rows, rowsSpool, "appeals")
	return n
}
