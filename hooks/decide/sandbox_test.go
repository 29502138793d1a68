package decide

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"satelle/ledger/seatread"
)

func TestSandboxWrites(t *testing.T) {
	s := sandbox{grants: []grant{
		{"/", "/", false},
		{"/tmp", "/tmp", true},
		{"/tmp/ws", "/tmp/ws", true},
		{"/tmp/ws/.git", "/tmp/ws/.git", false},
		{"/tmp/u", "/tmp/u", true},
		{"/tmp/a/ws", "/tmp/a/ws", true},
		{"/tmp/a/ws/.git", "/tmp/a/ws/.git", false},
		{"/home/ws", "/home/ws", true},
		{"/home/ws/.git", "/home/ws/.git", false},
		{"/home/ws/.git", "/home/ws/.git", true},
	}}
	for path, want := range map[string]bool{
		"/home/x": false, "/home": false, "/home/ws": true, "/home/ws/a": true, "/home/ws/.git": false, "/home/ws/.git/config": false, "/home/wsx": false,
		"/tmp/x": true, "/tmp/ws/.git/config": false, "/tmp/a/ws/.git/config": true, // by another name of /tmp/a
	} {
		if got := s.writes(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	box := s.confinement()
	if want := []string{"/tmp", "/tmp/ws", "/tmp/a/ws", "/home/ws", "/home/ws/.git"}; !reflect.DeepEqual(box.Write, want) {
		t.Errorf("a check may write %q, want %q", box.Write, want)
	}
}

// TestCarryByLinks replaces, as commands in a sandbox can, what the hook goes
// by when it carries out a call.
func TestCarryByLinks(t *testing.T) {
	m, transcript, usual := boxed(t)
	cli := m.path("home/.satelle/bin/satelle")
	join := func(repo, with, name string) string {
		text := turnText("t1", "workspace-write", `"never"`, with)
		if name == "" {
			name = transcript(text)
		} else {
			m.write(name, text)
			name = m.path(name)
		}
		return rewritten(t, m.hook(m.codex(m.path(repo), cli+" story join sty_abcdefgh", name)))
	}
	link := func(to, at string) {
		if err := os.Symlink(m.path(to), m.path(at)); err != nil {
			t.Fatal(err)
		}
	}
	with := func(more ...string) string { return usual + "," + strings.Join(more, ",") }
	if join("re po", usual, "") == "" {
		t.Fatal("it is not carried out at all")
	}

	if got := join("re po", usual, "tmp/forged.jsonl"); got != "" {
		t.Errorf("by a transcript in a temporary folder: %s", got)
	}
	if got := join("re po", usual, "re po/forged.jsonl"); got != "" {
		t.Errorf("by a transcript in the workspace: %s", got)
	}
	started := m.env.Dir
	m.env.Dir = func() string { return m.path("other") }
	if got := join("re po", usual, "other/forged.jsonl"); got != "" {
		t.Errorf("by a transcript below the folder that the session was started in: %s", got)
	}
	m.env.Dir = started

	m.mkdir("home/.ssh")
	link("home/.ssh", "tmp/u")
	if got := join("re po", with(entry(m.path("tmp/u"), "write")), ""); got != "" {
		t.Errorf("with a folder that was replaced by a link: %s", got)
	}
	link("home/.ssh", "home/fixed")
	if got := join("re po", with(entry(m.path("home/fixed"), "write")), ""); got == "" {
		t.Error("not with a folder behind a link that nobody can replace")
	}

	m.repo("deep/x/ws")
	m.row("deep/x/ws", seatread.Row{})
	deep := func(top string) string {
		return strings.Join([]string{
			special("root", "read"), entry(m.path(top), "write"), entry(m.path("deep/x/ws"), "write"), entry(m.path("deep/x/ws/.git"), "read"),
		}, ",")
	}
	if got := join("deep/x/ws", deep("deep"), ""); got != "" {
		t.Errorf("below a folder that can be renamed: %s", got)
	}
	if join("deep/x/ws", deep("deep/x"), "") == "" {
		t.Error("not below a folder that is a grant of its own")
	}

	m.write("opt/satelle", sayer)
	link("opt/satelle", "tmp/way")
	if err := os.Remove(cli); err != nil {
		t.Fatal(err)
	}
	link("tmp/way", "home/.satelle/bin/satelle")
	if got := join("re po", usual, ""); got != "" {
		t.Errorf("with a program behind a link that can be replaced: %s", got)
	}
}
