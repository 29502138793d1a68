//go:build clients

package clienttest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const reading = "reading"

// TestEnforcement fills the table of docs/enforcement.md: every harness, every
// tool, every failure. Each of its rows is a state in a session of the real
// client, or a session of its own.
func TestEnforcement(t *testing.T) {
	var chapters []chapter
	t.Run("sessions", func(t *testing.T) {
		for _, h := range []*harness{claude, codex, codeMode, grok} {
			c := chapter{of: h}
			tools := newSheet("Tools and failures", "state")
			for _, y := range append(h.ways[:len(h.ways):len(h.ways)], h.last...) {
				tools.columns = append(tools.columns, y.name)
			}
			tools.columns = append(tools.columns, reading)
			c.sheets = append(c.sheets, tools)
			for name, s := range h.sessions() {
				t.Run(h.title+"/"+name, func(t *testing.T) {
					t.Parallel()
					s.fill(t, tools)
				})
			}
			for _, all := range [][]state{seats, failures, {full}, beyond, {hang}} {
				for _, st := range all {
					tools.rows = append(tools.rows, st.name)
				}
			}
			if all := launches[h]; all != nil {
				places := newSheet("Where and how it is started", "start")
				places.columns = []string{seats[0].name, seated}
				c.sheets = append(c.sheets, places)
				for _, s := range all {
					places.rows = append(places.rows, s.name)
					t.Run(h.title+"/"+s.name, func(t *testing.T) {
						t.Parallel()
						s.play(t, h, places)
					})
				}
			}
			chapters = append(chapters, c)
		}
	})
	settle(t, chapters)
}

// sessions are those that fill a harness's sheet of tools.
func (h *harness) sessions() map[string]session {
	keep := func(w *world) { w.keep() }
	held := func(w *world) {
		w.takeSeat()
		w.keep()
	}
	all := map[string]session{
		"seats":    {on: h, ways: h.ways, states: seats, before: keep},
		"failures": {on: h, ways: h.ways, states: failures, before: held},
		"beyond":   {on: h, ways: h.ways, states: beyond, before: held},
		"full":     {on: h, ways: h.ways, states: []state{full}, before: func(w *world) { held(w); w.fill() }},
		"hang": {on: h, ways: h.ways, states: []state{hang}, mode: h.untrusted, before: func(w *world) {
			held(w)
			w.hurry()
		}},
	}
	if h.last != nil {
		all["last"] = session{on: h, ways: h.last, states: []state{seats[0], {name: seated, set: (*world).takeSeat, runs: true}}}
	}
	return all
}

// fill plays the session and notes in the sheet what became of each way.
func (s session) fill(t *testing.T, into *sheet) {
	p := s.play(t)
	for n, st := range s.states {
		into.put(t, s.on, st.name, reading, p.reading(n), !st.blind && (st.open == nil || st.passes(s.on)), "")
		p.spots(n, func(at spot, y way) {
			into.put(t, s.on, st.name, y.name, p.changing(at, y), st.runs && !y.hidden, st.open[s.on.name])
		})
	}
}

// full is for a session whose $SATELLE_HOME lies on a disk without room, where
// this machine lets one be mounted.
var full = state{name: "the disk of $SATELLE_HOME is full", set: func(w *world) {
	if w.around == nil {
		w.script(`ulimit -f 0; exec "$whole"`)
	}
}}

// fill has the client start with such a disk.
func (w *world) fill() {
	if exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", w.dir).Run() != nil {
		return
	}
	w.around = []string{"unshare", "-rm", "sh", "-c", `
		home=$1; shift
		cp -a "$home" "$TMPDIR/kept" &&
		mount -t tmpfs -o size=64m none "$home" &&
		cp -a "$TMPDIR/kept/." "$home/" || exit
		cat /dev/zero >"$home/fill" 2>/dev/null
		exec "$@"`, "sh", filepath.Join(w.home, ".satelle")}
}

// hurry sets the patience of the harness with each hook to one second.
func (w *world) hurry() {
	for _, name := range []string{".claude/settings.json", ".codex/hooks.json", ".grok/hooks/satelle.json"} {
		path := filepath.Join(w.repo, name)
		if text, ok := w.files()[name]; ok {
			changed := strings.ReplaceAll(text, `"timeout":60`, `"timeout":1`)
			changed = strings.ReplaceAll(changed, `"timeout": 60`, `"timeout": 1`)
			if changed == text {
				w.t.Errorf("%s names no patience", path)
			}
			w.put(path, []byte(changed), 0o644)
		}
	}
}
