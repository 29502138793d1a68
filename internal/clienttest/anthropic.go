package clienttest

import (
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// anthropic is the Messages API, as Claude Code uses it.
var anthropic = dialect{
	side: func(_ *http.Request, body gjson.Result) bool { return len(body.Get("tools").Array()) == 0 },
	words: func(body gjson.Result) string {
		var words []string
		for _, m := range body.Get("messages").Array() {
			if m.Get("role").String() != "user" {
				break
			}
			words = append(words, text(m.Get("content")))
		}
		return strings.Join(words, "\n")
	},
	results: func(body gjson.Result, fn func(id, text string)) {
		for _, m := range body.Get("messages").Array() {
			for _, block := range m.Get("content").Array() {
				if block.Get("type").String() == "tool_result" {
					fn(block.Get("tool_use_id").String(), text(block.Get("content")))
				}
			}
		}
	},
	answer: func(w http.ResponseWriter, body gjson.Result, id string, turn Turn) {
		var blocks []object
		if turn.Text != "" {
			blocks = append(blocks, object{"type": "text", "text": turn.Text})
		}
		reason := "end_turn"
		for i, c := range turn.Calls {
			reason = "tool_use"
			blocks = append(blocks, object{"type": "tool_use", "id": id + digits(i), "name": c.Tool, "input": c.Input})
		}
		message := object{
			"id": "msg_" + id, "type": "message", "role": "assistant", "model": body.Get("model").String(),
			"content": blocks, "stop_reason": reason, "stop_sequence": nil,
			"usage": object{"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
		}
		if !body.Get("stream").Bool() {
			writeJSON(w, message)
			return
		}
		begun := object{}
		for k, v := range message {
			begun[k] = v
		}
		begun["content"], begun["stop_reason"] = []object{}, nil
		s := newStream(w, true)
		s.send("message_start", object{"message": begun})
		for i, b := range blocks {
			start, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": b["text"]}
			if b["type"] == "tool_use" {
				start = object{"type": "tool_use", "id": b["id"], "name": b["name"], "input": object{}}
				delta = object{"type": "input_json_delta", "partial_json": encode(b["input"])}
			}
			s.send("content_block_start", object{"index": i, "content_block": start})
			s.send("content_block_delta", object{"index": i, "delta": delta})
			s.send("content_block_stop", object{"index": i})
		}
		s.send("message_delta", object{"delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": message["usage"]})
		s.send("message_stop", object{})
	},
}
