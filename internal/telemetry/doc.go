// Package telemetry tells the records of the ledger in the words of
// OpenTelemetry: a trace for each transition that ended, in it a span for each
// judge of its gate and for each agent that was asked.
//
// What it promises: it reads records and nothing else, so that an export can
// be made again and is the same then, its ids included; no text of a story, a
// prompt or an answer is in it; what an agent did not report is absent; it is
// off unless somebody asks for it, and no transition waits for it.
//
// The OpenTelemetry SDK is not linked. With its OTLP exporter it makes the
// program 8.5 MB larger and each start about 1 ms longer (4.4 to 5.4), it means
// spans that are measured live and not read from records, and it writes no
// OTLP/JSON. The form is that of the protocol's published example, a test holds it.
//
// Start reading at trace.go; otlp.go is the form, send.go where it goes.
package telemetry
