package event

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"satelle/internal/fault"
)

// file is a log on disk: appended to, bounded, and given up at the first error.
type file struct {
	mu     sync.Mutex
	f      *os.File // nil once it was given up, or is full
	size   int64
	most   int64
	full   []byte // the last line, once there is room for no more
	failed func(error)
}

// write appends whole lines.
func (f *file) write(lines []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.f == nil {
		return
	}
	last := f.size+int64(len(lines)+len(f.full)) > f.most
	if last {
		lines = f.full
	}
	n, err := f.f.Write(lines)
	if err != nil {
		_ = f.f.Truncate(f.size) // no half line stays
		f.failed(err)
	}
	f.size += int64(n)
	if last || err != nil {
		_ = f.f.Close()
		f.f = nil
	}
}

func (f *file) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.f != nil {
		if err := f.f.Close(); err != nil {
			f.failed(err)
		}
		f.f = nil
	}
}

// kept is how many logs a folder holds: opening one drops the oldest beyond.
const kept = 500

// suffixes of the event log and of the trace beside it.
const (
	logSuffix = ".jsonl"
	rawSuffix = "-raw.log"
)

// create makes the event log of a dispatch, and the trace beside it if that is
// wanted, both under a name that nothing else has.
func create(dir, name string, now time.Time, raw bool) (log, trace *os.File, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fault.Wrap(err, nil, "making the folder of the logs")
	}
	prune(dir)
	for n := 1; ; n++ {
		base := filepath.Join(dir, fmt.Sprintf("%s-%s-%d", now.UTC().Format("20060102T150405Z"), name, n))
		log, err = os.OpenFile(base+logSuffix, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		if os.IsExist(err) && n < 10_000 {
			continue
		}
		if err != nil || !raw {
			return log, nil, fault.Wrap(err, nil, "opening a log")
		}
		trace, err = os.OpenFile(base+rawSuffix, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		return log, trace, fault.Wrap(err, nil, "opening a raw trace")
	}
}

// prune removes the oldest logs of a folder; their names begin with the time.
func prune(dir string) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return
	}
	var logs []string
	for _, e := range entries {
		if base, ok := strings.CutSuffix(e.Name(), logSuffix); ok {
			logs = append(logs, base)
		}
	}
	for _, base := range slices.Clip(logs)[:max(0, len(logs)-kept+1)] {
		for _, suffix := range []string{logSuffix, rawSuffix} {
			_ = os.Remove(filepath.Join(dir, base+suffix))
		}
	}
}

// named is s as a part of a file's name.
func named(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
	return s[:min(len(s), 64)]
}
