package jsonedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Each in a path stands for every element of an array.
const Each = "#"

// Append returns doc with value, a JSON text, as the last element of the array
// at path. Objects on the path and the array itself are made where they are
// missing; a nil doc is a document that does not exist yet. The value is laid
// out in the indentation and the line ends of the document.
//
// A document that is invalid, has a key of the path twice, or holds something
// else than objects and an array along the path gives an *Error.
func Append(doc []byte, path []string, value []byte) ([]byte, error) {
	if err := check(value); err != nil {
		return nil, fmt.Errorf("the element is no valid JSON: %w", err)
	}
	if doc == nil {
		made := layout(wrap(path, value), "", defaultIndent, "\n")
		return append(made, '\n'), nil
	}
	at, err := parse(doc)
	if err != nil {
		return nil, err
	}
	for i, key := range path {
		if err := at.want(doc, '{', name(path[:i])); err != nil {
			return nil, err
		}
		m, err := at.member(doc, key)
		if err != nil {
			return nil, err
		}
		if m < 0 {
			return insert(doc, at, quote(key)+": ", wrap(path[i+1:], value)), nil
		}
		at = at.items[m].node
	}
	if err := at.want(doc, '[', name(path)); err != nil {
		return nil, err
	}
	return insert(doc, at, "", value), nil
}

// Delete returns doc without the array elements at path that pick chooses by
// their JSON text. With Each in the path, the elements of several arrays are
// looked at, and an element of an Each level goes when its array is emptied.
// Otherwise an emptied container goes if Append made it, and a document that
// Append made and that is emptied becomes nil.
//
// Without a choice, also where the path leads nowhere, doc itself is returned.
func Delete(doc []byte, path []string, pick func(value []byte) bool) ([]byte, error) {
	if doc == nil {
		return nil, nil
	}
	root, err := parse(doc)
	if err != nil {
		return nil, err
	}
	d := deleter{doc: doc, pick: pick}
	emptied, err := d.empty(root, path, nil, false)
	if err != nil {
		return nil, err
	}
	if emptied {
		if made(doc, root) {
			return nil, nil
		}
		d.clear(root)
	}
	if len(d.cuts) == 0 {
		return doc, nil
	}
	var out []byte
	pos := 0
	for _, c := range d.cuts {
		out = append(out, doc[pos:c.from]...)
		pos = c.to
	}
	return append(out, doc[pos:]...), nil
}

type span struct{ from, to int }

type deleter struct {
	doc  []byte
	pick func([]byte) bool
	cuts []span // in order, disjoint
}

// empty cuts what is chosen below n. If that leaves n without an item it cuts
// nothing and returns true: the caller knows whether n itself goes. Within an
// element of an Each level an object counts as emptied when its array is.
func (d *deleter) empty(n node, path, walked []string, within bool) (bool, error) {
	kind := byte('{')
	if len(path) == 0 || path[0] == Each {
		kind = '['
	}
	if err := n.want(d.doc, kind, name(walked)); err != nil {
		return false, err
	}
	only := -1
	if kind == '{' {
		var err error
		if only, err = n.member(d.doc, path[0]); err != nil || only < 0 {
			return false, err
		}
	}

	before := len(d.cuts)
	gone := make([]bool, len(n.items))
	left := len(n.items)
	for i, it := range n.items {
		switch {
		case only >= 0 && only != i:
		case len(path) == 0:
			gone[i] = d.pick(d.doc[it.node.start:it.node.end])
		default:
			emptied, err := d.empty(it.node, path[1:], append(walked[:len(walked):len(walked)], path[0]), within || path[0] == Each)
			if err != nil {
				return false, err
			}
			if emptied && within && kind == '{' {
				return true, nil
			}
			gone[i] = emptied && (path[0] == Each || made(d.doc, it.node))
			if emptied && !gone[i] {
				d.clear(it.node)
			}
		}
		if gone[i] {
			left--
		}
	}
	if left == 0 && len(n.items) > 0 {
		d.cuts = d.cuts[:before]
		return true, nil
	}
	d.cutItems(n, gone, before)
	return false, nil
}

// cutItems cuts the items that are gone, each with the comma that it brought,
// and keeps the cuts that were made inside of those that stay.
func (d *deleter) cutItems(n node, gone []bool, before int) {
	inner := append([]span(nil), d.cuts[before:]...)
	d.cuts = d.cuts[:before]
	first := 0 // the first item that stays
	for first < len(gone) && gone[first] {
		first++
	}
	for i, it := range n.items {
		switch {
		case !gone[i]:
			for ; len(inner) > 0 && inner[0].to <= it.node.end; inner = inner[1:] {
				d.cuts = append(d.cuts, inner[0])
			}
		case i == 0:
			d.cuts = append(d.cuts, span{it.from, n.items[first].from})
		case i > first:
			d.cuts = append(d.cuts, span{n.items[i-1].node.end, it.node.end})
		}
	}
}

// clear cuts all items of n; the space in front of its closing bracket stays.
func (d *deleter) clear(n node) {
	d.cuts = append(d.cuts, span{n.start + 1, n.items[len(n.items)-1].node.end})
}

// made reports whether Append made this container, by its layout.
func made(doc []byte, n node) bool {
	return bytes.ContainsRune(doc[n.start+1:n.items[0].from], '\n')
}

const defaultIndent = "  "

// insert adds an item behind the last one of n.
func insert(doc []byte, n node, key string, value []byte) []byte {
	newline := "\n"
	if bytes.Contains(doc, []byte("\r\n")) {
		newline = "\r\n"
	}
	at, lead, indent := n.start+1, "", lineIndent(doc, n.start)
	if last := len(n.items) - 1; last >= 0 {
		at = n.items[last].node.end
		from := n.items[last].from
		space := doc[len(bytes.TrimRight(doc[:from], " \t\r\n")):from]
		lead = "," + string(space)
		if i := bytes.LastIndexByte(space, '\n'); i >= 0 {
			indent = string(space[i+1:])
			lead = "," + newline + indent
		}
	}
	text := lead + key + string(layout(value, indent, docIndent(doc), newline))
	out := make([]byte, 0, len(doc)+len(text))
	out = append(out, doc[:at]...)
	out = append(out, text...)
	return append(out, doc[at:]...)
}

// lineIndent is the white space that the line of a position begins with.
func lineIndent(doc []byte, at int) string {
	line := doc[bytes.LastIndexByte(doc[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// docIndent is one step of the document's indentation: that of its first
// indented line.
func docIndent(doc []byte) string {
	for rest := doc; ; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			return defaultIndent
		}
		rest = rest[i+1:]
		if text := bytes.TrimLeft(rest, " \t"); len(text) < len(rest) && len(text) > 0 && !isSpace(text[0]) {
			return string(rest[:len(rest)-len(text)])
		}
	}
}

// layout indents a value whose first line stands behind prefix.
func layout(value []byte, prefix, indent, newline string) []byte {
	var buf bytes.Buffer
	// The value was checked, and Indent fails on invalid JSON only.
	_ = json.Indent(&buf, value, prefix, indent)
	if newline == "\n" {
		return buf.Bytes()
	}
	return bytes.ReplaceAll(buf.Bytes(), []byte("\n"), []byte(newline))
}

// wrap puts the value into an array at the end of objects with these keys.
func wrap(keys []string, value []byte) []byte {
	out := "[" + string(value) + "]"
	for i := len(keys) - 1; i >= 0; i-- {
		out = "{" + quote(keys[i]) + ":" + out + "}"
	}
	return []byte(out)
}

func quote(s string) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	// A string always encodes.
	_ = enc.Encode(s)
	return strings.TrimSuffix(buf.String(), "\n")
}

func name(path []string) string {
	if len(path) == 0 {
		return "the document"
	}
	return strings.Join(path, ".")
}
