// Package install puts satelle's hooks into the settings of the coding agents
// (harnesses), and takes them out again.
//
// What it promises:
//
//   - Everything that is not satelle's stays byte for byte: keys, hooks, order,
//     comments, formatting, file modes, symlinks. Remove after Install gives
//     the very file that was there, or none.
//   - Installing or removing twice changes nothing the second time.
//   - A file that can't be understood is refused with its line, and then no
//     file at all is changed: all edits are computed before the first write.
//   - What is satelle's is told by the frozen text of its hook command and by
//     the marker line of a launcher, never by a name or a place.
//   - It reads no environment and knows no current directory: Options say all.
//
// harness.go is the table of who wants what where; start there. install.go,
// status.go are the verbs; plan.go collects the edits and carries them out.
package install
