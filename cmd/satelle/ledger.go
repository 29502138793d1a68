package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"satelle/internal/fault"
	"satelle/ledger"
)

func newLedgerCmd(a *app) *cobra.Command {
	cmd := parent("ledger", "The ledger: what happened, and the proof",
		"The ledger is the append-only log of everything that satelle decided. list is the\naudit, verify the proof; a checkpoint kept elsewhere shows later whether the log\nwas rewritten.",
		`  satelle ledger list --story sty_7k2m9q4w
  satelle ledger verify`)
	cmd.AddCommand(
		newLedgerListCmd(a), newLedgerShowCmd(a), newLedgerStatsCmd(a), newLedgerVerifyCmd(a), newLedgerCheckpointCmd(a),
		newLedgerProveCmd(a), newLedgerExportCmd(a), newLedgerOtelCmd(a), newLedgerRedactCmd(a), newLedgerRotateKeyCmd(a),
	)
	return cmd
}

func newLedgerListCmd(a *app) *cobra.Command {
	var q ledger.Query
	var since, until string
	var limit int
	var follow bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the records",
		Long: long(`Lists the records of the ledger, oldest first. --limit keeps the newest. Times are
RFC 3339, or a duration that counts back from now, as 90m or 24h. What the hooks saw
(observed.denied, observed.warned, observed.edit, observed.done) stands with the time
of the call; observed.gap tells of what is missing.`, 3, 4, 5, 6),
		Example: `  satelle ledger list --story sty_7k2m9q4w
  satelle ledger list --kind verdict.recorded --since 24h --json
  satelle ledger list --kind observed.denied
  satelle ledger list --follow`,
		Args: none(),
	}
	cmd.Flags().StringVar(&q.Story, "story", "", "only those of this story")
	cmd.Flags().StringSliceVar(&q.Kinds, "kind", nil, "only those of this kind; once for each")
	offer(cmd, "kind", recordKinds...)
	cmd.Flags().StringVar(&since, "since", "", "not before this time")
	cmd.Flags().StringVar(&until, "until", "", "before this time")
	cmd.Flags().IntVar(&limit, "limit", 0, "at most so many, the newest (0: all)")
	cmd.Flags().BoolVar(&follow, "follow", false, "go on as records are appended")
	cmd.RunE = a.run(func(ctx context.Context, _ []string) error {
		if limit < 0 {
			return fault.New(fault.Usage, "--limit is a number of records, not %d", limit)
		}
		for i, kind := range q.Kinds {
			if name, ok := kindAliases[kind]; ok {
				kind, q.Kinds[i] = name, name
			}
			if !slices.Contains(recordKinds, kind) { // a newer satelle may write it
				fmt.Fprintf(a.stderr, "note: this satelle writes no records of the kind %q; satelle help ledger lists the kinds\n", printable(kind))
			}
		}
		var err error
		if q.Since, err = when(since); err != nil {
			return err
		}
		if q.Until, err = when(until); err != nil {
			return err
		}
		e, err := a.engine(ctx)
		if err != nil {
			return err
		}
		a.observe(ctx, e)
		if follow {
			go a.observeOn(ctx, e)
		}
		return a.listRecords(ctx, e.Ledger(), q, limit, follow)
	})
	return cmd
}

// kindAliases are older names of kinds, accepted on reading (decision Q17).
var kindAliases = map[string]string{"agent-attempt": "agent.attempt"}

func (a *app) listRecords(ctx context.Context, cfg ledger.Config, q ledger.Query, limit int, follow bool) error {
	if limit > 0 {
		newest := q
		newest.Limit, newest.Reverse = limit, true
		found := false
		err := ledger.Scan(ctx, cfg, newest, func(r ledger.Record) error {
			q.From, found = r.Seq, true
			return nil
		})
		if err != nil || !found && !follow {
			return err
		}
	}
	next := q.From
	print := func(r ledger.Record) error {
		next = r.Seq + 1
		return a.printRecord(r)
	}
	if err := ledger.Scan(ctx, cfg, q, print); err != nil || !follow {
		return err
	}
	err := ledger.Watch(ctx, cfg, next, func(r ledger.Record) error {
		if !picks(q, r) {
			return nil
		}
		return a.printRecord(r)
	})
	if ctx.Err() != nil {
		return nil // stopped by the person who follows
	}
	return err
}

func picks(q ledger.Query, r ledger.Record) bool {
	if q.Story != "" && r.Story != q.Story {
		return false
	}
	for _, k := range q.Kinds {
		if k == r.Kind {
			return true
		}
	}
	return len(q.Kinds) == 0
}

func (a *app) printRecord(r ledger.Record) error {
	if a.json {
		_, err := fmt.Fprintf(a.stdout, "{\"seq\":%d,%s\n", r.Seq, strings.TrimPrefix(string(r.Raw), "{"))
		return fault.Wrap(err, nil, "printing")
	}
	at, who, text, ok := observed(r)
	if !ok {
		at, who, text = r.Time, r.Actor.Name, gist(r.Body)
	}
	if who == "" {
		who = r.Actor.Kind
	}
	_, err := fmt.Fprintf(a.stdout, "%6d  %s  %-20s  %-12s  %-16s  %s\n", r.Seq, stamp(at), r.Kind, r.Story, inLine(who), inLine(text))
	return fault.Wrap(err, nil, "printing")
}

func newLedgerShowCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "show SEQ",
		Short:   "Show one record with what it refers to",
		Long:    long("Shows one record as it is stored, and the foreign text that it refers to.", 3, 4, 5, 6),
		Example: `  satelle ledger show 42`,
		Args:    exactly("SEQ"),
		RunE: a.run(func(ctx context.Context, args []string) error {
			seq, err := position(args[0])
			if err != nil {
				return err
			}
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			r, blobs, err := e.Record(ctx, seq)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRecord(r)
			}
			fmt.Fprintf(a.stdout, "%s\n", printable(string(pretty(r.Raw))))
			for _, b := range blobs {
				fmt.Fprintf(a.stdout, "\n%s (%s, %d bytes)\n%s\n", b.Name, b.Ref.Type, b.Ref.Length, indent(printable(b.Text)))
			}
			return nil
		}),
	}
}

func newLedgerRedactCmd(a *app) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "redact DIGEST",
		Short: "Drop a piece of foreign text for good",
		Long: long(`Drops a blob and its salt, by a record that says so: the text is gone, the proof
stays whole. satelle ledger show names the digests. Refused in an agent's session.`, 3, 4, 5, 6),
		Example: `  satelle ledger redact salted-sha256:9f86… --reason "a password was pasted"`,
		Args:    exactly("DIGEST"),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record")
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		if reason == "" {
			return fault.Try(fault.New(fault.Usage, "a redaction needs a --reason"), "satelle ledger redact --help")
		}
		e, err := a.engine(ctx)
		if err != nil {
			return err
		}
		r, err := e.Redact(ctx, args[0], reason)
		if err != nil {
			return err
		}
		return a.object(map[string]any{"seq": r.Seq, "digest": args[0]}, func(w io.Writer) {
			fmt.Fprintf(w, "redacted by record %d\n", r.Seq)
		})
	})
	return cmd
}

func newLedgerRotateKeyCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "rotate-key",
		Short:   "Sign from now on with a new key",
		Long:    long("Makes a new key for the log and records it, signed by the old one and the new.\nCommit the new public key under .satelle/logs. Refused in an agent's session.", 3, 4, 5, 6),
		Example: `  satelle ledger rotate-key`,
		Args:    none(),
		RunE: a.run(func(ctx context.Context, _ []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			r, err := e.RotateKey(ctx)
			if err != nil {
				return err
			}
			return a.object(map[string]any{"seq": r.Seq}, func(w io.Writer) {
				fmt.Fprintf(w, "rotated by record %d\nnext: git add .satelle/logs && git commit -m \"Rotate the log's key\"\n", r.Seq)
			})
		}),
	}
}

func position(arg string) (uint64, error) {
	seq, err := strconv.ParseUint(arg, 10, 53)
	if err != nil {
		return 0, fault.Try(fault.New(fault.Usage, "a record is named by its position, as 42, not %q", arg), "satelle ledger list --limit 5")
	}
	return seq, nil
}

// when reads a time, or a duration that counts back from now.
func when(arg string) (time.Time, error) {
	if arg == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, arg); err == nil {
		return t, nil
	}
	if d, err := time.ParseDuration(arg); err == nil && d >= 0 {
		return time.Now().Add(-d), nil
	}
	return time.Time{}, fault.New(fault.Usage, "a time is like 2026-12-31T12:00:00Z, or 24h for a day ago, not %q", arg)
}
