// Package clienttest stands in for the model behind a coding agent: a scripted
// server on loopback that speaks Anthropic's Messages, OpenAI's Responses and
// the Chat Completions that Grok and opencode use.
//
// What it promises: an answer is a pure function of the script and the request,
// so that retries, parallel sub-agents and repeated runs play the same turn;
// every request is kept, and what the agent told the model about each tool call
// can be asked for.
//
// The tests under build tag `clients` start the real agents against it, with a
// clean environment and a home of their own. `make clients` installs those, as
// pinned in package-lock.json, and runs the tests.
//
// TestEnforcement writes docs/enforcement.md with -update and compares it
// without: session_test.go plays every way of a harness to change a file in one
// state after another, states_test.go brings those about, launches_test.go has
// the places and modes in which a harness is started.
//
// TestAgents… put each client to work as satelle's planner and reviewer:
// agent_table_test.go has them with their bindings, agent_work_test.go what they
// do, agent_failures_test.go how they end.
//
// server.go has the script and the server; anthropic.go, responses.go and
// chat.go are the three dialects.
package clienttest
