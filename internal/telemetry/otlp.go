package telemetry

import (
	"strconv"
	"time"
)

// SchemaURL is the version of the semantic conventions that the names are of.
// Those of GenAI are not stable: a newer version may rename them.
const SchemaURL = "https://opentelemetry.io/schemas/1.41.0"

// Traces is OTLP's TracesData in its JSON form, and as a request to
// /v1/traces.
type Traces struct {
	ResourceSpans []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource   resource     `json:"resource"`
	ScopeSpans []scopeSpans `json:"scopeSpans"`
	SchemaURL  string       `json:"schemaUrl,omitempty"`
}

type resource struct {
	Attributes []attribute `json:"attributes"`
}

type scopeSpans struct {
	Scope     scope  `json:"scope"`
	Spans     []span `json:"spans"`
	SchemaURL string `json:"schemaUrl,omitempty"`
}

type scope struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// Values of OTLP's enumerations.
const (
	kindInternal = 1
	statusError  = 2
)

type span struct {
	TraceID    string      `json:"traceId"` // hexadecimal
	SpanID     string      `json:"spanId"`
	ParentID   string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      nanos       `json:"startTimeUnixNano"`
	End        nanos       `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes,omitempty"`
	Status     *status     `json:"status,omitempty"`
}

type status struct {
	Message string `json:"message,omitempty"`
	Code    int    `json:"code"`
}

type attribute struct {
	Key   string   `json:"key"`
	Value anyValue `json:"value"`
}

// anyValue has one field set. Numbers of 64 bits are strings in proto's JSON.
type anyValue struct {
	String *string `json:"stringValue,omitempty"`
	Int    *string `json:"intValue,omitempty"`
}

// nanos is a time as OTLP writes it.
type nanos time.Time

// MarshalJSON implements [json.Marshaler].
func (n nanos) MarshalJSON() ([]byte, error) {
	return []byte(`"` + strconv.FormatInt(time.Time(n).UnixNano(), 10) + `"`), nil
}

// attributes collects what is known: an empty string and an absent number are
// left out.
type attributes []attribute

func (a *attributes) str(key, value string) {
	if value != "" {
		*a = append(*a, attribute{key, anyValue{String: &value}})
	}
}

func (a *attributes) num(key string, value *int64) {
	if value != nil {
		s := strconv.FormatInt(*value, 10)
		*a = append(*a, attribute{key, anyValue{Int: &s}})
	}
}
