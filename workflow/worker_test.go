package workflow

import (
	"strings"
	"testing"

	"satelle/internal/fault"
	"satelle/ledger"
)

// TestWorkersMayAppend goes through all kinds of records: one that is new is
// nothing that a worker may cause until it is named here.
func TestWorkersMayAppend(t *testing.T) {
	t.Parallel()
	may := map[string]bool{KindCommented: true, KindAttached: true, KindLanePinned: true, KindPrepared: true, KindRewritten: true}
	agent := ledger.Actor{Kind: ledger.ActorWorker, Name: "planner"}
	performer, other := Worker{ID: "w", Story: "sty_a", Performs: true}, Worker{ID: "w", Story: "sty_a"}
	for kind := range kinds {
		c := Change{Drafts: []ledger.Draft{{Kind: kind, Story: "sty_a", Actor: agent}}}
		if err := performer.MayAppend(c); (err == nil) != may[kind] {
			t.Errorf("a performer, %s: %v", kind, err)
		}
		if err := other.MayAppend(c); !fault.Is(err, fault.Refused) || fault.TryOf(err) == "" {
			t.Errorf("a reviewer, %s: %v", kind, err)
		}
		c.Drafts[0].Actor = person
		if err := (Worker{}).MayAppend(c); err != nil {
			t.Errorf("somebody else, %s: %v", kind, err)
		}
	}
	for _, tt := range []struct {
		name string
		d    ledger.Draft
		ok   bool
	}{
		{"a comment on another story", ledger.Draft{Kind: KindCommented, Story: "sty_b"}, false},
		{"a document of another story", ledger.Draft{Kind: KindAttached, Story: "sty_b"}, false},
		{"a child", ledger.Draft{Kind: KindCreated, Story: "sty_c", Body: storyCreated{Parent: "sty_a"}}, true},
		{"a child of another story", ledger.Draft{Kind: KindCreated, Story: "sty_c", Body: storyCreated{Parent: "sty_b"}}, false},
		{"a story without a parent", ledger.Draft{Kind: KindCreated, Story: "sty_c", Body: storyCreated{}}, false},
	} {
		tt.d.Actor = agent
		if err := performer.MayAppend(Change{Drafts: []ledger.Draft{tt.d}}); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestWorkersMayUse(t *testing.T) {
	t.Parallel()
	performer, reviewer, gone := Worker{Story: "sty_a", Performs: true}, Worker{Story: "sty_a"}, Worker{}
	for _, verb := range append(WorkerVerbs(), "a verb of tomorrow") {
		access := VerbAccess(verb)
		for who, w := range map[string]Worker{"performer": performer, "reviewer": reviewer, "gone": gone} {
			want := access == Everybody || access == Performers && who == "performer"
			err := w.MayUse(verb)
			if (err == nil) != want {
				t.Errorf("%s, %s: %v", who, verb, err)
			}
			if err != nil && (!fault.Is(err, fault.Refused) || !strings.HasPrefix(fault.TryOf(err), "satelle story ") || !strings.Contains(err.Error(), verb)) {
				t.Errorf("%s, %s: %v, try %q", who, verb, err, fault.TryOf(err))
			}
		}
	}
	for _, verb := range []string{"story set", "story start", "story join", "approve", "agent run", "trust", "halt", "a verb of tomorrow"} {
		if VerbAccess(verb) != Nobody {
			t.Errorf("%s is for workers", verb)
		}
	}
}
