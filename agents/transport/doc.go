// Package transport runs one agent once and returns its final answer, over one
// of two transports: a command with a full argv, or the Agent Client Protocol
// on a process's stdio.
//
// What it promises: the agent has a fresh context and its own process group,
// which is gone when Run returns, as is everything it has started; its output
// is bounded; only its final message is the answer; usage that it did not
// report stays absent; every failure has a class.
//
// invocation.go has what goes in and comes out, failure.go the classes,
// command.go and acp.go the transports, envelope.go how the output of any
// command is read, classify.go how a failure gets its class.
package transport
