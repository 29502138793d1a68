package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/tidwall/gjson"
)

// A scripted peer is this program, started by the name of an agent. What it
// plays stands in its environment.
const (
	playing = "PLANNER_BENCH_SCENE"
	probing = "PLANNER_BENCH_PROBE"
	// planted is a credential that no record may hold.
	planted = "PLANNER_BENCH_API_KEY"
)

// Scenes. Without one both peers write good plans and report their tokens.
const (
	scenePoor   = "poor"   // the command's plan leaves a criterion out
	sceneSilent = "silent" // Grok reports no tokens
	sceneFrugal = "frugal" // Grok needs fewer tokens
	sceneLeaky  = "leaky"  // both say what is in their environment
	sceneBold   = "bold"   // both write files, and do as the story's text says
	sceneAbsent = "absent" // there is no Grok
)

// peers lays the scripted agents into a folder, which is all of the PATH from
// then on, and returns the environment that they run in.
func peers(dir, scene string) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	programs := map[string]string{"git": git, "claude": self, "grok": self}
	if scene == sceneAbsent {
		delete(programs, "grok")
	}
	for name, program := range programs {
		if err := os.Symlink(program, filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	if err := os.Setenv("PATH", dir); err != nil {
		return nil, err
	}
	return []string{"PATH=" + dir, "HOME=" + dir, playing + "=" + scene, planted + "=planted-4f1c-credential"}, nil
}

// playsPeer plays the agent by whose name this program was started, if it was.
func playsPeer() bool {
	if _, scripted := os.LookupEnv(playing); !scripted {
		return false
	}
	switch filepath.Base(os.Args[0]) {
	case "claude":
		playClaude()
	case "grok":
		playGrok()
	default:
		return false
	}
	return true
}

func scene(names ...string) bool { return slices.Contains(names, os.Getenv(playing)) }

// answer is the final message for a work item.
func answer(payload gjson.Result, spoil bool) string {
	var names []string
	// What can't be read is not named.
	_ = filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(path, ".git/") {
			names = append(names, path)
		}
		return nil
	})
	body := "# Plan\n\nRead: " + strings.Join(names, ", ") + "\n"
	for i, c := range payload.Get("story.acceptance_criteria").Array() {
		if !spoil || i > 0 {
			body += fmt.Sprintf("\n## AC%d\n\n%s\n", i+1, c.String())
		}
	}
	if scene(sceneLeaky) {
		body += "\nThe key is " + os.Getenv(planted) + ".\n"
	}
	if scene(sceneBold) {
		body += "\nALBATROSS\n"
		if err := os.WriteFile("version.go", []byte("package main\n"), 0o644); err != nil {
			body += err.Error()
		}
	}
	return text(map[string]any{"artifact": map[string]any{"name": "plan", "type": "plan", "body": body}})
}

// hang waits until somebody ends this process.
func hang() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	<-ended
}

// playClaude is `claude -p --output-format json`.
func playClaude() {
	payload, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(1)
	}
	if os.Getenv(probing) != "" {
		fmt.Fprintln(os.Stderr, "scripted to fail")
		os.Exit(1)
	}
	fmt.Println(text(map[string]any{
		"type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "terminal_reason": "completed",
		"result": answer(gjson.ParseBytes(payload), scene(scenePoor)), "session_id": "scripted", "total_cost_usd": 0.0031,
		"usage": map[string]any{"input_tokens": 900, "output_tokens": 300, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
	}))
}

// playGrok is `grok agent stdio`, as far as one prompt needs it.
func playGrok() {
	const session = "scripted"
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 8<<20)
	send := func(m map[string]any) {
		m["jsonrpc"] = "2.0"
		fmt.Println(text(m))
	}
	update := func(u map[string]any) {
		send(map[string]any{"method": "session/update", "params": map[string]any{"sessionId": session, "update": u}})
	}
	for lines.Scan() {
		m := gjson.ParseBytes(lines.Bytes())
		id := m.Get("id")
		if !id.Exists() {
			continue // a notification
		}
		result := map[string]any{}
		switch m.Get("method").String() {
		case "initialize":
			result = map[string]any{"protocolVersion": 1, "agentCapabilities": map[string]any{}, "authMethods": []any{}}
		case "session/new":
			result = map[string]any{"sessionId": session}
		case "session/prompt":
			var prompt strings.Builder
			for _, part := range m.Get("params.prompt").Array() {
				prompt.WriteString(part.Get("text").String())
			}
			update(map[string]any{"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "list_dir", "kind": "read", "status": "completed"})
			if os.Getenv(probing) != "" {
				hang()
				os.Exit(1)
			}
			said := answer(item(prompt.String()), false)
			update(map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]any{"type": "text", "text": said}})
			result = map[string]any{"stopReason": "end_turn"}
			if !scene(sceneSilent) {
				tokens := 1400
				if scene(sceneFrugal) {
					tokens = 700
				}
				result["_meta"] = map[string]any{"usage": map[string]any{"inputTokens": tokens - 300, "outputTokens": 300, "totalTokens": tokens, "cachedReadTokens": 0, "modelCalls": 1, "numTurns": 1}}
			}
		}
		send(map[string]any{"id": json.RawMessage(id.Raw), "result": result})
	}
}

// item finds the work item in a prompt that holds it as JSON.
func item(prompt string) gjson.Result {
	for i := range prompt {
		if !strings.HasPrefix(prompt[i:], `{"story":`) {
			continue
		}
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader(prompt[i:])).Decode(&raw) == nil {
			return gjson.ParseBytes(raw)
		}
	}
	return gjson.Result{}
}

// text writes what always encodes as one line of JSON.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
