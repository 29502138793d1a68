package transport

import (
	"context"
	"io"
	"time"

	"satelle/agents"
	"satelle/agents/event"
	"satelle/workflow"
)

// Invocation is one run of one agent.
type Invocation struct {
	Binding agents.Binding
	// Env is the whole environment of the agent's process.
	Env []string
	// System is the system prompt, Payload the work item as JSON.
	System  string
	Payload []byte
	// Dir is where the agent works.
	Dir string
	// Timeout bounds the run; it is above zero.
	Timeout time.Duration
	// Events receives what happens; nil for nothing.
	Events event.Sink
	// Raw receives the agent's traffic as it came, for a trace; nil for nothing.
	Raw io.Writer
	// MayWrite refuses the agent to write a file of Dir, by its absolute path, if it
	// may not now; it is asked each time. nil: none, as for each agent without a
	// seat. It concerns what is written for the agent: of its own tools it knows
	// nothing.
	MayWrite func(path string) error
	// Started is called once the process has an id and before its program runs;
	// its error ends the run. nil for nothing.
	Started func(pid int) error
}

// Result is what an agent answered.
type Result struct {
	// Text is the final message, and nothing that came before it.
	Text    string
	Usage   workflow.Usage
	Elapsed time.Duration
	// Program is the file that was started, "" if none was.
	Program string
	// ExitCode is the process's; a result message outweighs it.
	ExitCode int
}

// Run asks the agent of the invocation's binding and waits for its answer. The
// error is a *Failure; the Result then holds what is known all the same.
func Run(ctx context.Context, inv Invocation) (Result, error) {
	if inv.Binding.Interface == agents.InterfaceACP {
		return runACP(ctx, inv)
	}
	return runCommand(ctx, inv)
}
