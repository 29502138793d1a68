package shell

import "testing"

// TestPatternsThatMakeOptions: a pattern that begins a word finds a file that
// is called like an option.
func TestPatternsThatMakeOptions(t *testing.T) {
	env := testEnv
	env.Tree = "/repo"
	env.Dashed = func(dir string) bool { return dir == "/repo/docs" }
	for command, changes := range map[string]bool{
		"sort *":                                          false,
		"cd docs && sort *":                               true,
		"cd docs && sort ./*":                             false,
		"cd docs && sort -- *":                            false,
		"cd docs && cat *":                                false,
		"cd docs && sort ?*":                              true,
		"cd docs && sort [-a]*":                           true,
		"cd docs && find *":                               true,
		"cd docs && x=*; sort $x":                         true,
		"x=*; cd docs; sort $x":                           true,
		"x='a *'; cd docs; sort $x''":                     true,
		`x=*; cd docs && sort "./$x"`:                     false,
		"cd docs && for x in *; do git blame $x; done":    true,
		"for x in *; do git blame $x; done":               false,
		"cd docs && for x in *; do cat $x; done":          false,
		"sort docs/*":                                     false,
		"cd nowhere; sort *":                              true,
		"cd docs && sed -n 1p *.md":                       true,
		"cd docs && sh -c 'sort *'":                       true,
		`cd "$(git rev-parse --show-toplevel)" && sort *`: false,
		"cd /tmp && sort *":                               true,
		"(cd docs && ls); sort *":                         false,
	} {
		if eff := Judge(command, env); eff.Changes != changes {
			t.Errorf("changes is %v (%s): %s", eff.Changes, eff.Why, command)
		}
	}
}
