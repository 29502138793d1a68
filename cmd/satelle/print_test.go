package main

import (
	"bytes"
	"testing"
)

// TestForeign: foreign text is shown and never sent, and whole for a program.
func TestForeign(t *testing.T) {
	for tty, want := range map[bool]string{true: `a\x1bb` + "\n", false: "a\x1bb\n"} {
		var out bytes.Buffer
		(&app{stdout: &out, tty: tty}).foreign([]byte("a\x1bb\n"))
		if out.String() != want {
			t.Errorf("on a terminal (%v): %q, want %q", tty, out.String(), want)
		}
	}
}
