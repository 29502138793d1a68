// Package proc runs one command and is sure to come back: the command has a
// process group of its own, which is killed as a whole when its time is up,
// when the caller gives up, and when its first process has ended and left
// others behind. What it prints is kept within a bound.
//
// A command with Spec.Registered runs under a supervisor, a small process that
// is this program started anew (see supervise.go): the caller knows its process
// id before the command's program runs, everything that the command starts stays
// below it, and on Linux nothing of that lives on, in whatever group or session,
// whether the command ends or the caller. On macOS, where no process adopts
// others, that holds for the group, and for those that still hang together with
// the command when it is made to end.
//
// Run waits for the command, Detach starts one that outlives its starter.
// Start reading at run.go. Linux and macOS.
package proc
