// Package gitrepo asks a git repository what satelle has to know: where it is,
// what is checked out, what the work tree holds and how that differs from a
// base. It runs git as a child process and changes nothing: no ref, no index,
// no lock, and of objects at most the time of one that is there already.
//
// The answers are meant to hold against whoever can write the repository's own
// configuration. The children see no GIT_* variable of the caller, no pager, no
// hook, no fsmonitor, no network and no replaced objects; core.worktree is
// refused where it leads elsewhere; the index is believed only of files that
// have its times to the nanosecond, whatever its bits say (assume-unchanged,
// skip-worktree); clean filters that
// the repository itself configures are not run; and a diff is made apart from
// the repository, so that neither its attributes nor its drivers decide what is
// shown.
//
// What it cannot close: filters, excludes and attributes of the person's own
// (global) configuration apply; what the repository excludes is not seen, the
// excludes of .git/info/exclude and of its core.excludesFile included; an index
// that a program forged byte by byte, with the times of the changed files in
// it, is believed; and so is a file written twice within one tick of its file
// system's clock, a few milliseconds, if git looked between the two.
//
// Start reading at repo.go, then tree.go and builder.go. Git 2.26 or newer.
package gitrepo
