package codexlive

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPrerequisiteNamesWhatIsMissing(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	says := func(want string) {
		t.Helper()
		err := Prerequisite(t.Context())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v", err)
		}
	}
	says("prerequisite: codex is not on the PATH")
	codex := func(script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(bin, "codex"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	codex("echo Not logged in\nexit 1\n")
	says("prerequisite: codex is not logged in; log in with: codex login (it said: Not logged in)")
	codex(`[ "$*" = "login status" ]`)
	says("")
}

// The live test is out of reach of everything that runs by itself.
func TestLiveTestIsForPeopleOnly(t *testing.T) {
	smoke, err := os.ReadFile("smoke_test.go")
	if err != nil || !strings.HasPrefix(string(smoke), "//go:build codexlive\n") {
		t.Errorf("smoke_test.go is not under its build tag: %v", err)
	}
	ci, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"codex-smoke", "codexlive", "PLANNER_BENCH", "-live", "login"} {
		if strings.Contains(string(ci), word) {
			t.Errorf(".ci/run names %s", word)
		}
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil || !strings.Contains(string(makefile), "\ncodex-smoke:") {
		t.Errorf("there is no `make codex-smoke`: %v", err)
	}
}
