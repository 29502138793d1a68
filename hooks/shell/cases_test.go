package shell

import (
	"os"
	"strings"
	"testing"
)

var testEnv = Env{
	Dir: "/repo", Home: "/home/u", Temp: "/tmp",
	Exported: func(name string) bool { return name == "PATH" || name == "HOME" || name == "EXPORTED" },
	IsDir:    func(path string) bool { return path == "/repo/docs" || path == "/repo/src" || path == "/tmp" },
	OwnGit:   func(dir string) bool { return dir == "/repo" || strings.HasPrefix(dir, "/repo/") },
}

// cases returns the commands of testdata/cases.txt by verdict.
func cases(t testing.TB) map[string][]string {
	t.Helper()
	b, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\f`, "\f")
	all := map[string][]string{}
	for _, line := range strings.Split(string(b), "\n") {
		verdict, command, ok := strings.Cut(line, " ")
		if !ok || verdict == "#" {
			continue
		}
		all[verdict] = append(all[verdict], unescape.Replace(strings.TrimLeft(command, " ")))
	}
	return all
}

func TestCases(t *testing.T) {
	all := cases(t)
	if len(all) != 2 {
		t.Fatalf("verdicts are reads and changes, but %d are there", len(all))
	}
	for verdict, commands := range all {
		for _, command := range commands {
			eff := Judge(command, testEnv)
			if eff.Changes != (verdict == "changes") {
				t.Errorf("%s, but changes is %v (%s): %s", verdict, eff.Changes, eff.Why, command)
			}
			if eff.Changes != (eff.Why != "") {
				t.Errorf("changes is %v, the reason %q: %s", eff.Changes, eff.Why, command)
			}
		}
	}
}

func TestRulesByExample(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rules {
		for _, name := range strings.Fields(r.names) {
			if seen[name] {
				t.Errorf("%s has two rules", name)
			}
			seen[name] = true
		}
		if r.why == "" {
			t.Errorf("%s: no reason", r.names)
		}
		if r.reads != "" && Judge(r.reads, testEnv).Changes {
			t.Errorf("%s: refused %s", r.names, r.reads)
		}
		if r.changes == "" || !Judge(r.changes, testEnv).Changes {
			t.Errorf("%s: let pass %q", r.names, r.changes)
		}
	}
	for _, r := range gitTable {
		if eff := Judge("git "+r.reads, testEnv); eff.Changes {
			t.Errorf("refused git %s", r.reads)
		}
		if !Judge("git "+r.changes, testEnv).Changes {
			t.Errorf("let pass git %s", r.changes)
		}
	}
}
