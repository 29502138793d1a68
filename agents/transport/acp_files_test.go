package transport

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
	"golang.org/x/sys/unix"

	"satelle/agents"
)

// tree is a folder to work in, beside a secret.
func tree(t *testing.T) (dir string) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "tree")
	for name, text := range map[string]string{
		"secret": "SECRET", "tree/a.txt": "one\ntwo\nthree", "tree/.git/config": "SECRET", "tree/sub/.GIT/config": "SECRET",
		"tree/.satelle/satelle.local.toml": "SECRET", "tree/.satelle/satelle.toml": "mine", "tree/home/ledger.db": "SECRET",
		"tree/bytes": "\xff\xfe", "tree/large": strings.Repeat("0123456789\n", 200_000), "tree/.claude/settings.json": "{}",
	} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"out": "../secret", "up": "..", "abs": filepath.Join(top, "secret"), "g": ".git", "in": "a.txt", "round": "round", "lost": "../nothing",
		"local": ".satelle/satelle.local.toml", "mine": ".claude",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, ".satelle/satelle.local.toml"), filepath.Join(dir, "second.toml")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// asked is what an agent is answered to a line each: a method and its parameters,
// in which @ is the tree.
func asked(t *testing.T, dir, role, tools string, mayWrite func(string) error, asks ...string) (answers []string, sent []gjson.Result) {
	t.Helper()
	for i, ask := range asks {
		method, params, _ := strings.Cut(ask, " ")
		asks[i] = method + ` {"sessionId":"s1",` + strings.ReplaceAll(params, "@", dir) + "}"
	}
	o := newOverACP(t, "file "+strings.Join(asks, "\n"), "peer stdio")
	o.inv.Dir, o.inv.Binding.Role, o.inv.Binding.Tools, o.inv.MayWrite = dir, role, tools, mayWrite
	o.inv.Env = append(o.inv.Env, "SATELLE_HOME="+filepath.Join(dir, "home"))
	r, err := Run(t.Context(), o.inv)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(r.Text, "\n"), o.sent(t)
}

func TestACPReadsFiles(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	tests := []struct{ ask, want string }{
		{`"path":"@/a.txt"`, `one\ntwo\nthree`},
		{`"path":"@/sub/../a.txt"`, `one\ntwo\nthree`},
		{`"path":"@/in"`, `one\ntwo\nthree`},
		{`"path":"@/a.txt","line":2`, `two\nthree`},
		{`"path":"@/a.txt","line":2,"limit":1`, `two\n`},
		{`"path":"@/a.txt","limit":0`, ``},
		{`"path":"@/a.txt","line":-5,"limit":1`, `one\n`},
		{`"path":"@/a.txt","line":999999999`, ``},
		{`"path":"@/large","line":199999,"limit":1`, `0123456789\n`},
		{`"path":"@/.satelle/satelle.toml"`, `mine`},
		{`"path":"@/large"`, "refused"},
		{`"path":"@/bytes"`, "refused"},
		{`"path":"@/pipe"`, "refused"},
		{`"path":"@"`, "refused"},
		{`"path":"@/none"`, "refused"},
		{`"path":"a.txt"`, "refused"},
		{`"path":"@/a.txt\u0000"`, "refused"},
		{`"path":"@/../secret"`, "refused"},
		{`"path":"@/out"`, "refused"},
		{`"path":"@/up/secret"`, "refused"},
		{`"path":"@/abs"`, "refused"},
		{`"path":"@/round"`, "refused"},
		{`"path":"/etc/passwd"`, "refused"},
		{`"path":"/proc/self/environ"`, "refused"},
		{`"path":"@/.git/config"`, "refused"},
		{`"path":"@/sub/.GIT/config"`, "refused"},
		{`"path":"@/g/config"`, "refused"},
		{`"path":"@/local"`, "refused"},
		{`"path":"@/second.toml"`, "refused"},
		{`"path":"@/.satelle/satelle.local.toml"`, "refused"},
		{`"path":"@/home/ledger.db"`, "refused"},
	}
	var asks []string
	for _, tc := range tests {
		asks = append(asks, "fs/read_text_file "+tc.ask)
	}
	answers, sent := asked(t, dir, agents.RoleReviewer, "read_file", nil, asks...)
	for i, tc := range tests {
		got := answers[i]
		if tc.want == "refused" && (!strings.HasPrefix(got, "refused") || strings.Contains(got, "SECRET")) ||
			tc.want != "refused" && got != `{"content":"`+tc.want+`"}` {
			t.Errorf("%s: %s", tc.ask, got)
		}
	}
	if caps := sent[1].Get("params.clientCapabilities"); !caps.Get("fs.readTextFile").Bool() || caps.Get("fs.writeTextFile").Bool() || caps.Get("terminal").Bool() {
		t.Errorf("offered: %s", caps.Raw)
	}
	answers, sent = asked(t, dir, agents.RoleAgent, "Bash(satelle:*)", nil, `fs/read_text_file "path":"@/a.txt"`)
	if !strings.Contains(answers[0], "reads no files") || sent[1].Get("params.clientCapabilities.fs.readTextFile").Bool() {
		t.Errorf("%q, %s", answers, sent[1].Raw)
	}
}

func TestACPWritesFiles(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	var mu sync.Mutex
	var names []string
	mayWrite := func(name string) error {
		mu.Lock()
		defer mu.Unlock()
		names = append(names, name)
		if name == filepath.Join(dir, "other") {
			return errors.New("not in its paths")
		}
		return nil
	}
	tests := []struct{ path, lands string }{
		{"@/a.txt", "a.txt"},
		{"@/in", "a.txt"},
		{"@/new", "new"},
		{"@/deep/er/new", "deep/er/new"},
		{"@/lost", ""},
		{"@/other", ""},
		{"@/pipe", ""},
		{"@/sub", ""},
		{"@", ""},
		{"new", ""},
		{"@/../new", ""},
		{"@/up/new", ""},
		{"@/out", ""},
		{"@/abs", ""},
		{"@/a.txt/new", ""},
		{"@/.git/hooks/pre-commit", ""},
		{"@/g/config", ""},
		{"@/sub/.GIT/config", ""},
		{"@/home/ledger.db", ""},
	}
	var asks []string
	for i, tc := range tests {
		asks = append(asks, fmt.Sprintf(`fs/write_text_file "path":%q,"content":"text %d"`, tc.path, i))
	}
	answers, sent := asked(t, dir, agents.RoleAgent, "read_file,write", mayWrite, asks...)
	lands := map[string]int{}
	for i, tc := range tests {
		if (tc.lands == "") != strings.HasPrefix(answers[i], "refused") {
			t.Errorf("%s: %s", tc.path, answers[i])
		}
		if tc.lands != "" {
			lands[tc.lands] = i
		}
	}
	for name, i := range lands {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(b) != fmt.Sprintf("text %d", i) {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "a.txt")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode: %v, %v", info.Mode(), err)
	}
	for name, want := range map[string]string{"../secret": "SECRET", ".git/config": "SECRET", "sub/.GIT/config": "SECRET", "home/ledger.db": "SECRET"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".satelle-*")); left != nil {
		t.Errorf("left: %q", left)
	}
	for _, name := range names {
		if strings.Contains(name, "..") || !strings.HasPrefix(name, dir) || strings.Contains(name, ".git") {
			t.Errorf("asked for %q", name)
		}
	}
	if caps := sent[1].Get("params.clientCapabilities"); !caps.Get("fs.writeTextFile").Bool() || caps.Get("terminal").Bool() {
		t.Errorf("offered: %s", caps.Raw)
	}
}

func TestACPWritesAtMost(t *testing.T) {
	t.Parallel()
	f := &files{grant: grant{edits: true}, dir: tree(t), mayWrite: func(string) error { return nil }}
	if err := f.write(filepath.Join(f.dir, "new"), strings.Repeat("x", maxFile+1)); err == nil {
		t.Error("it wrote more")
	}
	if err := f.write(filepath.Join(f.dir, "new"), strings.Repeat("x", maxFile)); err != nil {
		t.Error(err)
	}
}

// Who has no seat, no grant to edit, or only reviews is offered no writing, and
// does not write if it asks all the same; nobody gets a terminal.
func TestACPWritesNothingWithoutSeat(t *testing.T) {
	t.Parallel()
	always := func(string) error { return nil }
	for _, tc := range []struct {
		role, tools string
		mayWrite    func(string) error
	}{
		{agents.RoleAgent, "read_file,write", nil},
		{agents.RoleAgent, "read_file", always},
		{agents.RoleAgent, "read_file,run_terminal_command", always},
		{agents.RoleReviewer, "*", always},
	} {
		dir := tree(t)
		answers, sent := asked(t, dir, tc.role, tc.tools, tc.mayWrite,
			`fs/write_text_file "path":"@/a.txt","content":"x"`, `terminal/create "command":"touch","args":["@/ran"]`)
		caps := sent[1].Get("params.clientCapabilities")
		if !strings.HasPrefix(answers[0], "refused") || !strings.HasPrefix(answers[1], "refused") || caps.Get("fs.writeTextFile").Bool() || caps.Get("terminal").Bool() {
			t.Errorf("%s %s: %q, %s", tc.role, tc.tools, answers, caps.Raw)
		}
		if b, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(b) != "one\ntwo\nthree" {
			t.Errorf("%s %s wrote %q", tc.role, tc.tools, b)
		}
		if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
			t.Errorf("%s %s ran", tc.role, tc.tools)
		}
	}
}
