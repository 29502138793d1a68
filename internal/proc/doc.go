// Package proc runs one command and is sure to come back: the command has a
// process group of its own, which is killed as a whole when its time is up,
// when the caller gives up, and when its first process has ended and left
// others behind. What it prints is kept within a bound.
//
// Run waits for the command, Detach starts one that outlives its starter.
// Start reading at run.go. Linux and macOS.
package proc
