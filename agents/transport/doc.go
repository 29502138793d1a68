// Package transport runs one agent once and returns its final answer, over one
// of two transports: a command with a full argv, or the Agent Client Protocol
// on a process's stdio.
//
// What it promises: the agent has a fresh context and its own process group,
// which is gone when Run returns, as is everything it has started; its output
// is bounded; only its final message is the answer; usage that it did not
// report stays absent; every failure has a class.
//
// Over the Agent Client Protocol an agent may also ask satelle for files: to read
// those of its folder if its grant reads, and to write them if its grant edits and
// [Invocation.MayWrite] lets it at that moment: the hooks of its harness don't see
// these requests, so satelle judges them as a hook would. Terminals are not
// offered. A command in one would be a child of satelle and not of the agent's
// supervisor: no descendant of the process that is registered for the worker, so
// neither the hooks nor satelle itself would know for whom it runs, and the agent's
// hooks would not see it. An agent that may run commands has its own tool for that.
//
// invocation.go has what goes in and comes out, failure.go the classes,
// command.go and acp.go the transports, acp_lines.go what
// comes from an agent, acp_files.go the files, envelope.go how the output of any
// command is read, classify.go how a failure gets its class.
package transport
