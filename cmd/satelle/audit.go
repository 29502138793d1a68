package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"satelle/internal/audit"
	"satelle/internal/engine"
	"satelle/internal/fault"
)

func newAuditCmd(a *app) *cobra.Command {
	var opts engine.AuditOptions
	var format string
	var keys []string
	cmd := &cobra.Command{
		Use:   "audit [RANGE]",
		Short: "Hold commits against the published logs",
		Long: long(`Tells of each commit under which story it was made, by the logs that clones publish
under refs/satelle/logs, and of each that no log vouches for. It needs a clone with
those refs, or exports, and nothing else: no ledger, no key, no $SATELLE_HOME.

RANGE is as for git log: main..HEAD audits what HEAD has and main has not. Its
beginning is the side that is trusted: the keys in .satelle/logs and the table
[audit] of satelle.toml count as they stand there. Without RANGE, all that HEAD has
since satelle was set up is audited, by HEAD's own keys.

Errors are commits that nothing vouches for, and logs that do not hold; warnings are
for a person to look at; notes say how a commit is vouched for where that is not
plain. Only errors make the audit fail. docs/ci.md shows it at work.`, 3, 4, 6),
		Example: `  satelle audit
  satelle audit origin/main..HEAD
  satelle audit origin/main..HEAD --format sarif > audit.sarif
  satelle audit --ledger export.jsonl --key key.pub`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return exactly("RANGE")(cmd, args)
			}
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&opts.Exports, "ledger", nil, "also a log from this file, as satelle ledger export writes it")
	cmd.Flags().StringArrayVar(&keys, "key", nil, "also trust the keys in this file, as in .satelle/logs")
	cmd.Flags().StringVar(&format, "format", "text", "text, json, sarif (2.1.0) or junit")
	offer(cmd, "format", "text", "json", "sarif", "junit")
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		if a.json && format == "text" {
			format = "json"
		}
		show := map[string]func(*audit.Report) error{
			"text": a.auditText, "json": a.auditJSON,
			"sarif": func(r *audit.Report) error { return r.WriteSARIF(a.stdout, version) },
			"junit": func(r *audit.Report) error { return r.WriteJUnit(a.stdout) },
		}[format]
		if show == nil {
			return fault.Try(fault.New(fault.Usage, "--format is text, json, sarif or junit, not %q", format), "satelle audit --help")
		}
		if len(args) == 1 {
			opts.Range = args[0]
		}
		for _, name := range keys {
			b, err := a.input(ctx, name)
			if err != nil {
				return err
			}
			opts.Keys = append(opts.Keys, string(b))
		}
		dir, err := os.Getwd()
		if err != nil {
			return fault.Wrap(err, nil, "finding the current directory")
		}
		rep, err := engine.Audit(ctx, dir, opts)
		if err != nil {
			return err
		}
		if err := show(&rep); err != nil {
			return fault.Wrap(err, nil, "printing")
		}
		if next := rep.Next(); next != "" {
			return fault.Try(rep.Err(), next)
		}
		return rep.Err()
	})
	return cmd
}

// auditText prints findings in columns, each error with what mends it below.
func (a *app) auditText(r *audit.Report) error {
	var rows [][]string
	mends := map[string]string{}
	var order []string
	for _, f := range r.Findings {
		rows = append(rows, []string{
			f.Level, f.Rule, cmp.Or(f.Commit[:min(10, len(f.Commit))], "-"), cmp.Or(f.Story, "-"), f.Message,
		})
		if f.Level == audit.Error && f.Mend != "" && mends[f.Rule] == "" {
			mends[f.Rule] = f.Mend
			order = append(order, f.Rule)
		}
	}
	if err := a.table([]string{"LEVEL", "RULE", "COMMIT", "STORY", "WHAT"}, rows); err != nil {
		return err
	}
	for _, id := range order {
		fmt.Fprintf(a.stdout, "%s: %s\n", id, mends[id])
	}
	var logs []string
	for _, l := range r.Logs {
		if l.Holds {
			logs = append(logs, fmt.Sprintf("%s (%s)", l.Origin, audit.Count(int(l.Size), "record")))
		}
	}
	_, err := fmt.Fprintf(a.stdout, "%s, %d bound to records; %s, %s, %s\n", audit.Count(r.Commits, "commit"), r.Bound,
		audit.Count(r.Errors, "error"), audit.Count(r.Warnings, "warning"), audit.Count(r.Notes, "note"))
	if err == nil && len(logs) > 0 {
		_, err = fmt.Fprintf(a.stdout, "logs that hold: %s\n", inLine(strings.Join(logs, ", ")))
	}
	return err
}

// auditJSON prints an object a finding, then one that sums them up.
func (a *app) auditJSON(r *audit.Report) error {
	for _, f := range r.Findings {
		if err := a.line(f); err != nil {
			return err
		}
	}
	return a.line(map[string]any{"summary": r})
}
