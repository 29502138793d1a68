package workflow

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"satelle/ledger"
	"satelle/workflow/route"
)

// memory is a log without bytes: what is appended is folded at once.
type memory struct {
	rows    map[string]map[string][]byte
	records []ledger.Record
	clock   time.Time
}

func newMemory() *memory {
	m := &memory{rows: map[string]map[string][]byte{}, clock: time.Unix(1_700_000_000, 0)}
	m.append(nil, Change{Drafts: []ledger.Draft{{Kind: "ledger.genesis", Schema: 1, Body: nothing{}}}})
	return m
}

func (m *memory) Get(bucket, key string) []byte { return m.rows[bucket][key] }

func (m *memory) Put(bucket, key string, v []byte) {
	if m.rows[bucket] == nil {
		m.rows[bucket] = map[string][]byte{}
	}
	m.rows[bucket][key] = v
}

func (m *memory) Delete(bucket, key string) { delete(m.rows[bucket], key) }

func (m *memory) Each(bucket, prefix string, fn func(string, []byte) bool) {
	for _, k := range slices.Sorted(maps.Keys(m.rows[bucket])) {
		if strings.HasPrefix(k, prefix) && !fn(k, m.rows[bucket][k]) {
			return
		}
	}
}

func (m *memory) size() uint64 { return uint64(len(m.records)) }

func (m *memory) state() State { return NewState(m) }

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func (m *memory) append(t failer, c Change) {
	for _, d := range c.Drafts {
		body, err := json.Marshal(d.Body)
		if err != nil {
			t.Fatalf("encoding %s: %v", d.Kind, err)
		}
		r := ledger.Record{
			Seq: m.size(), Time: m.clock, Kind: d.Kind, Story: d.Story, Actor: d.Actor,
			Crit: d.Crit, Schema: d.Schema, Body: body,
		}
		m.records = append(m.records, r)
		if err := (Fold{}).Apply(m, r); err != nil {
			t.Fatalf("folding %s: %v", d.Kind, err)
		}
	}
}

func (m *memory) story(t failer, id string) Story {
	t.Helper()
	s, err := m.state().Story(id)
	if err != nil {
		t.Fatalf("story %s: %v", id, err)
	}
	return s
}

func (m *memory) count(kind, story string) int {
	n := 0
	for _, r := range m.records {
		if r.Kind == kind && r.Story == story {
			n++
		}
	}
	return n
}

// lane makes a lane with the named gates before in_progress and done.
func lane(name string, before, done []string) route.Lane {
	skills := map[string]route.Skill{}
	step := func(n, agent string, reviewers []string) route.Step {
		for _, r := range reviewers {
			kind := route.KindBuiltin
			if strings.HasPrefix(r, "check-") {
				kind = route.KindCheck
			}
			if strings.HasPrefix(r, "rubric-") {
				kind = route.KindRubric
			}
			skills[r] = route.Skill{Name: r, Kind: kind, Digest: "digest-" + r}
		}
		return route.Step{Name: n, Agent: agent, Reviewers: reviewers}
	}
	return route.Lane{
		Category: name,
		Steps: []route.Step{
			step("backlog", "", nil), step("in_progress", route.AgentExecutor, before), step("done", "", done),
		},
		Park: &route.Park{State: "blocked"}, Cancel: "cancelled", Skills: skills,
	}
}

var (
	person = ledger.Actor{Kind: ledger.ActorPerson, Name: "ada", Auth: ledger.AuthAncestry}
	robot  = ledger.Actor{Kind: ledger.ActorSession, Name: "claude", Session: "s1", Harness: "claude", Auth: ledger.AuthAncestry}
)

func ptr[T any](v T) *T { return &v }

func (m *memory) create(t failer, id string, l route.Lane) Story {
	t.Helper()
	c, err := m.state().Create(id, Fields{Title: ptr("Title of " + id), Criteria: &[]string{"it works"}}, l, robot)
	if err != nil {
		t.Fatalf("creating %s: %v", id, err)
	}
	m.append(t, c)
	return m.story(t, id)
}

func (m *memory) facts(l route.Lane) Facts {
	return Facts{
		Now: m.clock, WorkTree: ".", Host: "h1", Tree: "tree1", Head: "head1", Lane: l,
		Text: Text{Criteria: []string{"it works"}},
	}
}

// ask requests a move and appends what comes of it.
func (m *memory) ask(t failer, id, to string, f Facts) (Outcome, error) {
	t.Helper()
	c, out, err := m.state().Request(id, to, f, robot, m.size())
	if err == nil {
		m.append(t, c)
	}
	return out, err
}

func (m *memory) mustMove(t *testing.T, id, to string, f Facts) {
	t.Helper()
	out, err := m.ask(t, id, to, f)
	if err != nil || out.Refusal != nil || out.Run {
		t.Fatalf("moving %s to %s: err=%v refusal=%v run=%v", id, to, err, out.Refusal, out.Run)
	}
	if s := m.story(t, id); s.Status != to {
		t.Fatalf("%s is in %s, want %s", id, s.Status, to)
	}
}
