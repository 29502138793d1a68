package spool

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var lineFields = []func(*Line) *string{
	func(l *Line) *string { return &l.Harness }, func(l *Line) *string { return &l.Agent }, func(l *Line) *string { return &l.ID },
	func(l *Line) *string { return &l.Tool }, func(l *Line) *string { return &l.Why }, func(l *Line) *string { return &l.Rule }, func(l *Line) *string { return &l.Cause },
	func(l *Line) *string { return &l.Mode }, func(l *Line) *string { return &l.Tree }, func(l *Line) *string { return &l.Story },
	func(l *Line) *string { return &l.Step }, func(l *Line) *string { return &l.Holding },
}

// file returns a line as it stands between its line ends.
func text(t interface{ Fatalf(string, ...any) }, b []byte) []byte {
	if len(b) > MaxLine || b[0] != '\n' || b[len(b)-1] != '\n' || strings.Count(string(b), "\n") != 2 {
		t.Fatalf("%d bytes: %q", len(b), b)
	}
	return b[1 : len(b)-1]
}

func TestLinesComeBack(t *testing.T) {
	l := Line{
		N: 7, Time: 1_800_000_000_123, Kind: Denied, Session: "s-1", Harness: "claude", Agent: "a", ID: "toolu_1", Tool: "Write", Failed: true,
		Targets: []string{"src/a b.go", `odd"\name`, "ünï"}, More: 2, Why: "rm -rf x", Cause: "removes", Rule: "edit", Mode: "enforce",
		Tree: ".", Story: "sty_abcdefgh", Step: "in_progress", Holding: "held",
	}
	got, err := decode(text(t, encode(&l)))
	if err != nil || !reflect.DeepEqual(got, l) {
		t.Errorf("%+v, %v", got, err)
	}
	least := Line{N: 1, Kind: Done, Session: "s"}
	if got, err := decode(text(t, encode(&least))); err != nil || !reflect.DeepEqual(got, least) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestAnyLineFits: whatever a harness sends, the line is one line within its
// bound and is read back.
func TestAnyLineFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		any := rapid.OneOf(rapid.String(), rapid.StringN(0, 3000, -1), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 3000), func(b []byte) string { return string(b) }),
			rapid.Map(rapid.SampledFrom([]string{`"`, `\`, "\n", "\x00", "é", "👍", "\xff"}), func(s string) string { return strings.Repeat(s, 3000) }))
		l := Line{N: rapid.Uint64Range(1, 1<<53-1).Draw(t, "n"), Time: rapid.Int64Range(0, 1<<52).Draw(t, "time"), Kind: Edit, Session: Name(any.Draw(t, "session"))}
		for _, f := range lineFields {
			*f(&l) = any.Draw(t, "text")
		}
		l.Targets = rapid.SliceOfN(any, 0, 20).Draw(t, "targets")
		got, err := decode(text(t, encode(&l)))
		if err != nil {
			t.Fatalf("%v: %q", err, encode(&l))
		}
		if len(got.Targets)+got.More != len(l.Targets) || got.N != l.N || got.Session != l.Session {
			t.Fatalf("%+v", got)
		}
	})
}

func TestLongPathsKeepTheirEnd(t *testing.T) {
	l := Line{N: 1, Kind: Edit, Session: "s", Targets: []string{strings.Repeat("deep/", 200) + "name.go"}}
	got, err := decode(text(t, encode(&l)))
	if err != nil || !strings.HasPrefix(got.Targets[0], "…") || !strings.HasSuffix(got.Targets[0], "/name.go") {
		t.Errorf("%v %v", got.Targets, err)
	}
}

func TestRedact(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"rm -rf build", "rm -rf build"},
		{"git commit -m 'mend the login'", "git commit -m 'mend the login'"},
		{"API_KEY=abc123 make deploy", "API_KEY=[redacted] make deploy"},
		{`DB_PASSWORD="a b c" ./run`, `DB_PASSWORD=[redacted] ./run`},
		{`curl -H "Authorization: Bearer abc.def/ghi==" -o f u`, `curl -H "Authorization: Bearer [redacted]" -o f u`},
		{`curl -H 'X-Api-Key: abc/def' u`, `curl -H 'X-Api-Key: [redacted]' u`},
		{"tool --token s3cret --out f", "tool --token [redacted] --out f"},
		{"tool --password=s3/cret,x f", "tool --password=[redacted] f"},
		{"git push https://ada:pw@example.org/x", "git push https://ada:[redacted]@example.org/x"},
		{"echo ghp_0123456789abcdefghij > f", "echo [redacted] > f"},
		{"echo 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 > f", "echo [redacted] > f"},
		{`echo '{"password":"x y","a":1}' > f`, `echo '{"password":[redacted],"a":1}' > f`},
		{"cat a.txt", "cat a.txt"},
		{"", ""},
	} {
		if got := redact(tt.in, false); got != tt.want {
			t.Errorf("%q\n got %q\nwant %q", tt.in, got, tt.want)
		}
	}
	for _, path := range []string{"src/key=value/a.go", "dist/app.9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd1.js", "a@b/c:d"} {
		if got := redact(path, true); got != path {
			t.Errorf("%q became %q", path, got)
		}
	}
	if got := redact("out/ghp_0123456789abcdefghij", true); got != "out/[redacted]" {
		t.Error(got)
	}
}

// FuzzDecode: no bytes make the reader fail, and a line that it takes says the
// same when it is written again.
func FuzzDecode(f *testing.F) {
	f.Add(encode(&Line{N: 1, Kind: Denied, Session: "s", Targets: []string{"a"}}))
	f.Add([]byte("0123456789abcdef {}"))
	f.Add([]byte("\n\n\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, err := decode(b); err == nil && (l.N == 0 || l.Kind == "" || len(l.Targets) > maxTargets) {
			t.Errorf("%+v", l)
		}
		// The same as the object of a line whose checksum holds.
		whole := make([]byte, sumLen, sumLen+1+len(b))
		sum(whole, b)
		if l, err := decode(append(append(whole, ' '), b...)); err == nil {
			again, err := decode(text(t, encode(&l)))
			if err != nil || again.N != l.N || again.Session != l.Session || len(again.Targets) != len(l.Targets) {
				t.Errorf("%+v became %+v, %v", l, again, err)
			}
		}
	})
}
