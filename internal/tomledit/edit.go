package tomledit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Get returns the value of the key at path as it is written in doc.
func Get(doc []byte, path ...string) (value string, found bool, err error) {
	entries, _, err := parse(doc)
	if err != nil {
		return "", false, err
	}
	if e := find(entries, path); e != nil {
		return string(doc[e.value:e.end]), true, nil
	}
	return "", false, nil
}

// Line is the line, from 1, of the key or the table at path, 0 if doc has none.
func Line(doc []byte, path ...string) int {
	entries, _, err := parse(doc)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if slices.Equal(e.path, path) {
			return 1 + bytes.Count(doc[:e.start], []byte("\n"))
		}
	}
	return 0
}

// Replace returns doc with another value for a key that it has, and without a
// note of the old one: for documents that are satelle's to write.
func Replace(doc []byte, value string, path ...string) ([]byte, error) {
	entries, values, err := parse(doc)
	if err != nil {
		return nil, err
	}
	e := find(entries, path)
	if e == nil {
		return nil, fail(doc, 0, "there is no %s", dotted(path))
	}
	return verify(doc, slices.Concat(doc[:e.value], []byte(value), doc[e.end:]), values, value, path)
}

// Set returns doc with the key at path set to value, a TOML value in one line.
// The path leads through at least one table, which is made where it is missing; a nil doc is a document that
// does not exist yet. Where the key has that value already, doc itself is
// returned; where it has another one, the comment says which.
//
// A document that is invalid, or in which the path leads through something else
// than tables, gives an *Error.
func Set(doc []byte, value string, path ...string) ([]byte, error) {
	entries, values, err := parse(doc)
	if err != nil {
		return nil, err
	}
	out, err := set(doc, entries, value, path)
	if err != nil || bytes.Equal(out, doc) {
		return doc, err
	}
	return verify(doc, out, values, value, path)
}

// verify returns out if it means what doc means, which is values, but for the
// key at path.
func verify(doc, out []byte, values map[string]any, value string, path []string) ([]byte, error) {
	want, err := decode([]byte("v = " + value))
	if err != nil {
		return nil, fmt.Errorf("the value %s: %w", value, err)
	}
	got, err := decode(out)
	if err != nil || !put(values, path, want["v"]) || !same(got, values) {
		return nil, fail(doc, 0, "%s can't be set here without changing more; set it by hand", dotted(path))
	}
	return out, nil
}

func set(doc []byte, entries []entry, value string, path []string) ([]byte, error) {
	if e := find(entries, path); e != nil {
		return replace(doc, *e, value)
	}
	parent := path[:len(path)-1]
	var table, dottedBy, holder *entry
	for i := range entries {
		e := &entries[i]
		switch {
		case e.kind == array && hasPrefix(path, e.path):
			return nil, fail(doc, e.start, "%s is an array", dotted(e.path))
		case e.kind == scalar && hasPrefix(path, e.path):
			return nil, fail(doc, e.start, "%s is no table", dotted(e.path))
		case hasPrefix(e.path, path):
			return nil, fail(doc, e.start, "%s is a table", dotted(path))
		case e.kind == inline && hasPrefix(path, e.path):
			holder = e // the innermost: it comes after those around it
		case e.kind == header && slices.Equal(e.path, parent):
			table = e
		case e.kind != header && !e.within && len(e.table) < len(parent) && hasPrefix(e.path[:len(e.path)-1], parent):
			dottedBy = e
		}
	}

	p := split(doc)
	text := func(from []string) string {
		return dotted(path[len(from):]) + " = " + value
	}
	switch {
	case holder != nil:
		return addInline(doc, *holder, text(holder.path), dotted(path[len(holder.path):])), nil
	case table != nil:
		p.insert(p.lineOf(table.end)+1, text(parent)+mark)
	case dottedBy != nil:
		p.insert(p.lineOf(dottedBy.end)+1, text(dottedBy.table)+mark)
	default:
		if doc != nil {
			p.insert(len(p.lines), "")
		}
		p.insert(len(p.lines), "["+dotted(parent)+"]"+mark)
		p.insert(len(p.lines), text(parent)+mark)
	}
	return p.join(), nil
}

// replace sets the value of a key that is there.
func replace(doc []byte, e entry, value string) ([]byte, error) {
	old := string(doc[e.value:e.end])
	if is, err := decode([]byte("v = " + old)); err == nil {
		if want, err := decode([]byte("v = " + value)); err == nil && same(is, want) {
			return doc, nil
		}
	}
	out := slices.Concat(doc[:e.value], []byte(value), doc[e.end:])
	eol := lineEnd(doc, e.outer)
	if _, kind := ownership(string(doc[e.outer:eol]), e, doc); kind != foreign {
		return out, nil // the note about what was there first stays
	}
	if e.within || strings.Contains(old, "\n") {
		return nil, fail(doc, e.start, "%s is %s; set it to %s", dotted(e.path), strings.TrimSpace(old), value)
	}
	eol += len(value) - len(old)
	return slices.Insert(out, eol, []byte(markWas+old)...), nil
}

// addInline adds a key to an inline table.
func addInline(doc []byte, holder entry, text, key string) []byte {
	at := holder.last
	if at > 0 {
		text = ", " + text
	} else {
		at = holder.value + 1
	}
	eol := lineEnd(doc, holder.outer)
	return slices.Concat(doc[:at], []byte(text), doc[at:eol], []byte(markInline+key), doc[eol:])
}

// Unset takes back what Set did for the key at path; a value that Set did not
// write stays. A document that Set made, and that is left empty, becomes nil.
func Unset(doc []byte, path ...string) ([]byte, error) {
	entries, _, err := parse(doc)
	if err != nil {
		return nil, err
	}
	e := find(entries, path)
	if e == nil {
		return doc, nil
	}
	out := unset(doc, entries, *e)
	if _, err := decode(out); err != nil {
		return nil, fail(doc, e.start, "%s can't be taken out; take it out by hand", dotted(path))
	}
	return out, nil
}

func unset(doc []byte, entries []entry, e entry) []byte {
	eol := lineEnd(doc, e.outer)
	comment := string(doc[e.outer:eol])
	note, kind := ownership(comment, e, doc)
	switch kind {
	case replaced:
		comment = strings.TrimSuffix(comment, markWas+note)
		return slices.Concat(doc[:e.value], []byte(note), []byte(comment), doc[eol:])
	case inserted:
		from, to := inlineSpan(doc, entries, e)
		i := strings.LastIndex(comment, note)
		comment = comment[:i] + comment[i+len(note):]
		return slices.Concat(doc[:from], doc[to:e.outer], []byte(comment), doc[eol:])
	case added:
		return removeLine(doc, entries, e)
	default:
		return doc
	}
}

// removeLine takes out the line of a key, and the header that Set made for it
// once nothing else stands under it.
func removeLine(doc []byte, entries []entry, e entry) []byte {
	p := split(doc)
	head, ours, theirs := -1, false, false
	for _, o := range entries {
		switch {
		case o.kind == header && slices.Equal(o.path, e.table):
			head = p.lineOf(o.start)
		case o.kind == header || !slices.Equal(o.table, e.table) || o.start == e.start:
		case string(doc[o.outer:lineEnd(doc, o.outer)]) == mark:
			ours = true
		default:
			theirs = true
		}
	}
	p.remove(p.lineOf(e.start))
	switch {
	case head < 0 || !strings.HasSuffix(p.lines[head].text, mark):
		return p.join()
	case theirs:
		p.lines[head].text = strings.TrimSuffix(p.lines[head].text, mark)
		return p.join()
	case ours:
		return p.join()
	}
	p.remove(head)
	// Set puts an empty line in front of a header, but for the first one of a
	// document that it makes.
	switch {
	case head > 0 && p.lines[head-1].text == "":
		p.remove(head - 1)
	case head == 0 && len(p.lines) == 0:
		return nil
	case head == 0 && p.lines[0].text == "":
		p.remove(0)
	}
	return p.join()
}

// inlineSpan is the text of a key in an inline table, with the comma that it
// brought, or that the next one brought when it is the first.
func inlineSpan(doc []byte, entries []entry, e entry) (from, to int) {
	from, to = e.start, e.end
	for _, o := range entries {
		switch {
		case !o.within || o.outer != e.outer:
		case o.end < e.start && string(doc[o.end:e.start]) == ", ":
			return o.end, e.end
		case o.start > e.end && string(doc[e.end:o.start]) == ", ":
			to = o.start
		}
	}
	return from, to
}

func find(entries []entry, path []string) *entry {
	for i, e := range entries {
		if e.kind != header && slices.Equal(e.path, path) && e.value > 0 {
			return &entries[i]
		}
	}
	return nil
}

// lineEnd is where the line of an offset ends, without what ends it.
func lineEnd(doc []byte, at int) int {
	eol := len(doc)
	if i := bytes.IndexByte(doc[at:], '\n'); i >= 0 {
		eol = at + i
		if eol > at && doc[eol-1] == '\r' {
			eol--
		}
	}
	return eol
}

// put sets the value at path in decoded tables.
func put(values map[string]any, path []string, v any) bool {
	for ; len(path) > 1; path = path[1:] {
		next, found := values[path[0]]
		if !found {
			next = map[string]any{}
			values[path[0]] = next
		}
		table, ok := next.(map[string]any)
		if !ok {
			return false
		}
		values = table
	}
	values[path[0]] = v
	return true
}

// same compares decoded documents. Unlike reflect.DeepEqual it holds a NaN
// equal to itself.
func same(a, b map[string]any) bool { return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) }

func fail(doc []byte, at int, format string, args ...any) error {
	return &Error{Line: 1 + bytes.Count(doc[:at], []byte("\n")), What: fmt.Sprintf(format, args...)}
}
