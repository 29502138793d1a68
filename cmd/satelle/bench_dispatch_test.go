//go:build bench && linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// judging is an agent that takes two seconds and accepts.
const judging = `
nonce=$(printf '%s\n' "$1" | sed -n 's/^{"decision".*"nonce":"\([0-9a-f]*\)"}$/\1/p')
sleep 2
printf '{"decision":"accept","notes":"","nonce":"%s"}' "$nonce"
`

// TestBenchDispatch measures what a dispatch costs beside its agent, and how long
// four reviewers of two seconds take together.
//
//	go test -tags bench -run TestBenchDispatch -v ./cmd/satelle
func TestBenchDispatch(t *testing.T) {
	s := dispatching(t, judging, map[string]string{
		"workflows/done.md": "---\nname: done\ntype: workflow\n---\n\n## *\n- raised\n- planned\npark: blocked\ncancel: cancelled\n\n## judged\n- raised\n- seen\npark: blocked\ncancel: cancelled\n",
		"workflows/step.md": "---\nname: step\ntype: workflow\n---\n\n## backlog\nprovides: raised\n\n## plan\nagent: planner\nskills: plan\nprovides: planned\nrequires: raised\n\n" +
			"## done\nreviewers: r1, r2, r3, r4\nprovides: seen\nrequires: raised\n",
		"workflows/agents.toml": "[planner]\ncommand = \"echo {system}\"\ntools = \"Bash(satelle:*)\"\n\n[reviewer]\ncommand = \"sh ../agent.sh {system}\"\n",
		"skills/plan.md":        "---\nname: plan\n---\nPlan.\n",
		"skills/r1.md":          "---\nname: r1\n---\nJudge.\n", "skills/r2.md": "---\nname: r2\n---\nJudge.\n",
		"skills/r3.md": "---\nname: r3\n---\nJudge.\n", "skills/r4.md": "---\nname: r4\n---\nJudge.\n",
	})
	satelle := filepath.Join(s.repo, "..", "bin", "satelle")
	if out, err := exec.Command("go", "build", "-o", satelle, ".").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	for range 25 {
		s.must(satelle, "story", "set", s.create(), "--next")
	}
	var own []time.Duration
	lines := bufio.NewScanner(bytes.NewReader([]byte(s.must("satelle", "ledger", "list", "--limit", "1000", "--json"))))
	records := map[string]map[string]gjson.Result{}
	for lines.Scan() {
		r := gjson.ParseBytes(bytes.Clone(lines.Bytes()))
		id := r.Get("story").Str
		if records[id] == nil {
			records[id] = map[string]gjson.Result{}
		}
		records[id][r.Get("kind").Str] = r
	}
	for _, r := range records {
		if !r["transition.committed"].Exists() || !r["agent.attempt"].Exists() {
			continue
		}
		agent := time.Duration(r["agent.attempt"].Get("body.elapsed_ms").Int()) * time.Millisecond
		own = append(own, r["transition.committed"].Get("time").Time().Sub(r["transition.requested"].Get("time").Time())-agent)
	}
	slices.Sort(own)
	fmt.Printf("a dispatch, request to commit, beside the agent's own time: median %s, p90 %s of %d\n", own[len(own)/2], own[len(own)*9/10], len(own))

	out := s.must("satelle", "story", "create", "--title", "A", "--ac", "a", "--category", "judged")
	begin := time.Now()
	s.must(satelle, "story", "set", out[strings.Index(out, "sty_"):][:12], "--next")
	fmt.Printf("four reviewers of 2 s: %s\n", time.Since(begin).Round(time.Millisecond))
}
