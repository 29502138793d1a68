package event

import (
	"testing"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, text, line string }{
		{"plain", "plain", "plain"},
		{"a\nb\tc", "a\nb\tc", `a\nb\tc`},
		{"a\x1b[2Jb\r", `a\x1b[2Jb\x0d`, `a\x1b[2Jb\x0d`},
		{"a\u009bb\x00", `a\x9bb\x00`, `a\x9bb\x00`},
		{"a\u202eb\u2066c\u200fd", `a\u202eb\u2066c\u200fd`, `a\u202eb\u2066c\u200fd`},
		{"a\u200bb\u2060c\ufeffd\u00ade", `a\u200bb\u2060c\ufeffd\xade`, `a\u200bb\u2060c\ufeffd\xade`},
		{"a\U000e0041b", `a\U000e0041b`, `a\U000e0041b`},
		{"a\u2028b", `a\u2028b`, `a\u2028b`},
		{"a\x9bb", "a\uFFFDb", "a\uFFFDb"},
		{"ünïcödé …", "ünïcödé …", "ünïcödé …"},
	} {
		if got := Printable(tt.in); got != tt.text {
			t.Errorf("Printable(%q) = %q, want %q", tt.in, got, tt.text)
		}
		if got := InLine(tt.in); got != tt.line {
			t.Errorf("InLine(%q) = %q, want %q", tt.in, got, tt.line)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b[2Jb\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		got := Printable(s)
		if !utf8.ValidString(got) || Printable(got) != got {
			t.Errorf("%q", got)
		}
		for _, r := range got {
			if unprintable(r) {
				t.Errorf("%q has %q", got, r)
			}
		}
	})
}

func FuzzReasoning(f *testing.F) {
	f.Add(`{"type":"thinking","thinking":"x"}`)
	f.Add(`  "thought": "x",`)
	f.Fuzz(func(t *testing.T, line string) {
		once := WithoutReasoning(line)
		if again := WithoutReasoning(once); again != once {
			t.Errorf("%q, then %q", once, again)
		}
	})
}
