package transport

import (
	"strings"

	"satelle/agents/event"
	"satelle/workflow"
)

// codex reads `codex exec --json`.
type codex struct {
	tell event.Sink
	// final is the last message, if nothing was done after it.
	final  string
	closed bool // the turn is complete
	failed *outcome
	usage  workflow.Usage
}

func codexStream(first object, tell event.Sink) stream {
	if _, ok := first.text("thread_id"); !ok || first.kind() != "thread.started" {
		return nil
	}
	return &codex{tell: tell}
}

func (c *codex) gap() { c.final, c.closed = "", false }

func (c *codex) outcome() outcome {
	switch {
	case c.failed != nil:
		return *c.failed
	case c.closed && c.final != "":
		return answer(c.final, c.usage)
	}
	return outcome{usage: c.usage}
}

func (c *codex) line(o object) {
	switch o.kind() {
	case "item.started", "item.completed":
		c.item(o.sub("item"), o.kind() == "item.completed")
	case "turn.started":
		c.final, c.closed, c.failed = "", false, nil
	case "turn.completed":
		c.closed = true
		c.account(o.sub("usage"))
	case "turn.failed":
		message, _ := o.sub("error").text("message")
		c.failed = new(refusal(classOfText(message), message, c.usage))
	}
}

func (c *codex) account(o object) {
	var u struct {
		Input      number `json:"input_tokens"`
		CacheRead  number `json:"cached_input_tokens"`
		CacheWrite number `json:"cache_write_input_tokens"`
		Output     number `json:"output_tokens"`
		Reasoning  number `json:"reasoning_output_tokens"`
	}
	_ = remarshal(o, &u)
	c.usage = workflow.Usage{
		CacheRead: u.CacheRead.count(), CacheWrite: u.CacheWrite.count(), Output: u.Output.count(), Reasoning: u.Reasoning.count(),
	}
	// Its input counts those of the cache in.
	if all := u.Input.count(); all != nil {
		for _, cached := range []*int64{c.usage.CacheRead, c.usage.CacheWrite} {
			if cached != nil {
				*all -= *cached
			}
		}
		if *all >= 0 {
			c.usage.Input = all
		}
	}
}

func (c *codex) item(item object, done bool) {
	kind := item.kind()
	switch kind {
	case "agent_message":
		if text, ok := item.text("text"); ok && done {
			c.final = text
			c.tell(whole(text))
		}
	case "", "reasoning", "error", "todo_list": // an error within is a warning
	default:
		c.final = ""
		id, _ := item.text("id")
		e := event.Event{Kind: event.ToolStart, Call: id, Tool: toolOf(kind, item)}
		for _, key := range []string{"command", "arguments", "changes", "query", "prompt"} {
			if e.Text == "" {
				e.Text = short(item[key])
			}
		}
		if done {
			status, _ := item.text("status")
			e.Kind, e.Text, e.OK = event.ToolEnd, "", new(status == "completed")
			for _, key := range []string{"aggregated_output", "error", "result"} {
				if e.Text == "" {
					e.Text = short(item[key])
				}
			}
		}
		c.tell(e)
	}
}

// toolOf names a tool like the others do.
func toolOf(kind string, item object) string {
	tool, _ := item.text("tool")
	if server, ok := item.text("server"); ok {
		return server + "__" + tool
	}
	if tool != "" {
		return tool
	}
	return strings.TrimSuffix(kind, "_call")
}
