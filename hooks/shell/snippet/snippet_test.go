package snippet

import (
	"os"
	"strings"
	"testing"
)

var languages = map[string]func(string) bool{"python": Python, "perl": Perl, "node": Node, "ruby": Ruby, "lua": Lua}

// cases returns the programs of testdata/LANGUAGE.txt by verdict.
func cases(t testing.TB, language string) (reads, changes []string) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + language + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r")
	for line := range strings.Lines(string(b)) {
		verdict, code, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		code = unescape.Replace(strings.TrimLeft(code, " "))
		switch verdict {
		case "reads":
			reads = append(reads, code)
		case "changes":
			changes = append(changes, code)
		}
	}
	return reads, changes
}

func TestCases(t *testing.T) {
	for language, judge := range languages {
		reads, changes := cases(t, language)
		if len(reads) == 0 || len(changes) == 0 {
			t.Errorf("%s: no cases", language)
		}
		for _, code := range reads {
			if !judge(code) {
				t.Errorf("%s: refused: %s", language, code)
			}
		}
		for _, code := range changes {
			if judge(code) {
				t.Errorf("%s: let pass: %s", language, code)
			}
		}
	}
}
