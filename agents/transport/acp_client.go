package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	acp "github.com/coder/acp-go-sdk"

	"satelle/agents/event"
)

// acpClient is satelle's side of a session. It implements [acp.Client].
type acpClient struct {
	grant grant
	files *files
	tell  event.Sink

	passed  chan struct{} // gets one for each mark that came through
	mu      sync.Mutex
	session acp.SessionId             // the one that is served, "" until it is known
	text    strings.Builder           // the message under way
	message string                    // its id
	ended   bool                      // with a line, or there is none
	tools   map[acp.ToolCallId]string // names by call
	broken  bool                      // the agent said that its turn failed
	cost    *int64
	refused string // the first call that was not permitted
}

// serve sets the session whose updates and requests count.
func (c *acpClient) serve(session acp.SessionId) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session = session
}

// foreign refuses a request of a session that satelle has not opened.
func (c *acpClient) foreign(session acp.SessionId) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if session != c.session {
		return acp.NewInvalidParams("satelle has no such session")
	}
	return nil
}

// SessionUpdate implements [acp.Client].
func (c *acpClient) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n.SessionId != c.session {
		return nil
	}
	switch u := n.Update; {
	case u.AgentMessageChunk != nil && u.AgentMessageChunk.Content.Text != nil:
		text := u.AgentMessageChunk.Content.Text.Text
		if text == "" {
			break
		}
		if id := u.AgentMessageChunk.MessageId; id != nil && *id != c.message {
			if !c.ended {
				c.tell(event.Event{Kind: event.Message, Text: "\n"})
			}
			c.text.Reset()
			c.message = *id
		}
		c.ended = strings.HasSuffix(text, "\n")
		if c.text.Len()+len(text) <= maxLine {
			c.text.WriteString(text)
		}
		c.tell(event.Event{Kind: event.Message, Text: text})
	case u.ToolCall != nil:
		// What was said before a call is not the final message.
		c.text.Reset()
		c.ended = true
		c.named(u.ToolCall.ToolCallId, u.ToolCall.Title)
		c.tell(event.Event{Kind: event.ToolStart, Call: string(u.ToolCall.ToolCallId), Tool: u.ToolCall.Title, Text: inShort(u.ToolCall.RawInput)})
		c.end(u.ToolCall.ToolCallId, u.ToolCall.Status, u.ToolCall.RawOutput, u.ToolCall.Content)
	case u.ToolCallUpdate != nil && u.ToolCallUpdate.Status != nil:
		if title := u.ToolCallUpdate.Title; title != nil {
			c.named(u.ToolCallUpdate.ToolCallId, *title)
		}
		c.end(u.ToolCallUpdate.ToolCallId, *u.ToolCallUpdate.Status, u.ToolCallUpdate.RawOutput, u.ToolCallUpdate.Content)
	case u.SessionInfoUpdate != nil:
		b, err := json.Marshal(u.SessionInfoUpdate.Meta)
		if err == nil && bytes.Contains(b, []byte(`"threadStatus":{"type":"systemError"`)) {
			c.broken = true
			c.text.Reset()
		}
	case u.UsageUpdate != nil && u.UsageUpdate.Cost != nil && u.UsageUpdate.Cost.Currency == "USD":
		// The shortest decimal that is this float is what was written.
		amount := number{json.Number(strconv.FormatFloat(u.UsageUpdate.Cost.Amount, 'g', -1, 64))}
		c.cost = amount.micros(perDollar)
	}
	return nil
}

// named remembers a call's name, for its end says none.
func (c *acpClient) named(call acp.ToolCallId, name string) {
	if c.tools == nil {
		c.tools = map[acp.ToolCallId]string{}
	}
	if _, known := c.tools[call]; known || len(c.tools) < maxCalls {
		c.tools[call] = name
	}
}

// HandleExtensionMethod implements [acp.ExtensionMethodHandler]: of an agent's own
// methods none is known, see [acpLines] for the one that is.
func (c *acpClient) HandleExtensionMethod(_ context.Context, method string, _ json.RawMessage) (any, error) {
	if method != markMethod {
		return nil, acp.NewMethodNotFound(method)
	}
	select {
	case c.passed <- struct{}{}:
	default: // it was not satelle's
	}
	return nil, nil
}

func (c *acpClient) end(call acp.ToolCallId, status acp.ToolCallStatus, output any, content []acp.ToolCallContent) {
	if status != acp.ToolCallStatusCompleted && status != acp.ToolCallStatusFailed {
		return
	}
	text := inShort(output)
	for _, part := range content {
		if text == "" && part.Content != nil && part.Content.Content.Text != nil {
			text = inShort(part.Content.Content.Text.Text)
		}
	}
	ok := status == acp.ToolCallStatusCompleted
	c.tell(event.Event{Kind: event.ToolEnd, Call: string(call), Tool: c.tools[call], OK: &ok, Text: text})
}

// inShort is what a tool is given or gives, as far as an event shows it.
func inShort(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return short(b)
}

// RequestPermission implements [acp.Client]: what the grant does not hold is
// rejected, and what it holds is allowed this once.
func (c *acpClient) RequestPermission(_ context.Context, p acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	if err := c.foreign(p.SessionId); err != nil {
		return acp.RequestPermissionResponse{}, err
	}
	allowed := c.grant.allows(p.ToolCall)
	want := acp.PermissionOptionKindRejectOnce
	if allowed {
		want = acp.PermissionOptionKindAllowOnce
	} else {
		c.mu.Lock()
		if c.refused == "" {
			c.refused = "a tool call"
			if p.ToolCall.Title != nil {
				c.refused = *p.ToolCall.Title
			}
		}
		c.mu.Unlock()
	}
	for _, o := range p.Options {
		if o.Kind == want {
			return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(o.OptionId)}, nil
		}
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}, nil
}

// The client offers no terminals, see doc.go.

func (c *acpClient) CreateTerminal(context.Context, acp.CreateTerminalRequest) (r acp.CreateTerminalResponse, err error) {
	return r, acp.NewMethodNotFound(acp.ClientMethodTerminalCreate)
}

func (c *acpClient) KillTerminal(context.Context, acp.KillTerminalRequest) (r acp.KillTerminalResponse, err error) {
	return r, acp.NewMethodNotFound(acp.ClientMethodTerminalKill)
}

func (c *acpClient) TerminalOutput(context.Context, acp.TerminalOutputRequest) (r acp.TerminalOutputResponse, err error) {
	return r, acp.NewMethodNotFound(acp.ClientMethodTerminalOutput)
}

func (c *acpClient) ReleaseTerminal(context.Context, acp.ReleaseTerminalRequest) (r acp.ReleaseTerminalResponse, err error) {
	return r, acp.NewMethodNotFound(acp.ClientMethodTerminalRelease)
}

func (c *acpClient) WaitForTerminalExit(context.Context, acp.WaitForTerminalExitRequest) (r acp.WaitForTerminalExitResponse, err error) {
	return r, acp.NewMethodNotFound(acp.ClientMethodTerminalWaitForExit)
}

// result is what is known of a run: the final message and the usage.
func (c *acpClient) result(p acp.PromptResponse) (r Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.Text = strings.TrimSpace(c.text.String())
	n := func(v int) *int64 {
		if v < 0 || int64(v) > maxCount {
			return nil
		}
		return new(int64(v))
	}
	if u := p.Usage; u != nil {
		r.Usage.Input, r.Usage.Output, r.Usage.Total = n(u.InputTokens), n(u.OutputTokens), n(u.TotalTokens)
		if u.CachedReadTokens != nil {
			r.Usage.CacheRead = n(*u.CachedReadTokens)
		}
		if u.CachedWriteTokens != nil {
			r.Usage.CacheWrite = n(*u.CachedWriteTokens)
		}
		if u.ThoughtTokens != nil {
			r.Usage.Reasoning = n(*u.ThoughtTokens)
		}
	} else if meta, ok := p.Meta["usage"].(map[string]any); ok { // Grok's, whose input holds what the cache gave
		get := func(key string) *int64 {
			if f, ok := meta[key].(float64); ok && f >= 0 && f <= maxCount && f == float64(int64(f)) {
				i := int64(f)
				return &i
			}
			return nil
		}
		r.Usage.Input, r.Usage.Output, r.Usage.Total, r.Usage.CacheRead = get("inputTokens"), get("outputTokens"), get("totalTokens"), get("cachedReadTokens")
		if r.Usage.Input != nil && r.Usage.CacheRead != nil && *r.Usage.Input >= *r.Usage.CacheRead {
			*r.Usage.Input -= *r.Usage.CacheRead
		}
	}
	r.Usage.CostMicros = c.cost
	return r
}

// verdict is why a turn that ended is no answer, nil if it is one.
func (c *acpClient) verdict(p acp.PromptResponse, r *Result) *Failure {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.broken:
		return &Failure{Class: classOfText(r.Text), Message: clip(r.Text)}
	case c.refused != "" && p.StopReason != acp.StopReasonEndTurn:
		return &Failure{Class: Failed, Message: "it gave up when its tools grant did not hold: " + clip(c.refused)}
	case p.StopReason != acp.StopReasonEndTurn:
		return &Failure{Class: Failed, Message: "it stopped before its end: " + string(p.StopReason)}
	case r.Text == "":
		return &Failure{Class: Protocol, Message: "its final message is empty"}
	}
	return nil
}
