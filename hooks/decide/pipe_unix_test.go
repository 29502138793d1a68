//go:build unix

package decide

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"satelle/ledger/seatread"
)

// bounded runs the hook with a deadline that is reached soon.
func (m *machine) bounded(payload string) string {
	var out strings.Builder
	env := m.env
	env.Deadline = time.Second
	ended := make(chan int, 2)
	env.Exit = func(code int) { ended <- code }
	go func() { ended <- Run(strings.NewReader(payload), &out, io.Discard, env) }()
	<-ended
	return out.String()
}

// TestOddFiles holds that what is no plain file where one belongs neither
// stops the hook nor opens anything.
func TestOddFiles(t *testing.T) {
	m := newMachine(t)
	m.repo("r")
	m.row("r", seatread.Row{Seats: map[string]seatread.Seat{".": held()}})
	edit, read := m.edit(m.path("r"), "x"), m.bash(m.path("r"), "ls")
	odd := map[string]func(string) error{
		"a pipe":   func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"a folder": func(p string) error { return os.Mkdir(p, 0o700) },
		"a loop":   func(p string) error { return os.Symlink(filepath.Base(p), p) },
		"a device": func(p string) error { return os.Symlink("/dev/zero", p) },
	}
	for what, put := range odd {
		for _, c := range []struct {
			file string
			deny bool
		}{
			{m.ledger("r"), true},
			{m.path("home/.satelle/sessions"), false}, // whoever can't be registered is still judged
			{m.path("r/.satelle/satelle.toml"), false},
			{m.path("r/.git/commondir"), true},
		} {
			kept := filepath.Join(m.root, "kept")
			moved := os.Rename(c.file, kept) == nil
			if err := put(c.file); err != nil {
				t.Fatal(err)
			}
			got, reading := m.bounded(edit), m.bounded(read)
			if c.deny && !strings.Contains(got, "deny") || reading != "" {
				t.Errorf("%s as %s: editing %q, reading %q", what, c.file, got, reading)
			}
			if what == "a pipe" { // let go of who still waits for it
				if f, err := os.OpenFile(c.file, os.O_RDWR, 0); err == nil {
					defer f.Close()
				}
			}
			if err := os.RemoveAll(c.file); err != nil {
				t.Fatal(err)
			}
			if moved {
				if err := os.Rename(kept, c.file); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
