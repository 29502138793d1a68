// Package jsonedit adds elements to the arrays of a JSON document that belongs
// to somebody else, and takes them out again, without touching another byte:
// order, indentation, line ends, a byte order mark and a missing final newline
// stay as they were.
//
// The law: for a document that holds no element that pick chooses,
//
//	Delete(Append(doc, path, value), path, pick) == doc
//
// byte for byte, also when Append had to make the array, the objects around it
// or the document itself. No note is kept anywhere to that end. Delete tells
// what Append made by its layout: a container that Append makes begins on a new
// line, while in an empty one that it found the first element stands directly
// behind the bracket. A document laid out anew in between loses no more than
// this distinction.
//
// Read edit.go first; tree.go finds the positions.
package jsonedit
