package shell

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestTargets(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"echo x > a", "/repo/a"},
		{"echo x >> /tmp/a", "/tmp/a"},
		{"cd docs && echo x > a", "/repo/docs/a"},
		{"cd docs; echo x > a", "/repo/docs/a"},
		{"cd nowhere && echo x > a", "/repo/nowhere/a"},
		{"cd nowhere; echo x > a", "?"},
		{"cd nowhere || exit 1; echo x > a", "/repo/nowhere/a"},
		{"cd nowhere || true; echo x > a", "?"},
		{"cd /tmp || exit; echo x > a", "/tmp/a"},
		{"if true; then cd /tmp; fi; echo x > a", "?"},
		{"(cd /tmp; echo x > a); echo y > b", "/tmp/a /repo/b"},
		{"cd /tmp | cat; echo x > a", "/repo/a"},
		{"while read d; do cd docs; echo x > a; done", "?"},
		{"pushd /tmp > /dev/null; echo x > a; popd; echo y > b", "/tmp/a /repo/b"},
		{"cd -; echo x > a", "?"},
		{"f() { cd /tmp; }; f; echo x > a", "?"},
		{"env -C docs touch a", "/repo/docs/a"},
		{"bash -c 'cd /tmp && touch a'", "/tmp/a"},
		{"d=/tmp; cp a $d/b", "/tmp/b*"},
		{`d=$(mktemp -d); echo x > "$d/a"`, "/tmp/tmp.satelle /tmp/tmp.satelle/a"},
		{"echo x > ~/a", "/home/u/a"},
		{"echo x > $HOME/a", "/home/u/a"},
		{"echo x > ~root/a", "?"},
		{"echo x > $TMPDIR/a", "/tmp/a"},
		{"TMPDIR=.; echo x > $TMPDIR/a", "?"},
		{"rm -rf a b", "/repo/a* /repo/b*"},
		{"rm -rf *", "?"},
		{"rm -rf /tmp/x*", "?"},
		{"cp a b /tmp", "/tmp/a* /tmp/b*"},
		{"cp -r a /tmp", "/tmp/a*"},
		{"cp -t /tmp a", "?"},
		{"mv a /tmp/b", "/repo/a* /tmp/b*"},
		{"mkdir -p a/b", "/repo/a/b"},
		{"chmod +x a", "/repo/a"},
		{"sed -i s/a/b/ c d", "/repo/c /repo/d"},
		{"sed -ni.bak p c", "/repo/c /repo/c.bak"},
		{"sed --in-place=.bak p c", "/repo/c /repo/c.bak"},
		{"sed -i'/repo/*' p /tmp/c", "?"},
		{"sed -i '*.b' p /tmp/c", "?"},
		{"chmod -R +x docs", "/repo/docs*"},
		{"chmod +x docs", "/repo/docs"},
		{"ln -sfn /tmp/x docs", "?"},
		{"cp -T a docs", "/repo/docs* /repo/docs/a*"},
		{"cp -b a /tmp/x", "?"},
		{"rmdir -p docs/a", "?"},
		{"cd docs/.. && echo x > a", "/repo/a"},
		{"ln -s /repo /tmp/l && echo x > /tmp/l/a", "?"},
		{"ln -s /repo /tmp/l && cd /tmp/l && echo x > a", "?"},
		{"ln -s a /tmp/l && echo x > /tmp/l", "?"},
		{"mv b /tmp/l && echo x > /tmp/l", "?"},
		{"cp -r docs /tmp/x && echo x > /tmp/x/y/z", "?"},
		{"cp a /tmp/x && echo x >> /tmp/x", "/tmp/x* /tmp/x"},
		{"bash -c 'ln -s /repo /tmp/l'; echo x > /tmp/l/a", "?"},
		{"ln -s a /tmp/l && echo x > /tmp/b", "/tmp/l* /tmp/b"},
		{"cd docs && cd .. && echo x > a", "/repo/a"},
		{"cd -P docs && echo x > a", "?"},
		{"cd nowhere/../docs; echo x > a", "?"},
		{"dd if=a of=~/b", "?"},
		{"mkdir -p x/../../tmp/y", "?"},
		{"mkdir -p ../x", "/repo/../x"},
		{"install -D a x/../../tmp/y", "?"},
		{"sh -c 'cd /tmp && echo x &> a'", "? /tmp/a"},
		{"sh -c 'pushd /tmp; echo x > a'", "? /tmp/a"},
		{"bash -c 'pushd /tmp; echo x > a'", "/tmp/a"},
		{"echo x > /proc/self/cwd/a", "?"},
		{"cd /proc/self/cwd && echo x > a", "?"},
		{"echo x | tee a /tmp/b", "/repo/a /tmp/b"},
		{"dd if=/dev/zero of=/tmp/z", "/tmp/z"},
		{"make > /tmp/log", "? /tmp/log"},
		{"touch a; make", "? /repo/a"},
		{"ls -l", ""},
	} {
		eff := Judge(c.command, testEnv)
		var got []string
		if eff.Changes && !eff.Known {
			got = append(got, "?")
		}
		for _, target := range eff.Targets {
			path := target.Path
			if target.Tree {
				path += "*"
			}
			got = append(got, path)
		}
		want := c.want
		if strings.HasPrefix(c.command, "d=$(mktemp") {
			want = "/tmp/tmp.satelle* /tmp/tmp.satelle/a"
		}
		if strings.Join(got, " ") != want && !(want == "?" && len(got) > 0 && got[0] == "?") {
			t.Errorf("%s\ngot  %s\nwant %s", c.command, strings.Join(got, " "), want)
		}
	}
}

func TestLinksOfTextsWithin(t *testing.T) {
	eff := Judge("bash -c 'ln -s /repo /tmp/l; cp a b'", testEnv)
	if len(eff.Links) != 1 || eff.Links[0] != "/repo" || len(eff.Copies) != 1 {
		t.Errorf("links are %q, copies %q", eff.Links, eff.Copies)
	}
}

func TestBypass(t *testing.T) {
	for command, want := range map[string]bool{
		"git commit --no-verify -m x":                 true,
		"git commit --no-verif -m x":                  true,
		"git commit -nm x":                            true,
		"git commit -anm x":                           true,
		"git commit -m -n":                            false,
		"git commit -mn":                              false,
		"git commit -m 'never use --no-verify'":       false,
		"git commit -F notes":                         false,
		"git push --no-verify":                        true,
		"git merge -n x":                              false,
		"git merge --no-verify-signatures x":          false,
		"git am -n":                                   true,
		"git -c core.hooksPath=/dev/null commit -m x": true,
		"git -c core.HOOKSPATH=x commit -m x":         true,
		"git -c alias.x='commit -n' x":                true,
		"git -c include.path=x commit":                true,
		"git --config-env=core.hooksPath=X commit":    true,
		"GIT_CONFIG_COUNT=1 git commit -m x":          true,
		"env GIT_CONFIG_GLOBAL=x git commit -m x":     true,
		"export GIT_CONFIG_GLOBAL=x":                  true,
		"git config core.hooksPath x":                 true,
		"git config --global Core.HooksPath x":        true,
		"git config --unset core.hooksPath":           true,
		"git config --remove-section core":            true,
		"git config -e":                               true,
		"git config $X y":                             true,
		"git config alias.ci 'commit -n'":             true,
		"git config user.name x":                      false,
		"git config core.hooksPath":                   false,
		"nohup git commit --no-verify":                true,
		"sh -c 'git commit -n'":                       true,
		"xargs git commit -n":                         true,
		"HUSKY=0 git commit -m x":                     true,
		"git commit -m x":                             false,
		"echo --no-verify":                            false,
		"grep -rn core.hooksPath docs":                false,
		"git log --grep=--no-verify":                  false,
	} {
		if eff := Judge(command, testEnv); (eff.Bypass != "") != want {
			t.Errorf("%s: bypass is %q", command, eff.Bypass)
		}
	}
}

func TestSatelle(t *testing.T) {
	for command, want := range map[string]string{
		"satelle status":                              "satelle[status] direct",
		"/home/u/.satelle/bin/satelle trust":          "/home/u/.satelle/bin/satelle[trust] direct",
		"satelle story set sty_1 --next && ls":        "satelle[story set sty_1 --next] direct",
		"satelle story comment x --body \"$(cat a)\"": "satelle[story comment x --body *] direct",
		"cat a | satelle story attach x --file -":     "satelle[story attach x --file -] direct",
		"bash -lc 'satelle trust'":                    "satelle[trust] direct",
		"X=1 satelle trust":                           "satelle[trust]",
		"PATH=. satelle status":                       "satelle[status]",
		"satelle() { rm a; }; satelle status":         "satelle[status]",
		"env satelle trust":                           "satelle[trust]",
		"timeout 5 satelle trust":                     "satelle[trust]",
		"command satelle trust":                       "satelle[trust]",
		"exec satelle trust":                          "satelle[trust]",
		"nohup setsid satelle trust":                  "satelle[trust]",
		"echo trust | xargs satelle":                  "satelle[*]",
		"x=satelle; $x trust":                         "satelle[trust] direct",
		"\"$(which satelle)\" trust":                  "",
		"ls satelle":                                  "",
		"PATH=.:$PATH; satelle status":                "satelle[status]",
		"alias satelle=rm\nsatelle status":            "satelle[status]",
		"hash -p ./x satelle; satelle status":         "satelle[status]",
	} {
		var got []string
		for _, i := range Judge(command, testEnv).Satelle {
			s := fmt.Sprintf("%s%v", i.Program, i.Args)
			if i.Direct {
				s += " direct"
			}
			got = append(got, s)
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s\ngot  %s\nwant %s", command, strings.Join(got, ","), want)
		}
	}
	if eff := Judge("satelle story start --title 'rm > x' --ac done", testEnv); eff.Changes {
		t.Errorf("a call of satelle counts as a change: %s", eff.Why)
	}
	if eff := Judge("satelle story docs x > a", testEnv); !eff.Changes {
		t.Error("the redirection of satelle's output was overlooked")
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		command, text, dir string
		quiet              bool
	}{
		{"cat .claude/settings.json", ".claude/settings.json", "/repo", true},
		{"cat .claude/settings.json; rm a", ".claude/settings.json", "/repo", true},
		{"cat .claude/settings.json | sh", ".claude/settings.json", "/repo", false},
		{"rm $(echo .claude/x)", ".claude/x", "/repo", false},
		{"f=.claude/x; rm $f", ".claude/x", "/repo", false},
		{"for f in .claude/x; do rm $f; done", ".claude/x", "/repo", false},
		{"while read f; do rm $f; done <<< .claude/x", ".claude/x", "/repo", false},
		{"set -- .claude/x; rm \"$@\"", ".claude/x", "/repo", false},
		{"cd .claude && rm x", ".claude", "/repo", false},
		{"cd docs && unknown x", "x", "/repo/docs", false},
		{"rm .c''laude/x", ".claude/x", "/repo", false},
		{"rm .cl{a,}ude/x", ".cl*ude/x", "/repo", false},
		{"rm \"$X\"/settings.json", "*/settings.json", "/repo", false},
		{"python3 -c 'open(\".claude/x\", 1)'", "open(\".claude/x\", 1)", "/repo", false},
		{"python3 <<'E'\nopen('.claude/x', 1)\nE", "open('.claude/x', 1)\n", "/repo", false},
		{"echo x > .claude/x", ".claude/x", "/repo", false},
	} {
		found := false
		for _, w := range Judge(c.command, testEnv).Words {
			if w.Text == c.text && w.Dir == c.dir {
				found = true
				if w.Quiet != c.quiet {
					t.Errorf("%s: quiet is %v", c.command, w.Quiet)
				}
			}
		}
		if !found {
			t.Errorf("%s: %q was not seen among %+v", c.command, c.text, Judge(c.command, testEnv).Words)
		}
	}
	for _, w := range Judge("git commit -m 'docs: .claude/settings.json'", testEnv).Words {
		if strings.Contains(w.Text, ".claude") {
			t.Error("the message of a commit was taken for a path")
		}
	}
}

// functions is a text of functions, each of which calls the next one several
// times.
func functions(levels, calls int) string {
	var b strings.Builder
	for i := range levels {
		fmt.Fprintf(&b, "f%d() { %s }\n", i, strings.Repeat(fmt.Sprintf("f%d; ", i+1), calls))
	}
	fmt.Fprintf(&b, "f%d() { ls; }\nf0", levels)
	return b.String()
}

func TestLimits(t *testing.T) {
	deep := strings.Repeat("$(echo ", 5000) + "x" + strings.Repeat(")", 5000)
	for name, c := range map[string]struct {
		text    string
		changes bool
	}{
		"2 MB of (":                  {strings.Repeat("(", 2<<20), true},
		"100 kB of (":                {strings.Repeat("(", 100_000), true},
		"2 MB of $(":                 {strings.Repeat("$(", 1<<20), true},
		"nested substitutions":       {deep, true},
		"many ifs":                   {strings.Repeat("if ", 10_000), true},
		"many bangs":                 {strings.Repeat("! ", 10_000), true},
		"many braces":                {strings.Repeat("{ ", 10_000), true},
		"many backquotes":            {strings.Repeat("`", 30_000), true},
		"many quotes":                {"echo " + strings.Repeat(`"`, 30_000), false},
		"many lists":                 {strings.Repeat("ls && ", 5000) + "rm a", true},
		"long lists":                 {strings.Repeat("ls && ", 50_000) + "ls", true},
		"a long reader":              {"echo " + strings.Repeat("a", 30<<10), false},
		"a long word":                {"echo " + strings.Repeat("a", 300_000) + " | wc -c", false},
		"a longer word":              {"echo " + strings.Repeat("a", 4<<20), false},
		"long words":                 {"echo " + strings.Repeat(strings.Repeat("a", 8<<10)+" ", 30), true},
		"long words that differ":     {"x" + strings.Repeat("a", 8<<10) + "=ls; y=$x" + strings.Repeat("a", 8<<10) + "; $y", false},
		"long words, one a program":  {"x" + strings.Repeat("a", 8<<10) + "b=rm; x" + strings.Repeat("a", 8<<10) + "c=ls; $x" + strings.Repeat("a", 8<<10) + "b a", true},
		"many words":                 {"echo " + strings.Repeat("a ", 20<<10), true},
		"functions in functions":     {functions(30, 4), true},
		"functions, many":            {functions(7, 100), true},
		"texts in texts":             {"x='" + strings.Repeat("ls;", 5_000) + "'; " + strings.Repeat(`sh -c "$x";`, 1_000), true},
		"many traps":                 {strings.Repeat("trap 'ls; ls; ls' EXIT;", 200), false},
		"many loops":                 {strings.Repeat("for i in 1; do ", 500) + "ls" + strings.Repeat("; done", 500), false},
		"words in lists":             {strings.Repeat("ls a && ", 900) + "ls a", false},
		"a deep program":             {"python3 -c '" + strings.Repeat("open(", 3_000) + "1" + strings.Repeat(")", 3_000) + "'", true},
		"templates in templates":     {"node -e '" + strings.Repeat("`${", 2_000) + "1" + strings.Repeat("}`", 2_000) + "'", true},
		"words, too many":            {strings.Repeat("ls a && ", 3_000) + "ls a", true},
		"a long document":            {"cat <<'EOF'\n" + strings.Repeat("f(x) { [\n", 5_000) + "EOF\n", false},
		"a long document, then more": {"cat <<'EOF'\n" + strings.Repeat("x\n", 20_000) + "EOF\nrm a", true},
		"a document with openings":   {"cat <<EOF\n" + strings.Repeat("$(", 20_000) + "\nEOF\n", true},
		"a text that feigns one":     {"echo '<<EOF'\n" + strings.Repeat("(", 200_000), true},
		"too much":                   {"cat <<'EOF'\n" + strings.Repeat("x\n", 1<<20) + "EOF\n", true},
		"NUL":                        {"ls\x00", true},
		"nothing":                    {"", false},
		"blanks":                     {" \n\t ", false},
	} {
		begin := time.Now()
		eff := Judge(c.text, testEnv)
		if eff.Changes != c.changes {
			t.Errorf("%s: changes is %v (%s)", name, eff.Changes, eff.Why)
		}
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		if len(eff.Why) > 2*maxWhy {
			t.Errorf("%s: the reason has %d bytes", name, len(eff.Why))
		}
	}
}

func TestArgv(t *testing.T) {
	for _, c := range []struct {
		argv    []string
		changes bool
	}{
		{[]string{"git", "status", "--short"}, false},
		{[]string{"ls", "a > b; rm x"}, false},
		{[]string{"bash", "-lc", "cd src && rm a.py"}, true},
		{[]string{"bash", "-lc", "ls"}, false},
		{[]string{"rm", "x"}, true},
		{[]string{"cd", "x"}, true}, // there is no such program
		{[]string{""}, true},
	} {
		if eff := Argv(c.argv, testEnv); eff.Changes != c.changes {
			t.Errorf("%q: changes is %v (%s)", c.argv, eff.Changes, eff.Why)
		}
	}
}

func TestPowerShell(t *testing.T) {
	for command, changes := range map[string]bool{
		"Get-ChildItem | Select-Object -First 3":   false,
		"get-content a.txt":                        false,
		"Set-Content a.txt x":                      true,
		"Get-ChildItem > a":                        true,
		"Get-ChildItem; rm a":                      true,
		"Get-ChildItem | ForEach-Object { rm $_ }": true,
		"Get-ChildItem | Out-File a":               true,
		"& ./x":                                    true,
		"(Get-Item a).Delete()":                    true,
		"Get-Content a\nRemove-Item a":             true,
		"":                                         true,
		"Get-ChildItem |":                          true,
	} {
		if eff := PowerShell(command, testEnv); eff.Changes != changes {
			t.Errorf("%q: changes is %v", command, eff.Changes)
		}
	}
}

// FuzzJudge holds what must be true of any text: it ends, explains itself by a
// rule of the table, and neither a redirection of it is overlooked nor a command
// before it, whatever a person counts as reading.
func FuzzJudge(f *testing.F) {
	for _, commands := range cases(f) {
		for _, command := range commands {
			f.Add(command)
		}
	}
	names := map[string]bool{}
	for _, r := range Rules() {
		names[r.Name] = true
	}
	gate := testEnv
	gate.Tree, gate.Readers = "/repo", [][]string{{"make", "**"}, {"go", "test", "*"}}
	f.Fuzz(func(t *testing.T, command string) {
		eff := Judge(command, testEnv)
		if eff.Changes != (eff.Why != "") || eff.Changes != names[eff.Rule] {
			t.Errorf("changes is %v by rule %q, the reason %q", eff.Changes, eff.Rule, eff.Why)
		}
		if len(eff.Words) > maxWords+1 {
			t.Errorf("%d words", len(eff.Words))
		}
		if !Judge("rm file\n"+command, gate).Changes {
			t.Error("a command before it was overlooked")
		}
		if eff.Known && !eff.Changes || !eff.Changes && len(eff.Targets) > 0 {
			t.Errorf("targets without a change: %+v", eff)
		}
		if !eff.Changes && !Judge("{ "+command+"\n} > file", gate).Changes {
			t.Error("a redirection was overlooked")
		}
	})
}
