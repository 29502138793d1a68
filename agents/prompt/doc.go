// Package prompt writes the system prompt of a performer: of the agent that a
// step of a route is allocated to and that begins with a fresh context.
//
// What it promises: the parts stand in the order of the contract (principles,
// charter, how to pull context, the step's skills); what an agent wrote before is
// quoted as data, bounded, and can't end its quotation; the prompt holds no
// document, no history and nothing of the session that asked.
package prompt
