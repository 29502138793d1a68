package workflow

import (
	"slices"
	"strings"
	"testing"

	"satelle/workflow/route"
)

func TestWatch(t *testing.T) {
	t.Parallel()
	lane := route.Lane{Skills: map[string]route.Skill{
		"tests": {Kind: route.KindCheck, Watch: []string{"Makefile", "testdata/**"}},
		"lint":  {Kind: route.KindCheck},
		"sound": {Kind: route.KindRubric, Watch: []string{"Makefile", "lib/**"}},
	}}
	check := Judge{Skill: "tests", Kind: route.KindCheck, Mandatory: true}
	rubric := Judge{Skill: "sound", Kind: route.KindRubric, Mandatory: true}
	human := Judge{Skill: route.Human, Kind: route.KindBuiltin, Mandatory: true}
	heard := func(j Judge) Judge { j.Mandatory = false; return j }
	by := func(agent string) Judge {
		return Judge{Skill: "sound", Kind: route.KindRubric, Agent: agent, Mandatory: true}
	}
	other := by("other")
	bindings := map[string]Bound{
		"reviewer": {Reviewer: true, Files: []string{"judge.py", "tools/judge"}, Secondary: "second"},
		"second":   {Reviewer: true, Files: []string{"second.py"}}, "other": {Reviewer: true},
		"script": {Reviewer: true, Own: true}, "falls": {Reviewer: true, Secondary: "script"},
	}
	for _, tt := range []struct {
		name    string
		gate    []Judge
		changed []string
		asks    bool // for a person who was not asked before
	}{
		{"nothing changed", []Judge{check}, nil, false},
		{"something else changed", []Judge{check}, []string{"main.go", "sub/Makefile"}, false},
		{"what it rests on changed", []Judge{check}, []string{"main.go", "Makefile"}, true},
		{"below a folder", []Judge{check}, []string{"testdata/a/b"}, true},
		{"a reviewer judges, too", []Judge{check, rubric}, []string{"Makefile"}, false},
		{"a person judges, too", []Judge{check, human}, []string{"Makefile"}, false},
		{"a reviewer is only heard", []Judge{check, heard(rubric)}, []string{"Makefile"}, true},
		{"a person is only heard", []Judge{check, heard(human)}, []string{"Makefile"}, true},
		{"a check that is only heard", []Judge{heard(check)}, []string{"Makefile"}, true},
		{"another check", []Judge{{Skill: "lint", Kind: route.KindCheck, Mandatory: true}}, []string{"Makefile"}, false},
		{"a reviewer's own program changed", []Judge{rubric}, []string{"judge.py"}, true},
		{"a folder of it", []Judge{check, rubric}, []string{"tools/judge/main.py"}, true},
		{"its stand-in's", []Judge{rubric}, []string{"second.py"}, true},
		{"another reviewer judges, too", []Judge{rubric, other}, []string{"judge.py"}, false},
		{"a person judges it, too", []Judge{rubric, human}, []string{"judge.py"}, false},
		{"what lies beside it", []Judge{rubric}, []string{"judge.pyc", "tools/judges", "x/judge.py"}, false},
		{"what a check rests on, and its reviewer's program", []Judge{check, rubric}, []string{"Makefile", "judge.py"}, true},
		{"another's program", []Judge{other}, []string{"judge.py"}, false},
		{"what a program of one's own rests on", []Judge{by("script")}, []string{"lib/a.sh"}, true},
		{"what its stand-in rests on", []Judge{by("falls")}, []string{"lib/a.sh"}, true},
		{"a known CLI judges, too", []Judge{by("script"), other}, []string{"lib/a.sh"}, false},
		{"a program of one's own beside a check", []Judge{check, by("script")}, []string{"Makefile"}, true},
		{"what it does not rest on", []Judge{by("script")}, []string{"a.sh"}, false},
		{"a known CLI rests on none of it", []Judge{other}, []string{"lib/a.sh"}, false},
		{"a reviewer watches nothing", []Judge{heard(rubric)}, []string{"Makefile"}, false},
	} {
		got := withWatch(slices.Clone(tt.gate), lane, bindings, tt.changed)
		people := 0
		for _, j := range got {
			if j.Skill == route.Human && j.Mandatory {
				people++
			}
		}
		if before := slices.ContainsFunc(tt.gate, func(j Judge) bool { return j.Skill == route.Human && j.Mandatory }); (people == 1) != (tt.asks || before) || people > 1 {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

func TestCheckGlobs(t *testing.T) {
	t.Parallel()
	for glob, ok := range map[string]bool{"Makefile": true, "testdata/**": true, "*.go": true, "": false, "/etc": false, "../x": false, "[": false, "a\nb": false} {
		if err := CheckGlobs([]string{glob}); (err == nil) != ok {
			t.Errorf("%q: %v", glob, err)
		}
	}
	if err := CheckGlobs(slices.Repeat([]string{"a"}, maxGlobs+1)); err == nil {
		t.Error("any number of globs is read")
	}
	if said := saidOfWatched([]string{"a", "b", "c", "d", "e", "f", "g"}); !strings.Contains(said, `"e" and 2 more`) {
		t.Error(said)
	}
}
