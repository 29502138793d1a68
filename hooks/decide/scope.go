package decide

import "satelle/ledger/seatread"

// inScope reports whether a path, relative to the work tree, lies within one
// of the globs.
func inScope(globs []string, rel string) bool { return seatread.InScope(globs, rel) }
