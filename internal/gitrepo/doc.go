// Package gitrepo asks a git repository what satelle has to know: where it is,
// what is checked out, what the work tree holds and how that differs from a
// base, what is staged, and what its history holds. It runs git as a child
// process and changes nothing: no ref, no index, no lock, and of objects at
// most the time of one that is there already. The one exception is publish.go,
// which writes refs that satelle owns and brings them to a remote.
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
// What is asked of many commits is asked of one process (history.go), so that
// its cost is git's and not that of starting it. An exchange with a remote runs
// as the person's own git would, with their configuration and credentials.
//
// Start reading at repo.go, then tree.go and builder.go. Git 2.26 or newer;
// merging anew needs 2.39.
package gitrepo
