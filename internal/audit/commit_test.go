package audit

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"satelle/ledger"
	"satelle/workflow"
)

var preparedNothing workflow.Prepared

const root = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

func TestClaims(t *testing.T) {
	pair := "Satelle-Story: sty_a\nSatelle-Ledger: satelle/p/c 7 " + root + "\n"
	for _, tt := range []struct {
		name, message string
		own, hints    int
		bad           string
	}{
		{"none", "Subject\n\nBody.\n", 0, 0, ""},
		{"only a subject", "Subject", 0, 0, ""},
		{"empty", "", 0, 0, ""},
		{"trailers", "Subject\n\nBody.\n\n" + pair, 1, 0, ""},
		{"a person's", "Subject\n\nSatelle-Ledger: satelle/p/c 7 " + root + "\n", 1, 0, ""},
		{"among others", "Subject\n\nSigned-off-by: A <a@b>\n" + pair + "Reviewed-by: B\n\n\n", 1, 0, ""},
		{"without a paragraph of their own", "Subject\n" + pair, 1, 0, ""},
		{"with the line ends of Windows", strings.ReplaceAll("Subject\n\n"+pair, "\n", "\r\n"), 1, 0, ""},
		{"further up", "Subject\n\n" + pair + "\nCo-authored-by: B\n", 0, 1, ""},
		{"several", "Subject\n\n* one\n\n" + pair + "\n* two\n\n" + pair, 1, 1, ""},
		{"indented", "Subject\n\n    " + strings.ReplaceAll(pair, "\n", "\n    "), 0, 0, ""},
		{"two pairs", "Subject\n\n" + pair + pair, 2, 0, ""},
		{"spoken of", "Subject\n\nSatelle-Ledger: is a trailer\n\nEnd.\n", 0, 0, ""},
		{"a story alone", "Subject\n\nSatelle-Story: sty_a\n", 1, 0, "without a ledger"},
		{"two stories", "Subject\n\nSatelle-Story: sty_b\n" + pair, 2, 0, "without a ledger"},
		{"no root", "Subject\n\nSatelle-Ledger: o 7\n", 1, 0, "ORIGIN SIZE ROOT"},
		{"two blanks", "Subject\n\nSatelle-Ledger: o  7 " + root + "\n", 1, 0, "ORIGIN SIZE ROOT"},
		{"a size with zeros", "Subject\n\nSatelle-Ledger: o 07 " + root + "\n", 1, 0, "size"},
		{"size zero", "Subject\n\nSatelle-Ledger: o 0 " + root + "\n", 1, 0, "size"},
		{"a signed size", "Subject\n\nSatelle-Ledger: o +7 " + root + "\n", 1, 0, "size"},
		{"a size beyond 2^53", "Subject\n\nSatelle-Ledger: o 9007199254740993 " + root + "\n", 1, 0, "size"},
		{"a short root", "Subject\n\nSatelle-Ledger: o 7 AAAA\n", 1, 0, "root"},
		{"a root with spare bits", "Subject\n\nSatelle-Ledger: o 7 " + root[:42] + "B=\n", 1, 0, "root"},
	} {
		own, hints := claims(tt.message)
		bad := ""
		for _, c := range own {
			bad += c.bad
		}
		if len(own) != tt.own || len(hints) != tt.hints || (bad == "") != (tt.bad == "") || !strings.Contains(bad, tt.bad) {
			t.Errorf("%s: %d own, %d hints, %q", tt.name, len(own), len(hints), bad)
		}
	}
}

// FuzzClaims: whatever a message holds, a claim that is well formed is written
// the way it was read.
func FuzzClaims(f *testing.F) {
	f.Add("S\n\nSatelle-Story: sty_a\nSatelle-Ledger: satelle/p/c 7 " + root + "\n")
	f.Add("S\n\nSatelle-Ledger: a b c\n\nSatelle-Story:\n")
	f.Fuzz(func(t *testing.T, message string) {
		own, hints := claims(message)
		for _, c := range append(own, hints...) {
			if c.bad != "" {
				continue
			}
			value := WriteLedger(c.origin, c.size, c.root)
			if origin, size, root, ok := ReadLedger(value); !ok || origin != c.origin || size != c.size || root != c.root || !strings.Contains(message, value) {
				t.Errorf("%q reads as %+v", message, c)
			}
		}
	})
}

// FuzzReadLog: whatever is published, reading it ends, and what is believed has
// the root that its checkpoint signs.
func FuzzReadLog(f *testing.F) {
	export := newScene(f).ann.export()
	f.Add(export)
	f.Add(export[:len(export)/2])
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l := ReadLog("x", bytes.NewReader(b))
		if l.Err != nil {
			return
		}
		line, _, _ := bytes.Cut(b, []byte("\n"))
		var header struct{ Note string }
		if err := json.Unmarshal(line, &header); err != nil {
			t.Fatal(err)
		}
		cp, err := ledger.ParseCheckpoint(header.Note)
		if err != nil || cp.Size != l.Size || cp.Root != l.root(l.Size) || cp.Origin != l.Origin {
			t.Errorf("a log is believed that its checkpoint is not of: %+v", cp)
		}
	})
}

func TestReadKeys(t *testing.T) {
	keys := ReadKeys([]byte("a/b+1+x\r\na/b+1+x\n# c+1+x\n\nnothing\n"), []byte("a/b+2+y\nd+1+z"))
	if len(keys) != 2 || len(keys["a/b"]) != 2 || len(keys["d"]) != 1 {
		t.Errorf("%v", keys)
	}
}

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		pattern, s string
		want       bool
	}{
		{"a <b>", "a <b>", true},
		{"a <b>", "a <b> ", false},
		{"*", "anything", true},
		{"a*", "ba", false},
		{"*c", "abc", true},
		{"a*c", "ac", true},
		{"a*b*c", "a1b2c", true},
		{"a*b*c", "acb", false},
		{"ab*ba", "aba", false},
		{"dependabot[bot] <*@x>", "dependabot[bot] <1@x>", true},
		{"dependabot[bot] <*@x>", "dependabotb <1@x>", false},
		{"", "a", false},
	} {
		if got := glob(tt.pattern, tt.s); got != tt.want {
			t.Errorf("%q %q: %v", tt.pattern, tt.s, got)
		}
	}
}
