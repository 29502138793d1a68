package decide

import (
	"satelle/hooks/shell"
	"satelle/ledger/seatread"
)

// Kind is what a tool does to files, as far as its name and input tell.
type Kind int

// The kinds. The zero value is the one that needs most.
const (
	Strange Kind = iota // nobody knows
	Reads
	Edits   // changes the files that it names
	Command // runs a shell command, which was judged
)

// Act is a call, understood.
type Act struct {
	Kind   Kind
	Paths  []string // files that it changes, as the payload names them
	Looks  []string // files that it reads
	Deep   bool     // it searches all below them
	Maybe  []string // what may name files in the input of a tool that nobody knows
	Effect shell.Effect
	What   string // the target or the command, for the reason
}

// changes reports whether the act may change a file.
func (a Act) changes() bool {
	switch a.Kind {
	case Reads:
		return false
	case Command:
		return a.Effect.Changes
	}
	return true
}

// beyond reports whether the act may change more than the files it names.
func (a Act) beyond() bool {
	switch a.Kind {
	case Strange:
		return true
	case Command:
		return a.Effect.Changes && !a.Effect.Known
	}
	return false
}

// Holding says who may use the seat of a work tree.
type Holding int

// The states of a seat.
const (
	Free      Holding = iota
	Held              // by a story
	Suspended         // by a story that has been idle
	Lent              // to one worker alone
	Apart             // the one who asks is a worker, and it is not lent to it
)

// Outside says what a path is that lies in no governed place.
type Outside int

// What an ungoverned path can be.
const (
	Elsewhere Outside = iota
	Temporary
	HarnessOwn // plans and memory that the harness keeps for itself
)

// Spot is a path and all that was found out about it.
type Spot struct {
	Path      string // as it was named
	Governed  bool
	Tree      string // root of the work tree that governs it, "" if none does
	TreeID    string // as the ledger calls it
	Dir       string // satelle's folder for the repository, "" if it keeps no ledger
	NoLedger  bool   // governed by its marker, but this machine keeps no ledger for it
	Nested    bool   // NoLedger, and within another governed place
	NoRoot    bool   // registered, but the tree has no .satelle
	Protected string // what it is that no story may change, "" if none
	Substrate bool   // it lies in .satelle, which a story can open
	Outside   Outside
	Away      bool // the session works elsewhere just now, or in a repository within: satelle has to be called in it
	InScope   bool // within the path scopes of the story that holds the seat

	Row     seatread.Row
	RowErr  error // the row could not be read
	Holding Holding
	Seat    seatread.Seat
}

// Facts is what a decision rests on besides the call.
type Facts struct {
	Act       Act
	Here      Spot   // where the session works
	Targets   []Spot // every file that changes, as far as it is known
	Err       error  // a place could not be told
	Secret    string // what secret the call would read, "" if none
	Mentioned string // a protected path in the text of a command that changes files
	Verb      string // a verb of satelle that only a person may use
	Foreign   string // a word that should be satelle and is another program
	Program   string // how satelle is to be called
	Who       Standing
}

// governed reports whether satelle has a say in the call.
func (f Facts) governed() bool {
	if f.Here.Governed {
		return true
	}
	for _, t := range f.Targets {
		if t.Governed || t.Protected == ownFolder {
			return true
		}
	}
	return false
}
