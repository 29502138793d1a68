//go:build unix

package spool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// childEnv makes the test binary a writer: its value is the session, its
// arguments the spool and how many lines.
const childEnv = "SATELLE_TEST_SPOOL_CHILD"

func TestMain(m *testing.M) {
	if session := os.Getenv(childEnv); session != "" {
		n, err := strconv.Atoi(os.Args[2])
		for i := 0; i < n && err == nil; i++ {
			l := Line{Kind: Edit, Session: session, ID: fmt.Sprint(i), Tool: "Write", Targets: []string{strings.Repeat("x", i%200)}}
			if err = Append(os.Args[1], &l); err == nil {
				fmt.Println(l.N)
			}
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// taker takes lines as the ledger does: what it keeps and where it stands
// change together.
type taker struct {
	at   Position
	seen map[string]int // by session and number
	torn int
	cut  bool
}

// take reads one batch and keeps it, and goes on to tidy unless the test lets
// it die before.
func (k *taker) take(t interface{ Fatalf(string, ...any) }, dir string, limit int, tidy bool) Batch {
	b, err := Read(dir, k.at, limit)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if b.Empty() {
		return b
	}
	for _, l := range b.Lines {
		k.seen[fmt.Sprint(l.Session, "/", l.N)]++
	}
	k.torn += b.Torn
	k.cut = k.cut || b.Cut
	k.at = b.To
	if tidy {
		if err := Tidy(dir, k.at); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return b
}

// TestManyWriters lets processes write while a reader takes, closes and
// removes: every line that a writer was told of arrives.
func TestManyWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	const writers, lines = 6, 1500
	var running []*exec.Cmd
	outs := make([]bytes.Buffer, writers)
	for i := range writers {
		cmd := exec.Command(os.Args[0], dir, strconv.Itoa(lines))
		// Two processes a session: hooks of one session run at once.
		cmd.Env = append(os.Environ(), childEnv+"=s"+strconv.Itoa(i/2))
		cmd.Stdout, cmd.Stderr = &outs[i], os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	done := make(chan error)
	go func() {
		var err error
		for _, cmd := range running {
			err = errors.Join(err, cmd.Wait())
		}
		done <- err
	}()
	k := taker{seen: map[string]int{}}
	for ended := false; ; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			ended = true
		default:
		}
		if b := k.take(t, dir, 300, true); ended && b.Empty() {
			break
		}
	}
	for i := range writers {
		for line := range strings.Lines(outs[i].String()) {
			key := fmt.Sprintf("s%d/%s", i/2, strings.TrimSpace(line))
			if k.seen[key] == 0 {
				t.Errorf("line %s is lost", key)
			}
		}
	}
	if want := writers * lines; len(k.seen) != want || k.torn != 0 || k.cut {
		t.Errorf("%d lines of %d, %d torn, cut %v", len(k.seen), want, k.torn, k.cut)
	}
	if k.at.File == 0 {
		t.Error("no file was ever closed")
	}
	counts, err := Counts(dir, time.Now())
	if err != nil || len(counts) != writers/2 || counts[0].Lines != 2*lines {
		t.Errorf("%v, %v", counts, err)
	}
}

// held is a writer that stopped between opening the file and writing.
type held struct {
	fd   int
	line Line
}

// TestModel holds the promise against any order of writers, stopped writers,
// dead writers and dying readers.
func TestModel(t *testing.T) {
	root := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		dir := filepath.Join(root, strconv.Itoa(runs))
		path := filepath.Join(dir, linesName)
		k := taker{seen: map[string]int{}}
		promised := map[string]bool{}
		var stopped []held
		torn := 0
		next := func() Line {
			return Line{Kind: Edit, Session: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "session"), Targets: []string{"x"}, Why: strings.Repeat("y", 100)}
		}
		write := func(l Line) {
			if err := Append(dir, &l); err != nil {
				t.Fatalf("%v", err)
			}
			promised[fmt.Sprint(l.Session, "/", l.N)] = true
		}
		finish := func(h held) {
			open, err := writeLine(h.fd, path, encode(&h.line))
			syscall.Close(h.fd)
			for err == nil && !open {
				open, err = write1(path, &h.line)
			}
			if err != nil {
				t.Fatalf("%v", err)
			}
			promised[fmt.Sprint(h.line.Session, "/", h.line.N)] = true
		}
		t.Repeat(map[string]func(*rapid.T){
			"write": func(*rapid.T) { write(next()) },
			"write much": func(*rapid.T) {
				for range 100 {
					l := next()
					for range maxTargets {
						l.Targets = append(l.Targets, strings.Repeat("z", 240))
					}
					write(l)
				}
			},
			"stop before writing": func(*rapid.T) {
				l := next()
				n, err := count(dir, l.Session)
				if err != nil {
					t.Fatalf("%v", err)
				}
				l.N = n
				fd, err := openAppend(path)
				if err != nil {
					t.Fatalf("%v", err)
				}
				stopped = append(stopped, held{fd, l})
			},
			"go on writing": func(t *rapid.T) {
				if len(stopped) == 0 {
					t.Skip("nobody stands")
				}
				finish(stopped[0])
				stopped = stopped[1:]
			},
			"die in a write": func(t *rapid.T) {
				l := next()
				n, err := count(dir, l.Session)
				if err != nil {
					t.Fatalf("%v", err)
				}
				l.N = n
				b := encode(&l)
				f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
				if err != nil {
					t.Fatalf("%v", err)
				}
				defer f.Close()
				if _, err := f.Write(b[:rapid.IntRange(2, len(b)-2).Draw(t, "bytes")]); err != nil {
					t.Fatalf("%v", err)
				}
				torn++
			},
			"take": func(t *rapid.T) {
				k.take(t, dir, rapid.SampledFrom([]int{1, 7, 1000, 5000}).Draw(t, "limit"), true)
			},
			"take and die before tidying": func(*rapid.T) { k.take(t, dir, 1000, false) },
			"read and die": func(*rapid.T) {
				if _, err := Read(dir, k.at, 1000); err != nil {
					t.Fatalf("%v", err)
				}
			},
			"close and die before the mark": func(t *rapid.T) {
				closed, err := closedFiles(dir)
				info, serr := os.Stat(path)
				if err != nil || serr != nil || len(closed) > 0 || info.Size() < k.at.Offset {
					t.Skip("not to be closed")
				}
				if err := os.Rename(path, closedPath(dir, k.at.File)); err != nil {
					t.Fatalf("%v", err)
				}
			},
		})
		for _, h := range stopped {
			finish(h)
		}
		for b := k.take(t, dir, 1000, true); !b.Empty(); b = k.take(t, dir, 1000, true) {
		}
		for key := range promised {
			if k.seen[key] == 0 {
				t.Fatalf("line %s is lost", key)
			}
		}
		if len(k.seen) != len(promised) || k.torn > torn || k.cut {
			t.Fatalf("%d lines of %d; %d torn, %d known; cut %v", len(k.seen), len(promised), k.torn, torn, k.cut)
		}
	})
}

func write1(path string, l *Line) (bool, error) { return write(path, encode(l)) }

// TestTornLines: what is torn is counted and takes no line with it; an end
// that a writer may still be at is left.
func TestTornLines(t *testing.T) {
	l := Line{N: 1, Kind: Denied, Session: "s"}
	good := string(encode(&l))
	for name, tt := range map[string]struct {
		content     string
		lines, torn int
		rest        bool // the end is left
	}{
		"nothing":               {"", 0, 0, false},
		"lines":                 {good + good, 2, 0, false},
		"torn before":           {good[:9] + good, 1, 1, false},
		"torn at the end":       {good + good[:20], 1, 0, true},
		"a line end is missing": {good + good[:len(good)-1], 1, 0, true},
		"nulls":                 {good + strings.Repeat("\x00", 900) + good, 2, 1, false},
		"long nulls":            {good + strings.Repeat("\x00", 70<<10), 1, 2, false},
		"foreign lines":         {"hello\n" + good + "{\"n\":1}\n" + good, 2, 2, false},
		"a flipped byte":        {strings.Replace(good, "denied", "denieD", 1) + good, 1, 1, false},
		"an unknown kind":       {string(encode(&Line{N: 1, Kind: "other"})) + good, 1, 1, false},
		"no number":             {string(encode(&Line{Kind: Edit})) + good, 1, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, linesName)
			if err := os.WriteFile(file, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			b, err := Read(dir, Position{}, 100)
			if err != nil || len(b.Lines) != tt.lines || b.Torn != tt.torn || b.More || (b.To.Offset < int64(len(tt.content))) != tt.rest {
				t.Fatalf("%d lines, %d torn, to %+v of %d, more %v: %v", len(b.Lines), b.Torn, b.To, len(tt.content), b.More, err)
			}
			// Once the file is closed nobody can be at its end any more.
			if err := os.Rename(file, closedPath(dir, 0)); err != nil {
				t.Fatal(err)
			}
			more := 0
			if tt.rest {
				more = 1
			}
			if c, err := Read(dir, b.To, 100); err != nil || len(c.Lines) != 0 || c.Torn != more || c.To != (Position{File: 1}) {
				t.Errorf("closed: %+v, %v", c, err)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	dir := t.TempDir()
	for range 25 {
		if err := Append(dir, &Line{Kind: Edit, Session: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	k := taker{seen: map[string]int{}}
	for i, want := range []int{10, 10, 5, 0} {
		if b := k.take(t, dir, 10, true); len(b.Lines) != want || b.More != (i < 2) {
			t.Errorf("batch %d: %d lines, more %v", i, len(b.Lines), b.More)
		}
	}
	// Of foreign bytes without end no more is read at once than is bounded.
	f, err := os.OpenFile(filepath.Join(dir, linesName), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 30); err != nil {
		t.Fatal(err)
	}
	at := k.at
	b := k.take(t, dir, 10, true)
	if len(b.Lines) != 0 || b.Torn == 0 || !b.More || b.To.Offset-at.Offset > maxRead+readChunk {
		t.Errorf("%+v", b)
	}
}

func TestCutFiles(t *testing.T) {
	dir := t.TempDir()
	k := taker{seen: map[string]int{}}
	add := func() {
		t.Helper()
		if err := Append(dir, &Line{Kind: Edit, Session: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	add()
	k.take(t, dir, 10, true)
	if err := os.Truncate(filepath.Join(dir, linesName), 3); err != nil {
		t.Fatal(err)
	}
	if b := k.take(t, dir, 10, true); !b.Cut {
		t.Errorf("%+v", b)
	}
	add()
	k.take(t, dir, 10, true)
	if err := os.RemoveAll(filepath.Join(dir, linesName)); err != nil {
		t.Fatal(err)
	}
	if b := k.take(t, dir, 10, true); !b.Cut || b.To != (Position{}) {
		t.Errorf("%+v", b)
	}
	if b := k.take(t, dir, 10, true); !b.Empty() {
		t.Errorf("told twice: %+v", b)
	}
	add()
	if b := k.take(t, dir, 10, true); len(b.Lines) != 1 || b.Lines[0].N != 3 {
		t.Errorf("%+v", b)
	}
}

// TestFailures: what can't be written is an error, without waiting.
func TestFailures(t *testing.T) {
	for name, make := range map[string]func(dir string) error{
		"the spool is a file":    func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"the lines are a folder": func(dir string) error { return os.MkdirAll(filepath.Join(dir, linesName), 0o700) },
		"the counts are a file": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, countsName), nil, 0o600))
		},
		"the lines are a pipe": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), syscall.Mkfifo(filepath.Join(dir, linesName), 0o600))
		},
		"the lines are a link": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Symlink("/dev/null", filepath.Join(dir, linesName)))
		},
		"the count is a pipe": func(dir string) error {
			counts := filepath.Join(dir, countsName)
			return errors.Join(os.MkdirAll(counts, 0o700), syscall.Mkfifo(filepath.Join(counts, countPrefix+"s"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "spool")
			if err := make(dir); err != nil {
				t.Fatal(err)
			}
			if err := Append(dir, &Line{Kind: Edit, Session: "s"}); err == nil {
				t.Error("no error")
			}
		})
	}
	if err := Append(filepath.Join(t.TempDir(), "no", "ledger"), &Line{Kind: Edit}); err == nil {
		t.Error("a folder was made above the spool")
	}
}

// TestReadPipes: what is no folder is an error for the reader, without waiting.
func TestReadPipes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	if err := syscall.Mkfifo(dir, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir, Position{}, 1); err == nil {
		t.Error("a pipe in the place of the spool was read")
	}
	if err := errors.Join(os.Remove(dir), os.Mkdir(dir, 0o700), syscall.Mkfifo(filepath.Join(dir, countsName), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Counts(dir, time.Now()); err == nil {
		t.Error("a pipe in the place of the counts was read")
	}
}

// TestOldCounts: the count of a session that is long gone goes, too.
func TestOldCounts(t *testing.T) {
	dir := t.TempDir()
	for _, s := range []string{"old", "new", "..", ""} {
		if err := Append(dir, &Line{Kind: Edit, Session: s}); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	if err := os.Chtimes(filepath.Join(dir, countsName, countPrefix+"old"), now, now.Add(-2*countLife)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		counts, err := Counts(dir, now)
		if err != nil || len(counts) != 3 {
			t.Errorf("%v, %v", counts, err)
		}
	}
}

// A caller without an id is counted as any other, and no line or count says that
// it has none: the ledger could not keep it.
func TestNoSession(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	if err := Append(dir, &Line{Kind: Denied, Time: 1}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, countsName, countPrefix), []byte(".."), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := Read(dir, Position{}, 10)
	if err != nil || len(b.Lines) != 1 || b.Lines[0].Session != "_" || b.Lines[0].N != 1 {
		t.Errorf("%+v, %v", b, err)
	}
	counts, err := Counts(dir, time.Now())
	if err != nil || len(counts) != 1 || counts[0].Session != "_" {
		t.Errorf("%+v, %v", counts, err)
	}
	if l, err := decode(bytes.TrimSpace(encode(&Line{N: 1, Kind: Denied}))); err == nil {
		t.Errorf("read: %+v", l)
	}
}
