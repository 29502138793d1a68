package engine

import (
	"bytes"
	"context"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"satelle/internal/audit"
	"satelle/internal/fault"
	"satelle/internal/gitrepo"
	"satelle/ledger"
)

const (
	// lookBack bounds the commits of the trusted side that logs are held
	// against.
	lookBack = 1000
	// maxKeyFiles bounds the files in .satelle/logs.
	maxKeyFiles = 1000
	// maxRequests bounds the branches that are read because a commit has the
	// content of their heads.
	maxRequests = 100
	logsFolder  = ".satelle/logs"
)

// auditConfig is the table [audit] of satelle.toml.
type auditConfig struct {
	// Exempt are patterns of authors, as "name <email>", whose commits need no
	// record; * stands for any text.
	Exempt []string `toml:"exempt"`
}

// AuditOptions are those of [Audit].
type AuditOptions struct {
	// Range is what to audit, as git writes it; "" is all since satelle was set
	// up. Span, if it has tips, is the same, resolved.
	Range string
	Span  gitrepo.Range
	// Exports are files as satelle ledger export writes them.
	Exports []string
	// Keys are verifier keys that the caller vouches for.
	Keys []string
	// Own adds the log of this clone, which may be ahead of what is published.
	Own bool
}

// Audit holds the commits of a range against the logs that are published in
// the repository of dir. It needs no $SATELLE_HOME and no ledger. An error says
// that something could not be looked at; what is wrong is in the report.
func Audit(ctx context.Context, dir string, opts AuditOptions) (audit.Report, error) {
	rep, err := runAudit(ctx, dir, opts)
	return rep, fault.Wrap(err, nil, "auditing")
}

func runAudit(ctx context.Context, dir string, opts AuditOptions) (audit.Report, error) {
	repo, err := gitrepo.OpenHistory(ctx, dir)
	if err != nil {
		return audit.Report{}, fault.Try(err, "git init")
	}
	shallow, err := repo.Shallow(ctx)
	if err != nil {
		return audit.Report{}, err
	}
	if shallow {
		return audit.Report{}, fault.Try(fault.New(fault.Refused, "the clone is shallow, and older commits are needed"), "git fetch --unshallow")
	}
	span, base, err := auditSpan(ctx, repo, opts)
	if err != nil {
		return audit.Report{}, err
	}
	in := audit.Input{Base: base, Head: span.Tips[0]}
	if err := readTrust(ctx, repo, span, opts.Keys, &in); err != nil {
		return audit.Report{}, err
	}
	if in.Logs, err = readLogs(ctx, repo, opts.Exports, in); err != nil {
		return audit.Report{}, err
	}
	if opts.Own {
		own, err := ownLog(ctx, dir)
		if err != nil {
			return audit.Report{}, err
		}
		in.Logs = append(in.Logs, own)
	}
	if err := readCommits(ctx, repo, span, &in); err != nil {
		return audit.Report{}, err
	}
	return audit.Run(ctx, in, objects{repo, span.Below})
}

// auditSpan resolves what is to be audited, and the commit whose side is
// trusted: what the range begins behind, if it says so.
func auditSpan(ctx context.Context, repo *gitrepo.Repo, opts AuditOptions) (span gitrepo.Range, base string, err error) {
	span = opts.Span
	if len(span.Tips) == 0 {
		text := opts.Range
		if text == "" {
			text = "HEAD"
		}
		if span, err = repo.Resolve(ctx, text); err != nil {
			return span, "", fault.Try(err, "git log --oneline")
		}
	}
	if len(span.Below) > 0 {
		base = span.Below[0]
		governed, err := repo.Present(ctx, []string{base + ":" + configFile})
		if err != nil || governed[0] {
			return span, base, err
		}
	}
	// Nothing governs what was before satelle came to be there.
	first, err := repo.FirstWith(ctx, span.Tips[0], configFile)
	if err != nil {
		return span, "", err
	}
	if first == "" {
		return span, "", fault.Try(fault.New(fault.NotFound, "no commit of it has %s: satelle was never set up there", configFile), "satelle init")
	}
	span.Below = append(slices.Clone(span.Below), first)
	return span, base, nil
}

// readTrust reads what the trusted side says: keys of logs, and exemptions.
func readTrust(ctx context.Context, repo *gitrepo.Repo, span gitrepo.Range, keys []string, in *audit.Input) error {
	trusted := in.Base
	if trusted == "" {
		trusted = span.Tips[0]
	}
	var err error
	if in.Trusted, err = logKeys(ctx, repo, trusted); err != nil {
		return err
	}
	for _, key := range keys {
		for origin, more := range audit.ReadKeys([]byte(key)) {
			in.Trusted[origin] = append(in.Trusted[origin], more...)
		}
	}
	in.Offered = audit.Keys{}
	for _, tip := range span.Tips {
		offered, err := logKeys(ctx, repo, tip)
		if err != nil {
			return err
		}
		maps.Copy(in.Offered, offered)
	}
	files, err := repo.Files(ctx, trusted, configFile, 1)
	if err != nil || len(files) == 0 {
		return err
	}
	// That side may be of an older or a newer satelle: of the file, only this
	// table counts here.
	var config struct {
		Audit auditConfig `toml:"audit"`
	}
	if len(files[0].Data) > maxConfig || toml.Unmarshal(files[0].Data, &config) != nil {
		return fault.New(fault.Refused, "%s of commit %s cannot be read", configFile, trusted)
	}
	in.Exempt = config.Audit.Exempt
	return nil
}

func logKeys(ctx context.Context, repo *gitrepo.Repo, commit string) (audit.Keys, error) {
	files, err := repo.Files(ctx, commit, logsFolder, maxKeyFiles)
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	for _, f := range files {
		if strings.HasSuffix(f.Path, ".pub") {
			keys = append(keys, f.Data)
		}
	}
	return audit.ReadKeys(keys...), nil
}

// readLogs reads the logs that are published, and those in files. Of those
// that nobody has a key of, not more than the name is read.
func readLogs(ctx context.Context, repo *gitrepo.Repo, exports []string, in audit.Input) ([]*audit.Log, error) {
	refs, err := repo.Refs(ctx, LogRefs)
	if err != nil {
		return nil, err
	}
	var logs []*audit.Log
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		origin := strings.TrimPrefix(ref, LogRefs)
		if len(in.Trusted[origin])+len(in.Offered[origin]) == 0 {
			logs = append(logs, &audit.Log{Origin: origin, Name: ref})
			continue
		}
		r, err := readPublished(ctx, repo, refs[ref])
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			// Whoever can push a ref can point it to anything.
			logs = append(logs, &audit.Log{Origin: origin, Name: ref, Err: fault.Wrap(err, fault.Integrity, "reading what is published")})
			continue
		}
		l := audit.ReadLog(ref, r)
		if l.Origin != origin {
			l = &audit.Log{Origin: origin, Name: ref, Err: fault.New(fault.Integrity, "what is published there is another log, %s", l.Origin)}
		}
		logs = append(logs, l)
	}
	for _, name := range exports {
		f, err := os.Open(name)
		if err != nil {
			return nil, fault.Try(fault.Wrap(err, fault.NotFound, "opening the export"), "satelle ledger export > export.jsonl")
		}
		logs = append(logs, audit.ReadLog(name, f))
		f.Close()
	}
	return logs, nil
}

// ownLog reads the log of this clone.
func ownLog(ctx context.Context, dir string) (*audit.Log, error) {
	e, err := open(ctx, dir)
	if err == nil && !e.Place.Registered {
		err = fault.Try(fault.New(fault.NotFound, "this clone has no log of its own"), "satelle init")
	}
	if err != nil {
		return nil, err
	}
	var export bytes.Buffer
	if err := ledger.Export(ctx, e.cfg, &export); err != nil {
		return nil, err
	}
	return audit.ReadLog("this clone's log", &export), nil
}

// readCommits reads what is audited, and the latest of the trusted side.
func readCommits(ctx context.Context, repo *gitrepo.Repo, span gitrepo.Range, in *audit.Input) (err error) {
	if in.Commits, err = readSpan(ctx, repo, span); err != nil || in.Base == "" {
		return err
	}
	kept, err := repo.Latest(ctx, in.Base, lookBack)
	in.Kept = auditCommits(kept, nil)
	return err
}

func readSpan(ctx context.Context, repo *gitrepo.Repo, span gitrepo.Range) ([]audit.Commit, error) {
	commits, _, err := repo.Commits(ctx, span)
	if err != nil {
		return nil, err
	}
	var plain []string
	for _, c := range commits {
		if len(c.Parents) < 2 {
			plain = append(plain, c.ID)
		}
	}
	paths, err := repo.ChangedBy(ctx, plain)
	return auditCommits(commits, paths), err
}

func auditCommits(commits []gitrepo.Commit, paths map[string][]string) []audit.Commit {
	out := make([]audit.Commit, len(commits))
	for i, c := range commits {
		out[i] = audit.Commit{
			Hash: c.ID, Tree: c.Tree, Parents: c.Parents, Author: c.Author, Message: c.Message, Paths: paths[c.ID],
		}
	}
	return out
}

// objects answers the audit's questions from the repository.
type objects struct {
	repo *gitrepo.Repo
	// below are the commits behind the range.
	below []string
}

// Patches implements [audit.Objects].
func (o objects) Patches(ctx context.Context, changes []string) (map[string]string, error) {
	return o.repo.Patches(ctx, changes)
}

// Merges implements [audit.Objects].
func (o objects) Merges(ctx context.Context, commits []audit.Commit) ([][]string, error) {
	pairs := make([]string, len(commits))
	for i, c := range commits {
		pairs[i] = strings.Join(c.Parents, " ")
	}
	out := make([][]string, len(commits))
	err := o.repo.Merges(ctx, pairs, func(at *gitrepo.Repo, merges []gitrepo.Merge) error {
		var changes []string
		for i, m := range merges {
			if m.Tree != commits[i].Tree {
				changes = append(changes, m.Tree+" "+commits[i].Tree)
			}
		}
		paths, err := at.ChangedBy(ctx, changes)
		for i, m := range merges {
			out[i] = paths[m.Tree+" "+commits[i].Tree]
			if m.Conflicts && len(out[i]) == 0 {
				out[i] = []string{"."} // committed with the conflicts in it
			}
		}
		return err
	})
	return out, err
}

// Seen implements [audit.Objects].
func (o objects) Seen(ctx context.Context, trees []string) (map[string]bool, error) {
	return o.repo.HadTrees(ctx, o.below, trees)
}

// Requests implements [audit.Objects].
func (o objects) Requests(ctx context.Context, commits []audit.Commit) (map[string][]audit.Commit, error) {
	tips, err := o.repo.TipTrees(ctx)
	if err != nil {
		return nil, err
	}
	requests, read := map[string][]audit.Commit{}, 0
	for _, c := range commits {
		for _, tip := range tips[c.Tree] {
			if read++; read > maxRequests || tip == c.Hash {
				continue
			}
			led, err := readSpan(ctx, o.repo, gitrepo.Range{Tips: []string{tip}, Below: o.below})
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(led, func(r audit.Commit) bool { return r.Hash == c.Hash }) {
				requests[c.Hash] = led
				break
			}
		}
	}
	return requests, nil
}
