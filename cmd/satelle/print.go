package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"satelle/agents/event"
	"satelle/internal/fault"
)

// object prints one thing: JSON where asked for, else what text writes.
func (a *app) object(v any, text func(w io.Writer)) error {
	if a.json {
		return a.line(v)
	}
	text(a.stdout)
	return nil
}

// line prints one JSON object on a line.
func (a *app) line(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	return fault.Wrap(enc.Encode(v), nil, "printing")
}

// table prints rows in columns; the head only where somebody reads.
func (a *app) table(head []string, rows [][]string) error {
	if !a.tty || len(rows) == 0 {
		head = nil
	}
	return grid(a.stdout, head, rows)
}

// grid prints rows in columns, below a head if there is one.
func grid(to io.Writer, head []string, rows [][]string) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	if head != nil {
		fmt.Fprintln(w, strings.Join(head, "\t"))
	}
	for _, r := range rows {
		for i := range r {
			r[i] = inLine(r[i])
		}
		fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	return fault.Wrap(w.Flush(), nil, "printing")
}

// foreign prints text byte for byte, or as printable where somebody reads.
func (a *app) foreign(b []byte) {
	if a.tty {
		b = []byte(printable(string(b)))
	}
	_, _ = a.stdout.Write(b)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// printable keeps foreign text from speaking to the terminal.
func printable(s string) string { return event.Printable(s) }

// inLine is printable for what shares a line or a column with others.
func inLine(s string) string { return event.InLine(s) }
