package transport

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"satelle/agents/event"
)

// scripts are one run in the words of each client.
type scripts struct {
	name string
	// by is what each prints; of the Agent Client Protocol, what follows the prompt.
	by map[string]string
}

const acpUpdate = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":%s}}` + "\n"

func updates(all ...string) string {
	var b strings.Builder
	for _, u := range all {
		fmt.Fprintf(&b, acpUpdate, u)
	}
	return b.String()
}

var alike = []scripts{
	{"a call and an answer", map[string]string{
		"acp": updates(
			`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"I look "}}`,
			`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"around."}}`,
			`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"SENTINEL"}}`,
			`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"look","kind":"read","status":"pending","rawInput":{"path":"."}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress"}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","rawOutput":"a.txt\nb.txt"}`,
			`{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"Done."}}`,
		) + `{"jsonrpc":"2.0","id":PROMPT,"result":{"stopReason":"end_turn","usage":{"inputTokens":90,"cachedReadTokens":10,"outputTokens":20,"thoughtTokens":5,"totalTokens":120}}}` + "\n",
		"claude": `{"type":"system","subtype":"init","session_id":"s1"}
{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"SENTINEL"},{"type":"text","text":"I look around."}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c1","name":"look","input":{"path":"."}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c1","content":"a.txt\nb.txt"}]}}
{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}
{"type":"result","subtype":"success","is_error":false,"session_id":"s1","result":"Done.","usage":{"input_tokens":90,"cache_read_input_tokens":10,"output_tokens":20,"output_tokens_details":{"thinking_tokens":5}}}
`,
		"codex": `{"type":"thread.started","thread_id":"s1"}
{"type":"item.completed","item":{"id":"m1","type":"agent_message","text":"I look around."}}
{"type":"item.completed","item":{"id":"r1","type":"reasoning","text":"SENTINEL"}}
{"type":"item.started","item":{"id":"c1","type":"mcp_tool_call","tool":"look","arguments":{"path":"."},"status":"in_progress"}}
{"type":"item.completed","item":{"id":"c1","type":"mcp_tool_call","tool":"look","arguments":{"path":"."},"result":"a.txt\nb.txt","status":"completed"}}
{"type":"item.completed","item":{"id":"m2","type":"agent_message","text":"Done."}}
{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":10,"output_tokens":20,"reasoning_output_tokens":5}}
`,
		"grok": `{"type":"thought","data":"SENTINEL"}
{"type":"text","data":"I look "}
{"type":"text","data":"around."}
{"type":"tool_call","toolCallId":"c1","toolName":"look","rawInput":{"path":"."}}
{"type":"tool_call_update","toolCallId":"c1","status":"completed","rawOutput":"a.txt\nb.txt"}
{"type":"text","data":"Done."}
{"type":"end","stopReason":"end_turn","sessionId":"s1","usage":{"input_tokens":90,"cache_read_input_tokens":10,"output_tokens":20,"reasoning_tokens":5,"total_tokens":120}}
`,
		"opencode": `{"type":"step_start","timestamp":1,"sessionID":"s1","part":{}}
{"type":"text","timestamp":1,"sessionID":"s1","part":{"text":"I look around."}}
{"type":"tool_use","timestamp":1,"sessionID":"s1","part":{"callID":"c1","tool":"look","state":{"status":"completed","input":{"path":"."},"output":"a.txt\nb.txt"}}}
{"type":"text","timestamp":1,"sessionID":"s1","part":{"text":"Done."}}
{"type":"step_finish","timestamp":1,"sessionID":"s1","part":{"reason":"stop","tokens":{"total":120,"input":90,"output":15,"reasoning":5,"cache":{"read":10}}}}
`,
	}},
	{"two messages, and a call that fails", map[string]string{
		"acp": updates(
			`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"First."}}`,
			`{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"Second."}}`,
			`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"look","kind":"read","status":"in_progress","rawInput":"gone"}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"failed","content":[{"type":"content","content":{"type":"text","text":"not there"}}]}`,
			`{"sessionUpdate":"agent_message_chunk","messageId":"m3","content":{"type":"text","text":"No."}}`,
		) + `{"jsonrpc":"2.0","id":PROMPT,"result":{"stopReason":"end_turn"}}` + "\n",
		"claude": `{"type":"system","subtype":"init","session_id":"s1"}
{"type":"assistant","message":{"content":[{"type":"text","text":"First."}]}}
{"type":"assistant","message":{"content":[{"type":"text","text":"Second."}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c1","name":"look","input":"gone"}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c1","content":"not there","is_error":true}]}}
{"type":"assistant","message":{"content":[{"type":"text","text":"No."}]}}
{"type":"result","subtype":"success","is_error":false,"session_id":"s1","result":"No."}
`,
		"codex": `{"type":"thread.started","thread_id":"s1"}
{"type":"item.completed","item":{"id":"m1","type":"agent_message","text":"First."}}
{"type":"item.completed","item":{"id":"m2","type":"agent_message","text":"Second."}}
{"type":"item.started","item":{"id":"c1","type":"mcp_tool_call","tool":"look","arguments":"gone"}}
{"type":"item.completed","item":{"id":"c1","type":"mcp_tool_call","tool":"look","error":"not there","status":"failed"}}
{"type":"item.completed","item":{"id":"m3","type":"agent_message","text":"No."}}
{"type":"turn.completed"}
`,
		"grok": `{"type":"text","data":"First.\nSec"}
{"type":"text","data":"ond."}
{"type":"tool_call","toolCallId":"c1","toolName":"look","rawInput":"gone"}
{"type":"tool_call_update","toolCallId":"c1","status":"failed","rawOutput":"not there"}
{"type":"text","data":"No."}
{"type":"end","stopReason":"end_turn","sessionId":"s1"}
`,
	}},
	{"a limit", map[string]string{
		"acp": updates(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I begin."}}`) +
			`{"jsonrpc":"2.0","id":PROMPT,"error":{"code":-32603,"message":"Internal error","data":{"message":"429 Too Many Requests","http_status":429}}}` + "\n",
		"claude": `{"type":"system","subtype":"init","session_id":"s1"}
{"type":"assistant","message":{"content":[{"type":"text","text":"I begin."}]}}
{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"session_id":"s1","result":"429 Too Many Requests"}
`,
		"codex": `{"type":"thread.started","thread_id":"s1"}
{"type":"item.completed","item":{"id":"m1","type":"agent_message","text":"I begin."}}
{"type":"turn.failed","error":{"message":"429 Too Many Requests"}}
`,
		"grok": `{"type":"text","data":"I begin."}
{"type":"error","message":"429 Too Many Requests"}
`,
		"opencode": `{"type":"text","timestamp":1,"sessionID":"s1","part":{"text":"I begin."}}
{"type":"error","timestamp":1,"sessionID":"s1","error":{"name":"APIError","data":{"message":"429 Too Many Requests","statusCode":429}}}
`,
	}},
}

// The same run gives the same events and the same answer over both transports,
// whatever the client's own words for it are.
func TestTransportsTellAlike(t *testing.T) {
	t.Parallel()
	for _, tc := range alike {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			over := newOverACP(t, "script", "peer stdio")
			script := filepath.Join(t.TempDir(), "script")
			if err := os.WriteFile(script, []byte(tc.by["acp"]), 0o600); err != nil {
				t.Fatal(err)
			}
			over.inv.Env = append(over.inv.Env, acpScript+"="+script)
			want := told(t, over.inv)
			if !strings.Contains(want, `"kind":"start"`) || strings.Count(want, "\n") < 3 || strings.Contains(want, "SENTINEL") {
				t.Fatalf("the protocol tells\n%s", want)
			}
			for client, lines := range tc.by {
				if client == "acp" {
					continue
				}
				inv := invocation(t, program(t, "cat said")+" x")
				if err := os.WriteFile(filepath.Join(inv.Dir, "said"), []byte(lines), 0o600); err != nil {
					t.Fatal(err)
				}
				if got := told(t, inv); got != want {
					t.Errorf("%s tells\n%s\nand the protocol\n%s", client, got, want)
				}
			}
		})
	}
}

// told is a run's events, a line each, with its answer. Pieces that follow one
// another are one text, as [event.Event] has it; the sum of all tokens is left
// out, which not every client gives.
func told(t *testing.T, inv Invocation) string {
	var mu sync.Mutex
	var all []event.Event
	inv.Events = func(e event.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Usage != nil {
			u := *e.Usage
			u.Total, e.Usage = nil, &u
		}
		if last := len(all) - 1; e.Kind == event.Message && last >= 0 && all[last].Kind == event.Message {
			all[last].Text += e.Text
			return
		}
		all = append(all, e)
	}
	r, err := Run(t.Context(), inv)
	var b strings.Builder
	for _, e := range all {
		if e.Kind == event.Message {
			e.Text = strings.TrimSuffix(e.Text, "\n")
		}
		b.WriteString(shown(e) + "\n")
	}
	fmt.Fprintf(&b, "%q %s", r.Text, fmt.Sprint(err))
	return b.String()
}
