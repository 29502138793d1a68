package scriptmodel

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

func post(t *testing.T, m *Model, body string) string {
	t.Helper()
	r, err := http.Post(m.URL+"/v1/messages?beta=true", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestModelPlaysOneTurn(t *testing.T) {
	m, err := Start("Write", map[string]any{"file_path": "/x"})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if !strings.HasPrefix(m.URL, "http://127.0.0.1:") || m.Asked() {
		t.Errorf("%s, asked: %v", m.URL, m.Asked())
	}
	if got := gjson.Get(post(t, m, `{"model":"a","tools":[],"messages":[]}`), "content.0.text").Str; got != "ok" || m.Asked() {
		t.Errorf("a side request: %q", got)
	}
	first := `{"model":"a","tools":[{}],"messages":[{"role":"user","content":"go"}]}`
	for range 2 { // a retry plays the same turn
		got := gjson.Parse(post(t, m, first))
		if got.Get("content.0.name").Str != "Write" || got.Get("content.0.input.file_path").Str != "/x" || got.Get("stop_reason").Str != "tool_use" || got.Get("model").Str != "a" {
			t.Errorf("%s", got.Raw)
		}
	}
	if _, told := m.Result(); told || !m.Asked() {
		t.Error("told before there was a result")
	}
	second := `{"model":"a","stream":true,"tools":[{}],"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_scripted","content":[{"type":"text","text":"no"},{"type":"text","text":"way"}]}]}]}`
	if got := post(t, m, second); !strings.Contains(got, "event: message_stop") || !strings.Contains(got, `"text":"done"`) {
		t.Errorf("%s", got)
	}
	if text, told := m.Result(); !told || text != "no\nway" {
		t.Errorf("%q, %v", text, told)
	}
	if got := post(t, m, "{"); !strings.Contains(got, "not found") {
		t.Errorf("a broken request: %s", got)
	}
}

func TestMessageStreamsToolUse(t *testing.T) {
	m, err := Start("Write", map[string]any{"a": "b"})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	got := post(t, m, `{"model":"a","stream":true,"tools":[{}],"messages":[]}`)
	for _, want := range []string{"event: message_start", `"input_json_delta"`, `{\"a\":\"b\"}`, `"stop_reason":"tool_use"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}
