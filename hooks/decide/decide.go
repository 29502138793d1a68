package decide

import (
	"satelle/hooks/dialect"
	"satelle/ledger/seatread"
)

// Decision is the answer to a call. The zero Decision lets it pass, and
// nothing is to be said about it.
type Decision struct {
	Deny   bool
	Rule   string // the kind of rule that fired, "" if none did
	Mode   string // enforce for a denial; warn or audit if the rule is softened
	Reason string
}

// Kinds of rules that nothing softens. Those that a mode can soften are named
// beside [seatread.Gate].
const (
	ruleSecret    = "secret"    // what is secret would be read
	ruleProtected = "protected" // a protected path, or a guard of git
	rulePerson    = "person"    // a verb that is a person's
	ruleForeign   = "foreign"   // a word that should be satelle and is not
	ruleHalt      = "halt"      // everything is halted
	ruleState     = "state"     // the state can't be told
	ruleInput     = "input"     // the call can't be judged
	ruleWorker    = "worker"    // an agent that satelle started has no seat here
)

// Decide applies the rules, in the order of their weight. What reads passes
// unless it reads a secret; what changes files needs, for each place it may
// touch, a seat that allows it, and never reaches a protected path.
func Decide(c dialect.Call, f Facts) Decision {
	say := speaker{call: c, facts: f}
	if f.Secret != "" {
		return say.secret()
	}
	if f.Err != nil {
		if !f.Act.changes() {
			return Decision{}
		}
		return say.unknownPlace()
	}
	if f.Who == Reviewer && f.Act.changes() {
		return say.reviews()
	}
	if !f.governed() {
		return Decision{}
	}
	if f.Foreign != "" {
		return say.foreign()
	}
	if f.Verb != "" {
		return say.person()
	}
	if !f.Act.changes() {
		return Decision{}
	}
	if halt := f.halt(); halt != "" {
		return say.halted(halt)
	}
	if f.Act.Effect.Bypass != "" {
		return say.bypass()
	}
	if f.Mentioned != "" {
		return say.protected(f.Mentioned, f.Act.What, f.Here)
	}
	// What is only warned of stands back behind what is denied.
	var softened Decision
	for _, t := range f.Targets {
		d := decideTarget(say, t)
		if d.Deny {
			return d
		}
		if softened.Rule == "" {
			softened = d
		}
	}
	if f.Act.beyond() && f.Here.Governed {
		if d := needSeat(say, f.Here); d.Deny || softened.Rule == "" {
			return d
		}
	}
	return softened
}

// decideTarget decides over one file that changes.
func decideTarget(say speaker, t Spot) Decision {
	if t.Protected != "" && !(t.Substrate && t.Holding == Held && t.Seat.Substrate) {
		return say.protected(t.Protected, t.Path, t)
	}
	if !t.Governed {
		if !say.facts.Here.Governed || open(say.facts.Here.Row.Gate.Outside, t.Outside) {
			return Decision{}
		}
		return soften(seatread.RuleOutside, say.facts.Here, say.outside(t))
	}
	if d := needSeat(say, t); d.Rule != "" {
		return d
	}
	if !t.InScope {
		return soften(seatread.RuleScope, t, say.scope(t))
	}
	return Decision{}
}

// open reports whether the gate lets a path change that lies in no governed
// place.
func open(gate string, what Outside) bool {
	switch gate {
	case seatread.OutsideAllow:
		return true
	case seatread.OutsideDeny:
		return what == HarnessOwn
	}
	return what != Elsewhere
}

// needSeat decides whether the seat of a spot's work tree allows a change.
func needSeat(say speaker, t Spot) Decision {
	switch {
	case t.NoLedger:
		return say.noLedger(t)
	case t.RowErr != nil:
		return say.noRow(t)
	case t.NoRoot:
		return say.noRoot(t)
	case t.Holding == Apart:
		return say.unlent(t)
	case t.Holding == Suspended:
		return soften(say.seatRule(), t, say.suspended(t))
	case t.Holding == Lent:
		return soften(say.seatRule(), t, say.lent(t))
	case t.Holding != Held:
		return soften(say.seatRule(), t, say.free(t))
	}
	return Decision{}
}

// soften applies the mode that the gate of a spot's place sets for a kind of
// rule. One that this version does not know denies.
func soften(rule string, t Spot, d Decision) Decision {
	d.Rule = rule
	if mode := t.Row.Gate.Mode[rule]; mode == seatread.ModeWarn || mode == seatread.ModeAudit {
		d.Deny, d.Mode = false, mode
	}
	return d
}

func (f Facts) halt() string {
	if f.Here.Row.Halt != "" {
		return f.Here.Row.Halt
	}
	for _, t := range f.Targets {
		if t.Row.Halt != "" {
			return t.Row.Halt
		}
	}
	return ""
}
