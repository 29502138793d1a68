package workflow

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/ledger/seatread"
)

// SoftRules are the kinds of rules that a mode can soften.
var SoftRules = []string{seatread.RuleEdit, seatread.RuleCommand, seatread.RuleTool, seatread.RuleScope, seatread.RuleOutside, seatread.RuleCommit}

// Bounds of a gate: the hook reads it on each call that changes files.
const (
	maxReaders     = 200
	maxReaderWords = 40
	maxReaderText  = 200
)

// CheckGate returns an error of class Refused for a gate that the hook could
// not hold to.
func CheckGate(g seatread.Gate) error {
	if g.Outside != "" && !slices.Contains([]string{seatread.OutsideTemp, seatread.OutsideDeny, seatread.OutsideAllow}, g.Outside) {
		return fault.New(fault.Refused, "`gate.outside` must be temp, deny or allow, not %q", g.Outside)
	}
	if len(g.Readers) > maxReaders || len(g.Tools) > maxReaders {
		return fault.New(fault.Refused, "`[gate]` names more than %d readers", maxReaders)
	}
	for _, words := range g.Readers {
		if err := checkReader(words); err != nil {
			return err
		}
	}
	for _, tool := range g.Tools {
		if !readable(tool) || strings.ContainsAny(tool, " *") {
			return fault.New(fault.Refused, "`gate.reader_tools` takes exact names of tools, not %q", tool)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(g.Mode)) {
		mode := g.Mode[kind]
		if !slices.Contains(SoftRules, kind) {
			return fault.New(fault.Refused, "`gate.mode` knows no kind of rule %q: use %s", kind, strings.Join(SoftRules, ", "))
		}
		if !slices.Contains([]string{seatread.ModeEnforce, seatread.ModeWarn, seatread.ModeAudit}, mode) {
			return fault.New(fault.Refused, "`gate.mode` of %s must be enforce, warn or audit, not %q", kind, mode)
		}
	}
	return nil
}

// checkReader refuses what is no command in words. The first word names a
// program, and so is no pattern.
func checkReader(words []string) error {
	text := strings.Join(words, " ")
	if len(words) == 0 || len(words) > maxReaderWords || !readable(text) || len(text) > maxReaderText {
		return fault.New(fault.Refused, "`gate.readers` takes commands of 1 to %d words, not %q", maxReaderWords, text)
	}
	for i, w := range words {
		switch {
		case strings.ContainsAny(w, "\"'\\`$;&|<>(){}"):
			return fault.New(fault.Refused, "`gate.readers` takes plain words, without anything that means something to a shell: %q", text)
		case i == 0 && strings.Contains(w, "*"), w == "**" && i != len(words)-1, strings.Contains(w, "*") && w != "*" && w != "**":
			return fault.New(fault.Refused, "in `gate.readers` a `*` stands for one word and a last `**` for any number, and neither for the program: %q", text)
		}
	}
	return nil
}

func readable(s string) bool { return s != "" && len(s) <= maxReaderText && oneLine(s) }

// Gate is the gate that a person trusted last.
func (st State) Gate() seatread.Gate { return st.Row().Gate }

// NewGate reports whether a gate differs from the one that holds.
func (st State) NewGate(g seatread.Gate) bool {
	have := st.Gate()
	return have.Outside != g.Outside || !slices.EqualFunc(have.Readers, g.Readers, slices.Equal) ||
		!slices.Equal(have.Tools, g.Tools) || len(have.Mode)+len(g.Mode) > 0 && !reflect.DeepEqual(have.Mode, g.Mode)
}

// TrustOwnGate makes a gate hold, if it is new, that satelle itself has just
// written, which needs no person; a person's is [State.Trust].
func (st State) TrustOwnGate(g seatread.Gate, actor ledger.Actor) (Change, error) {
	var c Change
	if err := CheckGate(g); err != nil || !st.NewGate(g) {
		return c, err
	}
	c.add(KindGateTrusted, "", actor, gateTrusted{Gate: g})
	return c, nil
}
