package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"satelle/internal/engine"
	"satelle/internal/fault"
	"satelle/internal/telemetry"
	"satelle/ledger"
)

// sendSpans is how many spans one request holds at least, if there are so many.
const sendSpans = 500

func newLedgerOtelCmd(a *app) *cobra.Command {
	var q ledger.Query
	var since string
	var send bool
	cmd := &cobra.Command{
		Use:   "otel",
		Short: "Tell transitions, gates and agents to OpenTelemetry",
		Long: long(`Prints a trace for each transition that ended, a line of OTLP/JSON each, as the
collector's file receiver reads it: spans for the transition, its judges and each agent
that was asked, with the names of the GenAI conventions, and no text of any story,
prompt or answer. It reads the ledger alone and may be repeated: ids stay the same.
--send posts them instead to the endpoint that OTEL_EXPORTER_OTLP_ENDPOINT (or
…_TRACES_ENDPOINT, with …_HEADERS and …_TIMEOUT) names, by OTLP/HTTP with JSON. With
OTEL_TRACES_EXPORTER=otlp each judged transition is sent by itself once it has ended,
and waits for nobody; without it nothing is sent.`, 3, 4, 5, 6),
		Example: `  satelle ledger otel --since 24h > traces.jsonl
  OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 satelle ledger otel --send`,
		Args: none(),
	}
	cmd.Flags().StringVar(&q.Story, "story", "", "only those of this story")
	cmd.Flags().StringVar(&since, "since", "", "those that began not before this time, or a duration ago")
	cmd.Flags().BoolVar(&send, "send", false, "post them to the endpoint of the environment")
	cmd.RunE = a.run(func(ctx context.Context, _ []string) error {
		var err error
		if q.Since, err = when(since); err != nil {
			return err
		}
		e, err := a.engine(ctx)
		if err != nil {
			return err
		}
		if !send {
			return traces(ctx, e, q, func(t telemetry.Traces) error { return a.line(t) })
		}
		return a.sendTraces(ctx, e, q)
	})
	return cmd
}

func traces(ctx context.Context, e *engine.Engine, q ledger.Query, fn func(telemetry.Traces) error) error {
	origin, err := e.Origin(ctx)
	if err != nil {
		return err
	}
	return telemetry.Source{Origin: origin, Version: version}.Read(ctx, e.Ledger(), q, fn)
}

func (a *app) sendTraces(ctx context.Context, e *engine.Engine, q ledger.Query) error {
	to, err := telemetry.FromEnvironment(os.Getenv)
	if err != nil {
		return err
	}
	var batch telemetry.Traces
	flush := func() error {
		if batch.Spans() == 0 {
			return nil
		}
		err := to.Send(ctx, batch)
		batch = telemetry.Traces{}
		return err
	}
	sent := 0
	err = traces(ctx, e, q, func(t telemetry.Traces) error {
		sent += t.Spans()
		batch.Add(t)
		if batch.Spans() < sendSpans {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err == nil {
		fmt.Fprintf(a.stderr, "sent %d spans\n", sent)
	}
	return err
}

// tell sends the transition that a process has judged, if the environment asks
// for it. Nobody waits for it any more, and nothing fails by it.
func (a *app) tell(ctx context.Context, e *engine.Engine, story string, token uint64) {
	if !telemetry.Wanted(os.Getenv) {
		return
	}
	to, err := telemetry.FromEnvironment(os.Getenv)
	if err == nil {
		err = traces(ctx, e, ledger.Query{Story: story, From: token}, func(t telemetry.Traces) error {
			if err := to.Send(ctx, t); err != nil {
				return err
			}
			return errTold
		})
	}
	if err != nil && err != errTold {
		fmt.Fprintf(a.stdout, "telemetry: %s\n", inLine(err.Error()))
	}
}

// errTold ends a scan: later transitions are told by those who judged them.
var errTold = fault.New(nil, "told")
