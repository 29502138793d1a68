package event

import (
	"fmt"
	"strings"
	"time"
)

// lineWidth bounds the text in what a person sees of one event.
const lineWidth = 160

// line is what a person sees of an event.
func line(who string, e Event, since time.Duration) string {
	text := func(before string) string {
		if t := short(e.Text); t != "" {
			return before + t
		}
		return ""
	}
	said := ""
	switch e.Kind {
	case Start:
		said = "started" + text(": ")
	case Heartbeat:
		said = "still at work after " + since.Round(time.Second).String()
	case Message:
		said = text("")
	case ToolStart:
		said = "uses " + short(e.Tool) + text(": ")
	case ToolEnd:
		said = short(e.Tool) + " ended"
		if e.OK != nil && !*e.OK {
			said = short(e.Tool) + " failed"
		}
		said += text(": ")
	case Artifact:
		said = "offers an artifact" + text(": ")
	case Usage:
		said = "usage unknown"
		if e.Usage != nil {
			if n, ok := e.Usage.Tokens(); ok {
				said = fmt.Sprintf("%d tokens", n)
			}
		}
	case Completion:
		said = "done after " + since.Round(time.Millisecond).String() + text(": ")
	case Failure:
		said = "failed"
		if e.Class != "" {
			said += " (" + short(e.Class) + ")"
		}
		said += text(": ")
	}
	return short(who) + ": " + said + "\n"
}

// short is the first line of a text that says something, as one may print it.
func short(s string) string {
	s, more, _ := strings.Cut(strings.TrimSpace(s), "\n")
	s = InLine(strings.TrimSpace(s))
	if r := []rune(s); len(r) > lineWidth {
		return string(r[:lineWidth]) + "…"
	}
	if more != "" {
		s += " …"
	}
	return s
}
