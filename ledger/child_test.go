package ledger

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"satelle/internal/fault"
)

// childEnv makes the test binary a writer: its value says what to do, its first
// argument where the ledger is.
const childEnv = "SATELLE_TEST_LEDGER_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childEnv); mode != "" {
		// One thread makes all the calls, so that they can be counted.
		runtime.LockOSThread()
		if err := child(mode, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(fault.Code(err))
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// childConfig is a ledger on disk with everything as in earnest.
func childConfig(dir string) Config {
	return Config{
		Path: filepath.Join(dir, "ledger.db"), Keys: KeyDir(filepath.Join(dir, "keys")), Projection: tally{1},
	}
}

// child creates a ledger, or appends n times and acknowledges each append on
// standard output once it is durable.
func child(mode, dir string) error {
	ctx := context.Background()
	cfg := childConfig(dir)
	switch mode {
	case "create":
		l, err := Create(ctx, cfg, testGenesis)
		if err != nil {
			return err
		}
		fmt.Println("ack 0")
		return l.Close()
	case "rotate", "redact":
		return childOnce(ctx, cfg, mode)
	}
	n, err := strconv.Atoi(mode)
	if err != nil {
		return err
	}
	for i := range n {
		if err := childAppend(ctx, cfg, i); err != nil {
			return err
		}
	}
	return nil
}

func childAppend(ctx context.Context, cfg Config, i int) (err error) {
	l, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	h, err := l.Head()
	if err != nil {
		return err
	}
	blob := NewBlob("text/plain", make([]byte, 100+i%7*1500))
	drafts := []Draft{
		draft("note.added", fmt.Sprintf("sty_%d", i%5), map[string]any{"pid": os.Getpid(), "doc": blob.Ref}),
		draft("note.more", "", map[string]any{"text": strings.Repeat("x", 800)}),
	}
	_, recs, err := l.Append(ctx, h.Size, drafts, []Blob{blob})
	if err != nil {
		return err
	}
	_, err = fmt.Printf("ack %d %s\n", recs[0].Seq, recs[0].ID)
	return err
}

func childOnce(ctx context.Context, cfg Config, mode string) (err error) {
	l, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	h, err := l.Head()
	if err != nil {
		return err
	}
	var rec Record
	if mode == "rotate" {
		_, rec, err = l.RotateKey(ctx, h.Size, engine)
	} else {
		var first []Record
		if first, err = l.Read(1, 1); err != nil {
			return err
		}
		var body struct {
			Doc BlobRef `json:"doc"`
		}
		if err = json.Unmarshal(first[0].Body, &body); err != nil {
			return err
		}
		_, rec, err = l.Redact(ctx, h.Size, body.Doc, "why", engine)
	}
	if err == nil {
		_, err = fmt.Printf("ack %d %s\n", rec.Seq, rec.ID)
	}
	return err
}

// command is the test binary as a child.
func command(mode, dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), childEnv+"="+mode, "GOMAXPROCS=1")
	return cmd
}

// An ack is an append that a child has acknowledged.
type ack struct {
	seq uint64
	id  string
}

func parseAck(t testing.TB, line string) (a ack) {
	t.Helper()
	if _, err := fmt.Sscanf(line+" -", "ack %d %s", &a.seq, &a.id); err != nil {
		t.Fatalf("the child says %q", line)
	}
	return a
}

// checkAcked checks that every acknowledged record is there and all is well.
func checkAcked(t testing.TB, cfg Config, acks []ack) {
	t.Helper()
	if r, err := Verify(t.Context(), cfg, VerifyOptions{Full: true}); err != nil {
		t.Fatalf("%v\n%v", err, r.Problems)
	}
	l := reopen(t, cfg)
	defer closeLog(t, l)
	for _, a := range acks {
		if r, err := l.Record(a.seq); err != nil || a.id != "-" && r.ID != a.id {
			t.Errorf("record %d with id %s was acknowledged, there is %s (%v)", a.seq, a.id, r.ID, err)
		}
	}
}

// Writers that are killed at random moments, beside others that go on, lose
// nothing that they have acknowledged and leave no lock behind.
func TestKilledWriters(t *testing.T) { killWriters(t, 20) }

func killWriters(t *testing.T, kills int) {
	dir := t.TempDir()
	cfg := childConfig(dir)
	closeLog(t, create1(t, cfg))
	var mu sync.Mutex
	var acks []ack
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range kills / 2 {
				cmd := command("1000000", dir)
				out, err := cmd.StdoutPipe()
				if err == nil {
					err = cmd.Start()
				}
				if err != nil {
					t.Error(err)
					return
				}
				// It dies some instructions after a random acknowledgement.
				left := 1 + rand.IntN(8)
				lines := bufio.NewScanner(out)
				for lines.Scan() {
					mu.Lock()
					acks = append(acks, parseAck(t, lines.Text()))
					mu.Unlock()
					if left--; left == 0 {
						for range rand.IntN(30_000) {
							runtime.Gosched()
						}
						_ = cmd.Process.Kill()
					}
				}
				if err := cmd.Wait(); err == nil {
					t.Error("the writer was not killed")
				}
			}
		})
	}
	wg.Wait()
	checkAcked(t, cfg, acks)
}

// Many processes that append at once wait for each other; none is turned away
// and nothing is lost.
func TestManyWriters(t *testing.T) { manyWriters(t, 16, 5) }

func manyWriters(t *testing.T, processes, each int) {
	dir := t.TempDir()
	cfg := childConfig(dir)
	closeLog(t, create1(t, cfg))
	var mu sync.Mutex
	var acks []ack
	var wg sync.WaitGroup
	for range processes {
		wg.Go(func() {
			out, err := command(fmt.Sprint(each), dir).Output()
			if err != nil {
				t.Errorf("a writer failed: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			for line := range strings.Lines(string(out)) {
				acks = append(acks, parseAck(t, strings.TrimSpace(line)))
			}
		})
	}
	wg.Wait()
	if len(acks) != processes*each {
		t.Errorf("%d appends acknowledged, want %d", len(acks), processes*each)
	}
	checkAcked(t, cfg, acks)
	if r := verifyOK(t, cfg); r.Size != uint64(1+2*processes*each) {
		t.Errorf("%d records", r.Size)
	}
}
