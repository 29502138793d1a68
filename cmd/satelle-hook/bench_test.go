//go:build bench

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"satelle/hooks/dialect"
	"satelle/internal/place"
	"satelle/ledger/seatread"
)

const hello = `package main

import "os"

func main() { os.Stdout.WriteString("hello\n") }
`

// sample is what one run of the installed command costs.
type sample struct {
	wall, cpu time.Duration
	faults    int64
}

// TestBench measures the hook through the installed command against the same
// command around a hello-world, in turns, so that load meets both alike. It
// prints the ratios, and fails where a goal of the project is missed by far.
func TestBench(t *testing.T) {
	root := t.TempDir()
	hook := home(t, filepath.Join(root, "hook"))
	build(t, ".", filepath.Join(hook, "bin", "satelle-hook"))
	base := home(t, filepath.Join(root, "base"))
	source := filepath.Join(root, "hello.go")
	if err := os.WriteFile(source, []byte(hello), 0o644); err != nil {
		t.Fatal(err)
	}
	build(t, source, filepath.Join(base, "bin", "satelle-hook"))

	repo := filepath.Join(root, "repo")
	if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.MkdirAll(filepath.Join(repo, ".satelle"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(repo, place.Marker), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	ledger(t, hook, repo)

	payload := func(tool string, input map[string]any) string {
		b, err := json.Marshal(map[string]any{
			"session_id": "bench", "transcript_path": "/h/t.jsonl", "cwd": repo, "permission_mode": "default",
			"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": "t1",
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	calls := []struct{ name, payload string }{
		{"deny an edit", payload("Write", map[string]any{"file_path": filepath.Join(repo, "a.py"), "content": "x"})},
		{"deny a command", payload("Bash", map[string]any{"command": "cd src && echo x > f"})},
		{"allow a command", payload("Bash", map[string]any{"command": "git status --short | head -20"})},
		{"allow a read", payload("Read", map[string]any{"file_path": filepath.Join(repo, "a.py")})},
	}
	const rounds = 150
	baseline := make([]sample, 0, rounds*len(calls))
	costs := make([][]sample, len(calls))
	for range 5 {
		measure(t, base, repo, calls[0].payload)
		measure(t, hook, repo, calls[0].payload)
	}
	for range rounds {
		for i, c := range calls {
			baseline = append(baseline, measure(t, base, repo, c.payload))
			costs[i] = append(costs[i], measure(t, hook, repo, c.payload))
		}
	}
	b := summary(baseline)
	fmt.Printf("%-18s p50 %6.2f ms  p99 %6.2f ms  CPU %6.2f ms  %4d faults\n", "hello, wrapped", ms(b.p50), ms(b.p99), ms(b.cpu), b.faults)
	for i, c := range calls {
		s := summary(costs[i])
		p50, cpu := float64(s.p50)/float64(b.p50), float64(s.cpu)/float64(b.cpu)
		fmt.Printf("%-18s p50 %6.2f ms  p99 %6.2f ms  CPU %6.2f ms  %4d faults   ratio p50 %.2f  CPU %.2f\n",
			c.name, ms(s.p50), ms(s.p99), ms(s.cpu), s.faults, p50, cpu)
		if p50 > 2 || cpu > 2 {
			t.Errorf("%s: far beyond the goal of 1.3", c.name)
		}
	}
}

func home(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// ledger registers a repository in which no story holds a seat.
func ledger(t *testing.T, home, repo string) {
	t.Helper()
	real, err := filepath.EvalSymlinks(repo)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, place.RepoKey(filepath.Join(real, ".git")))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(filepath.Join(dir, "ledger.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte(seatread.Bucket))
		if err != nil {
			return err
		}
		return b.Put([]byte(seatread.Key), []byte(`{"format":1,"projection":1}`))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func measure(t *testing.T, home, dir, payload string) sample {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", dialect.Command(dialect.Deny))
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + filepath.Dir(home), "SATELLE_HOME=" + home}
	cmd.Stdin = strings.NewReader(payload)
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	wall := time.Since(begin)
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return sample{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), int64(usage.Minflt) + int64(usage.Majflt)}
}

type total struct {
	p50, p99, cpu time.Duration
	faults        int64
}

func summary(all []sample) total {
	var t total
	walls := make([]time.Duration, len(all))
	for i, s := range all {
		walls[i] = s.wall
		t.cpu += s.cpu
		t.faults += s.faults
	}
	slices.Sort(walls)
	t.p50, t.p99 = walls[len(walls)/2], walls[len(walls)*99/100]
	t.cpu /= time.Duration(len(all))
	t.faults /= int64(len(all))
	return t
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
