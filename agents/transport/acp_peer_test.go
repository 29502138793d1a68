package transport

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// The test binary is also an agent that speaks the protocol: acpScene is what it
// plays, acpLog the file for its argv and for every line that it is sent, and
// acpScript the file with what it sends once it is prompted.
const (
	acpScene  = "TRANSPORT_ACP_SCENE"
	acpLog    = "TRANSPORT_ACP_LOG"
	acpScript = "TRANSPORT_ACP_SCRIPT"
)

func TestMain(m *testing.M) {
	if scene := os.Getenv(acpScene); scene != "" {
		peer{scene: scene, in: bufio.NewScanner(os.Stdin)}.play()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type peer struct {
	scene string
	in    *bufio.Scanner
}

func (p peer) send(m map[string]any) {
	m["jsonrpc"] = "2.0"
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(b))
}

func (p peer) log(v any) {
	f, err := os.OpenFile(os.Getenv(acpLog), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	b, _ := json.Marshal(v)
	fmt.Fprintln(f, string(b))
}

// next is the next line that satelle sends.
func (p peer) next() (gjson.Result, bool) {
	if !p.in.Scan() {
		return gjson.Result{}, false
	}
	m := gjson.ParseBytes(p.in.Bytes())
	p.log(json.RawMessage(m.Raw))
	return m, true
}

func (p peer) update(u map[string]any) {
	p.send(map[string]any{"method": "session/update", "params": map[string]any{"sessionId": "s1", "update": u}})
}

func (p peer) say(text string) {
	p.update(map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]any{"type": "text", "text": text}})
}

func (p peer) play() {
	p.in.Buffer(nil, 8<<20)
	p.log(map[string]any{"argv": os.Args[1:], "mode": os.Getenv("INITIAL_AGENT_MODE")})
	switch p.scene {
	case "garbage":
		fmt.Println("this is no protocol")
		p.next()
		return
	case "crash":
		fmt.Fprintln(os.Stderr, "Error: it can't be")
		os.Exit(7)
	}
	for {
		m, ok := p.next()
		if !ok {
			return
		}
		if !m.Get("id").Exists() {
			continue
		}
		id := json.RawMessage(m.Get("id").Raw)
		fail := func(code int, message string, data map[string]any) {
			p.send(map[string]any{"id": id, "error": map[string]any{"code": code, "message": message, "data": data}})
		}
		if p.scene == "mute" {
			continue
		}
		result := map[string]any{}
		switch m.Get("method").String() {
		case "initialize":
			result = map[string]any{"protocolVersion": 1, "agentCapabilities": map[string]any{}, "authMethods": []any{}}
		case "session/new":
			if p.scene == "signed out" {
				fail(-32000, "Authentication required", nil)
				continue
			}
			result = map[string]any{"sessionId": "s1", "modes": map[string]any{
				"currentModeId": "agent", "availableModes": []any{map[string]any{"id": "agent", "name": "Agent"}, map[string]any{"id": "read-only", "name": "Read"}},
			}}
		case "session/set_config_option":
			if m.Get("params.configId").String() == "reasoning_effort" && p.scene == "stubborn" {
				fail(-32602, "Invalid params", nil)
				continue
			}
			result = map[string]any{"configOptions": []any{}}
		case "session/prompt":
			switch p.scene {
			case "busy":
				fail(-32603, "Internal error", map[string]any{"message": "API error", "http_status": 429})
				continue
			case "used up":
				fail(-32603, "Internal error", map[string]any{"message": "You have no more", "codexErrorInfo": "usageLimitExceeded"})
				continue
			case "script":
				script, err := os.ReadFile(os.Getenv(acpScript))
				if err != nil {
					panic(err)
				}
				fmt.Print(strings.ReplaceAll(string(script), "PROMPT", string(id)))
				continue
			case "deaf":
				select {}
			case "dies":
				p.say("I begin.")
				fmt.Fprintln(os.Stderr, "Error: it can't go on")
				os.Exit(3)
			case "leaves":
				p.say("I begin.")
				os.Exit(0)
			case "hangs up":
				p.say("I begin.")
				os.Stdout.Close()
				select {}
			case "pesters", "hears nothing":
				if p.scene == "pesters" {
					go io.Copy(io.Discard, os.Stdin)
				}
				for i := range 1_000_000 {
					p.send(map[string]any{"id": i, "method": "session/request_permission", "params": map[string]any{}})
				}
				select {}
			case "chatters":
				for {
					p.say("on ")
				}
			}
			result = p.prompted(m.Get("params.prompt"))
		}
		p.send(map[string]any{"id": id, "result": result})
		if p.scene == "stuffed" && m.Get("method").String() == "session/new" {
			select {} // reads no more
		}
	}
}

// prompted plays a turn and returns its result.
func (p peer) prompted(prompt gjson.Result) map[string]any {
	usage := map[string]any{"totalTokens": 130, "inputTokens": 100, "cachedReadTokens": 10, "outputTokens": 20, "thoughtTokens": 5}
	switch p.scene {
	case "broken":
		p.update(map[string]any{"sessionUpdate": "session_info_update", "_meta": map[string]any{"codex": map[string]any{"threadStatus": map[string]any{"type": "systemError"}}}})
		p.say("unexpected status 503 Service Unavailable")
		return map[string]any{"stopReason": "end_turn", "usage": nil}
	case "slow":
		for {
			m, ok := p.next()
			if !ok || m.Get("method").String() == "session/cancel" {
				return map[string]any{"stopReason": "cancelled", "usage": usage}
			}
		}
	case "endless":
		p.say(strings.Repeat("x", 3*maxLine))
	}
	if file, asks := strings.CutPrefix(p.scene, "file "); asks {
		var answers []string
		for ask := range strings.SplitSeq(file, "\n") {
			method, params, _ := strings.Cut(ask, " ")
			p.send(map[string]any{"id": 98, "method": method, "params": json.RawMessage(params)})
			m, _ := p.next()
			answer := m.Get("result").Raw
			if e := m.Get("error"); e.Exists() {
				answer = "refused: " + e.Get("message").String() + " " + e.Get("data").String()
			}
			answers = append(answers, answer)
		}
		p.say(strings.Join(answers, "\n"))
		return map[string]any{"stopReason": "end_turn"}
	}
	if kind, asks := strings.CutPrefix(p.scene, "asks "); asks {
		kind, command, _ := strings.Cut(kind, ": ")
		p.send(map[string]any{"id": 99, "method": "session/request_permission", "params": map[string]any{
			"sessionId": "s1", "toolCall": map[string]any{"toolCallId": "c1", "title": "it", "kind": kind, "rawInput": map[string]any{"command": command}},
			"options": []any{
				map[string]any{"optionId": "always", "name": "Always", "kind": "allow_always"},
				map[string]any{"optionId": "once", "name": "Once", "kind": "allow_once"},
				map[string]any{"optionId": "no", "name": "No", "kind": "reject_once"},
			},
		}})
		m, _ := p.next()
		p.say(m.Get("result.outcome.optionId").String())
		return map[string]any{"stopReason": "end_turn"}
	}
	p.say("I look around.\n")
	p.update(map[string]any{"sessionUpdate": "agent_thought_chunk", "content": map[string]any{"type": "text", "text": "SENTINEL of thought"}})
	p.update(map[string]any{"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "list", "kind": "read", "status": "in_progress", "rawInput": map[string]any{"path": "."}})
	p.update(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"})
	p.say(prompt.Get("1.text").String())
	return map[string]any{"stopReason": "end_turn", "usage": usage}
}
