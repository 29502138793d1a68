package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"satelle/internal/fault"
)

func load(t *testing.T, content string) (Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "satelle.toml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return loadConfig(path)
}

func TestLoadConfig(t *testing.T) {
	for _, tt := range []struct {
		name, content, want string
	}{
		{"as init writes it", string(newConfig("p1", "make test", []string{"make test", "go test **"})), ""},
		{"empty", "", "`project` must be"},
		{"truncated", "project = \"p", "line 1"},
		{"binary", "\x00\x01\x02", "line 1"},
		{"an unknown key", "project = \"p\"\n[checks]\nwhen = \"done\"\n", "line 3: unknown key `checks.when`"},
		{"a duplicate key", "project = \"p\"\nproject = \"q\"\n", "line 2"},
		{"a wrong type", "project = 1\n", "line 1"},
		{"no duration", "project = \"p\"\n[checks]\ntimeout = \"soon\"\n", "must be a duration"},
		{"a negative duration", "project = \"p\"\n[checks]\ntimeout = \"-1s\"\n", "must be a duration"},
		{"a project that names a path", "project = \"../p\"\n", "`project` must be"},
		{"deeply nested", "project = \"p\"\nx = " + strings.Repeat("[", 10000), "line 2"},
		{"huge", "# " + strings.Repeat("x", maxConfig), "at most"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t, tt.content)
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("err = %v, want a refusal with %q", err, tt.want)
			}
		})
	}
	if _, err := loadConfig(t.TempDir()); !fault.Is(err, fault.Refused) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := loadConfig(filepath.Join(t.TempDir(), "none")); !fault.Is(err, fault.NotFound) {
		t.Errorf("nothing: %v", err)
	}
}

func FuzzLoadConfig(f *testing.F) {
	f.Add(newConfig("p", "make test", nil))
	f.Add([]byte("project = 'p'\n[vars]\na = 'b'\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(dir, "satelle.toml")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := loadConfig(path)
		if err == nil && (c.Project == "" || c.CheckTimeout() <= 0) {
			t.Errorf("accepted %q as %+v", content, c)
		}
	})
}

func FuzzParseApprovers(f *testing.F) {
	f.Add([]byte("# who\nada ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJSbF8Y2Dh5qNHqDGzcVZF9RrP5nGqv1Eu0rQ3WJq7jC\n"))
	f.Add([]byte("bob namespaces=\"satelle\" ssh-ed25519 AAAA\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		approvers, err := parseApprovers(content)
		if err != nil && !fault.Is(err, fault.Refused) {
			t.Errorf("%q: %v", content, err)
		}
		for _, a := range approvers {
			if a.name == "" || a.key == nil {
				t.Errorf("%q gave %+v", content, a)
			}
		}
	})
}

func TestProposeDone(t *testing.T) {
	for _, tt := range []struct{ file, content, command, from string }{
		{"Makefile", "all:\n\ntest:\n\ttrue\n", "make test", "Makefile"},
		{"Makefile", "all:\n\ttrue\n", "git diff --check", ""},
		{"go.mod", "module x\n", "go test ./...", "go.mod"},
		{"package.json", `{"scripts":{"test":"x"}}`, "npm test", "package.json"},
		{"package.json", `{}`, "git diff --check", ""},
		{"README", "", "git diff --check", ""},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if command, from := proposeDone(dir); command != tt.command || from != tt.from {
			t.Errorf("%s %q: %q from %q", tt.file, tt.content, command, from)
		}
	}
}

func TestTail(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"short\n", 10, "short"},
		{"first line\nsecond\nthird\n", 15, "second\nthird"},
		{strings.Repeat("x", 20), 5, "xxxxx"},
		{"a\xffb", 10, "a�b"},
	} {
		if got := tail([]byte(tt.in), tt.n); got != tt.want {
			t.Errorf("tail(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}
