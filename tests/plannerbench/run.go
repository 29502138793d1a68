package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"satelle/agents"
	"satelle/agents/event"
	"satelle/agents/redact"
	"satelle/agents/transport"
	"satelle/internal/gitrepo"
)

// probeTime is how long the run that is cut short may take to show life.
const probeTime = 5 * time.Second

// maxRaw bounds what is kept of an agent's traffic in one run.
const maxRaw = 16 << 20

// play is one run of one cell.
type play struct {
	bench, mode string
	binding     agents.Binding
	env         []string
	rules       *redact.Rules
	fixture     Fixture
	number      int
	probe       bool
}

// played is what came of it; the texts are redacted already.
type played struct {
	record   Record
	raw      []byte
	artifact string
}

// run asks the agent once, in a repository of its own that is gone afterwards.
// The error is the bench's own; an agent's failure is in the record.
func (p play) run(ctx context.Context) (out played, err error) {
	dir, err := os.MkdirTemp("", "planner-bench-")
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	repo, documents := filepath.Join(dir, "repo"), filepath.Join(dir, "documents")
	tree, err := p.prepare(ctx, repo, documents)
	if err != nil {
		return out, fmt.Errorf("preparing the repository of %s: %w", p.fixture.Name, err)
	}
	before, err := tree()
	if err != nil {
		return out, err
	}
	payload, err := p.fixture.payload()
	if err != nil {
		return out, err
	}

	var (
		mu     sync.Mutex
		events []event.Event
	)
	runCtx, cut := context.WithCancel(ctx)
	defer cut()
	raw := &bounded{}
	inv := transport.Invocation{
		Binding: p.binding, Env: p.env, System: p.fixture.system(documents), Payload: payload, Dir: repo,
		Timeout: p.binding.Timeout, Raw: raw,
		Events: func(e event.Event) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, e)
			if p.probe && tells(e) {
				cut()
			}
		},
	}
	if p.probe {
		inv.Timeout = probeTime
	}
	started := time.Now().UTC()
	res, failed := transport.Run(runCtx, inv)
	var failure *transport.Failure
	if failed != nil && !errors.As(failed, &failure) || ctx.Err() != nil {
		return out, errors.Join(failed, ctx.Err())
	}
	after, err := tree()
	if err != nil {
		return out, err
	}

	mu.Lock()
	defer mu.Unlock()
	r := Record{
		Schema: SchemaVersion, Bench: p.bench, Mode: p.mode, Cell: p.binding.Name, Fixture: p.fixture.Name, Number: p.number, Probe: p.probe,
		Started: started, Interface: p.binding.Interface, Program: strings.Fields(p.binding.Command)[0],
		Model: p.binding.Model, Effort: p.binding.Effort, ElapsedMS: res.Elapsed.Milliseconds(),
		Usage: res.Usage, UsageAvailable: res.Usage.Available(), Events: map[string]int{}, Criteria: []Criterion{},
	}
	r.UsageProvenance = provenance(r, failure)
	for _, e := range events {
		r.Events[string(e.Kind)]++
	}
	if failure != nil {
		r.Outcome, r.Class, r.Message = Infrastructure, failure.Class, p.rules.String(failure.Message)
		n := diagnostics(*failure, events)
		r.Diagnostics = &n
	} else {
		criteria, artifact := judge(seen{p.fixture, res.Text, events, before, after})
		r.Outcome = Good
		for i := range criteria {
			criteria[i].Reason = p.rules.String(criteria[i].Reason)
			if !criteria[i].Met {
				r.Outcome = Poor
			}
		}
		r.Criteria = criteria
		if artifact != nil {
			out.artifact = p.rules.String(string(artifact.Body))
		}
	}
	out.record, out.raw = r, []byte(p.rules.String(raw.String()))
	return out, nil
}

// prepare makes the repository, and returns what hashes its work tree.
func (p play) prepare(ctx context.Context, repo, documents string) (tree func() (string, error), err error) {
	if err := os.MkdirAll(documents, 0o700); err != nil {
		return nil, err
	}
	if err := p.fixture.lay(repo); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"-c", "user.name=Bench", "-c", "user.email=bench@example.org", "-c", "commit.gpgsign=false", "commit", "-q", "--no-verify", "-m", "The repository"},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = repo
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	r, err := gitrepo.Open(ctx, repo)
	if err != nil {
		return nil, err
	}
	return func() (string, error) { return r.Tree(ctx) }, nil
}

// provenance says where a run's usage comes from, or why there is none.
func provenance(r Record, failure *transport.Failure) string {
	switch {
	case r.UsageAvailable:
		return "reported by " + r.Program + " over " + r.Interface
	case failure != nil:
		return "n/a: the run failed before it was reported"
	}
	return "n/a: " + r.Program + " reported none over " + r.Interface
}

// tells reports whether an event says what the agent does, beyond that it runs.
func tells(e event.Event) bool {
	switch e.Kind {
	case event.Message, event.ToolStart, event.ToolEnd, event.Artifact:
		return true
	}
	return false
}

// diagnostics is how much a failure tells: a point each for a class that says
// what happened, for words, and for having seen what the agent did until then.
func diagnostics(f transport.Failure, events []event.Event) (points int) {
	if f.Class != transport.Failed && f.Class != transport.Protocol {
		points++
	}
	if strings.TrimSpace(f.Message) != "" {
		points++
	}
	for _, e := range events {
		if tells(e) {
			return points + 1
		}
	}
	return points
}

// bounded keeps the first bytes of what is written.
type bounded struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *bounded) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b.Write(p[:min(len(p), maxRaw-w.b.Len())])
	return len(p), nil
}

func (w *bounded) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}
