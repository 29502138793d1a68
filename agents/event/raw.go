package event

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"satelle/agents/redact"
)

// RawVariable is the variable that asks for a trace of an agent's traffic, by
// the value 1 and no other.
const RawVariable = "SATELLE_AGENT_TRACE_RAW"

// Limits of the raw trace: of one line, and of it all.
const (
	maxRawLine = 4 << 20
	maxRaw     = 64 << 20
)

func wantsRaw() bool { return os.Getenv(RawVariable) == "1" }

// trace is the writer that keeps an agent's traffic, line by line.
type trace struct {
	mu    sync.Mutex
	lines *redact.Lines
	line  strings.Builder
	left  int // bytes of the current line that were left out
}

func newTrace(rules *redact.Rules, out *file) *trace {
	return &trace{lines: rules.Lines(func(line string) { out.write([]byte(Printable(uncoloured(line)) + "\n")) })}
}

// Write implements [io.Writer]; it never fails, since no dispatch rests on it.
func (t *trace) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for part := range strings.Lines(string(p)) {
		text, ended := strings.CutSuffix(part, "\n")
		if t.line.Len()+len(text) > maxRawLine {
			t.left += len(text)
		} else {
			t.line.WriteString(text)
		}
		if ended {
			t.end()
		}
	}
	return len(p), nil
}

func (t *trace) end() {
	line := strings.TrimSuffix(t.line.String(), "\r")
	if t.left > 0 { // half a message may hide anything
		line = fmt.Sprintf("[a line of %d bytes was left out]", t.left+len(line))
	}
	t.line.Reset()
	t.left = 0
	t.lines.Add(WithoutReasoning(line))
}

func (t *trace) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.line.Len()+t.left > 0 {
		t.end()
	}
	t.lines.Flush()
}
