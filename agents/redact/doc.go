// Package redact takes credentials out of text before it is kept or shown:
// shapes that are obviously credentials, and exact values that somebody named.
//
// What it promises: what it finds in a whole text it also finds in the same
// text that comes in pieces, wherever they are cut ([Rules.Writer] for a
// stream, [Lines] for lines of JSON that carry a text bit by bit), and it holds
// a bounded part of the text for that. It prefers to take too much. It is no
// barrier against somebody who disguises a secret on purpose.
//
// The rules are our own. The one kept rule set for Go, that of gitleaks, was
// measured (version 8.30.1, 2026): linked into satelle it makes each start 2.2 ms
// longer (4.8 to 7.0) and the program 3.3 MB larger, its rules take 43 ms to
// compile and then about 1.3 s for a MB of text, and it judges whole files, not
// streams. Ours compile on first use, and read some 10 MB in a second.
//
// Start reading at shapes.go for what is found, scan.go for how.
package redact
