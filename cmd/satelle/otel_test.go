package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestJudgedTransitionsAreTold: where the environment asks for it, a transition
// that was judged is sent once it has ended, and nobody waits for a collector
// that does not answer.
func TestJudgedTransitionsAreTold(t *testing.T) {
	t.Parallel()
	sent := make(chan []byte, 8)
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		sent <- b
		<-release
	}))
	defer srv.Close()
	defer close(release)
	s := newScratch(t, map[string]string{"Makefile": "test:\n\tfalse SENTINEL\n"})
	id := s.start()
	set := s.command("satelle", "story", "set", id, "--status", "done")
	set.Env = append(set.Environ(), "OTEL_TRACES_EXPORTER=otlp", "OTEL_EXPORTER_OTLP_ENDPOINT="+srv.URL)
	if out, err := set.CombinedOutput(); err == nil || !strings.Contains(string(out), "refused") {
		t.Fatalf("%v\n%s", err, out)
	} // it has ended, while the collector still keeps its request
	select {
	case b := <-sent:
		var traces struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []struct{ Name string } }
			}
		}
		if err := json.Unmarshal(b, &traces); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, span := range traces.ResourceSpans[0].ScopeSpans[0].Spans {
			names = append(names, span.Name)
		}
		if len(names) < 2 || names[0] != "transition done" || !strings.Contains(strings.Join(names, "\n"), "gate done-check") {
			t.Errorf("spans %q", names)
		}
		if strings.Contains(string(b), "SENTINEL") {
			t.Errorf("content in %s", b)
		}
	case <-time.After(time.Minute):
		t.Fatal("nothing was sent")
	}
	again := s.command("satelle", "story", "set", id, "--status", "done")
	again.Env = append(again.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+srv.URL)
	if out, err := again.CombinedOutput(); err == nil {
		t.Fatalf("%s", out)
	}
	if len(sent) > 0 {
		t.Error("an endpoint alone was taken for a wish")
	}
}
