package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// gistKeys are those of a record's body that tell it in a line, in order.
var gistKeys = []string{"title", "status", "from", "to", "skill", "decision", "name", "kind", "work_tree", "why", "reason", "harness", "tool", "target", "origin"}

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
	return strings.Join(parts, " ")
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
