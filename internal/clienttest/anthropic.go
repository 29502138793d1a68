package clienttest

import (
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"satelle/internal/scriptmodel"
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
		m := scriptmodel.Message{ID: "msg_" + id, Model: body.Get("model").String(), Text: turn.Text}
		for i, c := range turn.Calls {
			m.Calls = append(m.Calls, scriptmodel.ToolUse{ID: id + digits(i), Name: c.Tool, Input: c.Input})
		}
		m.Write(w, body.Get("stream").Bool())
	},
}
