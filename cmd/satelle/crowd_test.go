//go:build kill

package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestKillCrowd lets 100 processes append and 100 hooks ask at once: no record
// is lost, and no hook answers anything but what the seat says.
func TestKillCrowd(t *testing.T) {
	w := newWorld(t)
	build := exec.Command("go", "build", "-o", w.bin, "../satelle-hook")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	linked := filepath.Join(w.dir, "live", "linked")
	w.must("git", "worktree", "add", "-q", "--detach", linked)
	w.must("cp", "-R", ".satelle", linked)
	call := func(dir string) string {
		return fmt.Sprintf(`{"session_id":"s","transcript_path":"/dev/null","cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":%q,"content":"x"},"tool_use_id":"t"}`, dir, filepath.Join(dir, "x"))
	}
	const n = 100
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			out, err := w.command("satelle", "story", "comment", w.id, "--body", fmt.Sprintf("note %d", i)).CombinedOutput()
			if err != nil {
				t.Errorf("comment %d: %v\n%s", i, err, out)
			}
		})
		wg.Go(func() {
			dir, seated := w.repo, i%2 == 0
			if !seated {
				dir = linked
			}
			hook := w.command(filepath.Join(w.bin, "satelle-hook"))
			hook.Stdin = strings.NewReader(call(dir))
			out, err := hook.Output()
			if err != nil || seated != (len(out) == 0) || !seated && !bytes.Contains(out, []byte("no story holds the seat")) {
				t.Errorf("hook %d (seated: %v): %v %s", i, seated, err, out)
			}
		})
	}
	wg.Wait()
	text := w.must("satelle", "story", "get", w.id)
	for i := range n {
		if !strings.Contains(text, fmt.Sprintf("note %d\n", i)) {
			t.Errorf("note %d is lost", i)
		}
	}
	w.must("satelle", "ledger", "verify", "--full")
}
