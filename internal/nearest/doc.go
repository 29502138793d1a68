// Package nearest finds the known word that a mistyped one was probably meant
// to be, for errors that lead on.
package nearest
