//go:build bench

package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"satelle/hooks/dialect"
	"satelle/ledger"
	"satelle/workflow"
)

var benchRecords = flag.Int("bench.records", 1_000_000, "records of the large ledger")

const (
	benchStories = 10_000
	crowd        = 20
)

// TestBench measures whole processes: what the hook costs beside a writer
// without pause, and what does and does not grow with the ledger.
//
//	go test -tags bench -run TestBench -v ./cmd/satelle -bench.records 1000000
func TestBench(t *testing.T) {
	w := newWorld(t)
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", w.bin, ".", "../satelle-hook")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	w.must("satelle", "agents", "install", "claude")
	w.must("satelle", "story", "set", w.id, "--status", "blocked")
	base := w.hello()

	small := w.pageReads()
	w.besideAWriter(base)
	w.grow(*benchRecords)
	large := w.pageReads()
	fmt.Printf("page reads of a denial: %d in the small ledger, %d at %d records and %d stories\n", small, large, *benchRecords, benchStories)
	if small != large {
		t.Errorf("the hook's reads grow with the ledger: %d, then %d", small, large)
	}
	list := w.median(21, "satelle", "ledger", "list", "--story", w.id)
	start := w.median(21, "satelle", "version")
	fmt.Printf("ledger list --story at %d records: median %s a process, of which %s start-up\n", *benchRecords, list, start)
	verify := w.median(3, "satelle", "ledger", "verify")
	fmt.Printf("ledger verify at %d records: median %s a process\n", *benchRecords, verify)
}

// hello makes a home whose engine is a Go hello-world, for the same wrapper.
func (w *world) hello() string {
	w.t.Helper()
	home := filepath.Join(w.dir, "hello")
	source := filepath.Join(w.dir, "hello.go")
	if err := os.MkdirAll(filepath.Join(home, "bin"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(source, []byte("package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"hello\\n\") }\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	out, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(home, "bin", "satelle-hook"), source).CombinedOutput()
	if err != nil {
		w.t.Fatalf("building: %v\n%s", err, out)
	}
	return home
}

func (w *world) payload() string {
	return fmt.Sprintf(`{"session_id":"s","transcript_path":"/dev/null","cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":%q,"content":"x"},"tool_use_id":"t"}`,
		w.repo, filepath.Join(w.repo, "x"))
}

// fire runs the installed command once and returns how long it took. Its
// environment is the world's, or that of another satelle home.
func (w *world) fire(home string) time.Duration {
	cmd := exec.Command("/bin/sh", "-c", dialect.Command(dialect.Deny))
	cmd.Dir, cmd.Env = w.repo, w.env()
	if home != "" {
		cmd.Env = append(cmd.Env, "SATELLE_HOME="+home)
	}
	cmd.Stdin = strings.NewReader(w.payload())
	begin := time.Now()
	out, err := cmd.Output()
	took := time.Since(begin)
	if err != nil || home == "" && !bytes.Contains(out, []byte("no story holds the seat")) {
		w.t.Errorf("the hook: %v %s", err, out)
	}
	return took
}

// pageReads counts the hook's reads of the ledger file in one denial.
func (w *world) pageReads() int {
	w.t.Helper()
	log := filepath.Join(w.dir, "reads.log")
	cmd := w.command("strace", "-f", "-qq", "-y", "-o", log, "-e", "trace=pread64", filepath.Join(w.bin, "satelle-hook"))
	cmd.Stdin = strings.NewReader(w.payload())
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("strace: %v\n%s", err, out)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		w.t.Fatal(err)
	}
	return bytes.Count(b, []byte("ledger.db>"))
}

// besideAWriter lets 20 hooks at once ask while a writer appends without
// pause, in turns with 20 hello-worlds in the same wrapper.
func (w *world) besideAWriter(base string) {
	w.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	written := make(chan int)
	go func() {
		n := 0
		defer func() { written <- n }()
		for ctx.Err() == nil {
			w.fill(1)
			n++
		}
	}()
	var hello, hook []time.Duration
	for range 20 {
		hello = append(hello, w.crowd(base)...)
		hook = append(hook, w.crowd("")...)
	}
	stop()
	n := <-written
	slices.Sort(hello)
	slices.Sort(hook)
	at := func(d []time.Duration, q float64) time.Duration { return d[int(q*float64(len(d)-1))] }
	fmt.Printf("beside a writer (%d appends), %d at once: hello p50 %s p99 %s; hook p50 %s p99 %s; ratio p50 %.2f p99 %.2f\n", n, crowd,
		at(hello, .5), at(hello, .99), at(hook, .5), at(hook, .99),
		float64(at(hook, .5))/float64(at(hello, .5)), float64(at(hook, .99))/float64(at(hello, .99)))
}

func (w *world) crowd(home string) []time.Duration {
	took := make([]time.Duration, crowd)
	var wg sync.WaitGroup
	for i := range crowd {
		wg.Go(func() { took[i] = w.fire(home) })
	}
	wg.Wait()
	return took
}

// config opens the world's ledger in this process.
func (w *world) config() ledger.Config {
	w.t.Helper()
	paths, err := filepath.Glob(filepath.Join(w.home, ".satelle", "repo-*", "ledger.db"))
	if err != nil || len(paths) != 1 {
		w.t.Fatalf("finding the ledger: %v %v", paths, err)
	}
	return ledger.Config{
		Path: paths[0], Keys: ledger.KeyDir(filepath.Join(w.home, ".satelle", "keys")),
		Projection: workflow.Fold{}, Known: workflow.Known,
	}
}

// fill appends n records of 1.5 KB of the bench's own kind.
func (w *world) fill(n int) {
	drafts := make([]ledger.Draft, n)
	for i := range drafts {
		drafts[i] = ledger.Draft{
			Kind: "bench.filled", Story: fmt.Sprintf("sty_%08d", i%benchStories), Schema: 1,
			Actor: ledger.Actor{Kind: ledger.ActorEngine, Auth: ledger.AuthAsserted},
			Body:  map[string]string{"text": strings.Repeat("x", 1200)},
		}
	}
	w.append(drafts)
}

func (w *world) append(drafts []ledger.Draft) {
	ctx := context.Background()
	log, err := ledger.Open(ctx, w.config())
	if err != nil {
		w.t.Errorf("opening the ledger: %v", err)
		return
	}
	defer log.Close()
	for batch := range slices.Chunk(drafts, 1000) {
		head, err := log.Head()
		if err == nil {
			_, _, err = log.Append(ctx, head.Size, batch, nil)
		}
		if err != nil {
			w.t.Errorf("appending: %v", err)
			return
		}
	}
}

// grow makes the ledger large: stories, then records of theirs.
func (w *world) grow(records int) {
	w.t.Helper()
	stories := make([]ledger.Draft, 0, benchStories)
	plan := workflow.Plan{Lane: "bench", Name: "*", Steps: []workflow.PlanStep{{Name: "backlog"}, {Name: "in_progress", Performs: true}, {Name: "done"}}}
	for i := range benchStories {
		stories = append(stories, ledger.Draft{
			Kind: workflow.KindCreated, Story: fmt.Sprintf("sty_%08d", i), Schema: workflow.Schema, Crit: true,
			Actor: ledger.Actor{Kind: ledger.ActorEngine, Auth: ledger.AuthAsserted},
			Body:  map[string]any{"title": fmt.Sprintf("story %d", i), "category": "", "criteria": 0, "plan": plan},
		})
	}
	w.append(stories)
	for left := records - benchStories; left > 0; left -= 50_000 {
		w.fill(min(left, 50_000))
	}
}

func (w *world) median(n int, args ...string) time.Duration {
	w.t.Helper()
	took := make([]time.Duration, n)
	for i := range took {
		begin := time.Now()
		w.must(args...)
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	return took[n/2]
}
