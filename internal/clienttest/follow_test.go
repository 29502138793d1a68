//go:build clients

package clienttest

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// lead is the command that a denial begins with, up to a semicolon between
// blanks.
var lead = regexp.MustCompile(`To (?:go on|change it) run: (.+?) ; `)

// follows runs, as a shell command, what the first denial of the turn before
// says that one runs, to the letter.
func follows(h *harness) Turn {
	return Turn{Then: func(told []Result) []Call {
		if len(told) == 0 {
			return nil
		}
		if m := lead.FindStringSubmatch(told[0].Text); m != nil {
			return []Call{h.shell(m[1])}
		}
		return nil
	}}
}

// A denial costs one turn: whoever does what it says, to the letter, and
// repeats the call, gets the call done.
func TestFollowedDenials(t *testing.T) {
	for _, h := range []*harness{claude, codex, codeMode, grok} {
		t.Run(h.title, func(t *testing.T) {
			t.Run("seat", func(t *testing.T) {
				t.Parallel()
				followSeats(t, h)
			})
			t.Run("substrate", func(t *testing.T) {
				t.Parallel()
				followSubstrate(t, h)
			})
			t.Run("no ledger", func(t *testing.T) {
				t.Parallel()
				followNoLedger(t, h)
			})
		})
	}
}

// tries makes an edit and a shell write, of which names are the files.
func tries(h *harness, w *world, edit, written string) []Call {
	return []Call{h.edit.call(w, edit), h.shell("echo changed > " + written)}
}

// followSeats goes through the denials that the state of the seat leads to, in
// one session.
func followSeats(t *testing.T, h *harness) {
	w := newWorld(t, h.name, h.install...)
	w.keep()
	other := filepath.Join(w.dir, "other tree")
	w.run(nil, "git", "worktree", "add", "-q", "-b", "other", other)
	kinds := []struct {
		name   string
		before func()
		calls  []Call
		says   string
	}{
		{"no seat", nil, tries(h, w, "a1.txt", "a2.txt"), "satelle story start"},
		{"suspended", func() { w.swap(`"idle_at":[0-9]{10}`, `"idle_at":1000000000`) }, tries(h, w, "b1.txt", "b2.txt"), "satelle story join sty_"},
		{"an open story", func() { w.satelle("story", "set", w.seatOf(), "--status", "backlog") }, tries(h, w, "c1.txt", "c2.txt"), "satelle story set sty_"},
		{"another work tree", nil, tries(h, &world{repo: "/"}, other+"/d1.txt", "'"+other+"/d2.txt'"), "cd '" + other + "' && satelle story start"},
	}
	var turns []Turn
	for _, k := range kinds {
		turns = append(turns, Turn{Before: k.before, Calls: k.calls}, follows(h), Turn{Calls: k.calls})
	}
	turns = append(turns, Turn{Calls: []Call{h.shell("'" + w.bin("satelle") + "' status")}})
	model := New(t, Script{{Match: "MAIN", Turns: turns}})
	h.play(w, model, h.yolo...)
	if r, found := model.Result(0, len(turns)-1, 0); !found || !strings.Contains(r.Text, "you are: session "+h.name) {
		t.Errorf("a session counts as a person: %q", r.Text)
	}
	for n, k := range kinds {
		for i := range k.calls {
			if r, _ := model.Result(0, 3*n, i); !strings.Contains(w.byName(r.Text), "To go on run: "+k.says) {
				t.Errorf("%s: the denial of %v is: %q", k.name, r.Call, r.Text)
			}
			if r, found := model.Result(0, 3*n+2, i); !found || refused(r.Text) {
				done, _ := model.Result(0, 3*n+1, 0)
				t.Errorf("%s: after %v (%q), %v got: %q", k.name, done.Call, done.Text, r.Call, r.Text)
			}
		}
	}
	for _, name := range []string{"a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2"} {
		if !w.changed(name + ".txt") {
			t.Errorf("%s was not written", name)
		}
	}
}

// followSubstrate changes a file of .satelle, which a person has to approve.
func followSubstrate(t *testing.T, h *harness) {
	w := newWorld(t, h.name, h.install...)
	edit := h.edit.call(w, ".satelle/principles/new.md")
	var model *Server
	story := func() string {
		r, _ := model.Result(0, 1, 0)
		return storyID.FindString(r.Text)
	}
	next := regexp.MustCompile(`then run: (.+?) \. `)
	model = New(t, Script{{Match: "MAIN", Turns: []Turn{
		{Calls: []Call{edit}},
		follows(h),
		{
			Before: func() { w.satelle("approve", story()) },
			Then: func(told []Result) []Call {
				denial, _ := model.Result(0, 0, 0)
				m := next.FindStringSubmatch(denial.Text)
				if m == nil || len(told) == 0 {
					return nil
				}
				return []Call{h.shell(strings.Replace(m[1], "ID", storyID.FindString(told[0].Text), 1))}
			},
		},
		{Calls: []Call{edit}},
	}}})
	h.play(w, model, h.yolo...)
	if !w.changed("new.md") {
		for n := range 4 {
			r, _ := model.Result(0, n, 0)
			t.Errorf("%v was told: %q", r.Call, r.Text)
		}
	}
}

// followNoLedger works in a repository that satelle governs, on a machine that
// has no ledger for it yet: two denials lead to the edit.
func followNoLedger(t *testing.T, h *harness) {
	w := newWorld(t, h.name, h.install...)
	w.keep()
	w.remove(filepath.Dir(w.ledger))
	calls := tries(h, w, "a1.txt", "a2.txt")
	model := New(t, Script{{Match: "MAIN", Turns: []Turn{{Calls: calls}, follows(h), {Calls: calls}, follows(h), {Calls: calls}}}})
	h.play(w, model, h.yolo...)
	if !w.changed("a1.txt") || !w.changed("a2.txt") {
		for n := range 5 {
			r, _ := model.Result(0, n, 0)
			t.Errorf("%v was told: %q", r.Call, r.Text)
		}
	}
}

var storyID = regexp.MustCompile("sty_[0-9a-z]{8}")

// seatOf is the story that holds the seat.
func (w *world) seatOf() string {
	w.t.Helper()
	return storyID.FindString(w.satelle("status"))
}

// byName is a text in which satelle is called by its name. In a login shell,
// which Codex runs, denials call it by its full path.
func (w *world) byName(text string) string {
	return strings.NewReplacer("'"+w.bin("satelle")+"'", "satelle", w.bin("satelle"), "satelle").Replace(text)
}
