package spool

import "strings"

// What lies in a spool.
const (
	linesName   = "lines"  // open to writers; closed ones are lines.NUMBER
	countsName  = "counts" // a folder
	countPrefix = "s-"     // of a session's file in it, so that no name is special
	closedBit   = 0o100    // of the mode of a file that is closed to writers
	closedMode  = 0o500    // and the whole of it
)

// Name is a session's id as lines bear it: what is not plain is replaced, so
// that it can name a file. One without an id is called "_".
func Name(session string) string {
	if session == "" {
		return "_"
	}
	if len(session) > maxSession {
		session = session[:maxSession]
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:@", r) {
			return r
		}
		return '_'
	}, session)
}
