package transport

import (
	"encoding/json"
	"strings"

	"satelle/agents/event"
	"satelle/workflow"
)

// claudeResult is the object with which Claude Code ends, alone or as the last
// of a stream.
type claudeResult struct {
	Subtype   string
	Status    number `json:"api_error_status"`
	ErrorType string `json:"api_error_type"`
	Terminal  string `json:"terminal_reason"`
	Errors    []string
	Cost      number `json:"total_cost_usd"`
	Usage     struct {
		Input      number `json:"input_tokens"`
		CacheRead  number `json:"cache_read_input_tokens"`
		CacheWrite number `json:"cache_creation_input_tokens"`
		Output     number `json:"output_tokens"`
		Details    struct {
			Thinking number `json:"thinking_tokens"`
		} `json:"output_tokens_details"`
	}
	Models map[string]struct {
		Input      number `json:"inputTokens"`
		CacheRead  number `json:"cacheReadInputTokens"`
		CacheWrite number `json:"cacheCreationInputTokens"`
		Output     number `json:"outputTokens"`
		Thinking   number `json:"thinkingTokens"`
	} `json:"modelUsage"`
}

// claudeEnvelope reads Claude's result, or an object that has nothing but one.
func claudeEnvelope(o object) (outcome, bool) {
	text, ok := o.text("result")
	if ok && len(o) == 1 {
		return answer(text, workflow.Usage{}), true
	}
	if o.kind() != "result" || o["is_error"] == nil || o["session_id"] == nil {
		return outcome{}, false
	}
	var r claudeResult
	// What does not fit its field leaves that empty and the others as they are.
	_ = remarshal(o, &r)
	usage := r.usage()
	if string(o["is_error"]) == "false" && r.Subtype == "success" && ok {
		return answer(text, usage), true
	}
	message := text
	if message == "" {
		message = strings.Join(r.Errors, "; ")
	}
	if message == "" {
		message = "it ended with " + r.Subtype + " " + r.Terminal
	}
	class := ""
	if status := r.Status.count(); status != nil {
		class = classOfStatus(int(*status))
	}
	if class == "" {
		class = classOfType(r.ErrorType)
	}
	if class == "" && r.Terminal == "api_error" {
		class = classOfText(message)
	}
	if class == "" {
		class = Failed
	}
	return refusal(class, message, usage), true
}

func remarshal(o object, v any) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// usage is the sum over all models, where they are named: the other figures
// leave sub-agents out.
func (r claudeResult) usage() workflow.Usage {
	u := workflow.Usage{
		Input: r.Usage.Input.count(), CacheRead: r.Usage.CacheRead.count(), CacheWrite: r.Usage.CacheWrite.count(),
		Output: r.Usage.Output.count(), Reasoning: r.Usage.Details.Thinking.count(),
	}
	if len(r.Models) > 0 {
		u = workflow.Usage{}
		for _, m := range r.Models {
			u.Input, u.CacheRead, u.CacheWrite = add(u.Input, m.Input.count()), add(u.CacheRead, m.CacheRead.count()), add(u.CacheWrite, m.CacheWrite.count())
			u.Output, u.Reasoning = add(u.Output, m.Output.count()), add(u.Reasoning, m.Thinking.count())
		}
	}
	u.CostMicros = r.Cost.micros(perDollar)
	return u
}

// claude reads `--output-format stream-json`.
type claude struct {
	tell  event.Sink
	tools map[string]string // names by call
	last  outcome
}

func claudeStream(first object, tell event.Sink) stream {
	_, subtype := first.text("subtype")
	_, session := first.text("session_id")
	if first.kind() != "system" || !subtype || !session {
		return nil
	}
	return &claude{tell: tell, tools: map[string]string{}}
}

func (c *claude) gap() { c.last = outcome{} }

func (c *claude) outcome() outcome { return c.last }

func (c *claude) line(o object) {
	switch o.kind() {
	case "result":
		c.last = outcome{}
		if out, ok := claudeEnvelope(o); ok {
			c.last = out
		}
	case "assistant", "user":
		if _, sub := o.text("parent_tool_use_id"); sub {
			return // within a tool's call
		}
		var content []json.RawMessage
		o.sub("message").into("content", &content)
		for _, raw := range content {
			if block, ok := parseObject(raw); ok {
				c.block(o.kind(), block)
			}
		}
	}
}

func (c *claude) block(who string, block object) {
	switch kind := block.kind(); {
	case kind == "text" && who == "assistant":
		if text, _ := block.text("text"); text != "" {
			c.tell(whole(text))
		}
	case kind == "tool_use":
		id, _ := block.text("id")
		name, _ := block.text("name")
		remember(c.tools, id, name)
		c.tell(event.Event{Kind: event.ToolStart, Call: id, Tool: name, Text: short(block["input"])})
	case kind == "tool_result":
		id, _ := block.text("tool_use_id")
		var failed bool
		block.into("is_error", &failed)
		c.tell(event.Event{Kind: event.ToolEnd, Call: id, Tool: c.tools[id], OK: new(!failed), Text: short(block["content"])})
	}
}

// maxCalls bounds the calls whose names are remembered.
const maxCalls = 10_000

func remember(names map[string]string, call, name string) {
	if len(names) < maxCalls {
		names[call] = name
	}
}
