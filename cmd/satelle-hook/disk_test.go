//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"satelle/ledger/seatread"
)

// TestFullDiskDenies runs the command on a disk that is full: what may change
// files is denied with the reason, though a story holds the seat; once there is
// room, it passes.
func TestFullDiskDenies(t *testing.T) {
	if err := exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt").Run(); err != nil {
		t.Skip("no small disk can be mounted here: ", err)
	}
	s := newSite(t)
	broken["the engine is there"](t, s)
	file := s.ledger(t, nil)
	must(t, os.Remove(file))
	db, err := bbolt.Open(file, 0o600, nil)
	must(t, err)
	row := seatread.Row{Format: seatread.Format, Projection: 1, Seats: map[string]seatread.Seat{".": {Story: "sty_abcdefgh", Step: "in_progress", IdleAt: 1 << 40}}}
	value, err := json.Marshal(row)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte(seatread.Bucket))
		if err != nil {
			return err
		}
		return b.Put([]byte(seatread.Key), value)
	}))
	must(t, db.Close())
	spool := filepath.Join(filepath.Dir(file), "spool")
	must(t, os.Mkdir(spool, 0o700))

	run := func(fill, payload string) string {
		t.Helper()
		mount := `mount -t tmpfs -o size=64k none "$1" && { head -c "$2" /dev/zero >"$1/fill"; shift 2; "$@"; }`
		cmd := s.start(`exec unshare -rm sh -c '`+mount+`' sh "$SPOOL" "$FILL" "$@" 2>&1`, payload)
		cmd.Env = append(cmd.Env, "SPOOL="+spool, "FILL="+fill)
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Run(); err != nil {
			t.Errorf("%v: %s", err, out.String())
		}
		return out.String()
	}
	edit, read := s.payload("Write", map[string]any{"file_path": "x"}), s.payload("Read", map[string]any{"file_path": "x"})
	if out := run("1", edit); out != "" {
		t.Errorf("with room: %s", out)
	}
	_, out, _ := strings.Cut(run("1M", edit), "\n") // head's complaint comes first
	if !denies(out, 0) || !strings.Contains(out, "no space left on device") {
		t.Errorf("on a full disk: %q", out)
	}
	if _, out, _ := strings.Cut(run("1M", read), "\n"); out != "" {
		t.Errorf("reading on a full disk: %q", out)
	}

	// A limit of the process is no different.
	cmd := s.start(`ulimit -f 0; "$@"`, edit)
	var said, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &errs
	_ = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); !denies(said.String(), code) && (code != 2 || errs.Len() == 0) {
		t.Errorf("with a limit: exit code %d, %q, %q", code, said.String(), errs.String())
	}
}
