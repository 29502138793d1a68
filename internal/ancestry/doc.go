// Package ancestry tells a hooked session from a person: a harness that runs
// satelle's hook is registered under $SATELLE_HOME/sessions, and a process
// whose ancestors include a registered harness belongs to that session.
//
// A process is known by its id and its start time, never by its name or its
// environment, so nothing that an agent can set makes it look like a person.
// It can still leave its own tree (a daemon whose parent is init): ancestry is
// the floor of authority, an ssh signature is the rest.
//
// It lies on the hook's path, so it imports the standard library only (and
// golang.org/x/sys/unix on macOS). Start reading at Register.
package ancestry
