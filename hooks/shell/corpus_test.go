package shell

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The goals of the corpus: what changes files is always refused, and of what
// reads at least this part passes.
const readsGoal = 0.99

// score counts the commands of a kind.
type score struct{ caught, mutates, allowed, reads int }

// TestCorpus measures the judgement against a corpus of commands that were
// executed to see what they do. It lies outside of the repository:
// SATELLE_CORPUS names its folder. `make corpus` shows the scores.
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
	kinds := map[string]*score{}
	var missed, refused, policy []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct{ ID, Command, Verdict, Kind string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		eff := Judge(c.Command, env)
		if c.Kind == "policy" {
			policy = append(policy, fmt.Sprintf("%s %s: changes %v by %s, targets %v", c.ID, c.Verdict, eff.Changes, eff.Rule, eff.Targets))
			continue
		}
		s := kinds[c.Kind]
		if s == nil {
			s = &score{}
			kinds[c.Kind] = s
		}
		switch {
		case c.Verdict == "reads":
			if s.reads++; !eff.Changes {
				s.allowed++
				break
			}
			refused = append(refused, fmt.Sprintf("%s by %s: %q", c.ID, eff.Rule, c.Command))
		default:
			if s.mutates++; eff.Changes {
				s.caught++
				break
			}
			missed = append(missed, fmt.Sprintf("%s: %q", c.ID, c.Command))
		}
	}
	out := t.Output()
	var all score
	fmt.Fprintf(out, "%-16s %9s %9s\n", "kind", "mutates", "reads")
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		s := kinds[kind]
		fmt.Fprintf(out, "%-16s %4d/%4d %4d/%4d\n", kind, s.caught, s.mutates, s.allowed, s.reads)
		all.caught, all.mutates, all.allowed, all.reads = all.caught+s.caught, all.mutates+s.mutates, all.allowed+s.allowed, all.reads+s.reads
	}
	fmt.Fprintf(out, "%-16s %4d/%4d %4d/%4d\n", "all", all.caught, all.mutates, all.allowed, all.reads)
	for _, list := range []struct {
		what  string
		lines []string
	}{{"mutates, and missed", missed}, {"reads, and refused", refused}, {"policy, apart", policy}} {
		fmt.Fprintf(out, "%s: %d\n", list.what, len(list.lines))
		for _, line := range list.lines {
			fmt.Fprintf(out, "  %s\n", line)
		}
	}
	if all.mutates == 0 || len(missed) > 0 {
		t.Errorf("%d of %d commands that change files were missed", len(missed), all.mutates)
	}
	if float64(all.allowed) < readsGoal*float64(all.reads) {
		t.Errorf("%d of %d commands that read were refused", len(refused), all.reads)
	}
}
