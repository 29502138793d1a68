package nearest

import (
	"strings"
	"testing"
)

func TestWord(t *testing.T) {
	known := []string{"model", "mode", "timeout", "tools"}
	for _, tt := range []struct {
		s, word string
		edits   int
	}{
		{"model", "model", 0},
		{"modle", "mode", 1},
		{"modell", "model", 1},
		{"tool", "tools", 1},
		{"", "mode", 4},
		{strings.Repeat("x", 1000), "model", maxWord},
	} {
		if word, edits := Word(tt.s, known); word != tt.word || edits != tt.edits {
			t.Errorf("Word(%.20q) = %q, %d; want %q, %d", tt.s, word, edits, tt.word, tt.edits)
		}
	}
	if word, _ := Word("x", nil); word != "" {
		t.Errorf("of no words: %q", word)
	}
}
