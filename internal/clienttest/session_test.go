//go:build clients

package clienttest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A harness is a coding agent as the tests start it.
type harness struct {
	name    string   // what `satelle agents install` calls it
	title   string   // what people call it
	pin     string   // its package, whose version the table names
	install []string // further arguments of the installation
	// play starts it on a script, in a mode, and returns when it has ended.
	play func(w *world, model *Server, mode ...string) (code int, out string)
	yolo []string // the mode in which it asks nobody
	// untrusted is that mode where the settings were changed after they were
	// trusted; nil: no other.
	untrusted []string
	ways      []way
	last      []way // those that are tried in a session of their own
	reads     []func(w *world) Call
	edit      part                      // the usual way to change a file
	shell     func(command string) Call // the tool that runs commands
}

// A way is one in which a harness lets a model change files.
type way struct {
	name  string
	parts []part
	// spawn starts an agent on a prompt, which makes the calls; nil: the agent
	// of the session makes them.
	spawn func(prompt string) Call
	// remote marks tools that ask a service of the vendor: they are called
	// only where they have to be denied.
	remote bool
	// hidden marks calls of which the hook does not get to see all, so that they
	// are denied whoever holds the seat.
	hidden bool
	// quick marks the ways that are tried where every call takes seconds; main
	// the agent that stands for all agents.
	quick, main bool
}

// A part is a call that changes one file.
type part struct {
	prepare func(w *world, file string)      // what has to be there before the session
	look    func(w *world, file string) Call // what the harness wants to be called first
	call    func(w *world, file string) Call // writes the word "changed" into the file
	ext     string                           // of the file's name, "" for .txt
	done    func(w *world, file string) bool // whether it happened, if no word in a file shows it
	also    func(*Server, string) string     // what the model is told of it besides the call's result
}

// A session is one run of a harness, in which every way is tried in one state
// after another.
type session struct {
	on     *harness
	ways   []way
	states []state
	mode   []string                  // instead of the one that asks nobody
	world  func(t *testing.T) *world // instead of a usual one
	before func(w *world)            // changes the world before the start
}

// What became of the calls of a way.
const (
	wasDenied = "denied"
	hasRun    = "runs"
	isMixed   = "MIXED"
)

// A spot names a way in a state, by their numbers.
type spot struct{ state, way int }

// file is the name that a part changes, another one in each spot.
func (p part) file(at spot, i int) string {
	ext := p.ext
	if ext == "" {
		ext = ".txt"
	}
	return fmt.Sprintf("f%d-%d-%d%s", at.state, at.way, i, ext)
}

// task is what the agent that makes a spot's calls is told.
func (at spot) task() string { return fmt.Sprintf("TASK %d of %d.", at.way, at.state) }

// A played session can be asked what became of its calls.
type played struct {
	session
	w     *world
	model *Server
	main  int          // the conversation of the session's agent; those of others come before it
	call  map[spot]int // the number of a spot's first call in the turn of its state
	child map[spot]int // the conversation of the agent that makes a spot's calls
}

// spots calls fn for every way that is tried in a state.
func (s session) spots(state int, fn func(at spot, y way)) {
	for n, y := range s.ways {
		if st := s.states[state]; !(y.remote && st.passes(s.on)) && (y.quick || !st.slow) {
			fn(spot{state, n}, y)
		}
	}
}

// play prepares a world, writes the script and plays it.
func (s session) play(t *testing.T) *played {
	t.Helper()
	p := &played{session: s, call: map[spot]int{}, child: map[spot]int{}}
	if s.world == nil {
		p.w = newWorld(t, s.on.name, s.on.install...)
	} else {
		p.w = s.world(t)
	}
	if s.before != nil {
		s.before(p.w)
	}
	var script Script
	looks := Turn{Calls: []Call{s.on.reads[0](p.w)}}
	for n := range s.states {
		s.spots(n, func(at spot, y way) {
			var calls []Call
			for i, part := range y.parts {
				file := part.file(at, i)
				if part.prepare != nil {
					part.prepare(p.w, file)
				}
				if part.look != nil && y.spawn == nil {
					looks.Calls = append(looks.Calls, part.look(p.w, file))
				}
				calls = append(calls, part.call(p.w, file))
			}
			if y.spawn != nil {
				p.child[at] = len(script)
				script = append(script, Conversation{Match: at.task(), Turns: []Turn{{Calls: calls}}})
			}
		})
	}
	turns := []Turn{looks}
	for n := range s.states {
		turns = append(turns, p.turn(n))
	}
	// One turn more, so that what the last one began comes to its end.
	turns = append(turns, Turn{Before: func() { p.settle(len(s.states) - 1) }, Calls: looks.Calls[:1]})
	p.main = len(script)
	p.model = New(t, append(script, Conversation{Match: "MAIN", Turns: turns}))
	mode := s.mode
	if mode == nil {
		mode = s.on.yolo
	}
	code, out := s.on.play(p.w, p.model, mode...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("exit %d\n%.4000s", code, out)
		}
	})
	return p
}

// turn brings a state about, then reads and tries every way.
func (p *played) turn(n int) Turn {
	turn := Turn{Before: func() {
		if n > 0 {
			p.settle(n - 1)
		}
		if p.states[n].broken {
			p.w.mend()
		}
		p.states[n].set(p.w)
	}}
	for _, read := range p.on.reads {
		turn.Calls = append(turn.Calls, read(p.w))
	}
	p.spots(n, func(at spot, y way) {
		p.call[at] = len(turn.Calls)
		if y.spawn != nil {
			turn.Calls = append(turn.Calls, y.spawn(at.task()))
			return
		}
		for i, part := range y.parts {
			turn.Calls = append(turn.Calls, part.call(p.w, part.file(at, i)))
		}
	})
	return turn
}

// settle waits until the agents that a state's turn started have made their
// calls.
func (p *played) settle(n int) {
	p.spots(n, func(at spot, y way) {
		child, spawned := p.child[at]
		if !spawned {
			return
		}
		if r, _ := p.model.Result(p.main, n+1, p.call[at]); refused(r.Text) {
			return
		}
		if !until(func() bool { _, told := p.model.Result(child, 0, len(y.parts)-1); return told }) {
			p.w.t.Errorf("%s: the agent of %s did not make its calls", p.states[n].name, y.name)
		}
	})
}

// reading returns what became of the reading calls in a state.
func (p *played) reading(n int) string {
	var o outcome
	for i := range p.on.reads {
		r, found := p.model.Result(p.main, n+1, i)
		o.add(r.Text, found && !refused(r.Text))
	}
	return o.sum(p.w.t, p.states[n].name+", reading")
}

// changing returns what became of the calls of a way in a state.
func (p *played) changing(at spot, y way) string {
	var o outcome
	where := p.states[at.state].name + ", " + y.name
	conversation, turn, first := p.main, at.state+1, p.call[at]
	if child, spawned := p.child[at]; spawned {
		if r, _ := p.model.Result(conversation, turn, first); refused(r.Text) {
			o.add(r.Text, false)
			return o.sum(p.w.t, where)
		}
		conversation, turn, first = child, 0, 0
	}
	for i, part := range y.parts {
		r, found := p.model.Result(conversation, turn, first+i)
		if part.also != nil {
			r.Text += "\n" + part.also(p.model, part.file(at, i))
		}
		no := found && refused(r.Text)
		yes := p.w.happened(part, part.file(at, i), !no)
		if yes == no {
			p.w.t.Errorf("%s: refused is %v and done is %v: %q", where, no, yes, r.Text)
		}
		o.add(r.Text, yes)
	}
	return o.sum(p.w.t, where)
}

// outcome gathers what became of several calls.
type outcome struct {
	yes, no int
	told    []string
}

func (o *outcome) add(told string, ran bool) {
	o.told = append(o.told, told)
	if ran {
		o.yes++
	} else {
		o.no++
	}
}

func (o *outcome) sum(t *testing.T, where string) string {
	switch {
	case o.no == 0:
		return hasRun
	case o.yes == 0:
		return wasDenied
	}
	t.Errorf("%s: %d of the calls ran: %q", where, o.yes, o.told)
	return isMixed
}

// refused reports whether what a model was told comes from satelle's hook, or
// from a harness about that hook.
func refused(told string) bool { return strings.Contains(told, "satelle") }

// happened reports whether a part has changed its file, which may take a moment
// if it was let pass.
func (w *world) happened(p part, file string, wait bool) bool {
	check := func() bool { return w.changed(file) }
	if p.done != nil {
		check = func() bool { return p.done(w, file) }
	}
	if wait {
		return until(check)
	}
	return check()
}

// changed reports whether a file of that name, in whatever folder of this
// world, holds the word.
func (w *world) changed(name string) bool {
	found := false
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err): // gone while we looked
			return nil
		case err != nil:
			return err
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case d.Name() != name || d.IsDir():
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(text), "changed") {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		w.t.Error(err)
	}
	return found
}

// until waits for something that another process is about to bring about.
func until(check func() bool) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(30 * time.Second)
	for !check() {
		select {
		case <-tick.C:
		case <-late:
			return false
		}
	}
	return true
}
