//go:build kill

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"satelle/internal/spool"
	"satelle/ledger"
	"satelle/workflow"
)

// takeAt are the system calls by which taking the spool can leave a trace.
var takeAt = []string{"pwrite64", "fdatasync", "flock", "renameat", "fchmodat", "fchmod", "unlinkat", "ftruncate", "write"}

// TestKillObserve takes a spool into the ledger again and again, each time
// killed at another system call. Afterwards the next command takes the rest:
// each line is in the ledger once, also when its file was being closed, and no
// gap is told.
func TestKillObserve(t *testing.T) {
	w := newWorld(t)
	ledgers, err := filepath.Glob(filepath.Join(w.home, ".satelle", "repo-*", "ledger.db"))
	if err != nil || len(ledgers) != 1 {
		t.Fatal(ledgers, err)
	}
	dir := filepath.Join(filepath.Dir(ledgers[0]), "spool")
	lines := 0
	write := func(n int) {
		t.Helper()
		for range n {
			l := spool.Line{Kind: spool.Edit, Time: 1_800_000_000_000, Session: "s" + strconv.Itoa(lines%3), ID: fmt.Sprint(lines), Tool: "Write", Tree: "."}
			if err := spool.Append(dir, &l); err != nil {
				t.Fatal(err)
			}
			lines++
		}
	}
	// Foreign bytes make the file so large that it is closed once it was taken.
	write(20)
	f, err := os.OpenFile(filepath.Join(dir, "lines"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(bytes.Repeat([]byte("foreign\n"), 40_000)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	write(20)
	points := map[string]int{}
	everywhere := func() {
		w.copy("live", "kept")
		kept := lines
		for _, call := range takeAt {
			survived := 0
			for k := 1; survived < 2; k++ {
				w.restore()
				lines = kept
				if w.killed(call, k, "status") {
					survived = 0
					points[call]++
				} else {
					survived++
				}
				write(3)
				w.told(t, fmt.Sprintf("%s #%d", call, k), dir, lines)
			}
		}
		w.restore()
		lines = kept
	}
	everywhere()
	w.must("satelle", "status") // closes the file, which is removed once more is taken
	write(20)
	everywhere()
	t.Logf("killed at: %v", points)
	for _, call := range []string{"pwrite64", "fdatasync", "renameat", "fchmodat", "unlinkat"} {
		if points[call] == 0 {
			t.Errorf("never killed in %s: the injection does not work, or no file was closed", call)
		}
	}
}

// told holds that each line was told once.
func (w *world) told(t *testing.T, at, dir string, lines int) {
	t.Helper()
	for range 3 {
		w.must("satelle", "status")
	}
	if out, err := w.command("satelle", "ledger", "verify", "--full").CombinedOutput(); err != nil {
		t.Fatalf("%s: verify: %v\n%s", at, err, out)
	}
	cfg := ledger.Config{Path: filepath.Join(filepath.Dir(dir), "ledger.db"), Projection: workflow.Fold{}, Known: workflow.Known}
	seen, torn := map[string]int{}, 0
	q := ledger.Query{Kinds: []string{workflow.KindChanges, workflow.KindGap}}
	err := ledger.Scan(context.Background(), cfg, q, func(r ledger.Record) error {
		var o workflow.Observation
		if r.Kind == workflow.KindGap {
			var g workflow.Gap
			err := json.Unmarshal(r.Body, &g)
			if torn += g.Torn; err == nil && (g.Session != "" || g.Cut) {
				err = fmt.Errorf("a gap: %s", r.Body)
			}
			return err
		}
		if err := json.Unmarshal(r.Body, &o); err != nil {
			return err
		}
		seen[o.ID]++
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	if torn != 40_000 {
		t.Fatalf("%s: %d foreign lines were counted", at, torn)
	}
	for i := range lines {
		if n := seen[fmt.Sprint(i)]; n != 1 {
			t.Fatalf("%s: line %d of %d is told %d times", at, i, lines, n)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 3 { // the counts, the open file and perhaps a closed one
		t.Fatalf("%s: left behind: %v %v", at, entries, err)
	}
}

// killed runs a command of satelle and kills it at the k-th such call of its
// own; it reports whether that came to be.
func (w *world) killed(call string, k int, args ...string) bool {
	w.t.Helper()
	log := filepath.Join(w.dir, "strace.log")
	cmd := w.command(append([]string{
		"strace", "-f", "-qq", "-o", log, "-e", "trace=" + call,
		"-e", "inject=" + call + ":signal=SIGKILL:when=" + strconv.Itoa(k), filepath.Join(w.bin, "satelle"),
	}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // killed or done: what counts is what it left
	trace, err := os.ReadFile(log)
	if err != nil {
		w.t.Fatalf("strace did not run: %v\n%s", err, out.String())
	}
	return bytes.Contains(trace, []byte("killed by SIGKILL"))
}
