package telemetry

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"satelle/ledger"
	"satelle/workflow"
)

// journal is a log whose clock goes a second with each record.
type journal struct {
	t   *testing.T
	cfg ledger.Config
	log *ledger.Log
}

func newJournal(t *testing.T) *journal {
	t.Helper()
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	j := &journal{t: t, cfg: ledger.Config{
		Path: filepath.Join(dir, "ledger.db"), Keys: ledger.KeyDir(filepath.Join(dir, "keys")),
		Clock: func() time.Time { now = now.Add(time.Second); return now },
	}}
	var err error
	if j.log, err = ledger.Create(t.Context(), j.cfg, ledger.Genesis{Project: "p", Clone: "c"}); err != nil {
		t.Fatal(err)
	}
	return j
}

func (j *journal) add(kind string, body any) uint64 {
	j.t.Helper()
	head, err := j.log.Head()
	if err == nil {
		_, _, err = j.log.Append(j.t.Context(), head.Size, []ledger.Draft{{Kind: kind, Story: "sty_1", Schema: 1, Actor: ledger.Actor{Kind: "engine", Auth: "asserted"}, Body: body}}, nil)
	}
	if err != nil {
		j.t.Fatal(err)
	}
	return head.Size
}

// transition is one move with a check, two attempts of a reviewer and a
// performer. SENTINEL stands in whatever is content.
func (j *journal) transition(end string) uint64 {
	n := func(v int64) *int64 { return &v }
	token := j.add(workflow.KindRequested, workflow.Transition{Edge: workflow.Edge{From: "backlog", To: "planned", Kind: workflow.Advance}})
	attempt := func(role, skill, binding, model, class string, u workflow.Usage) {
		j.add(workflow.KindAttempt, workflow.Attempt{
			Asked:     workflow.Asked{Token: token, Role: role, Skill: skill, Phase: workflow.PhaseInitial, Binding: binding},
			Interface: "command", Model: model, ElapsedMS: 500, Class: class, Reason: "SENTINEL", Usage: u, UsageAvailable: u.Available(),
		})
	}
	attempt("reviewer", "plan-review", "reviewer", "claude-x", "unavailable", workflow.Usage{})
	attempt("reviewer", "plan-review", "grok", "xai/grok-4", "", workflow.Usage{
		Input: n(100), CacheRead: n(40), CacheWrite: n(2), Output: n(0), CostMicros: n(1234),
	})
	for _, v := range []string{"check", "plan-review"} {
		j.add(workflow.KindVerdict, map[string]any{
			"token": token, "skill": v, "decision": workflow.Accept, "mandatory": true, "elapsed_ms": 250, "why": "SENTINEL",
		})
	}
	attempt("agent", "", "planner", "", "", workflow.Usage{})
	j.add(end, map[string]any{"token": token, "why": "SENTINEL"})
	return token
}

func (j *journal) read(q ledger.Query) (all []Traces) {
	j.t.Helper()
	if err := j.log.Close(); err != nil {
		j.t.Fatal(err)
	}
	err := Source{Origin: "satelle/p/c", Version: "1.2.3"}.Read(j.t.Context(), j.cfg, q, func(t Traces) error {
		all = append(all, t)
		return nil
	})
	if err != nil {
		j.t.Fatal(err)
	}
	if j.log, err = ledger.Open(j.t.Context(), j.cfg); err != nil {
		j.t.Fatal(err)
	}
	return all
}

func (s span) attribute(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key && a.Value.String != nil {
			return *a.Value.String
		} else if a.Key == key {
			return *a.Value.Int
		}
	}
	return ""
}

// TestSpans: transition, gate and agent stand in one trace, with the names of
// the GenAI conventions and nothing that nobody reported.
func TestSpans(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.transition(workflow.KindCommitted)
	j.transition(workflow.KindRefused)
	j.add(workflow.KindRequested, workflow.Transition{Edge: workflow.Edge{To: "done"}}) // in flight
	all := j.read(ledger.Query{})
	if len(all) != 2 {
		t.Fatalf("%d traces", len(all))
	}
	spans := all[0].ResourceSpans[0].ScopeSpans[0].Spans
	var names []string
	for _, s := range spans {
		names = append(names, s.Name)
		if s.TraceID != spans[0].TraceID || len(s.TraceID) != 32 || len(s.SpanID) != 16 || time.Time(s.End).Before(time.Time(s.Start)) {
			t.Errorf("%+v", s)
		}
	}
	want := []string{"transition planned", "gate check", "gate plan-review", "invoke_agent reviewer", "invoke_agent grok", "invoke_agent planner"}
	if !slices.Equal(names, want) {
		t.Fatalf("spans %q", names)
	}
	for i, parent := range []int{-1, 0, 0, 2, 2, 0} {
		if parent < 0 && spans[i].ParentID != "" || parent >= 0 && spans[i].ParentID != spans[parent].SpanID {
			t.Errorf("%s is a child of %q", spans[i].Name, spans[i].ParentID)
		}
	}
	if g := spans[2]; time.Time(g.End).Sub(time.Time(g.Start)) != 1500*time.Millisecond {
		t.Errorf("the gate took %v", time.Time(g.End).Sub(time.Time(g.Start)))
	}
	for key, want := range map[string]string{
		"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "x_ai", "gen_ai.agent.name": "grok", "gen_ai.request.model": "xai/grok-4",
		"gen_ai.usage.input_tokens": "142", "gen_ai.usage.cache_read.input_tokens": "40", "gen_ai.usage.cache_creation.input_tokens": "2",
		"gen_ai.usage.output_tokens": "0", "satelle.usage.cost_microusd": "1234", "satelle.agent.role": "reviewer", "satelle.story.id": "sty_1", "error.type": "",
	} {
		if got := spans[4].attribute(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if s := spans[3]; s.attribute("error.type") != "unavailable" || s.Status == nil || s.Status.Code != statusError {
		t.Errorf("%+v", s)
	}
	for _, a := range spans[5].Attributes {
		if strings.Contains(a.Key, "usage") || a.Key == "gen_ai.request.model" || a.Key == "gen_ai.provider.name" {
			t.Errorf("%s of nothing", a.Key)
		}
	}
	if all[0].ResourceSpans[0].ScopeSpans[0].Spans[0].Status != nil || all[1].ResourceSpans[0].ScopeSpans[0].Spans[0].Status == nil {
		t.Error("the outcome is not told")
	}
	b, _ := json.Marshal(all)
	if strings.Contains(string(b), "SENTINEL") {
		t.Errorf("content in %s", b)
	}
	if again, _ := json.Marshal(j.read(ledger.Query{})); string(again) != string(b) {
		t.Error("a second export differs")
	}
}

// TestSpansOfOne: what the process that judged asks for.
func TestSpansOfOne(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.transition(workflow.KindRefused)
	token := j.transition(workflow.KindCommitted)
	if all := j.read(ledger.Query{Story: "sty_1", From: token}); len(all) != 1 {
		t.Errorf("%d traces", len(all))
	}
	if all := j.read(ledger.Query{Story: "sty_2"}); len(all) != 0 {
		t.Errorf("%d traces of another story", len(all))
	}
}

// TestForm: every name and type of the protocol's published example is ours,
// and ours has few others, which the protocol has too.
func TestForm(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/trace.json")
	if err != nil {
		t.Fatal(err)
	}
	var example any
	if err := json.Unmarshal(b, &example); err != nil {
		t.Fatal(err)
	}
	j := newJournal(t)
	j.transition(workflow.KindRefused)
	b, err = json.Marshal(j.read(ledger.Query{})[0])
	if err != nil {
		t.Fatal(err)
	}
	var ours any
	if err := json.Unmarshal(b, &ours); err != nil {
		t.Fatal(err)
	}
	want, got := map[string]string{}, map[string]string{}
	names(example, "", want)
	names(ours, "", got)
	for path, kind := range want {
		if !strings.Contains(path, "/scope/attributes") && got[path] != kind { // those are optional
			t.Errorf("%s is a %q, the example's a %q", path, got[path], kind)
		}
	}
	spans := "/resourceSpans/scopeSpans/spans"
	more := []string{
		"/resourceSpans/schemaUrl", "/resourceSpans/scopeSpans/schemaUrl", spans + "/status", spans + "/status/code",
		spans + "/status/message", spans + "/attributes/value/intValue",
	}
	for path := range got {
		if want[path] == "" && !slices.Contains(more, path) {
			t.Errorf("the protocol has no %s", path)
		}
	}
}

// names collects the paths of a value of JSON and what stands there.
func names(v any, path string, into map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			names(e, path+"/"+k, into)
		}
		into[path] = "object"
	case []any:
		for _, e := range v {
			names(e, path, into)
		}
	case string:
		into[path] = "string"
	case float64:
		into[path] = "number"
	}
}
