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

// example judges an example of a rule.
func example(r Rule, command string) Effect {
	if r.Name == rulePowerShell {
		return PowerShell(command, testEnv)
	}
	if part, more := strings.CutSuffix(command, "…"); more {
		command = strings.Repeat(part, maxCode/len(part)+1)
	}
	return Judge(command, testEnv)
}

func TestRulesByExample(t *testing.T) {
	names, programs := map[string]bool{}, map[string]bool{}
	for _, r := range Rules() {
		if names[r.Name] {
			t.Errorf("two rules are called %s", r.Name)
		}
		names[r.Name] = true
	}
	for _, table := range tables {
		for _, r := range table {
			for _, name := range strings.Fields(r.programs) {
				if programs[r.of+" "+name] {
					t.Errorf("%s %s has two rules", r.of, name)
				}
				programs[r.of+" "+name] = true
			}
		}
	}
	for _, r := range Rules() {
		if r.Name == "" || r.Why == "" || r.Reads == "" || r.Changes == "" {
			t.Errorf("not a whole rule: %+v", r)
		}
		if eff := example(r, r.Reads); eff.Changes || eff.Rule != "" {
			t.Errorf("%s: refused %s: %s", r.Name, r.Reads, eff.Why)
		}
		eff := example(r, r.Changes)
		if !eff.Changes || !names[eff.Rule] {
			t.Errorf("%s: changes is %v by rule %q: %s", r.Name, eff.Changes, eff.Rule, r.Changes)
		}
		if r.Programs == "" && eff.Rule != r.Name {
			t.Errorf("%s: another rule decided: %s", r.Name, eff.Rule)
		}
	}
	for _, commands := range cases(t) {
		for _, command := range commands {
			if eff := Judge(command, testEnv); eff.Changes != names[eff.Rule] {
				t.Errorf("changes is %v by rule %q: %s", eff.Changes, eff.Rule, command)
			}
		}
	}
}
