package seatread

import "github.com/tidwall/gjson"

// A Gate is how strict the hook is, as the repository's `[gate]` says and a
// person on this machine has trusted. The zero Gate is the strictest but for
// temporary folders, which it leaves open.
type Gate struct {
	Outside string            `json:"outside,omitempty"` // what may change outside of every governed tree: temp (the default), deny or allow
	Readers [][]string        `json:"readers,omitempty"` // commands that count as reading, in words
	Tools   []string          `json:"tools,omitempty"`   // tools that count as reading, by their exact names
	Mode    map[string]string `json:"mode,omitempty"`    // by kind of rule: enforce (the default), warn or audit
}

// Values of [Gate.Outside]. The empty one means OutsideTemp.
const (
	OutsideTemp  = "temp"  // temporary folders, and what harnesses keep for themselves
	OutsideDeny  = "deny"  // only what harnesses keep for themselves
	OutsideAllow = "allow" // everything that is not protected
)

// Values of [Gate.Mode].
const (
	ModeEnforce = "enforce" // deny
	ModeWarn    = "warn"    // let pass, say why not, and record it
	ModeAudit   = "audit"   // let pass and record it
)

// Keys of [Gate.Mode]: the kinds of rules that can be softened. What protects
// satelle itself, its keys and the harnesses' settings always denies.
const (
	RuleEdit    = "edit"    // an editing tool without a seat
	RuleCommand = "command" // a shell command that changes files, without a seat
	RuleTool    = "tool"    // a tool that nobody knows, without a seat
	RuleScope   = "scope"   // a file outside of the story's path scopes
	RuleOutside = "outside" // a file outside of every governed tree
	RuleCommit  = "commit"  // a commit without a seat
)

func (d *decoder) gate(v gjson.Result) (g Gate) {
	d.object(v, func(name string, v gjson.Result) {
		switch name {
		case "outside":
			g.Outside = d.string(v)
		case "readers":
			d.array(v, func(v gjson.Result) { g.Readers = append(g.Readers, d.strings(v)) })
		case "tools":
			g.Tools = d.strings(v)
		case "mode":
			g.Mode = make(map[string]string)
			d.object(v, func(kind string, v gjson.Result) { g.Mode[kind] = d.string(v) })
		}
	})
	return g
}
