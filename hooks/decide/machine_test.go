package decide

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"satelle/internal/ancestry"
	"satelle/internal/place"
	"satelle/ledger/seatread"
)

// machine is a machine with a home and repositories, all below one folder that
// is no temporary one.
type machine struct {
	t    *testing.T
	root string
	env  Env
}

const testTime = 1_800_000_000

func newMachine(t *testing.T) *machine {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, root: root}
	m.env = Env{
		Home: m.path("home/.satelle"), User: m.path("home"), Dir: func() string { return "/" }, Path: "/usr/bin:/bin",
		Temps: []string{m.path("tmp")},
		Now:   func() time.Time { return time.Unix(testTime, 0) },
		Exit:  func(int) {},

		Register: ancestry.Register,
	}
	for _, dir := range []string{"home/.satelle/bin", "tmp", "other"} {
		m.mkdir(dir)
	}
	m.write("home/.satelle/bin/satelle", "#!/bin/sh\n")
	m.write("home/.satelle/keys/log.key", "secret")
	return m
}

func (m *machine) path(name string) string { return filepath.Join(m.root, name) }

func (m *machine) mkdir(name string) {
	m.t.Helper()
	if err := os.MkdirAll(m.path(name), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) write(name, content string) {
	m.t.Helper()
	m.mkdir(filepath.Dir(name))
	if err := os.WriteFile(m.path(name), []byte(content), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) git(args ...string) {
	m.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = m.root
	cmd.Env = append(os.Environ(), "HOME="+m.root, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.invalid", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.invalid")
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// repo creates a governed repository with a file in it.
func (m *machine) repo(name string) {
	m.t.Helper()
	m.mkdir(name)
	m.git("init", "-q", name)
	m.write(name+"/src/a.py", "a\n")
	m.write(name+"/.satelle/satelle.toml", "project = \"p\"\n")
	m.write(name+"/.satelle/satelle.local.toml", "token = \"s\"\n")
	m.write(name+"/.claude/settings.json", "{}\n")
	m.git("-C", name, "add", "src/a.py", ".satelle/satelle.toml")
	m.git("-C", name, "commit", "-qm", "one")
}

func (m *machine) ledger(repo string) string {
	return filepath.Join(m.env.Home, place.RepoKey(m.path(repo+"/.git")), "ledger.db")
}

// row registers a repository with what its ledger says.
func (m *machine) row(repo string, r seatread.Row) {
	m.t.Helper()
	file := m.ledger(repo)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		m.t.Fatal(err)
	}
	db, err := bbolt.Open(file, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		m.t.Fatal(err)
	}
	defer db.Close()
	r.Format, r.Projection = seatread.Format, 1
	value, err := json.Marshal(r)
	if err != nil {
		m.t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte(seatread.Bucket))
		if err != nil {
			return err
		}
		return b.Put([]byte(seatread.Key), value)
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

func held(paths ...string) seatread.Seat {
	return seatread.Seat{Story: "sty_abcdefgh", Title: "Mend it", Step: "in_progress", Category: "*", Paths: paths, IdleAt: testTime + 60}
}

// hook runs the hook on a payload and returns what it writes.
func (m *machine) hook(payload string) string {
	m.t.Helper()
	var out, errw bytes.Buffer
	env := m.env
	env.Deadline = 30 * time.Second // a busy machine is no case of this test
	if code := Run(strings.NewReader(payload), &out, &errw, env); code != 0 {
		m.t.Errorf("exit code %d: %s", code, errw.String())
	}
	if errw.Len() > 0 {
		m.t.Errorf("on standard error: %s", errw.String())
	}
	return out.String()
}

// call is a payload of Claude's form.
func (m *machine) call(dir, tool string, input any) string {
	m.t.Helper()
	b, err := json.Marshal(map[string]any{
		"session_id": "s", "cwd": dir, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return string(b)
}

func (m *machine) bash(dir, command string) string {
	return m.call(dir, "Bash", map[string]string{"command": command})
}

func (m *machine) edit(dir, file string) string {
	return m.call(dir, "Write", map[string]string{"file_path": file, "content": "x"})
}
