package main

import (
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
)

// TestRush lets everything happen to one story at once: moves in all
// directions beside edits, approvals, restamps, joins and documents. Whatever
// wins, each move begins where the last one ended, was requested by a record of
// its own, and has the accept of every mandatory judge of its gate.
func TestRush(t *testing.T) {
	s := newScratch(t, map[string]string{"Makefile": "test:\n\ttrue\n"})
	id := s.start()
	var wg sync.WaitGroup
	for range 3 {
		for _, args := range [][]string{
			{"story", "set", id, "--next"},
			{"story", "set", id, "--status", "blocked"},
			{"story", "set", id, "--status", "backlog"},
			{"story", "set", id, "--status", "in_progress", "--detach"},
			{"story", "edit", id, "--title", "B"},
			{"story", "edit", id, "--ac", " "},
			{"story", "edit", id, "--ac", "b"},
			{"story", "restamp", id},
			{"story", "join", id},
			{"story", "attach", id, "--name", "plan"},
			{"approve", id},
		} {
			wg.Go(func() {
				cmd := s.command(append([]string{"satelle"}, args...)...)
				out, err := cmd.CombinedOutput()
				if err == nil {
					return
				}
				// 1 is a gate that was given up, which this rush has no cause for.
				if code := cmd.ProcessState.ExitCode(); code != 3 && code != 5 {
					t.Errorf("%v ended with %d:\n%s", args, code, out)
				}
			})
		}
	}
	wg.Wait()
	_ = s.command("satelle", "story", "wait", id).Run() // how the last move ended is nobody's matter here
	status := "backlog"
	requests := map[uint64]gjson.Result{}
	accepts := map[uint64]map[string]bool{}
	for line := range strings.Lines(s.must("satelle", "ledger", "list", "--story", id, "--json")) {
		r := gjson.Parse(line)
		body, token := r.Get("body"), r.Get("body.token").Uint()
		switch r.Get("kind").Str {
		case "transition.requested":
			requests[r.Get("seq").Uint()] = body
		case "verdict.recorded":
			if accepts[token] == nil {
				accepts[token] = map[string]bool{}
			}
			accepts[token][body.Get("skill").Str] = body.Get("decision").Str == "accept"
		case "transition.committed":
			if body.Get("from").Str != status {
				t.Errorf("%s: it stood in %s", body, status)
			}
			status = body.Get("to").Str
			if requests[token].Get("to").Str != status {
				t.Errorf("%s was never asked for", body)
			}
			for _, j := range requests[token].Get("gate").Array() {
				if j.Get("mandatory").Bool() && !accepts[token][j.Get("skill").Str] {
					t.Errorf("%s without the accept of %s", body, j.Get("skill"))
				}
			}
		}
	}
	if got := gjson.Get(s.must("satelle", "story", "get", id, "--json"), "status").Str; got != status {
		t.Errorf("it is in %s, its moves led to %s", got, status)
	}
	s.must("satelle", "ledger", "verify", "--full")
}
