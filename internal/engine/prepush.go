package engine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cockroachdb/errors"

	"satelle/internal/audit"
	"satelle/internal/fault"
	"satelle/internal/gitrepo"
)

// maxPushed bounds the refs of one push that are looked at.
const maxPushed = 10_000

// PrePush holds the commits of a push against the logs, as an audit behind it
// would, and publishes this clone's log beside them. lines are what git tells
// the hook; out is for the person who pushes. A log that cannot be published
// does not stop the push: the next one brings it, and until then an audit says
// that it is missing.
func (e *Engine) PrePush(ctx context.Context, remote string, lines io.Reader, out io.Writer) error {
	span, err := e.pushed(ctx, remote, lines)
	if err != nil || len(span.Tips) == 0 {
		return err
	}
	opts := AuditOptions{Span: span, Own: true}
	if opts.Keys, err = e.ownKeys(ctx); err != nil {
		return err
	}
	rep, err := Audit(ctx, e.repo.Top(), opts)
	switch {
	case fault.Is(err, fault.NotFound): // nothing that is pushed is governed
	case err != nil:
		return err
	default:
		if err := refusePush(rep, out); err != nil {
			return err
		}
	}
	p, err := e.Publish(ctx, remote)
	switch {
	case fault.Is(err, fault.Integrity):
		return err
	case errors.Is(err, gitrepo.ErrDeclined):
		fmt.Fprintf(out, "satelle: the remote takes no log: %v\nsatelle: ask whoever runs it to allow %s*, or hand audits an export (satelle ledger export)\n", err, LogRefs)
	case err != nil:
		fmt.Fprintf(out, "satelle: the log was not published: %v\n", err)
	default:
		fmt.Fprintf(out, "satelle: the log is published up to record %d\n", p.Size-1)
	}
	return nil
}

// pushed reads what is pushed: the commits that the remote lacks, as far as
// this clone knows.
func (e *Engine) pushed(ctx context.Context, remote string, lines io.Reader) (span gitrepo.Range, err error) {
	in := bufio.NewScanner(lines)
	var tips, below []string
	for in.Scan() {
		f := strings.Fields(in.Text())
		if len(f) != 4 || !isHash(f[1]) || !isHash(f[3]) {
			return span, fault.New(nil, "git tells of no refs: %q", in.Text())
		}
		if strings.Trim(f[1], "0") == "" || strings.HasPrefix(f[2], "refs/satelle/") {
			continue
		}
		if tips = append(tips, f[1]); len(tips) > maxPushed {
			return span, fault.New(fault.Refused, "a push of more than %d refs", maxPushed)
		}
		if strings.Trim(f[3], "0") != "" {
			below = append(below, f[3])
		}
	}
	if err := in.Err(); err != nil || len(tips) == 0 {
		return span, fault.Wrap(err, nil, "reading what is pushed")
	}
	tracked, err := e.repo.Refs(ctx, "refs/remotes/"+remote+"/")
	if err != nil {
		return span, err
	}
	if len(tracked) == 0 {
		// A remote that is new, or has no name: what is on another one has been
		// pushed before.
		if tracked, err = e.repo.Refs(ctx, "refs/remotes/"); err != nil {
			return span, err
		}
	}
	if main := tracked["refs/remotes/"+remote+"/HEAD"]; main != "" {
		below = append(below, main)
	}
	for _, name := range slices.Sorted(maps.Keys(tracked)) {
		below = append(below, tracked[name])
	}
	if span.Tips, err = e.commitsAmong(ctx, tips); err != nil {
		return span, err
	}
	span.Below, err = e.commitsAmong(ctx, below)
	return span, err
}

// commitsAmong keeps those of the objects that are here and lead to a commit.
func (e *Engine) commitsAmong(ctx context.Context, ids []string) ([]string, error) {
	var names, out []string
	for _, id := range ids {
		names = append(names, id+"^{commit}")
	}
	have, err := e.repo.Present(ctx, names)
	for i, ok := range have {
		if ok {
			out = append(out, ids[i])
		}
	}
	return out, err
}

// refusePush says what an audit would refuse.
func refusePush(rep audit.Report, out io.Writer) error {
	err := rep.Err()
	if err == nil {
		return nil
	}
	const shown = 20
	n := 0
	for _, f := range rep.Findings {
		if f.Level != audit.Error {
			continue
		}
		if n++; n > shown {
			fmt.Fprintf(out, "satelle: and %d more\n", rep.Errors-shown)
			break
		}
		fmt.Fprintf(out, "satelle: %s %.12s %s: %s\n", f.Rule, f.Commit, f.Subject, f.Message)
	}
	rng := rep.Head
	if rep.Base != "" {
		rng = rep.Base + ".." + rep.Head
	}
	return fault.Try(fault.Wrap(err, nil, "what is pushed would not pass an audit"), "satelle audit "+rng)
}
