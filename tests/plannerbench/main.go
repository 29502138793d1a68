package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"satelle/agents/redact"
)

// options are those of the command line.
type options struct {
	live  bool
	cells string
	runs  int
	out   string
	// scene is played by scripted peers.
	scene string
}

// Exit codes: 1 is for what the bench could not see, 2 for wrong usage. A plan
// that is not good enough is an outcome, and no failure of the bench.
func main() {
	if playsPeer() {
		return
	}
	var o options
	flag.BoolVar(&o.live, "live", false, "ask the real agents, with the person's own login, instead of scripted peers")
	flag.StringVar(&o.cells, "cells", "", "the cells to run, with a comma between them; all without it")
	flag.IntVar(&o.runs, "runs", LeastRuns, "how often each fixture is played in each cell")
	flag.StringVar(&o.out, "out", filepath.Join("tests", "plannerbench", "out"), "the folder for a new folder with the records")
	flag.StringVar(&o.scene, "scene", "", "what the scripted peers play; see peer.go")
	flag.Parse()
	if flag.NArg() > 0 || o.runs < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if _, err := selected(o.cells); err != nil {
		fmt.Fprintln(os.Stderr, "planner-bench:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := bench(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "planner-bench:", err)
		os.Exit(1)
	}
}

// bench plays every fixture in every cell and reports. Its error names each cell
// that could not be heard or was not heard often enough.
func bench(ctx context.Context, o options, w io.Writer) (err error) {
	cells, err := selected(o.cells)
	if err != nil {
		return err
	}
	all, err := fixtures()
	if err != nil {
		return err
	}
	file, err := bindings()
	if err != nil {
		return err
	}
	report := Report{Schema: SchemaVersion, Bench: time.Now().UTC().Format("20060102T150405.000Z"), Mode: Hermetic, Outcomes: map[string]int{}}
	if o.live {
		report.Mode = Live
	}
	env, secrets, clean, err := environment(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, clean()) }()
	dir := filepath.Join(o.out, report.Bench)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}

	var (
		records  []Record
		seen     = map[string]*Cell{}
		problems []error
	)
	for _, name := range cells {
		binding, _ := file.Binding(name) // the file was validated, and holds both
		p := play{bench: report.Bench, mode: report.Mode, binding: binding, env: env, rules: redact.New(secrets)}
		c, recs, err := p.cell(ctx, all, o.runs, dir)
		if err != nil {
			return fmt.Errorf("cell %s: %w", name, err)
		}
		seen[name] = &c
		records = append(records, recs...)
		report.Cells = append(report.Cells, summary(c, recs))
		problems = append(problems, heard(name, recs, all, o.runs)...)
	}
	for _, r := range records {
		if !r.Probe {
			report.Outcomes[r.Outcome]++
		}
	}
	if office, challenger := seen[Office], seen[Challenger]; office != nil && challenger != nil {
		d := Decide(*office, *challenger, LeastRuns*len(all))
		report.Decision = &d
	}
	b, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "report.json"), append(b, '\n'), 0o600); err != nil {
		return err
	}
	if err := report.print(w, records); err != nil {
		return err
	}
	fmt.Fprintln(w, "records:", dir)
	return errors.Join(problems...)
}

// cell plays every fixture so often, and then the run that is cut short.
func (p play) cell(ctx context.Context, all []Fixture, runs int, dir string) (c Cell, records []Record, err error) {
	c.Name = p.binding.Name
	for _, f := range all {
		for n := range runs {
			p.fixture, p.number = f, n+1
			r, err := p.once(ctx, dir)
			if err != nil {
				return c, nil, err
			}
			records = append(records, r)
			c.Samples = append(c.Samples, r.sample())
		}
	}
	p.fixture, p.number, p.probe = all[0], 1, true
	p.env = append(p.env[:len(p.env):len(p.env)], probing+"=1")
	r, err := p.once(ctx, dir)
	if err != nil {
		return c, nil, err
	}
	c.Diagnostics = r.Diagnostics // absent if it was quicker than the cut
	return c, append(records, r), nil
}

func (p play) once(ctx context.Context, dir string) (Record, error) {
	out, err := p.run(ctx)
	if err != nil {
		return Record{}, err
	}
	return out.record, keep(dir, &out)
}

// heard returns why the bench fails on a cell, if it does.
func heard(cell string, records []Record, all []Fixture, runs int) (problems []error) {
	failed, first := 0, Record{}
	good := map[string]int{}
	for _, r := range records {
		switch {
		case r.Probe:
		case r.Outcome == Infrastructure:
			if failed++; failed == 1 {
				first = r
			}
		default:
			good[r.Fixture]++
		}
	}
	if failed > 0 {
		problems = append(problems, fmt.Errorf("cell %s: no answer in %d of %d runs; the first: %s, run %d: %s: %s",
			cell, failed, runs*len(all), first.Fixture, first.Number, first.Class, first.Message))
	}
	for _, f := range all {
		if good[f.Name] < LeastRuns {
			problems = append(problems, fmt.Errorf("cell %s is under-sampled: fixture %s was answered %d times, and has to be %d times", cell, f.Name, good[f.Name], LeastRuns))
		}
	}
	return problems
}

// environment is what the agents get to see, what of it is secret, and what
// takes the scripted peers away again.
func environment(o options) (env, secrets []string, clean func() error, err error) {
	clean = func() error { return nil }
	if o.live {
		env = os.Environ()
	} else {
		dir, err := os.MkdirTemp("", "planner-peers-")
		if err != nil {
			return nil, nil, nil, err
		}
		clean = func() error { return os.RemoveAll(dir) }
		if env, err = peers(dir, o.scene); err != nil {
			return nil, nil, nil, errors.Join(err, clean())
		}
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		for _, end := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD"} {
			if strings.HasSuffix(strings.ToUpper(name), end) {
				secrets = append(secrets, value)
			}
		}
	}
	return env, secrets, clean, nil
}
