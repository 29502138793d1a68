package engine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"satelle/internal/fault"
	"satelle/workflow"
)

// newRepo sets satelle up in a repository of its own.
func newRepo(t *testing.T) *Engine {
	t.Helper()
	dir := t.TempDir()
	repo, home := filepath.Join(dir, "repo"), filepath.Join(dir, "home")
	for _, d := range []string{repo, home} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("SATELLE_HOME", filepath.Join(home, ".satelle"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	if out, err := exec.Command("git", "init", "-q", "-b", "main", repo).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	if _, err := Init(t.Context(), repo); err != nil {
		t.Fatal(err)
	}
	return reopen(t, repo)
}

func reopen(t *testing.T, repo string) *Engine {
	t.Helper()
	e, err := Open(t.Context(), repo)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func ptr[T any](v T) *T { return &v }

func created(t *testing.T, e *Engine, f workflow.Fields) string {
	t.Helper()
	f.Title, f.Criteria = ptr("A"), &[]string{"a"}
	s, err := e.Create(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return s.ID
}

// while lets something happen after a move has read its story and before it
// decides, when the facts are collected.
func (e *Engine) while(t *testing.T, fn func(other *Engine)) {
	other := *e
	done := false
	e.now = func() time.Time {
		if !done {
			done = true
			fn(&other)
		}
		return time.Now()
	}
}

// TestMoveDecidesOnWhatIs: what an edit or a restamp has changed since a move
// began to read is what the gate judges, and the lane whose gates are asked.
func TestMoveDecidesOnWhatIs(t *testing.T) {
	for _, tt := range []struct {
		name   string
		moves  int
		other  func(ctx context.Context, e *Engine, id string) error
		refuse string
	}{
		{"its criteria are emptied", 0, func(ctx context.Context, e *Engine, id string) error {
			_, err := e.Edit(ctx, id, workflow.Fields{Criteria: &[]string{" "}})
			return err
		}, "AC1 is empty"},
		{"it comes to another lane", 0, func(ctx context.Context, e *Engine, id string) error {
			_, err := e.Edit(ctx, id, workflow.Fields{Category: ptr("substrate")})
			return err
		}, "no person has approved"},
		{"its accepts become stale", 1, func(ctx context.Context, e *Engine, id string) error {
			_, err := e.Edit(ctx, id, workflow.Fields{Criteria: &[]string{" "}})
			return err
		}, "AC1 is empty"},
		{"a person moves it to a route with another gate", 1, func(ctx context.Context, e *Engine, id string) error {
			file := filepath.Join(e.Top(), ".satelle", "workflows", "step.md")
			b, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			b = []byte(strings.Replace(string(b), "on: in_progress, done\nfor: substrate", "on: done\nfor: *", 1))
			if err := os.WriteFile(file, b, 0o600); err != nil {
				return err
			}
			_, err = e.Restamp(ctx, id)
			return err
		}, "no person has approved"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := newRepo(t)
			id := created(t, e, workflow.Fields{})
			for range tt.moves {
				if _, err := e.Set(t.Context(), id, SetOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			before, err := e.Story(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			e.while(t, func(other *Engine) {
				if err := tt.other(t.Context(), other, id); err != nil {
					t.Fatal(err)
				}
			})
			_, err = e.Set(t.Context(), id, SetOptions{})
			if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), tt.refuse) {
				t.Errorf("err = %v, want a refusal with %q", err, tt.refuse)
			}
			after, err := e.Story(t.Context(), id)
			if err != nil || after.Status != before.Status {
				t.Errorf("it went from %s to %s: %v", before.Status, after.Status, err)
			}
		})
	}
}

// TestApproveWhatWasSeen: a person's word is for the story that was read.
func TestApproveWhatWasSeen(t *testing.T) {
	e := newRepo(t)
	id := created(t, e, workflow.Fields{Category: ptr("substrate")})
	seen, err := e.Story(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Edit(t.Context(), id, workflow.Fields{Title: ptr("B")}); err != nil {
		t.Fatal(err)
	}
	err = e.View(t.Context(), func(st workflow.State, _ Lookup) error { return unchanged(st, seen) })
	if !fault.Is(err, fault.Busy) {
		t.Errorf("err = %v", err)
	}
}

// TestInitTrustsOnlyAtFirst: a check that comes back by way of init, in a
// repository that has a log, is trusted by nobody.
func TestInitTrustsOnlyAtFirst(t *testing.T) {
	e := newRepo(t)
	for name, text := range map[string]string{"Makefile": "test:\n\ttrue\n", ".satelle/satelle.toml": ""} {
		path := filepath.Join(e.Top(), name)
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if text != "" {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	rep, err := Init(t.Context(), e.Top())
	if err != nil || rep.Untrusted != 2 || rep.DoneCheck != "make test" {
		t.Errorf("%+v, %v", rep, err)
	}
}

// TestInitLeavesApprovingToApprovers where only a signature shows a person.
func TestInitLeavesApprovingToApprovers(t *testing.T) {
	e := newRepo(t)
	file := filepath.Join(e.Top(), ".satelle", "approvers")
	line := "ada ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ\n"
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(e.Top(), ".satelle", ".gitignore")); err != nil {
		t.Fatal(err)
	}
	rep, err := Init(t.Context(), e.Top())
	if err != nil || rep.Story == "" {
		t.Fatalf("%+v, %v", rep, err)
	}
	if s, err := e.Story(t.Context(), rep.Story); err != nil || s.Status != "backlog" {
		t.Errorf("the story is in %s: %v", s.Status, err)
	}
}

func TestParseApprovers(t *testing.T) {
	const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ"
	for _, tt := range []struct {
		line, name, refuse string
	}{
		{"ada " + key, "ada", ""},
		{`ada namespaces="satelle" ` + key, "ada", ""},
		{`ada namespaces="git,satelle" ` + key + " comment", "ada", ""},
		{"# a comment", "", ""},
		{`ada namespaces="git" ` + key, "", "is not supported"},
		{`ada namespaces="not-satelle" ` + key, "", "is not supported"},
		{`ada cert-authority ` + key, "", "is not supported"},
		{`ada valid-before="20200101" ` + key, "", "is not supported"},
		{"ada", "", "no key after"},
		{"ada ssh-ed25519", "", "no ssh key"},
	} {
		got, err := parseApprovers([]byte(tt.line + "\n"))
		if tt.refuse != "" {
			if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), tt.refuse) {
				t.Errorf("%s: %v, want %q", tt.line, err, tt.refuse)
			}
			continue
		}
		if err != nil || (len(got) > 0) != (tt.name != "") || tt.name != "" && got[0].name != tt.name {
			t.Errorf("%s: %v, %v", tt.line, got, err)
		}
	}
}

// TestPersonName: what the repository's settings call a person can't pass for
// another record in a list.
func TestPersonName(t *testing.T) {
	e := newRepo(t)
	for name, want := range map[string]bool{
		"ada@example.org": true, "Åda": true, "": false, "a\nb": false, "a\x1b[2J": false, "a\u202eb": false, "a\xff": false, strings.Repeat("m", 1000): false,
	} {
		if out, err := exec.Command("git", "-C", e.Top(), "config", "user.email", name).CombinedOutput(); err != nil {
			t.Fatalf("git config: %v\n%s", err, out)
		}
		if got := e.Actor(t.Context()).Name; (got == name) != want || got == "" {
			t.Errorf("%q is called %q", name, got)
		}
	}
}

func TestStatementIsLines(t *testing.T) {
	if _, err := statement("redact", "o", []string{"d", "a\nb"}); !fault.Is(err, fault.Usage) {
		t.Errorf("a part of two lines: %v", err)
	}
	got, err := statement("approve", "o", []string{"a", "b"})
	if err != nil || string(got) != "satelle approve\no\na\nb\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestCheckEnv(t *testing.T) {
	got := unsteered([]string{
		"PATH=/bin", "HOME=/h", "SATELLE_HOME=/s", "SATELLE_TOKEN=t", "MAKEFLAGS=-n", "MAKEFLAGSX=1", "BASH_ENV=x", "BASH_FUNC_make%%=() { :; }",
		"LD_PRELOAD=x", "GIT_DIR=x", "GIT_AUTHOR_NAME=Ada", "GIT_CONFIG_KEY_0=core.hooksPath", "ENV=x", "ENVIRONMENT=test", "MAKEFILES",
	})
	want := "PATH=/bin HOME=/h SATELLE_HOME=/s MAKEFLAGSX=1 GIT_AUTHOR_NAME=Ada ENVIRONMENT=test"
	if strings.Join(got, " ") != want {
		t.Errorf("got %q", got)
	}
}
