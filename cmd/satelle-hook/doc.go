// Command satelle-hook answers a coding agent's harness whether a tool call may go on:
// it reads the harness's payload from standard input and writes a denial, or
// nothing, to standard output.
//
// It is the same as `satelle hook`, in a program of its own that starts in a
// third of the time, since it runs on every tool call of every agent. The
// command that harnesses run is in package hooks/dialect.
package main
