package telemetry

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow"
)

// Source is whose records are told.
type Source struct {
	// Origin is the log's; ids are made of it.
	Origin string
	// Version is satelle's own.
	Version string
}

// Read calls fn with a trace for each transition that ended, of the records
// that the query picks by story or time, in the order of their ends.
func (src Source) Read(ctx context.Context, cfg ledger.Config, q ledger.Query, fn func(Traces) error) error {
	q.Kinds = []string{
		workflow.KindRequested, workflow.KindVerdict, workflow.KindAttempt,
		workflow.KindCommitted, workflow.KindRefused, workflow.KindAbandoned,
	}
	flying := map[uint64]*flight{} // one for each story at most
	return ledger.Scan(ctx, cfg, q, func(r ledger.Record) error {
		var b struct {
			Token uint64 `json:"token"`
			workflow.Edge
		}
		if err := json.Unmarshal(r.Body, &b); err != nil {
			return fault.Wrap(err, fault.Integrity, "reading record %d", r.Seq)
		}
		if r.Kind == workflow.KindRequested {
			flying[r.Seq] = &flight{token: r.Seq, story: r.Story, edge: b.Edge, start: r.Time}
			return nil
		}
		f := flying[b.Token]
		if f == nil {
			return nil // it began before what was asked for
		}
		switch r.Kind {
		case workflow.KindVerdict:
			return f.judged(r)
		case workflow.KindAttempt:
			return f.attempted(r)
		}
		delete(flying, b.Token)
		return fn(src.traces(f, r))
	})
}

// flight is what is known of a transition.
type flight struct {
	token    uint64
	story    string
	edge     workflow.Edge
	start    time.Time
	verdicts []verdict
	attempts []attempt
}

type verdict struct {
	seq       uint64
	Skill     string `json:"skill"`
	Decision  string `json:"decision"`
	Mandatory bool   `json:"mandatory"`
	ElapsedMS int64  `json:"elapsed_ms"`
}

type attempt struct {
	seq uint64
	end time.Time
	workflow.Attempt
}

// most bounds what is held of one transition.
const most = 10_000

func (f *flight) judged(r ledger.Record) error {
	v := verdict{seq: r.Seq}
	if err := json.Unmarshal(r.Body, &v); err != nil {
		return fault.Wrap(err, fault.Integrity, "reading record %d", r.Seq)
	}
	if len(f.verdicts) < most {
		f.verdicts = append(f.verdicts, v)
	}
	return nil
}

func (f *flight) attempted(r ledger.Record) error {
	a := attempt{seq: r.Seq, end: r.Time}
	if err := json.Unmarshal(r.Body, &a.Attempt); err != nil {
		return fault.Wrap(err, fault.Integrity, "reading record %d", r.Seq)
	}
	if len(f.attempts) < most {
		f.attempts = append(f.attempts, a)
	}
	return nil
}

// traces is a transition that the record ends, as one trace.
func (src Source) traces(f *flight, end ledger.Record) Traces {
	id := src.id(f.token, 16)
	outcome := strings.TrimPrefix(end.Kind, "transition.")
	root := span{TraceID: id, SpanID: src.id(f.token, 8), Name: "transition " + f.edge.To, Kind: kindInternal, Start: nanos(f.start), End: nanos(later(end.Time, f.start))}
	var a attributes
	a.str("satelle.story.id", f.story)
	a.str("satelle.transition.from", f.edge.From)
	a.str("satelle.transition.to", f.edge.To)
	a.str("satelle.transition.kind", f.edge.Kind)
	a.str("satelle.transition.outcome", outcome)
	root.Attributes = a
	if end.Kind != workflow.KindCommitted {
		root.Status = &status{Code: statusError, Message: outcome}
	}
	spans := []span{root}
	gates := map[string]string{} // skill to its span
	for _, v := range f.verdicts {
		g := src.gate(f, v, root)
		gates[v.Skill] = g.SpanID
		spans = append(spans, g)
	}
	for _, at := range f.attempts {
		parent := root.SpanID
		if g, ok := gates[at.Skill]; ok && at.Role == "reviewer" {
			parent = g
		}
		spans = append(spans, src.call(f, at, id, parent))
	}
	return src.wrap(spans)
}

// gate is the span of one judge: of the agents it asked, or of its own time
// where it asked none.
func (src Source) gate(f *flight, v verdict, root span) span {
	start, end := f.start, f.start.Add(time.Duration(v.ElapsedMS)*time.Millisecond)
	first := true
	for _, at := range f.attempts {
		if at.Skill != v.Skill || at.Role != "reviewer" {
			continue
		}
		if first || at.start().Before(start) {
			start = at.start()
		}
		if first || at.end.After(end) {
			end = at.end
		}
		first = false
	}
	g := span{
		TraceID: root.TraceID, SpanID: src.id(v.seq, 8), ParentID: root.SpanID, Name: "gate " + v.Skill, Kind: kindInternal,
		Start: nanos(start), End: nanos(later(end, start)),
	}
	var a attributes
	a.str("satelle.story.id", f.story)
	a.str("satelle.gate.skill", v.Skill)
	a.str("satelle.gate.decision", v.Decision)
	g.Attributes = a
	if v.Decision != workflow.Accept && v.Mandatory {
		g.Status = &status{Code: statusError, Message: "reject"}
	}
	return g
}

// start is when the attempt began, as far as its record tells.
func (at attempt) start() time.Time {
	return at.end.Add(-time.Duration(at.ElapsedMS) * time.Millisecond)
}

// call is the span of one agent that was asked.
func (src Source) call(f *flight, at attempt, trace, parent string) span {
	s := span{
		TraceID: trace, SpanID: src.id(at.seq, 8), ParentID: parent, Name: "invoke_agent " + at.Binding, Kind: kindInternal,
		Start: nanos(at.start()), End: nanos(at.end),
	}
	var a attributes
	a.str("gen_ai.operation.name", "invoke_agent")
	a.str("gen_ai.provider.name", provider(at.Model))
	a.str("gen_ai.agent.name", at.Binding)
	a.str("gen_ai.request.model", at.Model)
	a.num("gen_ai.usage.input_tokens", input(at.Usage))
	a.num("gen_ai.usage.cache_read.input_tokens", at.Usage.CacheRead)
	a.num("gen_ai.usage.cache_creation.input_tokens", at.Usage.CacheWrite)
	a.num("gen_ai.usage.output_tokens", at.Usage.Output)
	a.num("gen_ai.usage.reasoning.output_tokens", at.Usage.Reasoning)
	a.str("error.type", at.Class)
	a.str("satelle.story.id", f.story)
	a.str("satelle.agent.role", at.Role)
	a.str("satelle.agent.phase", at.Phase)
	a.str("satelle.agent.effort", at.Effort)
	a.str("satelle.agent.interface", at.Interface)
	a.num("satelle.usage.total_tokens", at.Usage.Total)
	a.num("satelle.usage.cost_microusd", at.Usage.CostMicros)
	s.Attributes = a
	if at.Class != "" {
		s.Status = &status{Code: statusError, Message: at.Class}
	}
	return s
}

// input are all input tokens, as the conventions want them: those of caches
// included.
func input(u workflow.Usage) *int64 {
	if u.Input == nil {
		return nil
	}
	n := *u.Input
	for _, part := range []*int64{u.CacheRead, u.CacheWrite} {
		if part != nil {
			n += *part
		}
	}
	return &n
}

// provider is whose model it is, by its name; "" where that does not tell.
func provider(model string) string {
	model = model[strings.LastIndexByte(model, '/')+1:]
	for _, p := range []struct{ prefix, name string }{
		{"claude", "anthropic"},
		{"sonnet", "anthropic"},
		{"opus", "anthropic"},
		{"haiku", "anthropic"},
		{"gpt", "openai"},
		{"codex", "openai"},
		{"o1", "openai"},
		{"o3", "openai"},
		{"o4", "openai"},
		{"grok", "x_ai"},
		{"gemini", "gcp.gemini"},
		{"deepseek", "deepseek"},
		{"mistral", "mistral_ai"},
		{"command-", "cohere"},
	} {
		if strings.HasPrefix(model, p.prefix) {
			return p.name
		}
	}
	return ""
}

// id is the same for a record whenever it is told.
func (src Source) id(seq uint64, length int) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("satelle telemetry\n"+src.Origin+"\n"), seq))
	return hex.EncodeToString(sum[:length])
}

// wrap puts spans of one source together.
func (src Source) wrap(spans []span) Traces {
	var a attributes
	a.str("service.name", "satelle")
	a.str("service.version", src.Version)
	a.str("service.instance.id", src.Origin)
	return Traces{ResourceSpans: []resourceSpans{{
		Resource:   resource{Attributes: a},
		ScopeSpans: []scopeSpans{{Scope: scope{Name: "satelle", Version: src.Version}, Spans: spans, SchemaURL: SchemaURL}},
		SchemaURL:  SchemaURL,
	}}}
}

// Add puts the spans of another trace of the same source to these.
func (t *Traces) Add(other Traces) {
	if len(t.ResourceSpans) == 0 {
		*t = other
		return
	}
	to := &t.ResourceSpans[0].ScopeSpans[0]
	to.Spans = append(to.Spans, other.ResourceSpans[0].ScopeSpans[0].Spans...)
}

// Spans is how many spans there are.
func (t Traces) Spans() (n int) {
	for _, r := range t.ResourceSpans {
		for _, s := range r.ScopeSpans {
			n += len(s.Spans)
		}
	}
	return n
}

// later keeps a span from ending before it began, when a clock was set back.
func later(end, start time.Time) time.Time {
	if end.Before(start) {
		return start
	}
	return end
}
