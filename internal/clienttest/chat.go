package clienttest

import (
	"io"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// chat is the Chat Completions API, as Grok and opencode use it.
var chat = dialect{
	side: func(r *http.Request, body gjson.Result) bool {
		return len(body.Get("tools").Array()) == 0 || body.Get("tool_choice").IsObject() ||
			strings.HasPrefix(r.Header.Get("X-Grok-Req-Id"), "xai-")
	},
	words: func(body gjson.Result) string {
		var words []string
		for _, m := range body.Get("messages").Array() {
			switch m.Get("role").String() {
			case "user":
				words = append(words, text(m.Get("content")))
			case "assistant":
				return strings.Join(words, "\n")
			}
		}
		return strings.Join(words, "\n")
	},
	results: func(body gjson.Result, fn func(id, text string)) {
		for _, m := range body.Get("messages").Array() {
			if m.Get("role").String() == "tool" {
				fn(m.Get("tool_call_id").String(), text(m.Get("content")))
			}
		}
	},
	answer: func(w http.ResponseWriter, body gjson.Result, id string, turn Turn) {
		var calls []object
		for i, c := range turn.Calls {
			calls = append(calls, object{
				"index": i, "id": id + digits(i), "type": "function",
				"function": object{"name": c.Tool, "arguments": c.arguments()},
			})
		}
		finish := "stop"
		if len(calls) > 0 {
			finish = "tool_calls"
		}
		usage := object{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
		answer := func(kind string, choices []object) object {
			return object{"id": "chat_" + id, "object": kind, "created": 1, "model": body.Get("model").String(), "choices": choices}
		}
		if !body.Get("stream").Bool() {
			message := object{"role": "assistant", "content": turn.Text}
			if len(calls) > 0 {
				message["tool_calls"] = calls
			}
			whole := answer("chat.completion", []object{{"index": 0, "finish_reason": finish, "message": message}})
			whole["usage"] = usage
			writeJSON(w, whole)
			return
		}
		s := newStream(w, false)
		chunk := func(delta object, finish any) {
			s.send("", answer("chat.completion.chunk", []object{{"index": 0, "delta": delta, "finish_reason": finish}}))
		}
		chunk(object{"role": "assistant", "content": ""}, nil)
		if turn.Text != "" {
			chunk(object{"content": turn.Text}, nil)
		}
		if len(calls) > 0 {
			chunk(object{"tool_calls": calls}, nil)
		}
		chunk(object{}, finish)
		last := answer("chat.completion.chunk", []object{})
		last["usage"] = usage
		s.send("", last)
		io.WriteString(w, "data: [DONE]\n\n")
	},
}
