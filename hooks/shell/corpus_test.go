package shell

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCorpus measures the judgement against a corpus of commands that were
// executed to see what they do. It lies outside of the repository:
// SATELLE_CORPUS names its folder.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("SATELLE_CORPUS")
	if dir == "" {
		t.Log("SATELLE_CORPUS IS NOT SET: THE CORPUS OF COMMANDS IS ABSENT, only the cases of this package ran")
		return
	}
	f, err := os.Open(filepath.Join(dir, "shell.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	env := Env{
		Dir: "/tmp/w/repo", Home: "/tmp/w/home", Temp: "/tmp",
		IsDir:  func(path string) bool { return strings.HasPrefix(path, "/tmp/w/repo/") },
		OwnGit: func(dir string) bool { return strings.HasPrefix(filepath.Clean(dir), "/tmp/w/") },
	}
	var caught, mutates, allowed, reads int
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct{ ID, Command, Verdict, Kind string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		eff := Judge(c.Command, env)
		if c.Kind == "policy" {
			t.Logf("policy: %s: changes=%v targets=%v: %q", c.Verdict, eff.Changes, eff.Targets, c.Command)
			continue
		}
		if c.Verdict == "reads" {
			if reads++; eff.Changes {
				t.Logf("refused %s: %q: %s", c.ID, c.Command, eff.Why)
			} else {
				allowed++
			}
			continue
		}
		if mutates++; eff.Changes {
			caught++
		} else {
			t.Errorf("MISSED %s: %q", c.ID, c.Command)
		}
	}
	t.Logf("mutates caught: %d of %d; reads allowed: %d of %d (%.1f %%)", caught, mutates, allowed, reads, 100*float64(allowed)/float64(reads))
	if float64(allowed) < 0.85*float64(reads) {
		t.Error("too many readers are refused")
	}
}
