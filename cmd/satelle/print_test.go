package main

import (
	"bytes"
	"testing"
)

// TestPrintable: foreign text is shown and never sent.
func TestPrintable(t *testing.T) {
	for _, tt := range []struct{ in, text, line string }{
		{"plain", "plain", "plain"},
		{"a\nb\tc", "a\nb\tc", `a\nb\tc`},
		{"a\x1b[2Jb\r", `a\x1b[2Jb\x0d`, `a\x1b[2Jb\x0d`},
		{"a\u009bb\x00", `a\x9bb\x00`, `a\x9bb\x00`},
		{"a\u202eb\u2066c\u200fd", `a\u202eb\u2066c\u200fd`, `a\u202eb\u2066c\u200fd`},
		{"a\u2028b", `a\u2028b`, `a\u2028b`},
		{"a\x9bb", "a\uFFFDb", "a\uFFFDb"},
		{"ünïcödé …", "ünïcödé …", "ünïcödé …"},
	} {
		if got := printable(tt.in); got != tt.text {
			t.Errorf("printable(%q) = %q, want %q", tt.in, got, tt.text)
		}
		if got := inLine(tt.in); got != tt.line {
			t.Errorf("inLine(%q) = %q, want %q", tt.in, got, tt.line)
		}
	}
	for tty, want := range map[bool]string{true: `a\x1bb` + "\n", false: "a\x1bb\n"} {
		var out bytes.Buffer
		(&app{stdout: &out, tty: tty}).foreign([]byte("a\x1bb\n"))
		if out.String() != want {
			t.Errorf("on a terminal (%v): %q, want %q", tty, out.String(), want)
		}
	}
}
