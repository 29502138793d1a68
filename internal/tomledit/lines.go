package tomledit

import (
	"bytes"
	"slices"
	"sort"
)

// line is the text of a line and what ends it: "\n", "\r\n" or, for a last
// line without a newline, nothing.
type line struct{ text, end string }

// page is a document as lines. That a last line lacks its newline is kept
// through inserting and removing.
type page struct {
	lines   []line
	starts  []int // offset of each line in the parsed document
	newline string
}

func split(doc []byte) page {
	p := page{newline: "\n"}
	if i := bytes.IndexByte(doc, '\n'); i > 0 && doc[i-1] == '\r' {
		p.newline = "\r\n"
	}
	for at := 0; at < len(doc); {
		p.starts = append(p.starts, at)
		text, end := doc[at:], ""
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			text, end = text[:i], "\n"
			if bytes.HasSuffix(text, []byte("\r")) {
				text, end = text[:i-1], "\r\n"
			}
		}
		p.lines = append(p.lines, line{string(text), end})
		at += len(text) + len(end)
	}
	return p
}

func (p *page) join() []byte {
	out := []byte{}
	for _, l := range p.lines {
		out = append(append(out, l.text...), l.end...)
	}
	return out
}

// lineOf is the index of the line that an offset of the parsed document is on.
func (p *page) lineOf(offset int) int {
	return sort.SearchInts(p.starts, offset+1) - 1
}

// insert puts a line in front of line i.
func (p *page) insert(i int, text string) {
	l := line{text, p.newline}
	if last := i - 1; last >= 0 && i == len(p.lines) && p.lines[last].end == "" {
		p.lines[last].end, l.end = p.newline, ""
	}
	p.lines = slices.Insert(p.lines, i, l)
}

// remove takes line i out.
func (p *page) remove(i int) {
	if i > 0 && p.lines[i].end == "" {
		p.lines[i-1].end = ""
	}
	p.lines = slices.Delete(p.lines, i, i+1)
}
