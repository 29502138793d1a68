// Package decide answers a harness whether a tool call may go on.
//
// Run is what satelle-hook does: it reads one payload, gathers the facts that
// the call rests on (which places its targets lie in, who holds their seats,
// what of it is protected) and writes at most one JSON object in one write. An
// allow is silence. Decide, the rules themselves, is pure: from a call and its
// facts to a decision; docs and tests follow the table of the contract row by
// row.
//
// Whatever goes wrong is a denial with its reason, within a deadline of its
// own; only what reads files passes when the state can't be read. Where satelle
// does not govern the answer is silence.
//
// It runs on every tool call of every agent, so it starts no process, takes no
// lock, reads one row and imports nothing whose initialisation takes time. Two
// events are different: a session that starts asks doctor, and a call of
// satelle that Codex's sandbox would stop is carried out (carry.go).
// Start reading at Decide.
package decide
