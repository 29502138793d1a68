package transport

import (
	"strings"

	"satelle/agents/event"
	"satelle/workflow"
)

// opencode reads `opencode run --format json`.
type opencode struct {
	tell   event.Sink
	final  strings.Builder // the text since the last call of a tool
	reason string          // why the last step ended
	failed *outcome
	usage  workflow.Usage
	steps  int
}

func opencodeStream(first object, tell event.Sink) stream {
	if _, ok := first.text("sessionID"); !ok || first["timestamp"] == nil || first["part"] == nil && first["error"] == nil {
		return nil
	}
	return &opencode{tell: tell}
}

func (c *opencode) gap() {
	c.final.Reset()
	c.reason = ""
}

func (c *opencode) outcome() outcome {
	switch {
	case c.failed != nil:
		c.failed.usage = c.usage
		return *c.failed
	case c.reason == "tool-calls":
		return refusal(Failed, "it stopped before its final message, as it does where a tool needs a permission", c.usage)
	case c.reason == "length" || c.reason == "content-filter" || c.reason == "error":
		return refusal(Failed, "its final message was cut off: "+c.reason, c.usage)
	case c.reason != "":
		return answer(c.final.String(), c.usage)
	}
	return outcome{usage: c.usage}
}

func (c *opencode) line(o object) {
	part := o.sub("part")
	switch o.kind() {
	case "step_start": // after an error, too: then it went on
		c.reason, c.failed = "", nil
	case "text":
		text, _ := part.text("text")
		c.final.WriteString(text)
		if text != "" {
			c.tell(whole(text))
		}
	case "tool_use":
		c.final.Reset()
		c.tool(part)
	case "step_finish":
		c.reason, _ = part.text("reason")
		c.account(part)
	case "error":
		c.error(o.sub("error"))
	}
}

// tool tells of a call that is over: there is no event of its begin.
func (c *opencode) tool(part object) {
	id, _ := part.text("callID")
	name, _ := part.text("tool")
	state := part.sub("state")
	status, _ := state.text("status")
	c.tell(event.Event{Kind: event.ToolStart, Call: id, Tool: name, Text: short(state["input"])})
	out := short(state["output"])
	if out == "" {
		out = short(state["error"])
	}
	c.tell(event.Event{Kind: event.ToolEnd, Call: id, Tool: name, OK: new(status == "completed"), Text: out})
}

func (c *opencode) account(part object) {
	var t struct {
		Total, Input, Output, Reasoning number
		Cache                           struct{ Read, Write number }
	}
	var cost number
	part.into("tokens", &t)
	part.into("cost", &cost)
	step := workflow.Usage{
		Input: t.Input.count(), CacheRead: t.Cache.Read.count(), CacheWrite: t.Cache.Write.count(),
		Output: add(t.Output.count(), t.Reasoning.count()), Reasoning: t.Reasoning.count(),
		Total: t.Total.count(), CostMicros: cost.micros(perDollar),
	}
	if c.steps++; c.steps == 1 {
		c.usage = step
		return
	}
	// What one step did not report is unknown of all.
	for _, f := range []struct{ sum, part **int64 }{
		{&c.usage.Input, &step.Input},
		{&c.usage.CacheRead, &step.CacheRead},
		{&c.usage.CacheWrite, &step.CacheWrite},
		{&c.usage.Output, &step.Output},
		{&c.usage.Reasoning, &step.Reasoning},
		{&c.usage.Total, &step.Total},
		{&c.usage.CostMicros, &step.CostMicros},
	} {
		if *f.sum == nil || *f.part == nil {
			*f.sum = nil
			continue
		}
		*f.sum = add(*f.sum, *f.part)
	}
}

func (c *opencode) error(o object) {
	name, _ := o.text("name")
	data := o.sub("data")
	message, _ := data.text("message")
	class := classOfType(name)
	var status number
	data.into("statusCode", &status)
	if n := status.count(); n != nil {
		class = classOfStatus(int(*n))
	}
	if class == "" {
		class = classOfText(message)
	}
	if message == "" {
		message = name
	}
	c.failed = new(refusal(class, message, c.usage))
}
