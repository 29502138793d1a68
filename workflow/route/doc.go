// Package route reads what a project says about its own work: done.md (what
// done means, for each category of story), step.md (which steps provide that,
// who performs them and who judges entry to them) and the skills that both
// name. From them it derives lanes: the ordered steps of a story, with every
// gate and every skill resolved.
//
// It is pure: bytes in, a Route or all problems at once out. It opens no file,
// starts nothing and knows no clock. A route with a problem is no route, since a
// rule that cannot be read must not be taken for a rule that is not there.
//
// A Lane can be pinned (Encode) and read back (Decode) long after the files
// have changed; every lane that this package has encoded stays readable.
//
// Start reading at route.go for the types, then done.go and step.go for the two
// files, order.go for how the order comes about, flaws.go for what a lane must
// hold to and examine.go for what a route must. The files that satelle ships are
// in shipped/.
package route
