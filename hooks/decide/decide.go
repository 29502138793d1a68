package decide

import (
	"satelle/hooks/dialect"
)

// Decision is the answer to a call. The zero Decision lets it pass.
type Decision struct {
	Deny   bool
	Reason string
}

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
	for _, t := range f.Targets {
		if d := decideTarget(say, t); d.Deny {
			return d
		}
	}
	if f.Act.beyond() && f.Here.Governed {
		return needSeat(say, f.Here)
	}
	return Decision{}
}

// decideTarget decides over one file that changes.
func decideTarget(say speaker, t Spot) Decision {
	if t.Protected != "" && !(t.Substrate && t.Holding == Held && t.Seat.Substrate) {
		return say.protected(t.Protected, t.Path, t)
	}
	if !t.Governed {
		if !say.facts.Here.Governed || t.Outside != Elsewhere {
			return Decision{}
		}
		return say.outside(t)
	}
	if d := needSeat(say, t); d.Deny {
		return d
	}
	if !t.InScope {
		return say.scope(t)
	}
	return Decision{}
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
	case t.Holding == Suspended:
		return say.suspended(t)
	case t.Holding == Lent:
		return say.lent(t)
	case t.Holding != Held:
		return say.free(t)
	}
	return Decision{}
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
