//go:build kill && linux

package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The kill suite: go test -tags kill ./ledger. It needs strace.

func TestKill200Writers(t *testing.T)       { killWriters(t, 200) }
func TestManyWriters200(t *testing.T)       { manyWriters(t, 200, 3) }
func TestEachSystemCallAppend(t *testing.T) { eachCall(t, "1") }
func TestEachSystemCallCreate(t *testing.T) { eachCall(t, "create") }
func TestEachSystemCallRotate(t *testing.T) { eachCall(t, "rotate") }
func TestEachSystemCallRedact(t *testing.T) { eachCall(t, "redact") }

// calls are the system calls by which a writer leaves traces.
var calls = []string{
	"openat", "pwrite64", "write", "fsync", "fdatasync", "ftruncate", "flock",
	"renameat", "renameat2", "rename", "unlinkat", "mkdirat", "close", "mmap", "munmap",
}

// failures are the errors that are injected, and into which calls. A failing
// mmap would be the Go runtime's as a rule, which gives up.
var failures = []struct {
	errno string
	calls []string
	works bool // the writer must cope with it
}{
	{"EIO", []string{"pwrite64", "write", "fsync", "fdatasync", "ftruncate", "renameat", "openat"}, false},
	{"ENOSPC", []string{"pwrite64", "write", "ftruncate", "fsync", "openat"}, false},
	{"EINTR", []string{"flock"}, true},
}

// eachCall runs a writer once for every system call that it makes, kills it
// there or lets the call fail, and looks at what is left: the ledger verifies,
// holds what was acknowledged, and the next writer gets its turn.
func eachCall(t *testing.T, mode string) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("the kill suite needs strace: ", err)
	}
	template := t.TempDir()
	if mode != "create" {
		for _, m := range []string{"create", "7"} {
			if out, err := command(m, template).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
	}
	counts := count(t, strace, mode, template)
	if counts["pwrite64"] == 0 || counts["fdatasync"] == 0 || counts["flock"] == 0 {
		t.Fatalf("strace saw %v", counts)
	}
	runs := 0
	for _, call := range calls {
		for k := 1; k <= counts[call]; k++ {
			runs++
			inject(t, strace, mode, template, call, fmt.Sprintf("%s:signal=SIGKILL:when=%d", call, k), false)
		}
	}
	for _, f := range failures {
		for _, call := range f.calls {
			for k := 1; k <= counts[call]; k++ {
				runs++
				inject(t, strace, mode, template, call, fmt.Sprintf("%s:error=%s:when=%d", call, f.errno, k), f.works)
			}
		}
	}
	t.Logf("%s: %d runs; %v", mode, runs, counts)
}

// copyDir copies the ledger and its keys.
func copyDir(t *testing.T, from string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	// CopyFS widens modes by the umask's leave; keys must stay private.
	keys, err := filepath.Glob(filepath.Join(dir, "keys", "*"))
	for _, k := range keys {
		err = errors.Join(err, os.Chmod(k, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var callName = regexp.MustCompile(`^\d+ +(\w+)\(`)

// count traces a run without injection and counts the calls of its main
// thread, which is the one that the counters of strace are about.
func count(t *testing.T, strace, mode, template string) map[string]int {
	t.Helper()
	dir := copyDir(t, template)
	log := filepath.Join(t.TempDir(), "trace")
	cmd := command(mode, dir)
	cmd.Args = append([]string{strace, "-f", "-o", log, "-e", "trace=" + strings.Join(calls, ",")}, cmd.Args...)
	cmd.Path = strace
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	main, _, _ := bytes.Cut(b, []byte(" "))
	for line := range strings.Lines(string(b)) {
		if m := callName.FindStringSubmatch(line); m != nil && strings.HasPrefix(line, string(main)+" ") {
			counts[m[1]]++
		}
	}
	return counts
}

func inject(t *testing.T, strace, mode, template, call, how string, works bool) {
	t.Helper()
	dir := copyDir(t, template)
	cmd := command(mode, dir)
	cmd.Args = append([]string{strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace=" + call, "-e", "inject=" + how}, cmd.Args...)
	cmd.Path = strace
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if works && err != nil {
		t.Errorf("%s: %v\n%s", how, err, stderr.String())
	}
	if text := stderr.String(); strings.Contains(text, "panic") || strings.Contains(text, "goroutine ") && !strings.Contains(text, "runtime:") {
		t.Errorf("%s: the writer panicked:\n%s", how, text)
	}
	var acks []ack
	for line := range strings.Lines(stdout.String()) {
		if strings.HasSuffix(line, "\n") {
			acks = append(acks, parseAck(t, strings.TrimSpace(line)))
		}
	}
	cfg := childConfig(dir)
	if _, err := os.Stat(cfg.Path); errors.Is(err, os.ErrNotExist) && mode == "create" && len(acks) == 0 {
		closeLog(t, create1(t, cfg)) // nothing half-made is in the way
	}
	checkAcked(t, cfg, acks)
	if out, err := command("1", dir).CombinedOutput(); err != nil {
		t.Errorf("%s: the next writer: %v\n%s", how, err, out)
	}
	checkAcked(t, cfg, nil)
	if t.Failed() {
		t.Fatalf("stopped after %s", how)
	}
}
