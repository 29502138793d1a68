package workflow

import (
	"reflect"
	"strings"
	"testing"

	"satelle/internal/fault"
	"satelle/ledger/seatread"
)

func TestCheckGate(t *testing.T) {
	words := func(s string) [][]string { return [][]string{strings.Fields(s)} }
	for _, tt := range []struct {
		name string
		gate seatread.Gate
		want string // part of the refusal, "" for none
	}{
		{"the default", seatread.Gate{}, ""},
		{"all of it", seatread.Gate{
			Outside: seatread.OutsideAllow, Readers: words("go test -run * **"), Tools: []string{"mcp__docs__find"},
			Mode: map[string]string{seatread.RuleEdit: seatread.ModeWarn, seatread.RuleCommit: seatread.ModeAudit},
		}, ""},
		{"an unknown outside", seatread.Gate{Outside: "sometimes"}, "temp, deny or allow"},
		{"a kind nobody knows", seatread.Gate{Mode: map[string]string{"protected": seatread.ModeWarn}}, "no kind of rule"},
		{"a mode nobody knows", seatread.Gate{Mode: map[string]string{seatread.RuleEdit: "off"}}, "enforce, warn or audit"},
		{"no words", seatread.Gate{Readers: [][]string{{}}}, "1 to 40 words"},
		{"a program of any name", seatread.Gate{Readers: words("** test")}, "stands for one word"},
		{"any number in the middle", seatread.Gate{Readers: words("make ** test")}, "stands for one word"},
		{"a part of a word", seatread.Gate{Readers: words("make te*")}, "stands for one word"},
		{"a shell's signs", seatread.Gate{Readers: words("make test;rm")}, "plain words"},
		{"a substitution", seatread.Gate{Readers: words("make $(x)")}, "plain words"},
		{"a line break", seatread.Gate{Readers: [][]string{{"make\ntest"}}}, "1 to 40 words"},
		{"a long one", seatread.Gate{Readers: words(strings.Repeat("a ", 41))}, "1 to 40 words"},
		{"too many", seatread.Gate{Readers: make([][]string, maxReaders+1)}, "more than 200"},
		{"a tool by pattern", seatread.Gate{Tools: []string{"mcp__*"}}, "exact names"},
		{"an empty tool", seatread.Gate{Tools: []string{""}}, "exact names"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckGate(tt.gate)
			if tt.want == "" && err != nil || tt.want != "" && (!fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("CheckGate = %v, want a refusal with %q", err, tt.want)
			}
		})
	}
}

// A gate holds from when a person trusts it, until the next.
func TestTrustGate(t *testing.T) {
	m := newMemory()
	gates := []seatread.Gate{
		{Readers: [][]string{{"make", "test"}}},
		{Readers: [][]string{{"make", "test"}}, Mode: map[string]string{seatread.RuleScope: seatread.ModeWarn}},
		{},
	}
	for _, g := range gates {
		if _, err := m.state().Trust(nil, &g, nil, robot); !fault.Is(err, fault.Refused) {
			t.Errorf("a session trusted a gate: %v", err)
		}
		if !m.state().NewGate(g) {
			t.Errorf("%+v is not new", g)
		}
		c, err := m.state().Trust(nil, &g, nil, person)
		if err != nil || len(c.Drafts) != 1 {
			t.Fatalf("%+v: %d records, %v", g, len(c.Drafts), err)
		}
		m.append(t, c)
		if got := m.state().Gate(); !reflect.DeepEqual(got, g) || m.state().NewGate(g) {
			t.Errorf("the gate is %+v, want %+v", got, g)
		}
		if c, err := m.state().Trust(nil, &g, nil, person); err != nil || len(c.Drafts) != 0 {
			t.Errorf("trusted twice: %d records, %v", len(c.Drafts), err)
		}
	}
	if _, err := m.state().Trust(nil, &seatread.Gate{Outside: "x"}, nil, person); !fault.Is(err, fault.Refused) {
		t.Errorf("a gate that nobody can hold to: %v", err)
	}
}
