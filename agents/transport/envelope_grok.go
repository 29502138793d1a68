package transport

import (
	"strings"

	"satelle/agents/event"
	"satelle/workflow"
)

// grokEnvelope reads what `grok -p --output-format json` prints, an error of
// its, or an object that has nothing but a text.
func grokEnvelope(o object) (outcome, bool) {
	text, ok := o.text("text")
	if ok && len(o) == 1 {
		return answer(text, workflow.Usage{}), true
	}
	if message, ok := o.text("message"); ok && o.kind() == "error" && len(o) == 2 {
		out := refusal(classOfText(message), message, workflow.Usage{})
		out.doubtful = true
		return out, true
	}
	if o["stopReason"] == nil || o["sessionId"] == nil || !ok {
		return outcome{}, false
	}
	return grokEnd(o, text), true
}

// grokEnd is how a run of Grok ended. It cancels itself where it may not use a
// tool and where its turns are used up, and calls both a success by its exit
// code.
func grokEnd(o object, text string) outcome {
	usage := grokUsage(o)
	switch reason, _ := o.text("stopReason"); {
	case reason == "end_turn" || reason == "EndTurn":
		return answer(text, usage)
	default:
		return refusal(Failed, "it stopped before its final message: "+reason, usage)
	}
}

func grokUsage(o object) workflow.Usage {
	var u struct {
		Input      number `json:"input_tokens"`
		CacheRead  number `json:"cache_read_input_tokens"`
		CacheWrite number `json:"cache_creation_input_tokens"`
		Output     number `json:"output_tokens"`
		Reasoning  number `json:"reasoning_tokens"`
		Total      number `json:"total_tokens"`
	}
	o.into("usage", &u)
	usage := workflow.Usage{
		Input: u.Input.count(), CacheRead: u.CacheRead.count(), CacheWrite: u.CacheWrite.count(),
		Output: u.Output.count(), Reasoning: u.Reasoning.count(), Total: u.Total.count(),
	}
	var partial bool
	o.into("cost_is_partial", &partial)
	if partial { // more than it says was spent
		return usage
	}
	var dollars, ticks number
	o.into("total_cost_usd", &dollars)
	o.into("total_cost_usd_ticks", &ticks)
	if usage.CostMicros = ticks.micros(perTick); usage.CostMicros == nil {
		usage.CostMicros = dollars.micros(perDollar)
	}
	return usage
}

// grok reads `--output-format streaming-json`.
type grok struct {
	tell  event.Sink
	final strings.Builder // the text since the last call of a tool
	tools map[string]string
	turns bool // its turns were used up
	last  outcome
}

func grokStream(first object, tell event.Sink) stream {
	switch kind := first.kind(); {
	case kind == "available_commands" && first["tools"] != nil:
	case (kind == "text" || kind == "thought") && len(first) == 2 && first["data"] != nil:
	default:
		return nil
	}
	return &grok{tell: tell, tools: map[string]string{}}
}

func (g *grok) gap() {
	g.final.Reset()
	g.last = outcome{}
}

func (g *grok) outcome() outcome { return g.last }

func (g *grok) line(o object) {
	switch o.kind() {
	case "text":
		text, _ := o.text("data")
		g.final.WriteString(text)
		if text != "" {
			g.tell(event.Event{Kind: event.Message, Text: text})
		}
	case "tool_call":
		g.final.Reset()
		id, _ := o.text("toolCallId")
		name, _ := o.text("toolName")
		remember(g.tools, id, name)
		g.tell(event.Event{Kind: event.ToolStart, Call: id, Tool: name, Text: short(o["rawInput"])})
	case "tool_call_update":
		g.final.Reset()
		status, _ := o.text("status")
		if status != "completed" && status != "failed" {
			return
		}
		id, _ := o.text("toolCallId")
		g.tell(event.Event{Kind: event.ToolEnd, Call: id, Tool: g.tools[id], OK: new(status == "completed"), Text: short(o["rawOutput"])})
	case "max_turns_reached":
		g.turns = true
	case "error":
		message, _ := o.text("message")
		g.last = refusal(classOfText(message), message, g.last.usage)
	case "end":
		g.last = grokEnd(o, g.final.String())
		if g.turns && g.last.failure != nil {
			g.last.failure.Message = "it used up its turns before its final message"
		}
	}
}
