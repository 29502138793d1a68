//go:build clients

package clienttest

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// The route of these tests: an agent plans, and reviewers judge what follows.
const (
	agentDone = `---
name: done
type: workflow
---

## *
- raised
- planned
- coded
- closed
park: blocked
cancel: cancelled
`
	agentSteps = `---
name: step
type: workflow
---

## backlog
provides: raised

## plan
agent: planner
skills: plan
provides: planned
requires: raised

## in_progress
agent: executor
reviewers: sound
provides: coded
requires: planned

## done
reviewers: sound
provides: closed
requires: coded
`
	planSkill = `---
name: plan
output_name: plan
output_type: plan
output_required: true
output_schema: body
output_ac_coverage: true
---
Plan the story, criterion by criterion.
`
	soundSkill = `---
name: sound
---
Accept what is sound.
`
)

// governed is a world whose repository works with these bindings.
func governed(t *testing.T, bindings string) *world {
	t.Helper()
	w := bare(t)
	w.satelle("init")
	w.write(".satelle/workflows/done.md", agentDone)
	w.write(".satelle/workflows/step.md", agentSteps)
	w.write(".satelle/workflows/agents.toml", "[executor]\ncommand = \"in-loop\"\n\n"+bindings)
	w.write(".satelle/skills/plan.md", planSkill)
	w.write(".satelle/skills/sound.md", soundSkill)
	w.satelle("trust", "--yes")
	w.satelle("workflow", "validate")
	w.satelle("agent", "validate")
	w.run(nil, "git", "add", ".")
	w.run(nil, "git", "-c", "user.name=A Person", "-c", "user.email=person@example.org", "commit", "-q", "-m", "Set up satelle")
	return w
}

// story creates a story with two criteria and returns its id.
func (w *world) newStory() string {
	w.t.Helper()
	out := w.satelle("story", "create", "--title", "Let people in", "--body", "By a form.", "--ac", "A form", "--ac", "A test")
	id := regexp.MustCompile("sty_[0-9a-z]{8}").FindString(out)
	if id == "" {
		w.t.Fatalf("no story: %s", out)
	}
	return id
}

// next moves the story on, as a person who sees the environment does.
func (w *world) next(env []string, id string) (code int, out string) {
	w.t.Helper()
	return w.try(env, filepath.Join(programs, "satelle"), "story", "set", id, "--next")
}

// records are the bodies of the story's records of a kind.
func (w *world) records(id, kind string) (all []gjson.Result) {
	w.t.Helper()
	for line := range strings.Lines(w.satelle("ledger", "list", "--story", id, "--kind", kind, "--json")) {
		all = append(all, gjson.Get(line, "body"))
	}
	return all
}

// thePlan is what the scripted planner hands back.
const thePlan = "# Plan\n\n## AC1\n\nA form in login.go.\n\n## AC2\n\nA test of it.\n"

var artifact = encode(object{"artifact": object{"name": "plan", "type": "plan", "body": thePlan}})

// nonce finds the word by which a verdict is bound, in what a reviewer is told;
// opencode puts its arguments between quotes, and a stroke before theirs.
var nonce = regexp.MustCompile(`nonce\\?"\s*:\s*\\?"([0-9a-f]{16,})`)

// accepts is a verdict, with the nonce out of the request.
func accepts(request string) string {
	found := nonce.FindStringSubmatch(request)
	if found == nil {
		return "there is no nonce in: " + request
	}
	return encode(object{"decision": "accept", "notes": "It is sound.", "nonce": found[1]})
}

// Every agent that satelle proposes a binding for plans a step and judges it:
// its artifact is attached, its verdict taken, its usage recorded as it
// reports it; as reviewer it changes no file, whatever it tries.
func TestAgentsPlanAndReview(t *testing.T) {
	each(t, func(t *testing.T, a *agent) {
		w := governed(t, "[planner]\n"+a.plans+"\n[reviewer]\n"+a.reviews)
		bold := Turn{}
		for i, write := range a.writes {
			bold.Calls = append(bold.Calls, write(w, []string{"by-tool.txt", "by-shell.txt"}[i]))
		}
		model := New(t, Script{
			{Match: `"to":"plan"`, Turns: []Turn{{Text: artifact}}},
			{Match: `"to":"in_progress"`, Turns: []Turn{{Say: accepts}}},
			{Match: `"to":"done"`, Turns: []Turn{bold, {Say: accepts}}},
		})
		env := a.prepare(w, model.URL)
		id := w.newStory()

		if code, out := w.next(env, id); code != 0 {
			t.Fatalf("as planner: exit %d\n%s", code, out)
		}
		if got := w.satelle("story", "doc", id, "plan"); got != thePlan {
			t.Errorf("the plan: %q", got)
		}
		a.attempted(w, id, "agent", 1)

		if code, out := w.next(env, id); code != 0 {
			t.Fatalf("as reviewer: exit %d\n%s", code, out)
		}
		a.attempted(w, id, "reviewer", 1)
		var verdicts []string
		for _, v := range w.records(id, "verdict.recorded") {
			if v.Get("binding").String() == "reviewer" {
				verdicts = append(verdicts, v.Get("skill").String()+": "+v.Get("decision").String())
			}
		}
		if !slices.Equal(verdicts, []string{"sound: accept"}) {
			t.Errorf("verdicts: %q", verdicts)
		}

		before := w.files()
		code, out := w.next(env, id)
		t.Logf("a reviewer that tries to write: exit %d\n%s", code, out)
		w.untouched(before)
		for i := range model.Calls(2, 0) {
			r, told := model.Result(2, 0, i)
			t.Logf("%s: told %v: %.200s", r.Call.Tool, told, r.Text)
		}
		if model.Calls(2, 0) != len(a.writes) {
			t.Error("it was not asked to write")
		}
	})
}

// attempted expects n attempts in a role so far, the last with the usage that
// the agent reports.
func (a *agent) attempted(w *world, id, role string, n int) {
	w.t.Helper()
	var last gjson.Result
	for _, r := range w.records(id, "agent.attempt") {
		if r.Get("role").String() == role {
			n--
			last = r
		}
	}
	if n != 0 || last.Get("class").Exists() || last.Get("elapsed_ms").Int() <= 0 {
		w.t.Errorf("%d attempts as %s too few, the last: %s", n, role, last.Raw)
	}
	tokens := last.Get("input_tokens").Int() + last.Get("cache_read_tokens").Int() + last.Get("output_tokens").Int()
	if reports := strings.HasPrefix(a.usage, "tokens"); last.Get("usage_available").Bool() != reports || (tokens > 0) != reports {
		w.t.Errorf("usage: %s", last.Raw)
	}
	if costs := strings.HasSuffix(a.usage, "cost"); (last.Get("cost_microusd").Int() > 0) != costs {
		w.t.Errorf("cost: %s", last.Raw)
	}
	w.t.Logf("as %s: %s", role, last.Raw)
}

// An agent whose service has no room is not waited for: its secondary answers,
// in the same transition, and the ledger says so.
func TestAgentsFailOver(t *testing.T) {
	each(t, func(t *testing.T, a *agent) {
		busy := New(t, Script{{Turns: []Turn{{Status: http.StatusTooManyRequests}}}})
		model := New(t, Script{{Turns: []Turn{{Text: artifact}}}})
		w := governed(t, "[planner]\n"+a.plans+"secondary = \"spare\"\n\n[spare]\n"+agentsUnderTest[0].plans+
			"env = { ANTHROPIC_BASE_URL = \""+model.URL+"\" }\n")
		env := append(claudeSees(w, busy.URL), a.prepare(w, busy.URL)...)
		id := w.newStory()
		if code, out := w.next(env, id); code != 0 {
			t.Fatalf("exit %d\n%s", code, out)
		}
		tries := w.records(id, "agent.attempt")
		if len(tries) != 2 || tries[0].Get("class").String() != "rate_limited" || tries[0].Get("failover").Bool() ||
			tries[1].Get("class").Exists() || !tries[1].Get("failover").Bool() || tries[1].Get("binding").String() != "spare" {
			t.Errorf("%v", tries)
		}
		if got := w.satelle("story", "doc", id, "plan"); got != thePlan {
			t.Errorf("the plan: %q", got)
		}
		if b, err := os.ReadFile(filepath.Join(w.repo, ".satelle/workflows/agents.toml")); err != nil || !strings.Contains(string(b), "[planner]\n"+a.plans) {
			t.Errorf("the binding was rewritten: %v\n%s", err, b)
		}
	})
}
