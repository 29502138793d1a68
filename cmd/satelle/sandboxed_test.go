package main

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"satelle/internal/fault"
)

func TestSandboxed(t *testing.T) {
	readOnly := &fs.PathError{Op: "open", Path: "/h/.satelle/ledger.db.lock", Err: syscall.EROFS}
	err := sandboxed(fault.Wrap(readOnly, nil, "opening the ledger"), []string{"story", "start", "--title", "It's"})
	if got := fault.TryOf(err); got != `satelle story start --title 'It'\''s'` || !strings.Contains(err.Error(), "plain call") {
		t.Errorf("%v; try %q", err, got)
	}
	denied := &fs.PathError{Op: "open", Path: "x", Err: syscall.EPERM}
	t.Setenv("CODEX_SANDBOX", "")
	t.Setenv("CODEX_SANDBOX_NETWORK_DISABLED", "")
	for _, err := range []error{denied, fmt.Errorf("other"), fault.Try(readOnly, "x")} {
		if got := sandboxed(err, nil); got.Error() != err.Error() {
			t.Errorf("%v became %v", err, got)
		}
	}
	t.Setenv("CODEX_SANDBOX", "seatbelt")
	if got := sandboxed(denied, []string{"status"}); fault.TryOf(got) != "satelle status" {
		t.Errorf("in Codex: %v", got)
	}
}
