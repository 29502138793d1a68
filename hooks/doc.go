// Package hooks is the room of satelle that stands between a coding agent's
// harness and the files of a governed place. Its packages:
//
//   - dialect: what each harness sends to a hook and understands as an answer,
//     and the one command string that is written into their settings;
//   - shell: what a shell command does, seen by parsing it;
//   - decide: from a call and the facts about its targets to a decision;
//   - install: writes the command into the harnesses' settings and removes it;
//   - liveness: proves that what is installed holds.
//
// dialect, shell and decide run on every tool call of every agent. They import
// no more than a parser each, and nothing whose initialisation takes time.
package hooks
