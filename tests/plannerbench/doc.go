// Plannerbench plays the same planning work to a planner over both transports,
// the command of the [planner] binding and Grok's Agent Client Protocol, and
// says whether the binding should change. `make planner-bench` runs it.
//
// What it promises: nothing but scripted peers runs unless a person asks for
// real agents; every run leaves one record of a versioned form and two
// sidecars, without credentials; a plan that is not good enough is an outcome
// with a reason for each criterion, while an agent that could not be heard fails
// the bench and names the cell; what a transport does not report is no number;
// the rule that decides is a pure function; no binding is ever rewritten.
//
// EVIDENCE.md tells how to read what it writes. fixture.go has the work and
// binding.go the cells, run.go plays one to the other, criteria.go judges what
// came back, decide.go holds the rule, record.go and out.go what is kept,
// report.go what a person sees, peer.go the scripted agents.
package main
