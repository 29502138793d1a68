package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"satelle/internal/engine"
	"satelle/ledger"
)

// observe takes what the hooks saw into the ledger before it is shown. Where
// that fails, what is in the ledger is shown all the same.
func (a *app) observe(ctx context.Context, e *engine.Engine) {
	if err := e.Observe(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintf(a.stderr, "satelle: what the hooks saw lately is not shown: %s\n", printable(err.Error()))
	}
}

// observeOn goes on observing until the context ends.
func (a *app) observeOn(ctx context.Context, e *engine.Engine) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = e.Observe(ctx) // the first one said what is wrong
		}
	}
}

// call names a tool and what it was about.
func call(tool, target string) string {
	if target == "" {
		return tool
	}
	return tool + " of " + short(target)
}

// observed tells the record of a call in a line: when it was, the session, and
// what happened. ok is false for a record of another kind.
func observed(r ledger.Record) (at time.Time, who, text string, ok bool) {
	appeal := r.Kind == "appeal.filed"
	if !appeal && !strings.HasPrefix(r.Kind, "observed.") {
		return at, "", "", false
	}
	at, who = r.Time, sessionOf(r.Actor.Name, r.Actor.Session)
	b := gjson.ParseBytes(r.Body)
	if t, err := time.Parse(time.RFC3339, b.Get("at").Str); err == nil && !appeal {
		at = t
	}
	var parts []string
	word := func(key string) {
		switch v := b.Get(key); {
		case v.Type == gjson.True:
			parts = append(parts, key)
		case v.String() != "":
			parts = append(parts, key+"="+short(v.String()))
		}
	}
	if r.Kind == "observed.gap" {
		for _, key := range []string{"session", "from", "to", "anew", "torn", "cut", "repeated"} {
			word(key)
		}
		return at, who, strings.Join(parts, " "), true
	}
	parts = append(parts, b.Get("tool").Str)
	if appeal {
		parts[0] = "denial=" + b.Get("denial").String() + " " + parts[0]
	}
	targets := b.Get("targets").Array()
	if len(targets) > 0 {
		parts = append(parts, short(targets[0].String()))
	}
	if more := len(targets) - 1 + int(b.Get("more").Int()); more > 0 {
		parts = append(parts, fmt.Sprintf("+%d", more))
	}
	for _, key := range []string{"why", "cause", "rule", "mode", "agent", "failed"} {
		if key != "mode" || b.Get(key).Str != "enforce" {
			word(key)
		}
	}
	return at, who, strings.Join(parts, " "), true
}

// sessionOf names a session in a word that fits a column.
func sessionOf(harness, session string) string {
	const most = 13 // of a UUID that is made of the time, all of that
	if len(session) > most {
		session = session[:most]
	}
	if session == "" {
		return harness
	}
	return harness + "/" + session
}

// repeated tells what was denied again and again.
func (a *app) repeated(w io.Writer, all []engine.Repeated) {
	for _, r := range all {
		fmt.Fprintf(w, "denied %d times: %s (session %s, last %s)\n", r.Count, inLine(call(r.Tool, r.Target)), inLine(sessionOf(r.Harness, r.Session)), stamp(r.Last))
	}
}
