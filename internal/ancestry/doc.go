// Package ancestry tells a hooked session from a person: a harness that runs
// satelle's hook is registered under $SATELLE_HOME/sessions, and a process
// whose ancestors include a registered harness belongs to that session.
//
// A process is known by its id and its start time, never by its name or its
// environment, so nothing that an agent can set makes it look like a person.
// It can still leave its own tree (a daemon whose parent is init): ancestry is
// the floor of authority, an ssh signature is the rest.
//
// Agents that satelle itself starts are registered beside them, under workers.
// Since whoever runs as the same user can delete a file, the processes that start
// them also bear a mark in their names (mark.go), and hold their registrations
// locked, which shows in every namespace of processes (lock_unix.go). A mark takes
// rights away and gives none, so nobody gains by a false one.
//
// It lies on the hook's path, so it imports the standard library only (and
// golang.org/x/sys/unix on macOS). Start reading at Register.
package ancestry
