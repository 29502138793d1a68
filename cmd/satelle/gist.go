package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// gistKeys are those of a record's body that tell it in a line, in order.
var gistKeys = []string{"title", "status", "from", "to", "skill", "decision", "role", "binding", "phase", "class", "name", "kind", "work_tree", "why", "reason", "harness", "tool", "target", "origin"}

// gist tells a record's body in a line.
func gist(body []byte) string {
	var parts []string
	b := gjson.ParseBytes(body)
	for _, k := range gistKeys {
		v := b.Get(k)
		if v.Type == gjson.String && v.Str != "" {
			parts = append(parts, k+"="+short(v.Str))
		}
	}
	if gate := b.Get("gate"); gate.IsObject() {
		parts = append(parts, gateGist(gate)...)
	}
	return strings.Join(parts, " ")
}

// gateGist tells what a gate leaves of the rules; nothing is all of them.
func gateGist(gate gjson.Result) (parts []string) {
	if v := gate.Get("outside").Str; v != "" {
		parts = append(parts, "outside="+short(v))
	}
	for _, k := range []string{"readers", "tools"} {
		if n := len(gate.Get(k).Array()); n > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", k, n))
		}
	}
	gate.Get("mode").ForEach(func(rule, mode gjson.Result) bool {
		parts = append(parts, short(rule.Str)+"="+short(mode.Str))
		return true
	})
	return parts
}

func short(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	if strings.ContainsAny(s, " \t\n") {
		return fmt.Sprintf("%q", s)
	}
	return s
}

func pretty(raw []byte) []byte {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return raw
	}
	return out.Bytes()
}
