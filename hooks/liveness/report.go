package liveness

import (
	"cmp"
	"slices"
)

// Levels of a Finding.
const (
	Broken = "broken" // something installed does not hold
	Open   = "open"   // a way around the hooks that can be closed
	Note   = "note"   // worth knowing; nothing has to be done
)

// Finding is one thing that is wrong or worth knowing.
type Finding struct {
	Name    string `json:"name"`  // stable, for scripts
	Level   string `json:"level"` // Broken, Open or Note
	Harness string `json:"harness,omitempty"`
	Scope   string `json:"scope,omitempty"`
	What    string `json:"what"`
	Mend    string `json:"mend"` // the command, or the edit in words
}

// Hook is how things stand with one harness in one scope.
type Hook struct {
	Harness   string `json:"harness"`
	Scope     string `json:"scope"`
	File      string `json:"file"`
	Installed bool   `json:"installed"` // each event has a hook of satelle's
	Current   bool   `json:"current"`   // they are as this satelle writes them
	Trusted   bool   `json:"trusted"`   // the harness runs them, by its files or its own word
	Denies    bool   `json:"denies"`    // the canary's change was denied
	Live      bool   `json:"live"`      // all that could be asked says that it holds here
	Millis    int64  `json:"millis"`    // time of the canary's slower call
	// Proof is what Live rests on: files alone (git), canary, asked (the harness
	// said so, too) or played (the harness was seen to deny).
	Proof string `json:"proof,omitempty"`
	// Says is the harness's own word, if it was asked: "loaded", or what it says
	// instead.
	Says    string `json:"says,omitempty"`
	Program string `json:"program,omitempty"` // the harness's, "" if it is not on PATH
}

// What Live rests on.
const (
	ProofFiles  = "files"
	ProofCanary = "canary"
	ProofAsked  = "asked"
	ProofPlayed = "played"
)

// Report is what was found.
type Report struct {
	Dir      string    `json:"dir"`
	Tree     string    `json:"tree,omitempty"` // root of the work tree, "" outside of git
	Governed bool      `json:"governed"`
	Hooks    []Hook    `json:"hooks"`
	Findings []Finding `json:"findings"`
	Open     []Opening `json:"open"` // by the design of the harnesses that are installed
	OK       bool      `json:"ok"`   // nothing is broken or open
}

// levels in the order of their weight.
var levels = []string{Broken, Open, Note}

// Add takes in findings, also those that others made; the heaviest come first.
func (r *Report) Add(found ...Finding) {
	r.Findings = append(r.Findings, found...)
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Compare(slices.Index(levels, a.Level), slices.Index(levels, b.Level))
	})
	r.OK = !slices.ContainsFunc(r.Findings, Finding.bad)
}

func (f Finding) bad() bool { return f.Level != Note }

// Installed reports whether any agent's hook is installed.
func (r Report) Installed() bool {
	return slices.ContainsFunc(r.Hooks, func(h Hook) bool { return h.Installed && h.Harness != gitName })
}
