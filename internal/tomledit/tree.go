package tomledit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// MaxSize bounds a document; a configuration file is a few kilobytes.
const MaxSize = 4 << 20

// Error says what is wrong with a document, and on which line.
type Error struct {
	Line int // from 1
	What string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.What) }

type kind int

const (
	header kind = iota // [table]
	array              // [[table]], or the key of an array value
	inline             // key = { … }
	scalar             // key = anything else but an array
)

// entry is a header or a key with its value, at the offsets of the document.
type entry struct {
	kind       kind
	path       []string
	table      []string // the header that it stands under
	start, end int      // the expression, without comment
	value      int      // where its value begins
	outer      int      // end of the whole expression on the top level
	last       int      // inline table: end of its last key, or 0
	within     bool     // stands in an inline table
}

// parse checks a document in full and returns what it defines.
func parse(doc []byte) ([]entry, map[string]any, error) {
	if len(doc) > MaxSize {
		return nil, nil, &Error{1, fmt.Sprintf("the document has %d bytes, more than %d", len(doc), MaxSize)}
	}
	values, err := decode(doc)
	if err != nil {
		return nil, nil, err
	}
	var p unstable.Parser
	p.Reset(slices.Clip(doc))
	t := tree{doc: doc, parser: &p}
	for p.NextExpression() {
		switch n := p.Expression(); n.Kind {
		case unstable.Table, unstable.ArrayTable:
			keys, first, end := t.keys(n.Key())
			t.table = keys
			kind := header
			if n.Kind == unstable.ArrayTable {
				kind = array
			}
			t.entries = append(t.entries, entry{kind: kind, path: keys, table: keys, start: first, end: end, outer: end})
		case unstable.KeyValue:
			t.keyValue(n, t.table, int(n.Raw.Offset+n.Raw.Length), false)
		}
	}
	if err := p.Error(); err != nil {
		return nil, nil, &Error{1, err.Error()}
	}
	return t.entries, values, nil
}

// decode is the check of what the positions cannot show: keys that occur
// twice, tables that are defined twice.
func decode(doc []byte) (map[string]any, error) {
	values := map[string]any{}
	err := toml.Unmarshal(doc, &values)
	if err == nil {
		return values, nil
	}
	var at *toml.DecodeError
	if errors.As(err, &at) {
		row, _ := at.Position()
		return nil, &Error{row, "no valid TOML: " + at.Error()}
	}
	return nil, &Error{1, "no valid TOML: " + err.Error()}
}

type tree struct {
	doc     []byte
	parser  *unstable.Parser
	table   []string
	entries []entry
}

// keyValue takes in a key and, if its value is an inline table, the keys in it.
func (t *tree) keyValue(n *unstable.Node, under []string, outer int, within bool) {
	keys, _, keysEnd := t.keys(n.Key())
	e := entry{
		kind:   scalar,
		path:   append(under[:len(under):len(under)], keys...),
		table:  t.table,
		start:  int(n.Raw.Offset),
		end:    int(n.Raw.Offset + n.Raw.Length),
		outer:  outer,
		within: within,
	}
	e.value = keysEnd + bytes.IndexByte(t.doc[keysEnd:], '=') + 1
	for t.doc[e.value] == ' ' || t.doc[e.value] == '\t' {
		e.value++
	}
	at := len(t.entries)
	t.entries = append(t.entries, e)
	switch value := n.Value(); value.Kind {
	case unstable.Array:
		t.entries[at].kind = array
	case unstable.InlineTable:
		t.entries[at].kind = inline
		for it := value.Children(); it.Next(); {
			if child := it.Node(); child.Kind == unstable.KeyValue {
				t.keyValue(child, e.path, outer, true)
				t.entries[at].last = int(child.Raw.Offset + child.Raw.Length)
			}
		}
	}
}

// keys returns a dotted key's parts and where they begin and end.
func (t *tree) keys(it unstable.Iterator) (keys []string, first, end int) {
	first = -1
	for it.Next() {
		k := it.Node()
		keys = append(keys, string(k.Data))
		if first < 0 {
			first = int(k.Raw.Offset)
		}
		end = int(k.Raw.Offset + k.Raw.Length)
	}
	return keys, first, end
}

// hasPrefix reports whether path begins with prefix.
func hasPrefix(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}
