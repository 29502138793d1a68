package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Bounds of a document. Settings files are a few kilobytes and a few levels
// deep; what is beyond is no settings file, and is refused before it is parsed.
const (
	MaxSize  = 4 << 20
	MaxDepth = 100
)

// Error says what is wrong with a document, and on which line.
type Error struct {
	Line int // from 1
	What string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.What) }

// node is a value of the document. Its items are the elements of an array or
// the members of an object.
type node struct {
	kind       byte // '{', '[' or 0 for a scalar
	start, end int
	items      []item
}

// item is an element or a member: from is where its text begins, which for a
// member is its key.
type item struct {
	from int
	key  string
	node node
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// parse checks the document and returns its tree of positions.
func parse(doc []byte) (node, error) {
	if len(doc) > MaxSize {
		return node{}, &Error{1, fmt.Sprintf("the document has %d bytes, more than %d", len(doc), MaxSize)}
	}
	head := 0
	if bytes.HasPrefix(doc, byteOrderMark) {
		head = len(byteOrderMark)
	}
	if err := check(doc[head:]); err != nil {
		var syntax *json.SyntaxError
		at := len(doc)
		if errors.As(err, &syntax) && int(syntax.Offset) > 0 {
			at = head + int(syntax.Offset) - 1
		}
		return node{}, fail(doc, at, "no valid JSON: %s", err)
	}
	w := walker{doc: doc, pos: head}
	root := w.value(0)
	if w.deep > 0 {
		return node{}, fail(doc, w.deep, "nested deeper than %d levels", MaxDepth)
	}
	return root, nil
}

// check reports whether doc is one JSON value, as encoding/json sees it.
func check(doc []byte) error {
	var v json.RawMessage
	err := json.Unmarshal(doc, &v)
	if errors.Is(err, io.EOF) || len(bytes.TrimSpace(doc)) == 0 {
		return errors.New("the file is empty")
	}
	return err
}

// walker finds positions in a document that is known to be valid.
type walker struct {
	doc  []byte
	pos  int
	deep int // where MaxDepth was passed, or 0
}

func (w *walker) value(depth int) node {
	w.space()
	n := node{start: w.pos}
	switch c := w.doc[w.pos]; {
	case w.deep > 0:
	case depth > MaxDepth:
		w.deep = w.pos
	case c == '{' || c == '[':
		n.kind = c
		n.items = w.list(depth, c == '{')
	case c == '"':
		w.text()
	default:
		for w.pos < len(w.doc) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(w.doc[w.pos])) {
			w.pos++
		}
	}
	n.end = w.pos
	return n
}

// list walks over the items of an array or object, brackets included.
func (w *walker) list(depth int, members bool) []item {
	var items []item
	for w.pos++; w.deep == 0; {
		w.space()
		switch w.doc[w.pos] {
		case ']', '}':
			w.pos++
			return items
		case ',':
			w.pos++
			continue
		}
		it := item{from: w.pos}
		if members {
			it.key = w.text()
			w.space()
			w.pos++ // the colon
		}
		it.node = w.value(depth + 1)
		items = append(items, it)
	}
	return items
}

// text walks over a string and returns what it stands for.
func (w *walker) text() string {
	start := w.pos
	for w.pos++; w.doc[w.pos] != '"'; w.pos++ {
		if w.doc[w.pos] == '\\' {
			w.pos++
		}
	}
	w.pos++
	var s string
	// The document is valid, so the string is.
	_ = json.Unmarshal(w.doc[start:w.pos], &s)
	return s
}

func (w *walker) space() {
	for w.pos < len(w.doc) && isSpace(w.doc[w.pos]) {
		w.pos++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// member returns the index of the member of that name, or -1. A name that
// occurs twice is an error: readers disagree about which one counts.
func (n node) member(doc []byte, key string) (int, error) {
	found := -1
	for i, it := range n.items {
		if it.key != key {
			continue
		}
		if found >= 0 {
			return 0, fail(doc, it.from, "%q occurs twice", key)
		}
		found = i
	}
	return found, nil
}

// want reports an error unless the node is of that kind.
func (n node) want(doc []byte, kind byte, name string) error {
	if n.kind == kind {
		return nil
	}
	return fail(doc, n.start, "%s is no %s", name, map[byte]string{'{': "object", '[': "array"}[kind])
}

func fail(doc []byte, at int, format string, args ...any) error {
	at = min(at, len(doc))
	return &Error{Line: 1 + bytes.Count(doc[:at], []byte("\n")), What: fmt.Sprintf(format, args...)}
}
