//go:build clients

package clienttest

import (
	"testing"
)

func TestEnforcement(t *testing.T) {
	for _, h := range []*harness{claude, codex, codeMode, grok} {
		for name, states := range map[string][]state{"seats": seats, "failures": failures, "beyond": beyond} {
			t.Run(h.title+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := session{on: h, ways: h.ways, states: states, before: func(w *world) {
					if name != "seats" {
						w.takeSeat()
					}
					w.keep()
				}}
				p := s.play(t)
				for n, st := range states {
					t.Logf("%-50s %-20s %s", st.name, "reading", p.reading(n))
					s.spots(n, func(at spot, y way) {
						t.Logf("%-50s %-20s %s", st.name, y.name, p.changing(at, y))
					})
				}
			})
		}
	}
}
