// Package dialect speaks the harnesses' languages: it reads what Claude Code,
// Codex and Grok (and, well enough to deny an edit, opencode, Gemini and
// Cursor) send to a hook, and writes the answer that each understands.
//
// It promises that a payload is either understood completely, as far as a
// decision rests on it, or refused: bytes after the object, duplicate keys,
// two spellings that differ, wrong types, invalid text and clipped inputs are
// errors. Limits come before parsing.
//
// The command string that is installed into the harnesses' settings lives here
// as well, since trust hangs on its text: Codex stores its hash, Grok folds
// identical ones into one. It never changes; a golden test holds it.
//
// Start reading at Parse.
package dialect
