// Package tomledit sets single keys of a TOML document that belongs to somebody
// else, and takes them back, without touching another byte: comments, order,
// spelling of keys and strings, line ends and a missing final newline stay as
// they were. A key may live in a table, in an inline table or be dotted.
//
// The law: for every document and key,
//
//	Unset(Set(doc, path, value), path) == doc
//
// byte for byte, unless the key has been set by this package before. What is
// needed for that stands in the document itself, as a comment at the end of the
// line: "# satelle" marks a line that Set added, "# satelle was X" a value that
// it replaced, "# satelle: KEY" a key that it added to an inline table. So a
// person sees who wrote the line, and a key that a person set to the very same
// value stays theirs.
//
// No edit rests on the text positions alone: Set parses its result again and
// refuses if anything but the key has changed.
//
// Read edit.go first; marks.go has the comments, tree.go finds the positions and
// lines.go moves the lines.
package tomledit
