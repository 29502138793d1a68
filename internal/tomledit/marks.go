package tomledit

import "strings"

// The comments by which Unset knows what Set did.
const (
	mark       = " # satelle"
	markWas    = " # satelle was "
	markInline = " # satelle: "
)

type owner int

const (
	foreign  owner = iota
	added          // the whole line
	replaced       // another value stood here
	inserted       // a key of an inline table
)

// ownership tells from the end of a key's line what Set did there. The note is
// what stood there before, or the mark of the inline key.
func ownership(comment string, e entry, doc []byte) (note string, kind owner) {
	if e.within {
		note = markInline + keyText(doc, e)
		for i := strings.LastIndex(comment, note); i >= 0; i = strings.LastIndex(comment[:i], note) {
			if rest := comment[i+len(note):]; rest == "" || strings.HasPrefix(rest, markInline) {
				return note, inserted
			}
		}
		return "", foreign
	}
	if i := strings.LastIndex(comment, markWas); i >= 0 {
		note = comment[i+len(markWas):]
		if _, err := decode([]byte("v = " + note)); err == nil {
			return note, replaced
		}
	}
	if comment == mark {
		return "", added
	}
	return "", foreign
}

// keyText is the key of an entry as it is written.
func keyText(doc []byte, e entry) string {
	text, _, _ := strings.Cut(string(doc[e.start:e.value]), "=")
	return strings.TrimSpace(text)
}
