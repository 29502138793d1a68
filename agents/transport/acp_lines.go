package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	acp "github.com/coder/acp-go-sdk"
	"github.com/tidwall/gjson"

	"satelle/agents/event"
)

const (
	// maxRequests bounds what an agent may ask in one run: the library answers all
	// of it at once.
	maxRequests = 20_000
	// maxUnheard is how many lines go to the library until what came before them
	// has been heard: it gives up on an agent that is 1024 updates ahead.
	maxUnheard = 256
	// maxOwed is how many of an agent's requests wait for their answers at once: an
	// answer may be large, and is there until the agent reads it.
	maxOwed = 8
	// markMethod is a notification that satelle puts among the agent's to learn
	// that those before it have been heard.
	markMethod = "_satelle/mark"
)

var errPestering = errors.New("it asks without end")

// acpLines is what the agent's output is written to: it bounds it, traces it
// without reasoning, and passes it on a line at a time, no faster than it is heard.
type acpLines struct {
	to  io.Writer
	raw io.Writer
	// heard gets one for each mark that came through, over closes when nobody
	// listens any more.
	heard, over <-chan struct{}
	// owed holds one for each request that is not answered yet.
	owed chan<- struct{}

	held     []byte
	size     int
	requests int
	lines    int  // since the last mark
	marked   bool // a mark is under way
	wrong    error
}

// Write implements [io.Writer].
func (l *acpLines) Write(p []byte) (int, error) {
	l.size += len(p)
	l.held = append(l.held, p...)
	if l.size > maxOutput || len(l.held) > 2*maxLine {
		l.wrong = errEndless
		return 0, errEndless
	}
	for {
		i := bytes.IndexByte(l.held, '\n')
		if i < 0 {
			return len(p), nil
		}
		line := l.held[:i+1]
		fmt.Fprintln(l.raw, event.WithoutReasoning(strings.TrimSpace(valid(line))))
		asks := l.asks(line)
		if asks && l.requests > maxRequests {
			l.wrong = errPestering
			return 0, errPestering
		}
		if err := l.pass(line, asks); err != nil {
			// Nobody listens any more: what is said now is of no account.
			l.held = nil
			return len(p), nil
		}
		l.held = l.held[i+1:]
	}
}

// asks reports whether a line is a request that will be answered, and counts it: one
// that the library can't decode is not.
func (l *acpLines) asks(line []byte) bool {
	var head struct {
		JSONRPC string            `json:"jsonrpc"`
		ID      *json.RawMessage  `json:"id"`
		Method  string            `json:"method"`
		Error   *acp.RequestError `json:"error"`
	}
	if json.Unmarshal(line, &head) != nil || head.ID == nil || head.Method == "" {
		return false
	}
	l.requests++
	return true
}

func (l *acpLines) pass(line []byte, asks bool) error {
	if asks {
		select {
		case l.owed <- struct{}{}:
		case <-l.over:
			return io.ErrClosedPipe
		}
	}
	if _, err := l.to.Write(line); err != nil {
		return err
	}
	if l.lines++; l.lines < maxUnheard {
		return nil
	}
	l.lines = 0
	if l.marked {
		select {
		case <-l.heard:
		case <-l.over:
			return io.ErrClosedPipe
		}
	}
	l.marked = true
	_, err := io.WriteString(l.to, `{"jsonrpc":"2.0","method":"`+markMethod+`"}`+"\n")
	return err
}

// acpAnswers is what is written to the agent, a message at a time.
type acpAnswers struct {
	to   io.Writer
	owed <-chan struct{}
}

// Write implements [io.Writer].
func (a *acpAnswers) Write(p []byte) (int, error) {
	n, err := a.to.Write(p)
	if !gjson.GetBytes(p, "method").Exists() { // it is an answer, and was read
		select {
		case <-a.owed:
		default:
		}
	}
	return n, err
}
