//go:build linux

package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"satelle/ledger/seatread"
)

var benchRecords = flag.Int("bench.records", 0, "records of TestBench's ledger; 0: only see that it runs")

// TestBench measures the ledger against what it stands on, in interleaved
// rounds, and prints ratios of medians:
//
//	go test -run TestBench -v ./ledger -bench.records 1000000
func TestBench(t *testing.T) {
	n, rounds := *benchRecords, 9
	if n == 0 {
		n, rounds = 2000, 1
	}
	m := meter{t: t, rounds: rounds}
	t.Run("append", func(t *testing.T) {
		for _, batch := range []int{1, 10, 100} {
			m.appends(t, batch, max(3, min(200, n/100)/(1+batch/20)))
		}
	})
	t.Run("verify", func(t *testing.T) { m.verify(t, n) })
}

// A meter measures ways to do a thing in turn.
type meter struct {
	t      *testing.T
	rounds int
}

// A way is one of the things that are compared.
type way struct {
	name string
	run  func()
}

// compare prints the median time of each way and its ratio to the first one,
// with its CPU time and page faults.
func (m *meter) compare(title string, ways ...way) {
	type sample struct {
		wall, cpu time.Duration
		faults    int64
	}
	samples := make([][]sample, len(ways))
	for range m.rounds {
		for i, w := range ways {
			runtime.GC()
			before, start := usage(), time.Now()
			w.run()
			wall := time.Since(start)
			after := usage()
			samples[i] = append(samples[i], sample{
				wall, cpuTime(after) - cpuTime(before),
				after.Minflt + after.Majflt - before.Minflt - before.Majflt,
			})
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", title)
	var base time.Duration
	for i, w := range ways {
		if w.name[0] == '(' {
			continue // only makes ready
		}
		slices.SortFunc(samples[i], func(a, b sample) int { return int(a.wall - b.wall) })
		mid := samples[i][len(samples[i])/2]
		if base == 0 {
			base = mid.wall
		}
		fmt.Fprintf(&out, "  %-28s %10v  speed %.2f  cpu %10v  faults %d\n", w.name,
			mid.wall.Round(time.Microsecond), float64(base)/float64(mid.wall), mid.cpu.Round(time.Microsecond), mid.faults)
	}
	m.t.Log(out.String())
}

func usage() (u syscall.Rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u
}

func cpuTime(u syscall.Rusage) time.Duration {
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchBody makes records of about 1.5 KB.
func benchBody(i int) json.RawMessage {
	return fmt.Appendf(nil, `{"n":%d,"from":"backlog","to":"in_progress","verdicts":[{"skill":"plan-review","decision":"accept","notes":%q}],"tree":"%064x","paths":["a/b/c.go","d/e/f.go"],"text":%q}`,
		i, strings.Repeat("the plan names each file that it touches; ", 6), i, strings.Repeat("words of a summary that is long enough. ", 20))
}

func benchDrafts(from, n int) []Draft {
	out := make([]Draft, n)
	for i := range out {
		out[i] = draft("story.moved", fmt.Sprintf("sty_%08d", (from+i)/50), benchBody(from+i))
		out[i].Actor = Actor{
			Kind: ActorSession, Name: "executor", Session: "0197f3c2-aaaa-bbbb-cccc-1234567890ab",
			Harness: "claude", Host: "h_0123456789abcdef", Auth: AuthAncestry,
		}
	}
	return out
}

func benchConfig(t *testing.T) Config {
	cfg := testConfig(t)
	cfg.Clock, cfg.testOnlyRand, cfg.Projection = nil, nil, nil
	return cfg
}

// appends compares Append with a bbolt transaction that puts the same keys and
// values.
func (m *meter) appends(t *testing.T, batch, times int) {
	m.t = t
	cfg := benchConfig(t)
	l := create1(t, cfg)
	defer closeLog(t, l)
	size := 1
	// What one append writes is learnt from the ledger, then written raw.
	raw, err := bolt.Open(filepath.Join(t.TempDir(), "raw.db"), 0o600, &bolt.Options{NoStatistics: true})
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	must(t, raw.Update(func(tx *bolt.Tx) error {
		for _, b := range allBuckets {
			if _, err := tx.CreateBucket(b); err != nil {
				return err
			}
		}
		return nil
	}))
	type kv struct{ bucket, k, v []byte }
	var writes [][]kv
	var drafts [][]Draft
	prepare := func() {
		drafts = drafts[:0]
		for i := range times {
			drafts = append(drafts, benchDrafts(size+i*batch, batch))
		}
	}
	ledgerWay := way{"Append", func() {
		for _, d := range drafts {
			if _, _, err := l.Append(context.Background(), uint64(size), d, nil); err != nil {
				t.Fatal(err)
			}
			size += batch
		}
	}}
	next := 1
	learn := func() {
		writes = writes[:0]
		must(t, l.db.View(func(tx *bolt.Tx) error {
			for ; next < size; next += batch {
				var w []kv
				var leaves int
				for seq := next; seq < next+batch; seq++ {
					v := tx.Bucket(bucketRecords).Get(seqKey(uint64(seq)))
					r, err := ParseRecord(slices.Clone(v))
					if err != nil {
						return err
					}
					w = append(w, kv{bucketRecords, seqKey(uint64(seq)), r.Raw},
						kv{bucketKind, indexKey(r.Kind, uint64(seq)), nil}, kv{bucketStory, indexKey(r.Story, uint64(seq)), nil})
					leaves++
				}
				for level := range 4 {
					lo, hi := next>>(4*level), (next+batch)>>(4*level)
					for n := lo / 16; lo < hi && n <= hi/16; n++ {
						if width := min(16, hi-n*16); width > 0 {
							w = append(w, kv{bucketTiles, tileKey(level, uint64(n)), make([]byte, 32*width)})
						}
					}
				}
				w = append(w, kv{bucketHeads, seqKey(uint64(next + batch)), make([]byte, headEntryMin)})
				writes = append(writes, w)
			}
			return nil
		}))
	}
	rawWay := way{"raw bbolt", func() {
		for _, w := range writes {
			must(t, raw.Update(func(tx *bolt.Tx) error {
				for _, b := range [][]byte{bucketRecords, bucketTiles, bucketHeads} {
					tx.Bucket(b).FillPercent = fill
				}
				for _, x := range w {
					if err := tx.Bucket(x.bucket).Put(x.k, x.v); err != nil {
						return err
					}
				}
				return nil
			}))
		}
	}}
	// The raw side writes what the ledger wrote the round before.
	prepare()
	ledgerWay.run()
	m.compare(fmt.Sprintf("append, batches of %d, %d times", batch, times),
		way{"(learning)", func() { learn(); prepare() }}, rawWay, ledgerWay)
}

// verify compares Verify, warm, with SHA-256 over the same records, and
// measures a query and the hook's read beside them.
func (m *meter) verify(t *testing.T, n int) {
	m.t = t
	cfg := benchConfig(t)
	l := create1(t, cfg)
	for size := 1; size < n; {
		batch := min(100, n-size)
		if _, _, err := l.Append(context.Background(), uint64(size), benchDrafts(size, batch), nil); err != nil {
			t.Fatal(err)
		}
		size += batch
	}
	var data [][]byte
	must(t, l.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketRecords).ForEach(func(_, v []byte) error {
			data = append(data, slices.Clone(v))
			return nil
		})
	}))
	closeLog(t, l)
	info, err := os.Stat(cfg.Path)
	must(t, err)
	t.Logf("%d records in %d MB", n, info.Size()>>20)
	m.compare("verify, cold",
		way{"(evict)", func() { evict(t, cfg.Path) }},
		way{"read the file in sequence", func() {
			f, err := os.Open(cfg.Path)
			must(t, err)
			_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, 1<<20))
			must(t, errors.Join(err, f.Close()))
		}},
		way{"(evict)", func() { evict(t, cfg.Path) }},
		way{"Verify", func() {
			if _, err := Verify(context.Background(), cfg, VerifyOptions{}); err != nil {
				t.Fatal(err)
			}
		}},
	)
	m.compare("verify, warm",
		way{"SHA-256, one core", func() {
			for _, d := range data {
				_ = sha256.Sum256(d)
			}
		}},
		way{"Verify", func() {
			if _, err := Verify(context.Background(), cfg, VerifyOptions{}); err != nil {
				t.Fatal(err)
			}
		}},
		way{"  of this the walk over pages", func() { must(t, seatread.Check(cfg.Path)) }},
		way{"Scan of a story (50 records)", func() {
			count := 0
			must(t, Scan(context.Background(), cfg, Query{Story: fmt.Sprintf("sty_%08d", n/100)}, func(Record) error {
				count++
				return nil
			}))
			if count == 0 {
				t.Fatal("no records")
			}
		}},
		way{"Scan, the newest 50", func() {
			must(t, Scan(context.Background(), cfg, Query{Reverse: true, Limit: 50}, func(Record) error { return nil }))
		}},
		way{"seatread.Last", func() {
			if _, _, err := seatread.Last(cfg.Path, "heads"); err != nil {
				t.Fatal(err)
			}
		}},
	)
}

// evict drops the file from the page cache.
func evict(t *testing.T, path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	must(t, errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close()))
}
