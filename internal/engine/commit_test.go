package engine

import (
	"slices"
	"strings"
	"testing"

	"satelle/workflow"
)

const zeroRoot = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// TestReadTrailers takes ours out of a message, wherever they stand, and
// nothing else.
func TestReadTrailers(t *testing.T) {
	ours := "Satelle-Story: sty_a\nSatelle-Ledger: satelle/p/c 7 " + zeroRoot + "\n"
	for _, tt := range []struct {
		message, bare string
		stories       []string
		points        []workflow.LogPoint
	}{
		{"one\n", "one\n", nil, nil},
		{"", "", nil, nil},
		{"one\n\n# comment\n", "one\n\n# comment\n", nil, nil},
		{"one\n\n" + ours, "one\n", []string{"sty_a"}, []workflow.LogPoint{{Origin: "satelle/p/c", Size: 7}}},
		{"one\n\nSigned-off-by: x\n" + ours, "one\n\nSigned-off-by: x\n", []string{"sty_a"}, []workflow.LogPoint{{Origin: "satelle/p/c", Size: 7}}},
		{
			"one\n\n" + ours + "\ntwo\n\nSatelle-Story: sty_b\n", "one\n\n\ntwo\n",
			[]string{"sty_a", "sty_b"},
			[]workflow.LogPoint{{Origin: "satelle/p/c", Size: 7}},
		},
		{"one\n\nSatelle-Ledger: x 07 y\n", "one\n", nil, nil},
		{"one\n\n    Satelle-Story: sty_a\n", "one\n\n    Satelle-Story: sty_a\n", nil, nil},
		{"about Satelle-Story: sty_a\n", "about Satelle-Story: sty_a\n", nil, nil},
	} {
		bare, stories, points := readTrailers(tt.message)
		if bare != tt.bare || !slices.Equal(stories, tt.stories) || !slices.Equal(points, tt.points) {
			t.Errorf("%q: %q, %q, %v", tt.message, bare, stories, points)
		}
	}
	if _, _, points := readTrailers(strings.Repeat(ours, 100)); len(points) != maxReplays {
		t.Errorf("%d points", len(points))
	}
}

// TestEmptyMessage tells a message from our trailers alone.
func TestEmptyMessage(t *testing.T) {
	ours := "Satelle-Story: sty_a\nSatelle-Ledger: satelle/p/c 7 " + zeroRoot + "\n"
	for message, want := range map[string]bool{
		"":                        false, // git says so itself
		"\n\n":                    false,
		"one\n":                   false,
		"one\n\n" + ours:          false,
		"\n" + ours:               true,
		ours:                      true,
		"# comment\n\n" + ours:    true,
		"; comment\n\n" + ours:    false,
		ours + "\nSigned-by: x\n": false,
		"\n" + ours + "# ------------------------ >8 ------------------------\ndiff\n": true,
	} {
		if got := emptyMessage(message, "#"); got != want {
			t.Errorf("%q: %v", message, got)
		}
	}
}

// TestForeign: a message of another clone names no record of this one.
func TestForeign(t *testing.T) {
	a, b := workflow.LogPoint{Origin: "a", Size: 1}, workflow.LogPoint{Origin: "b", Size: 1}
	for _, tt := range []struct {
		points []workflow.LogPoint
		want   bool
	}{{nil, false}, {[]workflow.LogPoint{a}, false}, {[]workflow.LogPoint{b}, true}, {[]workflow.LogPoint{a, b}, false}} {
		if got := foreign(tt.points, "a"); got != tt.want {
			t.Errorf("%v: %v", tt.points, got)
		}
	}
}
