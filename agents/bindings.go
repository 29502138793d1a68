package agents

import (
	"slices"
	"strings"
	"time"

	"satelle/internal/fault"
)

// Names of bindings with a meaning of their own.
const (
	Reviewer = "reviewer" // judges wherever the route names no other
	Executor = "executor" // the session that drives a story
	Defaults = "defaults" // no binding: values for those that set none
)

// Roles of a binding.
const (
	RoleAgent    = "agent"    // performs steps
	RoleReviewer = "reviewer" // judges and changes nothing
)

// Interfaces by which a binding is spoken to.
const (
	InterfaceCommand = "command" // a full argv; the work comes on stdin
	InterfaceACP     = "acp"     // the Agent Client Protocol on stdio
)

// Values of principles: whether the session's principles open the prompt.
const (
	PrinciplesSession = "session"
	PrinciplesNone    = "none"
)

// InLoop is the command of a binding that starts no process: the session that
// drives the story does the work.
const InLoop = "in-loop"

// How long an agent may run if its binding does not say.
const (
	ReviewerTimeout  = 10 * time.Minute
	PerformerTimeout = 60 * time.Minute
)

// Binding says how the agent of one name runs.
type Binding struct {
	Name       string            `json:"name"`
	Interface  string            `json:"interface"`
	Command    string            `json:"command"`
	Role       string            `json:"role"`
	Tools      string            `json:"tools,omitempty"`
	Model      string            `json:"model,omitempty"`
	Effort     string            `json:"effort,omitempty"`
	Secondary  string            `json:"secondary,omitempty"`
	Principles string            `json:"principles"`
	Env        map[string]string `json:"env,omitempty"`
	Timeout    time.Duration     `json:"timeout"`
	Settings   string            `json:"settings,omitempty"`
	Worktree   bool              `json:"worktree,omitempty"`
	MaxTokens  int64             `json:"max_tokens,omitempty"`
	Line       int               `json:"-"` // in its file; 0 for a default
}

// File is an agents.toml.
type File struct {
	Path     string
	Bindings []Binding // in the order of the file
	Warnings []string  // what still works and should be written anew
}

// Binding returns the binding of that name. There is always a reviewer: a file
// without one means the default template.
func (f File) Binding(name string) (Binding, bool) {
	for _, b := range f.Bindings {
		if b.Name == name {
			return b, true
		}
	}
	if name == Reviewer {
		return Binding{
			Name: Reviewer, Interface: InterfaceCommand, Command: DefaultClaudeCommand, Role: RoleReviewer,
			Principles: PrinciplesSession, Timeout: ReviewerTimeout,
		}, true
	}
	return Binding{}, false
}

// Validate reports the first binding that could not run as it is written.
func (f File) Validate() error {
	for _, b := range f.Bindings {
		if err := f.validate(b); err != nil {
			return err
		}
	}
	return nil
}

func (f File) validate(b Binding) error {
	tokens := strings.Fields(b.Command)
	switch {
	case b.Name == Executor && b.Command != InLoop:
		return f.fail(b.Line, "[executor] is the session itself: its command must be %q", InLoop)
	case b.Name != Executor && b.Command == InLoop && b.Role == RoleReviewer:
		return f.fail(b.Line, "[%s] reviews, so it can't be %q: the session would judge itself", b.Name, InLoop)
	case b.Command == InLoop:
	case len(tokens) == 0:
		return f.fail(b.Line, "[%s] has no command", b.Name)
	case len(tokens) == 1 && b.Interface == InterfaceACP:
		return f.fail(b.Line, "[%s] command %q is a bare name: write the line that starts the agent's ACP server, like %q", b.Name, b.Command, DefaultCodexACPCommand)
	case len(tokens) == 1 && templates[tokens[0]] != "":
		return fault.Try(f.fail(b.Line, "[%s] command %q is a bare name: write the full command template", b.Name, b.Command), "satelle init")
	case len(tokens) == 1:
		return f.fail(b.Line, "[%s] command %q is a bare name: write the full command template, or %q", b.Name, b.Command, InLoop)
	}
	if b.Secondary == "" {
		return nil
	}
	if !slices.ContainsFunc(f.Bindings, func(o Binding) bool { return o.Name == b.Secondary && o.Name != b.Name }) {
		return f.fail(b.Line, "[%s] has the secondary %q, which is no other binding of this file", b.Name, b.Secondary)
	}
	return nil
}

func (f File) fail(line int, format string, args ...any) error {
	return fault.New(fault.Refused, "%s:%d: "+format, append([]any{f.Path, line}, args...)...)
}
