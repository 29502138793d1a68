package event

import (
	"strings"
	"time"

	"satelle/agents/redact"
)

// maxPiece bounds the text of one message in the log; a longer one goes on in
// the next.
const maxPiece = 16 << 10

// message joins the pieces of a text as they come, so that what the log and a
// person see does not depend on where an agent's protocol cuts it, and so that
// no secret passes between two pieces.
type message struct {
	at   time.Time // of its first piece
	raw  strings.Builder
	out  strings.Builder
	redo *redact.Writer
}

func newMessage(rules *redact.Rules) *message {
	m := &message{}
	m.redo = rules.Writer(&m.out)
	return m
}

// add takes a piece and returns what is to be told of the text so far.
func (m *message) add(at time.Time, text string) []Event {
	if m.at.IsZero() {
		m.at = at
	}
	var told []Event
	for text != "" {
		n := min(len(text), maxPiece)
		m.raw.WriteString(text[:n])
		text = text[n:]
		if m.raw.Len() > maxPiece {
			told = append(told, m.flow(false)...)
		}
	}
	return told
}

// settled reports whether the text may be told though more of it may come: it
// ends with a line.
func (m *message) settled() bool { return strings.HasSuffix(m.raw.String(), "\n") }

// flow passes what has come through the redaction; whole says that the text
// ends here. What it returns is in pieces of bounded size.
func (m *message) flow(whole bool) []Event {
	text := m.raw.String()
	cut := len(text)
	if !whole { // no sequence of a terminal goes over a line's end
		if i := strings.LastIndexAny(text, "\n \t"); i > 0 {
			cut = i + 1
		}
	}
	m.raw.Reset()
	m.raw.WriteString(text[cut:])
	_, _ = m.redo.Write([]byte(uncoloured(text[:cut]))) // into memory
	if whole {
		_ = m.redo.Close()
	}
	out := m.out.String()
	m.out.Reset()
	var told []Event
	tell := func(text string) { told = append(told, Event{Time: m.at, Kind: Message, Text: Printable(text)}) }
	for len(out) > maxPiece {
		cut := strings.LastIndexByte(out[:maxPiece], '\n') + 1
		if cut == 0 {
			cut = boundary(out, maxPiece)
		}
		tell(out[:cut])
		out = out[cut:]
	}
	if strings.TrimSpace(out) != "" {
		tell(out)
	}
	if m.raw.Len() == 0 && m.redo.Pending() == 0 {
		m.at = time.Time{}
	}
	return told
}

// boundary is the last place at or before n where a character of s begins.
func boundary(s string, n int) int {
	for i := n; i > n-4 && i > 0; i-- {
		if i == len(s) || s[i]&0xC0 != 0x80 {
			return i
		}
	}
	return n
}
