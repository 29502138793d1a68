package event

import (
	"slices"
	"time"

	"satelle/workflow"
)

// Kind is one of a closed set. (Seed 001, "Progressive execution diagnostics".)
type Kind string

// The kinds of events.
const (
	Start      Kind = "start"
	Heartbeat  Kind = "heartbeat"  // the agent is silent and lives
	Message    Kind = "message"    // what it says, without its reasoning
	ToolStart  Kind = "tool_start" // it calls a tool
	ToolEnd    Kind = "tool_end"
	Artifact   Kind = "artifact" // the final answer holds what may be an artifact
	Usage      Kind = "usage"
	Completion Kind = "completion"
	Failure    Kind = "failure"
)

var kinds = []Kind{Start, Heartbeat, Message, ToolStart, ToolEnd, Artifact, Usage, Completion, Failure}

// Known reports whether the kind is of the set.
func (k Kind) Known() bool { return slices.Contains(kinds, k) }

// Event is one thing that happened. Fields that a kind has no use for are empty.
type Event struct {
	// Time is set by who receives the event, if it is zero.
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	// Text is a message, a tool's input or output in short, or why it failed.
	// Messages that follow one another are pieces of one text; a message that is
	// whole ends with a line break.
	Text string `json:"text,omitempty"`
	// Truncated says that there was more, of the text or of the log.
	Truncated bool `json:"truncated,omitempty"`
	// Call pairs the start and the end of a tool's call, Tool is its name.
	Call string `json:"call,omitempty"`
	Tool string `json:"tool,omitempty"`
	// OK tells of a ToolEnd whether the call went well, nil if that is unknown.
	OK *bool `json:"ok,omitempty"`
	// Class is the class of a Failure.
	Class string `json:"class,omitempty"`
	// Usage is that of the whole run so far.
	Usage *workflow.Usage `json:"usage,omitempty"`
}

// Sink takes events. It must not block for long, and may be called from
// several goroutines at once.
type Sink func(Event)
