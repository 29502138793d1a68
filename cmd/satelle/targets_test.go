package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// recipes are the commands of the Makefile's targets.
func recipes(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+):.*\n((?:\t.*\n)*)`).FindAllStringSubmatch(string(b), -1) {
		all[m[1]] = m[2]
	}
	return all
}

// Those who begin, and CI, call these targets: `make integration` runs all tests
// that need no agent, and nothing in CI asks a real model.
func TestMakeTargets(t *testing.T) {
	all := recipes(t)
	for target, recipe := range map[string]string{
		"test":          "$(GO) test ./...",
		"integration":   "$(GO) test -race ./...",
		"planner-bench": "$(GO) run ./tests/plannerbench $(PLANNER_BENCH)",
		"codex-smoke":   "$(GO) test -tags codexlive -count=1 -v ./tests/codexlive/",
	} {
		if !strings.Contains(all[target], "\t"+recipe+"\n") {
			t.Errorf("make %s is %q", target, all[target])
		}
	}
	for _, target := range []string{"test", "integration"} {
		if strings.Contains(all[target], "-tags") {
			t.Errorf("make %s sets build tags: %q", target, all[target])
		}
	}
	ci, err := os.ReadFile(filepath.Join("..", "..", ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	called := regexp.MustCompile(`(?m)\bmake ([a-z-]+)`).FindAllStringSubmatch(string(ci), -1)
	if len(called) == 0 {
		t.Fatal(".ci/run calls no target")
	}
	for _, m := range called {
		if _, there := all[m[1]]; !there {
			t.Errorf(".ci/run calls make %s, which there is not", m[1])
		}
		if live := regexp.MustCompile(`test .*codexlive|-live\b|login`); live.MatchString(all[m[1]]) {
			t.Errorf(".ci/run asks a real model by make %s", m[1])
		}
	}
}

// What starts a real agent, or takes a key for one, stands behind the build tags
// that `make clients` and `make codex-smoke` set.
func TestAgentsStandBehindBuildTags(t *testing.T) {
	tagged := regexp.MustCompile(`(?m)^//go:build (clients|codexlive)\b`)
	starts := regexp.MustCompile(`LookPath\("(claude|codex|grok|opencode|npm|npx|node)"\)|Getenv\("\w*(API_KEY|AUTH_TOKEN)"\)|"\.clients"`)
	seen, behind := 0, 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != "..":
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go") || d.Name() == "targets_test.go":
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		if tagged.Match(b) {
			behind++
		} else if found := starts.Find(b); found != nil {
			t.Errorf("%s holds %s and stands behind no build tag", path, found)
		}
		return nil
	})
	if err != nil || seen < 50 || behind < 10 {
		t.Errorf("%d test files, %d behind a tag, %v", seen, behind, err)
	}
}
