package telemetry

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// TestOffByDefault: an endpoint that another program uses sends nothing.
func TestOffByDefault(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env  func(string) string
		want bool
	}{
		{env(), false},
		{env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318"), false},
		{env("OTEL_TRACES_EXPORTER", "none"), false},
		{env("OTEL_TRACES_EXPORTER", "otlp"), true},
		{env("OTEL_TRACES_EXPORTER", "otlp", "OTEL_SDK_DISABLED", "true"), false},
	} {
		if got := Wanted(tt.env); got != tt.want {
			t.Errorf("wanted: %v", got)
		}
	}
}

func TestFromEnvironment(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env        func(string) string
		url, wrong string
	}{
		{env(), "http://localhost:4318/v1/traces", ""},
		{env("OTEL_EXPORTER_OTLP_ENDPOINT", "https://c.example/otlp/"), "https://c.example/otlp/v1/traces", ""},
		{env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://b/x"), "http://b/x", ""},
		{env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), "", "http/json"},
		{env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"), "http://localhost:4318/v1/traces", ""},
		{env("OTEL_EXPORTER_OTLP_ENDPOINT", "file:///x"), "", "URL"},
		{env("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317"), "", "URL"},
		{env("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"), "", "milliseconds"},
	} {
		e, err := FromEnvironment(tt.env)
		if tt.wrong != "" {
			if !fault.Is(err, fault.Usage) || !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("err = %v, want %q", err, tt.wrong)
			}
		} else if err != nil || e.url != tt.url {
			t.Errorf("%q, %v, want %q", e.url, err, tt.url)
		}
	}
}

func someTraces(t *testing.T) Traces {
	j := newJournal(t)
	j.transition(workflow.KindCommitted)
	return j.read(ledger.Query{})[0]
}

// TestSend: the request is OTLP/HTTP's, with what the environment adds.
func TestSend(t *testing.T) {
	t.Parallel()
	got := make(chan *http.Request, 1)
	body := make(chan []byte, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- r
		body <- b
		_, _ = io.WriteString(w, "{}")
	}))
	defer srv.Close()
	e, err := FromEnvironment(env("OTEL_EXPORTER_OTLP_ENDPOINT", srv.URL, "OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b, y=2", "OTEL_SERVICE_NAME", "mine",
		"OTEL_RESOURCE_ATTRIBUTES", "team=core"))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Send(t.Context(), someTraces(t)); err != nil {
		t.Fatal(err)
	}
	r := <-got
	if r.Method != "POST" || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("X-Key") != "a b" {
		t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
	}
	var sent Traces
	b := <-body
	if err := json.Unmarshal([]byte(strings.ReplaceAll(strings.ReplaceAll(string(b), `"startTimeUnixNano":"`, `"x":"`), `"endTimeUnixNano":"`, `"y":"`)), &sent); err != nil || sent.Spans() != 6 {
		t.Fatalf("%v, %d spans of %s", err, sent.Spans(), b)
	}
	if s := string(b); !strings.Contains(s, `{"key":"service.name","value":{"stringValue":"mine"}}`) || !strings.Contains(s, `{"key":"team","value":{"stringValue":"core"}}`) {
		t.Errorf("%s", b)
	}
}

// TestSendFails: in bounded time, and no secret is told of.
func TestSendFails(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not see that the client has gone
		<-r.Context().Done()
	}))
	defer silent.Close()
	elsewhere := httptest.NewServer(http.RedirectHandler(silent.URL, http.StatusTemporaryRedirect))
	defer elsewhere.Close()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }))
	defer broken.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + l.Addr().String()
	l.Close()
	for name, url := range map[string]string{"silent": silent.URL, "redirect": elsewhere.URL, "503": broken.URL, "nobody": nobody} {
		url = strings.Replace(url, "http://", "http://user:hunter2@", 1)
		e, err := FromEnvironment(env("OTEL_EXPORTER_OTLP_ENDPOINT", url, "OTEL_EXPORTER_OTLP_TIMEOUT", "200", "OTEL_EXPORTER_OTLP_HEADERS", "authorization=hunter2"))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Send(t.Context(), someTraces(t)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
