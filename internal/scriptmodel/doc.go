// Package scriptmodel is a model that plays one turn: over Anthropic's Messages
// on loopback it asks for one tool call, keeps what the agent told it about the
// call, and is done. With it `satelle doctor --claude-run` sees what a real
// Claude Code does.
//
// It promises that an answer is a function of the request alone, so retries play
// the same turn, that it listens on loopback only, and that nothing of a
// request is kept but the call's result.
package scriptmodel
