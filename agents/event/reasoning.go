package event

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// hiddenMark stands where reasoning was.
const hiddenMark = "[hidden]"

// reasonings are the names under which the protocols of agents carry what a
// model thinks.
var reasonings = []string{
	"thinking", "thought", "thoughts", "reasoning", "reasoning_content", "reasoning_text", "reasoning_details",
	"redacted_thinking", "encrypted_content",
}

var reasoningText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`("(?:` + strings.Join(reasonings, "|") + `)"\s*:\s*)"(?:[^"\\]|\\.)*"?`)
})

// WithoutReasoning is a line of an agent's traffic without what the model
// thinks. The transports leave it out by this already; in the trace it is the
// second lock. A line
// that looks like JSON and is none is left out altogether.
func WithoutReasoning(line string) string {
	start := strings.IndexByte(line, '{')
	if start < 0 || start > len("data: event: ") {
		return reasoningText().ReplaceAllString(line, `${1}"`+hiddenMark+`"`)
	}
	dec := json.NewDecoder(strings.NewReader(line[start:]))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil || dec.More() {
		if strings.TrimSpace(line) == "{" {
			return line // of an object over several lines
		}
		return "[a line that is no whole JSON was left out]"
	}
	v, hid := hide(v)
	if !hid {
		return line
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return hiddenMark
	}
	return line[:start] + strings.TrimSuffix(b.String(), "\n")
}

// hide returns a value of JSON without reasoning, and whether there was any.
func hide(v any) (out any, hid bool) {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			e, h := hide(e)
			v[i], hid = e, hid || h
		}
	case map[string]any:
		for _, key := range []string{"type", "sessionUpdate"} {
			if kind, ok := v[key].(string); ok && thinks(kind) {
				return map[string]any{key: kind, "hidden": true}, true
			}
		}
		for key, e := range v {
			switch e.(type) {
			case string, []any, map[string]any:
				if slices.Contains(reasonings, key) {
					v[key], hid = hiddenMark, true
					continue
				}
			}
			e, h := hide(e)
			v[key], hid = e, hid || h
		}
	}
	return v, hid
}

// thinks reports whether the name of a kind of message is that of reasoning.
func thinks(kind string) bool {
	return strings.Contains(kind, "thinking") || strings.Contains(kind, "thought") || strings.Contains(kind, "reasoning")
}
