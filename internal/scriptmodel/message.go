package scriptmodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// Message is an answer of a model, in Anthropic's Messages API.
type Message struct {
	ID, Model string
	Text      string
	Calls     []ToolUse // without one the answer ends the agent's turn
}

// ToolUse is a tool call that a model asks for.
type ToolUse struct {
	ID, Name string
	Input    any // an object
}

// object is what the API's answers are made of.
type object map[string]any

// Write answers a request, as server-sent events if it asked for a stream.
func (m Message) Write(w http.ResponseWriter, stream bool) {
	blocks := []object{}
	if m.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": m.Text})
	}
	reason := "end_turn"
	for _, c := range m.Calls {
		reason = "tool_use"
		blocks = append(blocks, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": c.Input})
	}
	message := object{
		"id": m.ID, "type": "message", "role": "assistant", "model": m.Model,
		"content": blocks, "stop_reason": reason, "stop_sequence": nil,
		"usage": object{"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
	}
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, encode(message)) // whoever asked is gone
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	send := func(kind string, fields object) {
		fields["type"] = kind
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, encode(fields))
	}
	begun := object{}
	for k, v := range message {
		begun[k] = v
	}
	begun["content"], begun["stop_reason"] = []object{}, nil
	send("message_start", object{"message": begun})
	for i, b := range blocks {
		start, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": b["text"]}
		if b["type"] == "tool_use" {
			start = object{"type": "tool_use", "id": b["id"], "name": b["name"], "input": object{}}
			delta = object{"type": "input_json_delta", "partial_json": encode(b["input"])}
		}
		send("content_block_start", object{"index": i, "content_block": start})
		send("content_block_delta", object{"index": i, "delta": delta})
		send("content_block_stop", object{"index": i})
	}
	send("message_delta", object{"delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": message["usage"]})
	send("message_stop", object{})
}

// Text is the text of a tool's result: a string, or the text parts of an array.
func Text(v gjson.Result) string {
	if !v.IsArray() {
		return v.String()
	}
	var parts []string
	v.ForEach(func(_, part gjson.Result) bool {
		parts = append(parts, part.Get("text").String())
		return true
	})
	return strings.Join(parts, "\n")
}

func encode(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // a script that is no JSON
	}
	return string(out)
}
