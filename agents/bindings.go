package agents

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"satelle/internal/fault"
	"satelle/internal/nearest"
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
	Private    []string          `json:"-"` // variables in Env that the machine's catalogue gave
	Path       string            `json:"-"` // the file that has its table, "" for a default
	Line       int               `json:"-"` // there
}

// File is an agents.toml.
type File struct {
	Path     string
	Bindings []Binding // in the order of the file, then those of the catalogue alone
	Warnings []string  // of its text; see [File.Warn] for all
	// cli is whose template a [reviewer] without a command runs.
	cli string
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
		return f.withTemplate(Binding{
			Name: Reviewer, Interface: InterfaceCommand, Role: RoleReviewer, Principles: PrinciplesSession, Timeout: ReviewerTimeout,
		}), true
	}
	return Binding{}, false
}

// Validate reports every binding that could not run as it is written, or that
// must not: a line each. One without a command is left open for the machines
// that complete it, and refused where it would run.
func (f File) Validate() error { return f.report(f.validate) }

// Dispatchable reports, beside what Validate does, the bindings that nobody has
// completed and the performers that can't be dispatched for want of a channel.
func (f File) Dispatchable() error {
	return f.report(func(b Binding) error {
		err := f.validate(b)
		if err == nil {
			err = f.open(b)
		}
		if err != nil || b.Role == RoleReviewer {
			return err
		}
		if err := b.Dispatchable(); err != nil {
			return f.failAt(b, "%v", err)
		}
		return nil
	})
}

// open reports a binding that has no command.
func (f File) open(b Binding) error {
	if strings.TrimSpace(b.Command) != "" {
		return nil
	}
	return fault.Try(f.failAt(b, "[%s] has no command, neither here nor in this machine's config.toml", b.Name), "satelle help global-agents")
}

// report puts what is wrong with the bindings into one error, with the way out
// of the first that has one.
func (f File) report(wrong func(Binding) error) error {
	var lines []string
	try := ""
	for _, b := range f.Bindings {
		if err := wrong(b); err != nil {
			lines, try = append(lines, err.Error()), cmp.Or(try, fault.TryOf(err))
		}
	}
	if lines == nil {
		return nil
	}
	err := fault.New(fault.Refused, "%s", strings.Join(lines, "\n"))
	if try == "" {
		return err
	}
	return fault.Try(err, try)
}

func (f File) validate(b Binding) error {
	tokens, err := split(b.Command)
	switch {
	case b.Name == Executor && b.Command != InLoop:
		return f.failAt(b, "[executor] is the session itself: its command must be %q", InLoop)
	case b.Command == InLoop && b.Role == RoleReviewer:
		return f.failAt(b, "[%s] reviews, so it can't be %q: the session would judge itself", b.Name, InLoop)
	case b.Command == InLoop:
		return nil
	case err != nil:
		return f.failAt(b, "[%s] command: %v", b.Name, err)
	case len(tokens) == 0:
		return f.secondary(b)
	case len(tokens) == 1 && b.Interface == InterfaceACP:
		return f.failAt(b, "[%s] command %q is a bare name: write the line that starts the agent's ACP server, like %q", b.Name, b.Command, DefaultCodexACPCommand)
	case len(tokens) == 1 && templates[tokens[0]] != "":
		return fault.Try(f.failAt(b, "[%s] command %q is a bare name: write the full command template", b.Name, b.Command), "satelle init")
	case len(tokens) == 1:
		return f.failAt(b, "[%s] command %q is a bare name: write the full command template, or %q", b.Name, b.Command, InLoop)
	}
	if err := f.template(b, tokens); err != nil {
		return err
	}
	if by := b.disarms(); by != "" {
		return f.failAt(b, "[%s] turns the hooks off that govern its own agent, by %s: delete it", b.Name, by)
	}
	if by := b.ceiling(); by != "" && b.Role == RoleReviewer {
		return f.failAt(b, "[%s] reviews, so nothing may let it write: %s", b.Name, by)
	}
	return f.secondary(b)
}

// secondary reports a stand-in that can't stand in.
func (f File) secondary(b Binding) error {
	if b.Secondary == "" {
		return nil
	}
	if b.Secondary == b.Name || !slices.ContainsFunc(f.Bindings, func(o Binding) bool { return o.Name == b.Secondary }) {
		return f.failAt(b, "[%s] has the secondary %q, which is no other binding of this file", b.Name, b.Secondary)
	}
	switch o, _ := f.Binding(b.Secondary); {
	case o.Command == InLoop:
		return f.failAt(b, "[%s] has the secondary %q, which is in-loop: there is nothing to start", b.Name, b.Secondary)
	case o.Role != b.Role:
		return f.failAt(b, "[%s] has the role %s and its secondary %q the role %s: who stands in must have the same", b.Name, b.Role, b.Secondary, o.Role)
	}
	return nil
}

// template reports what is wrong with the command beside its length.
func (f File) template(b Binding, tokens []string) error {
	held := placeholder.FindString(b.Command)
	name := b.foreign()
	program, _, _ := b.cli()
	switch {
	case program == claude && b.Interface == InterfaceACP:
		return f.failAt(b, "[%s] starts claude, which does not speak ACP: delete interface, so that it is a command", b.Name)
	case strings.Contains(b.Command, "${"):
		return f.failAt(b, "[%s] command holds ${…}, which is filled in env values only", b.Name)
	case held != "" && b.Interface == InterfaceACP:
		return f.failAt(b, "[%s] command holds %s, but by ACP the session carries what placeholders would: delete it", b.Name, held)
	case name != "":
		near, _ := nearest.Word(name, placeholders)
		return f.failAt(b, "[%s] command holds the unknown placeholder {%s}: did you mean {%s}?", b.Name, name, near)
	case placeholder.MatchString(tokens[0]):
		return f.failAt(b, "[%s] command begins with %s: its first word is the program", b.Name, held)
	}
	return nil
}

func (f File) failAt(b Binding, format string, args ...any) error {
	return File{Path: cmp.Or(b.Path, f.Path)}.fail(max(1, b.Line), format, args...)
}

func (f File) fail(line int, format string, args ...any) error {
	return fault.New(fault.Refused, "%s:%d: "+format, append([]any{f.Path, line}, args...)...)
}
