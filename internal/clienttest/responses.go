package clienttest

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// responses is OpenAI's Responses API, as Codex uses it, and Grok for titles.
var responses = dialect{
	side: func(_ *http.Request, body gjson.Result) bool {
		more := body.Get(`input.#(type=="additional_tools")`) // how some models of Codex get theirs
		return len(body.Get("tools").Array()) == 0 && !more.Exists() || body.Get("tool_choice").IsObject()
	},
	words: func(body gjson.Result) string {
		var words []string
		// An agent that another one started may have that one's history, and
		// then the message that is meant for it.
		for _, item := range body.Get("input").Array() {
			if strings.HasPrefix(item.Get("recipient").String(), "/root/") {
				return text(item.Get("content")) + item.Get("content.#.encrypted_content").String()
			}
		}
		for _, item := range body.Get("input").Array() {
			if item.Get("role").String() == "user" {
				words = append(words, text(item.Get("content")))
			} else if strings.Contains(item.Get("type").String(), "call") {
				break
			}
		}
		return strings.Join(words, "\n")
	},
	results: func(body gjson.Result, fn func(id, text string)) {
		for _, item := range body.Get("input").Array() {
			if strings.HasSuffix(item.Get("type").String(), "_call_output") {
				fn(item.Get("call_id").String(), text(item.Get("output")))
			}
		}
	},
	answer: func(w http.ResponseWriter, body gjson.Result, id string, turn Turn) {
		var items []object
		if turn.Text != "" {
			items = append(items, object{
				"type": "message", "id": "msg_" + id, "role": "assistant", "status": "completed",
				"content": []object{{"type": "output_text", "text": turn.Text, "annotations": []any{}}},
			})
		}
		for i, c := range turn.Calls {
			item := object{"type": "function_call", "id": "fc_" + id + digits(i), "call_id": id + digits(i), "name": c.Tool, "status": "completed"}
			if space, name, ok := strings.Cut(c.Tool, "."); ok {
				item["namespace"], item["name"] = space, name
			}
			if free, ok := c.Input.(string); ok {
				item["type"], item["input"] = "custom_tool_call", free
			} else {
				item["arguments"] = c.arguments()
			}
			items = append(items, item)
		}
		whole := object{
			"id": "resp_" + id, "object": "response", "created_at": 1, "status": "completed", "model": body.Get("model").String(), "output": items,
			"usage": object{
				"input_tokens": 100, "input_tokens_details": object{"cached_tokens": 0},
				"output_tokens": 10, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 110,
			},
		}
		if !body.Get("stream").Bool() {
			writeJSON(w, whole)
			return
		}
		s := newStream(w, true)
		send := func(kind string, fields object) {
			fields["sequence_number"] = s.n
			s.send(kind, fields)
		}
		send("response.created", object{"response": object{"id": whole["id"], "object": "response", "status": "in_progress", "model": whole["model"], "output": []any{}}})
		for i, item := range items {
			send("response.output_item.added", object{"output_index": i, "item": item})
			if item["type"] == "message" {
				send("response.output_text.delta", object{"item_id": item["id"], "output_index": i, "content_index": 0, "delta": turn.Text})
			}
			send("response.output_item.done", object{"output_index": i, "item": item})
		}
		send("response.completed", object{"response": whole})
	},
}

func digits(i int) string { return strconv.Itoa(i) }
