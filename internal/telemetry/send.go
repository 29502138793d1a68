package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"satelle/internal/fault"
)

// defaultTimeout is that of the OTLP specification.
const defaultTimeout = 10 * time.Second

// Endpoint is where traces go, read from the environment variables that every
// OpenTelemetry exporter obeys.
type Endpoint struct {
	url      string
	headers  map[string]string
	timeout  time.Duration
	resource map[string]string
}

// Wanted reports whether the environment asks that each transition is sent:
// OTEL_TRACES_EXPORTER is otlp. Other than for an SDK it is not so by default.
func Wanted(getenv func(string) string) bool {
	return getenv("OTEL_TRACES_EXPORTER") == "otlp" && !strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true")
}

// FromEnvironment reads the endpoint. Only OTLP/HTTP with JSON is spoken, which
// every collector takes at the port for HTTP.
func FromEnvironment(getenv func(string) string) (Endpoint, error) {
	get := func(name string) string {
		return cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), getenv("OTEL_EXPORTER_OTLP_"+name))
	}
	if p := get("PROTOCOL"); strings.HasPrefix(p, "grpc") {
		return Endpoint{}, fault.New(fault.Usage, "OTEL_EXPORTER_OTLP_PROTOCOL asks for %s; satelle speaks http/json, at the collector's port for HTTP (4318)", p)
	}
	e := Endpoint{url: getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), timeout: defaultTimeout}
	if e.url == "" {
		e.url = strings.TrimSuffix(cmp.Or(getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "http://localhost:4318"), "/") + "/v1/traces"
	}
	if u, err := url.Parse(e.url); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Endpoint{}, fault.New(fault.Usage, "the OTLP endpoint is no http or https URL")
	}
	if t := get("TIMEOUT"); t != "" {
		ms, err := strconv.Atoi(t)
		if err != nil || ms <= 0 {
			return Endpoint{}, fault.New(fault.Usage, "OTEL_EXPORTER_OTLP_TIMEOUT is in milliseconds, not %q", t)
		}
		e.timeout = time.Duration(ms) * time.Millisecond
	}
	e.headers = pairs(get("HEADERS"))
	e.resource = pairs(getenv("OTEL_RESOURCE_ATTRIBUTES"))
	if name := getenv("OTEL_SERVICE_NAME"); name != "" {
		e.resource["service.name"] = name
	}
	return e, nil
}

// pairs reads the form of W3C baggage: a=b,c=d, with percent signs as in URLs.
func pairs(list string) map[string]string {
	m := map[string]string{}
	for pair := range strings.SplitSeq(list, ",") {
		k, v, ok := strings.Cut(pair, "=")
		if k = strings.TrimSpace(k); !ok || k == "" {
			continue
		}
		if v, err := url.PathUnescape(strings.TrimSpace(v)); err == nil {
			m[k] = v
		}
	}
	return m
}

// Send posts traces, within the endpoint's timeout. An error names neither
// headers nor a password of the URL.
func (e Endpoint) Send(ctx context.Context, t Traces) error {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	for i := range t.ResourceSpans {
		t.ResourceSpans[i].Resource.override(e.resource)
	}
	b, err := json.Marshal(t)
	if err != nil {
		return fault.Wrap(err, nil, "writing the traces")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(b))
	if err != nil {
		return fault.New(fault.Usage, "the OTLP endpoint is no URL")
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range e.headers {
		req.Header.Set(k, v)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // which names no URL
		}
		return fault.Wrap(fmt.Errorf("%s: %w", req.URL.Host, err), nil, "sending traces")
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	if res.StatusCode/100 != 2 {
		return fault.New(nil, "sending traces: %s answered %s", req.URL.Host, res.Status)
	}
	return nil
}

func (r *resource) override(with map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(with)) {
		value := with[key]
		i := slices.IndexFunc(r.Attributes, func(a attribute) bool { return a.Key == key })
		if i < 0 {
			i, r.Attributes = len(r.Attributes), append(r.Attributes, attribute{Key: key})
		}
		r.Attributes[i].Value = anyValue{String: &value}
	}
}
