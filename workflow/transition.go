package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow/route"
)

// Facts are what a decision about a transition rests on besides the records.
type Facts struct {
	// Now is the sequencer's clock.
	Now time.Time
	// WorkTree is the id of the work tree that the command runs in, Host the
	// random id of this machine.
	WorkTree, Host string
	// Tree and Head are the work tree's content and commit.
	Tree, Head string
	// Changed are the paths at which the work tree or HEAD differs from the
	// story's base ([Story.ChangedFrom]), NotFiles those of them at which
	// something else than a plain file stands, and DiffStat tells a reader.
	Changed  []string
	NotFiles []string
	DiffStat string
	// Text is the story's prose, Lane its pinned lane.
	Text Text
	Lane route.Lane
	// Bindings are the agents that agents.toml binds, by name.
	Bindings map[string]Bound
	// Output is the stored document that the contract of the step which the
	// story leaves asks for, nil if there is none.
	Output *Artifact
	// Alive says that the holder of the transition in flight still runs.
	Alive bool
}

// Bound is what the rules have to know of a binding.
type Bound struct {
	// InLoop says that the driving session does the work itself.
	InLoop bool
	// Reviewer says that it judges: it performs nothing.
	Reviewer bool
	// Refusal is why the binding can't be dispatched, nil if it can.
	Refusal error
	// Secondary is asked where the binding can't be reached, "" for none.
	Secondary string
	// Timeout bounds one run of it.
	Timeout time.Duration
	// Own says that it is none of the CLIs that satelle knows: as with a check, what
	// it judges by may come out of the work tree.
	Own bool
	// Files are those of the work tree that its command names, or folders of them,
	// by their names there.
	Files []string
}

// Work is what a dispatched performer has done between its entry gate's accept
// and the commit of the transition.
type Work struct {
	// Artifact is the document that its step's contract asks for, nil if none.
	Artifact *Artifact
	// Apart says that nobody worked in the work tree itself, but in a copy.
	Apart bool
}

// Outcome is what came of asking for a transition.
type Outcome struct {
	Edge
	// Token is the position of the request; 0 if none was needed.
	Token uint64
	// Gate is all that the edge has to pass.
	Gate []Judge
	// Verdicts are those that are known already.
	Verdicts []Verdict
	// Performer is the agent that is dispatched once the gate accepts, "" for none.
	Performer string
	// Run says that checks or reviewers have to be asked before [State.Commit].
	Run bool
	// Refusal is why the transition was refused, nil if it was not. A refusal
	// is a record too: the change that comes with it is to be appended.
	Refusal error
}

// ErrInFlight says that the same transition is being judged already.
type ErrInFlight struct{ Transition Transition }

func (e *ErrInFlight) Error() string {
	return fmt.Sprintf("the move from %s to %s is being judged already (token %d)", e.Transition.From, e.Transition.To, e.Transition.Token)
}

// Unwrap gives the error its class.
func (e *ErrInFlight) Unwrap() error { return fault.Busy }

// Request asks for a move of a story. Where everything that the gate needs is
// known, the change holds the whole transition, committed or refused;
// otherwise it holds the request with its lease, and outcome.Run is true. seq
// is the position that the change will be appended at.
//
// Errors: NotFound; Refused where the route, the seat or a precondition says
// no; *ErrInFlight or Busy where another move is under way.
func (st State) Request(id, to string, f Facts, actor ledger.Actor, seq uint64) (Change, Outcome, error) {
	var c Change
	s, err := st.Story(id)
	if err != nil {
		return c, Outcome{}, err
	}
	if to == "" {
		if to = s.Next(); to == "" {
			_, err := s.edge(s.Status)
			return c, Outcome{}, err
		}
	}
	e, err := s.edge(to)
	if err != nil {
		return c, Outcome{}, err
	}
	if t := s.Transition; t != nil {
		if t.alive(f) {
			if t.To == to {
				return c, Outcome{Edge: e}, fault.Try(&ErrInFlight{*t}, "satelle story wait "+id)
			}
			return c, Outcome{}, fault.Try(fault.New(fault.Busy, "story %s is on its way from %s to %s", id, t.From, t.To), "satelle story wait "+id)
		}
		c.add(KindAbandoned, id, actor, transitionAbandoned{Token: t.Token, Why: "its holder is gone"})
	}
	unseat, err := st.seat(s, e, f, actor)
	if err != nil {
		return c, Outcome{}, err
	}
	out := Outcome{Edge: e, Gate: gate(s, e, f.Lane, f.Bindings, f.Changed)}
	if err := st.ready(s, out.Gate); err != nil {
		return c, out, err
	}
	t := Transition{
		Edge: e, Gate: out.Gate, Tree: f.Tree, Head: f.Head, WorkTree: f.WorkTree, Host: f.Host,
		Expires: f.Now.Add(leaseTTL(e, out.Gate, f)).Unix(),
	}
	out.Token = seq + uint64(len(c.Drafts))
	t.Token = out.Token
	c.add(KindRequested, id, actor, withoutToken(t))
	// Nobody is asked for a step whose performer can't be started.
	if out.Refusal = dispatchable(e, f); out.Refusal != nil {
		c.refuse(id, actor, t.Token, e, out.Refusal)
		return c, out, nil
	}
	refused := false
	for _, j := range out.Gate {
		if j.Kind != route.KindBuiltin {
			out.Run = true
			continue
		}
		v := st.judge(j, s, e, f)
		refused = refused || v.refuses(j)
		out.Verdicts = append(out.Verdicts, v)
	}
	agent, dispatched := performer(e, f.Lane, f.Bindings)
	if dispatched {
		out.Performer = agent
	}
	if out.Run = (out.Run || dispatched) && !refused; out.Run {
		return c, out, nil
	}
	end, refusal := conclude(s, t, out.Verdicts, f, actor)
	if refusal == nil {
		c.then(unseat)
	}
	c.then(end)
	out.Refusal = refusal
	return c, out, nil
}

// Commit ends a transition whose checks and reviewers have spoken; the
// built-in judges are asked here. It moves the story, or refuses and says so
// in a record. The refusal is nil when the story moved. work is nil where the
// step has no dispatched performer.
// Whatever happened, the change is to be appended.
func (st State) Commit(id string, token uint64, verdicts []Verdict, work *Work, f Facts, actor ledger.Actor) (c Change, refusal error, err error) {
	s, err := st.Story(id)
	if err != nil {
		return c, nil, err
	}
	if !s.inFlight(token) {
		refusal = fault.New(fault.Refused, "the transition %d of story %s was taken over; what it found is void", token, id)
		c.refuse(id, actor, token, Edge{From: s.Status}, refusal)
		return c, refusal, nil
	}
	t := *s.Transition
	if t.Dispatched == 0 { // or it was looked at then, and the rest is the performer's
		refusal = moved(s, t, f)
	}
	if work != nil && work.Apart && f.Head != t.Head { // a copy has the same branches
		refusal = fault.New(fault.Refused, "HEAD moved from %s to %s while the performer of %s worked in a copy of the work tree; git reflog tells how", t.Head, f.Head, t.To)
	}
	if refusal != nil {
		c.refuse(id, actor, token, t.Edge, refusal)
		return c, refusal, nil
	}
	unseat, refusal := st.seat(s, t.Edge, f, actor)
	if refusal != nil {
		c.refuse(id, actor, token, t.Edge, refusal)
		return c, refusal, nil
	}
	for _, j := range t.Gate {
		if j.Kind == route.KindBuiltin {
			verdicts = append(verdicts, st.judge(j, s, t.Edge, f))
		}
	}
	var attach Change
	if work != nil && work.Artifact != nil {
		if attach, refusal = attachable(s, work.Artifact, actor); refusal != nil {
			c.refuse(id, actor, token, t.Edge, refusal)
			return c, refusal, nil
		}
	}
	end, refusal := conclude(s, t, verdicts, f, actor)
	if refusal == nil {
		c.then(unseat)
		c.then(attach)
	}
	c.then(end)
	return c, refusal, nil
}

// GateAccepts reports whether the verdicts let a transition pass, before its
// performer is paid.
func GateAccepts(t Transition, verdicts []Verdict) bool {
	for _, j := range t.Gate {
		if j.Kind == route.KindBuiltin {
			continue // it has accepted, or nothing would be in flight
		}
		i := slices.IndexFunc(verdicts, func(v Verdict) bool { return v.Skill == j.Skill })
		if j.Mandatory && (i < 0 || verdicts[i].Decision != Accept) {
			return false
		}
	}
	return true
}

// Dispatch records that the performer of a transition in flight starts, after
// the verdicts by which its gate accepted: they stand before it, and neither
// [State.Commit] nor [State.Refuse] repeats them. f holds the work tree of this
// moment, which has to be the one that the gate has judged; what the performer
// makes of it is for the gate of the next step to judge. The refusal is nil when
// the performer may start. From then on the seat is its worker's alone: an idle
// holder is suspended, and another one refuses. Whatever happened, the change is
// to be appended.
func (st State) Dispatch(id string, d Dispatched, verdicts []Verdict, f Facts, actor ledger.Actor) (c Change, refusal error, err error) {
	s, err := st.Story(id)
	if err != nil {
		return c, nil, err
	}
	if !s.inFlight(d.Token) {
		return c, fault.New(fault.Refused, "the transition %d of story %s was taken over", d.Token, id), nil
	}
	t := *s.Transition
	refusal = moved(s, t, f)
	if refusal == nil {
		f.WorkTree = t.WorkTree // whose seat is lent
		c, refusal = st.seat(s, t.Edge, f, actor)
	}
	if refusal != nil {
		c, err = st.Refuse(id, d.Token, verdicts, refusal, actor)
		return c, refusal, err
	}
	for _, v := range verdicts {
		c.verdict(s, t, v, actor)
	}
	d.Tree = f.Tree
	c.add(KindDispatched, id, actor, d)
	return c, nil, nil
}

// Refuse ends a transition whose gate accepted and whose performer failed.
func (st State) Refuse(id string, token uint64, verdicts []Verdict, why error, actor ledger.Actor) (Change, error) {
	var c Change
	s, err := st.Story(id)
	if err != nil || !s.inFlight(token) {
		return c, err
	}
	t := *s.Transition
	if t.Dispatched == 0 {
		for _, v := range verdicts {
			c.verdict(s, t, v, actor)
		}
	}
	c.refuse(id, actor, token, t.Edge, why)
	return c, nil
}

// verdict records what a judge of the transition said.
func (c *Change) verdict(s Story, t Transition, v Verdict, actor ledger.Actor) {
	i := slices.IndexFunc(t.Gate, func(j Judge) bool { return j.Skill == v.Skill })
	if i >= 0 && len(t.Gate[i].Watched) > 0 && t.Gate[i].Kind != route.KindBuiltin {
		v.Notes = strings.TrimSpace(saidOfWatched(t.Gate[i].Watched) + "\n" + v.Notes)
	}
	c.add(KindVerdict, s.ID, actor, verdictRecorded{
		Token: t.Token, Skill: v.Skill, Decision: v.Decision, Mandatory: mandatory(t.Gate, v.Skill),
		Notes: c.blob("text/plain", []byte(v.Notes)), ElapsedMS: v.Elapsed.Milliseconds(),
		Binding: v.Binding, Bound: v.Bound, Reused: v.Reused,
	})
}

func mandatory(gate []Judge, skill string) bool {
	return slices.ContainsFunc(gate, func(j Judge) bool { return j.Skill == skill && j.Mandatory })
}

// Abandon ends a transition in flight whose work failed before its judges
// had spoken.
func (st State) Abandon(id string, token uint64, why string, actor ledger.Actor) (Change, error) {
	var c Change
	s, err := st.Story(id)
	if err != nil {
		return c, err
	}
	if s.inFlight(token) {
		c.add(KindAbandoned, id, actor, transitionAbandoned{Token: token, Why: why})
	}
	return c, nil
}

// moved refuses what follows on a gate whose ground has shifted since the
// request.
func moved(s Story, t Transition, f Facts) error {
	switch {
	case s.Status != t.From:
		return fault.New(fault.Refused, "story %s has moved to %s while it was judged", s.ID, s.Status)
	case f.Tree != t.Tree:
		return fault.Try(fault.New(fault.Refused, "the work tree changed while the gate to %s ran; what was judged is not what is there", t.To),
			"satelle story set "+s.ID+" --status "+t.To)
	case f.Head != t.Head:
		return fault.Try(fault.New(fault.Refused, "HEAD moved while the gate to %s ran", t.To),
			"satelle story set "+s.ID+" --status "+t.To)
	case slices.ContainsFunc(s.Docs, func(d Doc) bool { return d.Seq > t.Token }):
		return fault.Try(fault.New(fault.Refused, "a document was attached while the gate to %s ran; what was judged is not what is there", t.To),
			"satelle story set "+s.ID+" --status "+t.To)
	}
	return nil
}

// conclude turns verdicts into the records that end a transition.
func conclude(s Story, t Transition, verdicts []Verdict, f Facts, actor ledger.Actor) (Change, error) {
	var c Change
	var against []string
	human, try := false, ""
	for _, j := range t.Gate {
		i := slices.IndexFunc(verdicts, func(v Verdict) bool { return v.Skill == j.Skill })
		if i < 0 {
			continue
		}
		v := verdicts[i]
		if t.Dispatched == 0 || j.Kind == route.KindBuiltin { // the others stand before the dispatch
			c.verdict(s, t, v, actor)
		}
		if v.refuses(j) {
			against, try = append(against, v.Skill+": "+v.Notes), cmp.Or(try, v.Try)
		}
		human = human || j.Skill == route.Human && v.Decision == Accept
	}
	if len(against) == 0 {
		if silent := unheard(t.Gate, verdicts); silent != "" {
			against = append(against, silent+": it gave no verdict")
		}
	}
	if len(against) > 0 {
		refusal := fault.Try(
			fault.New(fault.Refused, "the gate to %s refused story %s: %s", t.To, s.ID, strings.Join(against, "; ")),
			cmp.Or(try, "satelle story route "+s.ID))
		c.refuse(s.ID, actor, t.Token, t.Edge, refusal)
		return c, refusal
	}
	if len(t.Gate) > 0 || t.Dispatched > 0 {
		c.add(KindAttached, s.ID, actor, documentAttached{
			Name: summaryName(s, t), Type: TypeSummary,
			Ref: c.blob("text/markdown", summary(s, t, verdicts, f)),
		})
	}
	c.add(KindCommitted, s.ID, actor, transitionCommitted{
		Token: t.Token, Edge: t.Edge, Tree: f.Tree, Head: f.Head, WorkTree: f.WorkTree,
		Session: actor.Session, Approved: s.Approved || human, Rejudged: s.Stale && t.Kind == Advance,
		Base: keptBase(s, f),
	})
	return c, nil
}

// keptBase is where the change of a story counts from once its seat is gone.
// Only a lane that asks for prose needs to know, and only while there is
// something else: what others change meanwhile is not the story's.
func keptBase(s Story, f Facts) *string {
	if _, asks := f.Lane.Skills[route.ProseOnly]; !asks || s.Seat == nil || proseOnly(f) == "" {
		return nil
	}
	return &s.Seat.Base
}

// unheard names a mandatory judge without a verdict.
func unheard(gate []Judge, verdicts []Verdict) string {
	for _, j := range gate {
		if j.Mandatory && !slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Skill == j.Skill }) {
			return j.Skill
		}
	}
	return ""
}

func (c *Change) refuse(id string, actor ledger.Actor, token uint64, e Edge, why error) {
	c.add(KindRefused, id, actor, transitionRefused{
		Token: token, Edge: e, Reason: c.blob("text/plain", []byte(why.Error())), Try: fault.TryOf(why),
	})
}

// alive reports whether the transition's holder may still commit it: on its
// own host the kernel knows, elsewhere the lease's time does.
func (t Transition) alive(f Facts) bool {
	if t.Host == f.Host {
		return f.Alive
	}
	return f.Now.Unix() < t.Expires
}

// leaseSlack is added to the time that the judges may take.
const leaseSlack = time.Minute

// DefaultTimeout bounds a judge that names no time of its own.
const DefaultTimeout = 10 * time.Minute

// leaseTTL is how long another host waits before it takes over: as long as all
// whom the move asks may take, one after the other.
func leaseTTL(e Edge, gate []Judge, f Facts) time.Duration {
	ttl := leaseSlack
	for _, j := range gate {
		if j.Kind == route.KindRubric {
			// Once, once more elsewhere, and once to mend its answer.
			ttl += 3 * longest(f.Bindings, cmp.Or(j.Agent, route.AgentReviewer))
			continue
		}
		ttl += cmp.Or(f.Lane.Skills[j.Skill].Timeout, DefaultTimeout)
	}
	agent, dispatched := performer(e, f.Lane, f.Bindings)
	if !dispatched {
		return ttl
	}
	contract, _ := ContractOf(f.Lane, e.To)
	p := contract.Attempt
	attempts := p.MaxTotal
	if attempts == 0 {
		attempts = 1 + p.RepairMax + p.EscalateMax + 1 // and one failover
	}
	work := longest(f.Bindings, agent, p.EscalateBinding) * time.Duration(attempts)
	if p.TimeBudget > 0 {
		work = min(work, p.TimeBudget)
	}
	return ttl + work
}

// longest is the time that the slowest of the bindings and their secondaries
// may take.
func longest(bound map[string]Bound, names ...string) time.Duration {
	most := time.Duration(0)
	for _, name := range names {
		b := bound[name]
		most = max(most, b.Timeout, bound[b.Secondary].Timeout)
	}
	return cmp.Or(most, DefaultTimeout)
}

func withoutToken(t Transition) Transition {
	t.Token, t.Dispatched, t.Worker = 0, 0, ""
	return t
}

// performer is the agent that an edge dispatches, if it does. A step back has the
// step performed anew; a return from the park finds it performed.
func performer(e Edge, lane route.Lane, bound map[string]Bound) (agent string, dispatched bool) {
	if e.Kind != Advance && e.Kind != Back {
		return "", false
	}
	i := slices.IndexFunc(lane.Steps, func(step route.Step) bool { return step.Name == e.To })
	if i < 0 {
		return "", false
	}
	agent = lane.Steps[i].Agent
	if agent == "" || agent == route.AgentExecutor || agent == route.AgentReviewer {
		return "", false
	}
	return agent, !bound[agent].InLoop
}

// Performer is the agent that a transition in flight dispatches, "" if none.
func Performer(t Transition, f Facts) string {
	agent, dispatched := performer(t.Edge, f.Lane, f.Bindings)
	if !dispatched {
		return ""
	}
	return agent
}

// TokenBudget is what all agents of a transition may use together, 0 for any
// number of tokens: the budget of the attempt policy of the step that it
// dispatches.
func TokenBudget(t Transition, f Facts) int64 {
	contract, ok := ContractOf(f.Lane, t.To)
	if !ok || Performer(t, f) == "" {
		return 0
	}
	return contract.Attempt.TokenBudget
}

// dispatchable refuses to enter a step that is allocated to an agent which
// can't be run: nobody else does its work in silence.
func dispatchable(e Edge, f Facts) error {
	agent, dispatched := performer(e, f.Lane, f.Bindings)
	if !dispatched {
		return nil
	}
	if err := startable(e.To, "allocated to", agent, f.Bindings); err != nil {
		return err
	}
	if contract, ok := ContractOf(f.Lane, e.To); ok && contract.Attempt.EscalateBinding != "" {
		return startable(e.To, "escalated to", contract.Attempt.EscalateBinding, f.Bindings)
	}
	return nil
}

func startable(step, how, agent string, bound map[string]Bound) error {
	b, ok := bound[agent]
	switch {
	case !ok:
		return fault.Try(fault.New(fault.Refused, "step %s is %s the agent %q, but .satelle/workflows/agents.toml has no [%s]", step, how, agent, agent),
			"satelle agent validate")
	case b.InLoop:
		return fault.Try(fault.New(fault.Refused, "step %s is %s the agent %q, which is in-loop: there is nothing to start", step, how, agent),
			"satelle agent validate")
	case b.Reviewer:
		return fault.Try(fault.New(fault.Refused, "step %s is %s the agent %q, which reviews and performs nothing", step, how, agent),
			"satelle agent validate")
	case b.Refusal != nil:
		return fault.Wrap(b.Refusal, fault.Refused, "step %s is %s the agent %q", step, how, agent)
	case b.Secondary != "" && how != failsOver:
		return startable(step, failsOver, b.Secondary, bound)
	}
	return nil
}

// failsOver is how a step comes to the secondary of its agent's binding.
const failsOver = "failed over to"
