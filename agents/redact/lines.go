package redact

import (
	"slices"
	"strings"
)

// Limits of what [Lines] holds back, in lines and bytes.
const (
	heldLines = 64
	heldBytes = 64 << 10
)

// texts are the names under which the protocols of agents send a text bit by
// bit, a line for each.
var texts = []string{"text", "data", "delta", "partial_json", "content", "output", "chunk", "arguments", "stdout", "stderr", "message"}

// Lines redacts a log of lines of JSON, in which a secret may be spread over
// several: the texts that stand at the same place of one line after another are
// read as one. A line that is no JSON is such a text of its own.
type Lines struct {
	rules *Rules
	emit  func(line string)
	lines []*heldLine
	bytes int
	// open has the first line of each path in which a secret may have begun.
	open map[string]*heldLine
}

type heldLine struct {
	text  string
	parts []part
	spans []span
}

// part is a text within a line.
type part struct {
	path string
	span
}

// Lines returns a redaction that passes on each line, in order, once it is
// known what is in it.
func (r *Rules) Lines(emit func(line string)) *Lines {
	return &Lines{rules: r, emit: emit, open: map[string]*heldLine{}}
}

// Add takes a line, without its end.
func (l *Lines) Add(line string) {
	h := &heldLine{text: line, spans: l.rules.find(line), parts: parts(line)}
	l.lines = append(l.lines, h)
	l.bytes += len(line)
	seen := map[string]bool{}
	for _, p := range h.parts {
		if !seen[p.path] {
			seen[p.path] = true
			l.judge(p.path)
		}
	}
	for len(l.lines) > 0 && (!l.waits(l.lines[0]) || len(l.lines) > heldLines || l.bytes > heldBytes) {
		l.release()
	}
}

func (l *Lines) waits(h *heldLine) bool {
	for _, open := range l.open {
		if open == h {
			return true
		}
	}
	return false
}

// Flush passes on what is held.
func (l *Lines) Flush() {
	for len(l.lines) > 0 {
		l.release()
	}
}

func (l *Lines) release() {
	h := l.lines[0]
	l.lines = l.lines[1:]
	l.bytes -= len(h.text)
	for path, open := range l.open {
		if open == h {
			delete(l.open, path)
		}
	}
	l.emit(replace(h.text, merge(h.spans)))
}

// judge reads the texts at one path of the held lines as one, and marks what is
// secret in each.
func (l *Lines) judge(path string) {
	type piece struct {
		line *heldLine
		part
		at int // in the joined text
	}
	var joined strings.Builder
	var pieces []piece
	for _, h := range l.lines {
		for _, p := range h.parts {
			if p.path == path {
				pieces = append(pieces, piece{h, p, joined.Len()})
				joined.WriteString(h.text[p.from:p.to])
			}
		}
		if path == "" && len(h.parts) == 1 && h.parts[0].path == "" {
			joined.WriteByte('\n')
		}
	}
	text := joined.String()
	spans := l.rules.find(text)
	cut := l.rules.safe(text, spans)
	for _, p := range pieces {
		length := p.to - p.from
		for _, s := range spans {
			from, to := max(s.from-p.at, 0), min(s.to-p.at, length)
			if from < to {
				p.line.spans = append(p.line.spans, span{p.from + from, p.from + to})
			}
		}
		p.line.spans = merge(p.line.spans)
	}
	// Lines wait in order, so that only the first one matters.
	delete(l.open, path)
	if i := slices.IndexFunc(pieces, func(p piece) bool { return p.at+p.to-p.from > cut }); i >= 0 {
		l.open[path] = pieces[i].line
	}
}

// parts finds the texts of a line of JSON that may go on in the next: the
// strings below a name of texts, with the path of names that leads to them.
func parts(line string) []part {
	if !strings.HasPrefix(strings.TrimLeft(line, " \t"), "{") {
		return []part{{"", span{0, len(line)}}}
	}
	var out []part
	var names []string // of the objects that are open
	name := ""
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '{', '[':
			names = append(names, name)
		case '}', ']':
			if n := len(names); n > 0 {
				name, names = names[n-1], names[:n-1]
			}
		case '"':
			end := i + 1
			for end < len(line) && line[end] != '"' {
				if line[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end, len(line))
			text := line[i+1 : end]
			if strings.HasPrefix(strings.TrimLeft(line[min(end+1, len(line)):], " \t"), ":") {
				name = text
			} else if slices.Contains(texts, name) {
				out = append(out, part{strings.Join(names, "/") + "/" + name, span{i + 1, end}})
			}
			i = end
		}
	}
	return out
}
