package workflow

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"satelle/internal/fault"
	"satelle/internal/spool"
	"satelle/ledger"
)

// saw is a line of the spool, written now by the log's clock.
func (m *memory) saw(n uint64, kind, session, id string) spool.Line {
	return spool.Line{N: n, Time: m.clock.UnixMilli(), Kind: kind, Session: session, Harness: "claude", ID: id, Tool: "Write", Targets: []string{"a"}, Tree: "."}
}

// take takes lines, with no more behind them, and returns the records.
func (m *memory) take(t failer, counts []spool.Count, lines ...spool.Line) []ledger.Record {
	t.Helper()
	before := len(m.records)
	to := m.state().Spool()
	to.Offset += int64(len(lines))
	m.append(t, m.state().Observe(spool.Batch{Lines: lines, To: to}, counts, "h1", m.clock))
	return m.records[before:]
}

// told lists records in a word each.
func told(records []ledger.Record) string {
	var out []string
	for _, r := range records {
		if r.Kind == KindGap {
			g, _ := decode[Gap](r)
			out = append(out, fmt.Sprintf("gap %s %d-%d", g.Session, g.From, g.To))
			continue
		}
		o, _ := decode[Observation](r)
		out = append(out, fmt.Sprintf("%s %s/%d", strings.TrimPrefix(r.Kind, "observed."), r.Actor.Session, o.N))
	}
	return strings.Join(out, ", ")
}

func TestObserve(t *testing.T) {
	m := newMemory()
	m.create(t, "sty_a", lane("*", nil, nil))
	story := m.story(t, "sty_a")
	l := m.saw(1, spool.Denied, "s1", "t1")
	l.Story, l.Agent, l.Why, l.Rule, l.Mode, l.Holding = "sty_a", "sub", "rm x", "command", "enforce", "free"
	foreign := m.saw(2, spool.Edit, "s1", "t2")
	foreign.Story = "Not A Story"
	got := m.take(t, nil, l, foreign)
	if told(got) != "denied s1/1, edit s1/2" {
		t.Fatal(told(got))
	}
	r := got[0]
	if r.Story != "sty_a" || r.Crit || r.Actor != (ledger.Actor{Kind: "session", Name: "claude", Session: "s1", Harness: "claude", Host: "h1", Auth: "asserted"}) {
		t.Errorf("%+v", r)
	}
	want := Observation{N: 1, At: "2023-11-14T22:13:20.000Z", ID: "t1", Agent: "sub", Tool: "Write", Targets: []string{"a"}, Why: "rm x", Rule: "command", Mode: "enforce", WorkTree: ".", Holding: "free"}
	if o, _ := decode[Observation](r); !reflect.DeepEqual(o, want) {
		t.Errorf("\n got %+v\nwant %+v", o, want)
	}
	if got[1].Story != "" {
		t.Errorf("a record of the story %q, which is none", got[1].Story)
	}
	if m.state().Spool() != (spool.Position{Offset: 2}) {
		t.Errorf("%+v", m.state().Spool())
	}
	if after := m.story(t, "sty_a"); !reflect.DeepEqual(after, story) {
		t.Errorf("the story moved: %+v", after)
	}
}

// TestOneCallTwoScopes: what two hooks saw of one call is one observation, in
// one batch or in two; another phase, answer or day is another one.
func TestOneCallTwoScopes(t *testing.T) {
	m := newMemory()
	first := m.take(t, nil, m.saw(1, spool.Edit, "s1", "t1"), m.saw(2, spool.Edit, "s1", "t1"), m.saw(3, spool.Edit, "s2", "t1"))
	if told(first) != "edit s1/1, edit s2/3" {
		t.Errorf("%s", told(first))
	}
	again := m.take(t, nil, m.saw(3, spool.Edit, "s1", "t1"))
	if told(again) != "" || m.state().Spool().Offset != 3 {
		t.Errorf("%s, to %+v", told(again), m.state().Spool())
	}
	other := m.take(t, nil, m.saw(3, spool.Edit, "s1", "t1"), m.saw(4, spool.Done, "s1", "t1"), m.saw(5, spool.Denied, "s1", "t1"), m.saw(6, spool.Denied, "s1", ""), m.saw(7, spool.Denied, "s1", ""))
	if told(other) != "done s1/4, denied s1/5, denied s1/6, denied s1/7" {
		t.Error(told(other))
	}
	m.clock = m.clock.Add(time.Hour)
	// The third number was passed over and is not missing.
	late := m.take(t, nil, m.saw(8, spool.Edit, "s1", "t1"))
	if told(late) != "edit s1/8, gap s2 1-2" {
		t.Error(told(late))
	}
	// Nothing but repetitions moves the mark, too, once they are many.
	var lines []spool.Line
	for i := range uint64(maxRepeated) {
		lines = append(lines, m.saw(9+i, spool.Edit, "s1", "t1"))
	}
	if got := m.take(t, nil, lines...); len(got) != 1 || !strings.Contains(string(got[0].Body), `"repeated":100`) {
		t.Errorf("%s", told(got))
	}
}

func TestGaps(t *testing.T) {
	m := newMemory()
	step := func(want string, counts []spool.Count, lines ...spool.Line) {
		t.Helper()
		if got := told(m.take(t, counts, lines...)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	step("edit s/1, edit s/4", nil, m.saw(1, spool.Edit, "s", "a"), m.saw(4, spool.Edit, "s", "b"))
	step("edit s/3", nil, m.saw(3, spool.Edit, "s", "c")) // hooks that run at once may come in any order
	step("", []spool.Count{{Session: "s", Lines: 5, Last: m.clock}})
	m.clock = m.clock.Add(2 * gapGrace)
	counts := []spool.Count{{Session: "s", Lines: 5, Last: m.clock.Add(-gapGrace)}, {Session: "x", Lines: 1, Last: m.clock}}
	step("gap s 2-2, gap s 5-5", counts)
	step("", counts)
	step("edit s/2, edit s/6", nil, m.saw(2, spool.Edit, "s", "d"), m.saw(6, spool.Edit, "s", "e")) // late, and welcome
	m.clock = m.clock.Add(time.Hour)
	counts[0].Lines = 6
	step("", counts[:1])
	// A count that was deleted begins anew, and is watched as before.
	step("gap s 0-0, edit s/2", []spool.Count{{Session: "s", Lines: 3, Last: m.clock}}, m.saw(2, spool.Edit, "s", "g"))
	m.clock = m.clock.Add(2 * gapGrace)
	step("gap s 1-1, gap s 3-3", []spool.Count{{Session: "s", Lines: 3, Last: m.clock.Add(-gapGrace)}})
	step("edit s/4, edit s/5, edit s/6", nil, m.saw(4, spool.Edit, "s", "h"), m.saw(5, spool.Edit, "s", "i"), m.saw(6, spool.Edit, "s", "j"))
	counts = []spool.Count{{Session: "s", Lines: 9, Last: m.clock}}
	// While there is more to take, nothing is held to be missing.
	l := m.saw(9, spool.Edit, "s", "f")
	l.Time -= 10 * gapGrace.Milliseconds()
	batch := spool.Batch{Lines: []spool.Line{l}, More: true}
	if c := m.state().Observe(batch, counts, "h1", m.clock); len(c.Drafts) != 1 {
		t.Errorf("%d drafts", len(c.Drafts))
	}
	step("edit s/9, gap s 7-8", nil, l)
	// Torn lines and a spool that was cut are told, and the mark moves.
	c := m.state().Observe(spool.Batch{Torn: 3, Cut: true, To: spool.Position{File: 2, Offset: 7}}, nil, "h1", m.clock)
	m.append(t, c)
	if body, _ := json.Marshal(c.Drafts[0].Body); string(body) != `{"torn":3,"cut":true,"spool":{"file":2,"to":7}}` || m.state().Spool() != (spool.Position{File: 2, Offset: 7}) {
		t.Errorf("%s", body)
	}
}

// TestManyGaps: what is missing of a session is bounded at any time, and so is
// what one batch reports.
func TestManyGaps(t *testing.T) {
	m := newMemory()
	var lines []spool.Line
	for n := uint64(2); n < 600; n += 2 {
		lines = append(lines, m.saw(n, spool.Edit, "s", fmt.Sprint(n)))
	}
	to := spool.Position{Offset: 1}
	m.append(t, m.state().Observe(spool.Batch{Lines: lines, To: to, More: true}, nil, "h1", m.clock))
	if missing, _ := getRow[[]stretch](m, rowsMissing, "s"); len(missing) > maxMissing {
		t.Errorf("%d stretches", len(missing))
	}
	m.take(t, nil)

	lines = nil
	for i := range 2 * maxGaps {
		lines = append(lines, m.saw(2, spool.Edit, fmt.Sprint("of", i), fmt.Sprint("id", i)))
	}
	m.take(t, nil, lines...)
	m.clock = m.clock.Add(time.Hour)
	reported := map[string]bool{}
	for range 4 {
		got := m.take(t, nil)
		if len(got) > maxGaps {
			t.Fatalf("%d gaps at once", len(got))
		}
		for _, r := range got {
			g, _ := decode[Gap](r)
			reported[fmt.Sprint(g.Session, " ", g.From)] = true
		}
	}
	for n := range 2 * maxGaps {
		if !reported[fmt.Sprint("of", n, " 1")] {
			t.Fatalf("the gap of session %d was never reported", n)
		}
	}
	for n := uint64(1); n < 598; n += 2 {
		found := slices.ContainsFunc(m.records, func(r ledger.Record) bool {
			g, ok := decode[Gap](r)
			return r.Kind == KindGap && ok && g.Session == "s" && g.From == n && g.To == n
		})
		if !found {
			t.Fatalf("number %d never came, and no gap shows it", n)
		}
	}
}

// TestObserveModel: lines in any order, some lost, some seen twice, takers that
// die before they append: each call is told once, and what never came is a gap.
func TestObserveModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMemory()
		next := map[string]uint64{}
		lost, want := map[string]bool{}, map[string]bool{}
		var spooled []spool.Line
		call := 0
		t.Repeat(map[string]func(*rapid.T){
			"call": func(t *rapid.T) {
				session := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "session")
				scopes := rapid.IntRange(1, 3).Draw(t, "scopes")
				call++
				told := false
				for range scopes {
					next[session]++
					l := m.saw(next[session], spool.Edit, session, fmt.Sprint(call))
					if rapid.IntRange(0, 5).Draw(t, "fate") == 0 {
						lost[fmt.Sprint(session, l.N)] = true
						continue
					}
					told = true
					at := len(spooled) - rapid.IntRange(0, min(2, len(spooled))).Draw(t, "place")
					spooled = slices.Insert(spooled, max(at, int(m.state().Spool().Offset)), l)
				}
				if told {
					want[fmt.Sprint(session, "/", call)] = true
				}
			},
			"take": func(t *rapid.T) {
				from := m.state().Spool()
				n := rapid.IntRange(1, 5).Draw(t, "limit")
				lines := spooled[from.Offset:min(len(spooled), int(from.Offset)+n)]
				b := spool.Batch{Lines: lines, To: spool.Position{Offset: from.Offset + int64(len(lines))}, More: int(from.Offset)+n < len(spooled)}
				c := m.state().Observe(b, nil, "h1", m.clock)
				if rapid.Bool().Draw(t, "lives") {
					m.append(t, c)
				}
			},
			"time": func(*rapid.T) { m.clock = m.clock.Add(10 * time.Second) },
		})
		m.clock = m.clock.Add(time.Hour)
		var counts []spool.Count
		for _, s := range []string{"a", "b"} {
			counts = append(counts, spool.Count{Session: s, Lines: next[s], Last: m.clock.Add(-time.Hour)})
		}
		from := m.state().Spool()
		b := spool.Batch{Lines: spooled[from.Offset:], To: spool.Position{Offset: int64(len(spooled))}}
		m.append(t, m.state().Observe(b, counts, "h1", m.clock))
		m.append(t, m.state().Observe(spool.Batch{To: m.state().Spool()}, counts, "h1", m.clock))

		got, gone := map[string]bool{}, map[string]bool{}
		for _, r := range m.records[1:] {
			if r.Kind == KindGap {
				g, _ := decode[Gap](r)
				for n := g.From; n > 0 && n <= g.To; n++ {
					gone[fmt.Sprint(g.Session, n)] = true
				}
				continue
			}
			o, _ := decode[Observation](r)
			key := fmt.Sprint(r.Actor.Session, "/", o.ID)
			if got[key] {
				t.Fatalf("call %s is told twice", key)
			}
			got[key] = true
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("told %v, want %v", got, want)
		}
		for key := range lost {
			if !gone[key] {
				t.Fatalf("%s was lost, and no gap shows it: %v", key, gone)
			}
		}
	})
}

func TestAppeal(t *testing.T) {
	m := newMemory()
	denial := m.take(t, nil, m.saw(1, spool.Denied, "s1", "a"))[0]
	edit := m.take(t, nil, m.saw(2, spool.Edit, "s1", "b"))[0]
	if _, err := m.state().Appeal(edit, "g", "v", "why", robot); !fault.Is(err, fault.Refused) {
		t.Errorf("an appeal against what was allowed: %v", err)
	}
	for _, why := range []string{"", " \n", "\xff", strings.Repeat("x", maxText+1)} {
		if _, err := m.state().Appeal(denial, "g", "v", why, robot); !fault.Is(err, fault.Usage) {
			t.Errorf("%.10q: %v", why, err)
		}
	}
	c, err := m.state().Appeal(denial, "g", "v", "it only reads", robot)
	if err != nil {
		t.Fatal(err)
	}
	m.append(t, c)
	b, ok := decode[Appealed](m.records[len(m.records)-1])
	if !ok || b.Denial != denial.Seq || b.Session != "s1" || b.Tool != "Write" || b.Gate != "g" || b.Satelle != "v" || m.state().Appeals() != 1 {
		t.Errorf("%+v, %d appeals", b, m.state().Appeals())
	}
}
