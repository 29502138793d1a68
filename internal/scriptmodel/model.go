package scriptmodel

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// maxRequest bounds what is read of a request; an agent sends its tools and its
// prompt each time.
const maxRequest = 32 << 20

// Model is a model that listens.
type Model struct {
	URL string

	call   ToolUse
	server *http.Server

	mu     sync.Mutex
	asked  bool
	result string
	told   bool
}

// Start starts a model that asks for one call.
func Start(tool string, input any) (*Model, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	m := &Model{URL: "http://" + listener.Addr().String(), call: ToolUse{ID: "toolu_scripted", Name: tool, Input: input}}
	m.server = &http.Server{Handler: http.HandlerFunc(m.serve), ReadHeaderTimeout: time.Minute}
	// It ends with Close, and says no more than that.
	go func() { _ = m.server.Serve(listener) }()
	return m, nil
}

// Close ends the model and the connections to it.
func (m *Model) Close() error { return m.server.Close() }

// Asked reports whether an agent asked the model at all.
func (m *Model) Asked() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

// Result returns what the agent told the model about the call, and whether it
// told anything.
func (m *Model) Result() (text string, told bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.result, m.told
}

func (m *Model) serve(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil || r.Method != http.MethodPost || !strings.HasSuffix(strings.TrimRight(r.URL.Path, "/"), "/messages") || !gjson.ValidBytes(raw) {
		http.NotFound(w, r)
		return
	}
	body := gjson.ParseBytes(raw)
	answer := Message{ID: "msg_scripted", Model: body.Get("model").String()}
	switch {
	case len(body.Get("tools").Array()) == 0:
		answer.Text = "ok" // a side request, say for a title
	case m.take(body):
		answer.Text = "done"
	default:
		answer.Calls = []ToolUse{m.call}
	}
	answer.Write(w, body.Get("stream").Bool())
}

// take keeps the call's result, if the request holds it.
func (m *Model) take(body gjson.Result) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = true
	for _, message := range body.Get("messages").Array() {
		for _, block := range message.Get("content").Array() {
			if block.Get("type").String() == "tool_result" && block.Get("tool_use_id").String() == m.call.ID {
				m.result, m.told = Text(block.Get("content")), true
			}
		}
	}
	return m.told
}
