package workflow

import (
	"strings"

	"satelle/ledger"
)

// Kinds of the records that tell of agents.
const (
	// KindDispatched opens the work of a performer: the entry gate has accepted,
	// and until the transition ends the seat is the worker's.
	KindDispatched = "dispatch.started"
	// KindAsked stands before an agent is started, and reserves what it may
	// spend: what was started and never reported is seen by it.
	KindAsked = "agent.asked"
	// KindAttempt tells how it went.
	KindAttempt = "agent.attempt"
)

// Dispatched is the body of [KindDispatched].
type Dispatched struct {
	Token   uint64 `json:"token"`
	Step    string `json:"step"`
	Binding string `json:"binding"`
	// Tree is the content that the entry gate has judged.
	Tree string `json:"tree"`
	// Worker is the digest of the performer's token: until the transition ends,
	// the seat is that worker's.
	Worker string `json:"worker,omitempty"`
}

// Phases of an attempt.
const (
	PhaseInitial  = "initial"
	PhaseRepair   = "repair"
	PhaseEscalate = "escalate"
)

// Asked is the body of [KindAsked].
type Asked struct {
	Token   uint64 `json:"token"`
	Number  int    `json:"number"` // from 1, within the transition
	Role    string `json:"role"`   // reviewer or agent
	Skill   string `json:"skill,omitempty"`
	Phase   string `json:"phase"`
	Binding string `json:"binding"`
	// Reserved are the tokens set aside; 0 where no token budget applies.
	Reserved int64 `json:"reserved_tokens,omitempty"`
}

// Attempt is the body of [KindAttempt]: one run of one agent. (Seed 001,
// "Structured step artifacts", attempt policy.)
type Attempt struct {
	Asked
	Interface string `json:"interface"`
	// Program is the file that was started, ~ for the home, "" if none was: a name
	// in a command may stand for another on another PATH.
	Program   string `json:"program,omitempty"`
	Model     string `json:"model,omitempty"`
	Effort    string `json:"effort,omitempty"`
	ElapsedMS int64  `json:"elapsed_ms"`
	// Reason says why this phase, or the failover, came about.
	Reason string `json:"reason,omitempty"`
	// Failover says that the binding is the secondary of the one asked first.
	Failover bool `json:"failover,omitempty"`
	// Class is the class of the failure, "" if the agent answered.
	Class string `json:"class,omitempty"`
	// ExitCode is the process's, which a result message outweighs.
	ExitCode int `json:"exit_code,omitempty"`
	// Copy names the copy of the work tree in which it worked, if that is kept
	// since something was changed there.
	Copy string `json:"copy,omitempty"`
	// TokenBudget is [BudgetNotApplied] where the transition has a token budget
	// that could not be applied, because no usage was reported.
	TokenBudget string `json:"token_budget,omitempty"`
	// Findings is what the validators found in the answer, a line each; nil if
	// they found nothing.
	Findings *ledger.BlobRef `json:"findings,omitempty"`
	// UsageAvailable says that tokens were reported; the fields of Usage are
	// absent otherwise.
	UsageAvailable bool `json:"usage_available"`
	Usage
}

// BudgetNotApplied is said of a token budget.
const BudgetNotApplied = "not_applied"

// ClassTimeBudget is the class of a run that the time budget of its attempt
// policy has cut, and not its own timeout.
const ClassTimeBudget = "time_budget"

// Asking records that an agent is about to be started.
func (st State) Asking(id string, a Asked, actor ledger.Actor) Change {
	var c Change
	c.add(KindAsked, id, actor, a)
	return c
}

// Attempted records how one run of an agent went.
func (st State) Attempted(id string, a Attempt, findings []string, actor ledger.Actor) Change {
	var c Change
	if len(findings) > 0 {
		ref := c.blob("text/plain", []byte(strings.Join(findings, "\n")))
		a.Findings = &ref
	}
	c.add(KindAttempt, id, actor, a)
	return c
}
