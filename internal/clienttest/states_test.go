//go:build clients

package clienttest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
)

// A state is one of satelle and the machine in which a harness asks the hook.
type state struct {
	name string
	set  func(w *world) // brings it about, in a world that is whole and holds the seat unless it says otherwise
	runs bool           // what changes files may run
	// open names, for a harness that keeps this open by its own design, which
	// of the known openings that is.
	open   map[string]string
	slow   bool // every call takes seconds
	blind  bool // reading is denied, too
	broken bool // it begins with all that was broken before being mended
}

// passes reports whether what changes files runs in this state.
func (s state) passes(h *harness) bool { return s.runs || s.open[h.name] != "" }

const seated = "a story holds the seat"

// The states of a session in which nothing is broken. They follow each other.
var seats = []state{
	{name: "no story holds the seat", set: func(*world) {}},
	{name: "no story holds it, and a writer locks the ledger", set: func(w *world) { w.lock() }},
	{name: seated, set: func(w *world) { w.unlock(); w.takeSeat() }, runs: true},
	{name: "a story holds it, and a writer locks the ledger", set: func(w *world) { w.lock() }, runs: true},
	{name: "the seat is suspended", set: func(w *world) { w.unlock(); w.swap(`"idle_at":[0-9]{10}`, `"idle_at":1000000000`) }},
	{name: "a person has halted everything", set: func(w *world) { w.satelle("halt", "stop") }},
}

// The states of a session in which something is broken, while a story holds
// the seat: nothing can tell so any more.
var failures = breaking([]state{
	{name: "satelle-hook is missing", set: func(w *world) { w.engine(nil, 0) }},
	{name: "satelle-hook is not executable", set: func(w *world) { w.engine(w.whole, 0o644) }},
	{name: "satelle-hook is empty", set: func(w *world) { w.engine([]byte{}, 0o755) }},
	{name: "satelle-hook is cut off", set: func(w *world) { w.engine(w.whole[:len(w.whole)/3], 0o755) }},
	{name: "satelle-hook is garbage", set: func(w *world) { w.engine([]byte("\x7fELF garbage \x00\xff"), 0o755) }},
	{name: "satelle-hook is of another architecture", set: func(w *world) {
		other := bytes.Clone(w.whole)
		other[18] ^= 0xff // the machine, in the header of an ELF file
		w.engine(other, 0o755)
	}},
	{name: "satelle-hook needs an interpreter that is missing", set: func(w *world) { w.engine([]byte("#!/no/such/program\n"), 0o755) }},
	{name: "satelle-hook fails with exit code 1", set: func(w *world) { w.script("exit 1") }},
	{name: "satelle-hook dies of a signal", set: func(w *world) { w.script("kill -SEGV $$") }},
	{name: "satelle-hook is killed", set: func(w *world) { w.script("kill -KILL $$") }},
	{name: "satelle-hook crashes after it has read", blind: true, set: func(w *world) { w.script("cat > /dev/null; exit 2") }},
	{name: "satelle-hook has no memory", set: func(w *world) { w.script(`ulimit -v 8000; exec "$whole"`) }},
	{name: "satelle-hook and its wrapper are missing", blind: true, set: func(w *world) {
		w.engine(nil, 0)
		w.remove(w.bin("satelle-hook.sh"))
	}},
	{name: "the folder of programs is missing", blind: true, set: func(w *world) { w.remove(w.bin()) }},
	{name: "the ledger is missing", set: func(w *world) { w.remove(w.ledger) }},
	{name: "the ledger is empty", set: func(w *world) { w.put(w.ledger, nil, 0o600) }},
	{name: "the ledger is corrupt", set: func(w *world) { w.put(w.ledger, bytes.Repeat([]byte("garbage "), 8192), 0o600) }},
	{name: "the ledger is of a newer format", set: func(w *world) { w.swap(`"format":1,"projection"`, `"format":9,"projection"`) }},
	{name: "the ledger cannot be opened", set: func(w *world) {
		w.remove(w.ledger)
		if err := os.Symlink(w.ledger, w.ledger); err != nil {
			w.t.Error(err)
		}
	}},
	{name: "no file can grow, as on a full disk", set: func(w *world) { w.script(`ulimit -f 0; exec "$whole"`) }},
	{name: "the deadline of satelle-hook passes", blind: true, slow: true, set: func(w *world) { w.script(`exec "$whole" < "$never"`) }},
})

// The states that no file of satelle's can close.
var beyond = breaking([]state{
	{
		name: "the whole hook is killed", set: func(w *world) { w.script("kill -KILL $PPID $$") },
		open: map[string]string{
			"codex": "the hook is killed by a signal, or hangs before its first instruction",
			"grok":  "the hook is killed by a signal, or hangs before its first instruction",
		},
	},
	{
		name: "another program in the place of satelle-hook prints garbage and ends well",
		set:  func(w *world) { w.script("echo garbage") },
		open: map[string]string{
			"claude": "a hook prints plain text or unfinished JSON and exits with 0",
			"codex":  "the hook exits with another code than 0 and 2, or prints anything beside its one object",
			"grok":   "the hook exits with another code than 0 and 2 without a decision, or prints anything beside it",
		},
	},
})

// hang is for a session whose hooks have a patience of one second.
var hang = state{
	name: "the hook hangs before it starts", slow: true, broken: true, set: func(w *world) { w.script(`read line < "$never"`) },
	open: beyond[0].open,
}

func breaking(all []state) []state {
	for i := range all {
		all[i].broken = true
	}
	return all
}

func (w *world) bin(name ...string) string {
	return filepath.Join(append([]string{w.home, ".satelle", "bin"}, name...)...)
}

// keep notes the state of satelle's files, to which mend brings them back.
func (w *world) keep() {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.home, ".satelle", "*", "ledger.db"))
	if err != nil || len(found) != 1 {
		w.t.Fatalf("the ledger: %q, %v", found, err)
	}
	w.ledger = found[0]
	w.kept = map[string][]byte{}
	for _, path := range []string{w.bin("satelle-hook"), w.bin("satelle-hook.sh"), w.ledger} {
		if w.kept[path], err = os.ReadFile(path); err != nil {
			w.t.Fatal(err)
		}
	}
	// For programs that stand in the place of the engine: the engine itself,
	// and an input that never ends.
	w.whole = w.kept[w.bin("satelle-hook")]
	w.put(filepath.Join(w.dir, "whole"), w.whole, 0o755)
	never := filepath.Join(w.dir, "never")
	if err := syscall.Mkfifo(never, 0o600); err != nil {
		w.t.Fatal(err)
	}
	f, err := os.OpenFile(never, os.O_RDWR, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { f.Close() })
}

// mend brings back what keep has seen.
func (w *world) mend() {
	for path, content := range w.kept {
		w.put(path, content, map[bool]os.FileMode{true: 0o600, false: 0o755}[path == w.ledger])
	}
}

// put replaces a file, and makes its folder.
func (w *world) put(path string, content []byte, mode os.FileMode) {
	w.remove(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Error(err)
	}
	if err := os.WriteFile(path, content, mode); err != nil {
		w.t.Error(err)
	}
}

func (w *world) remove(path string) {
	if err := os.RemoveAll(path); err != nil {
		w.t.Error(err)
	}
}

// engine puts a program in the place of satelle-hook.
func (w *world) engine(content []byte, mode os.FileMode) { w.put(w.bin("satelle-hook"), content, mode) }

// script puts a shell script there, which can use $whole and $never.
func (w *world) script(lines string) {
	w.engine([]byte("#!/bin/sh\nwhole='"+w.dir+"/whole' never='"+w.dir+"/never'\n"+lines+"\n"), 0o755)
}

// swap changes the ledger's file in place, in every copy of what it replaces.
func (w *world) swap(pattern, with string) {
	old, err := os.ReadFile(w.ledger)
	if err != nil {
		w.t.Error(err)
	}
	changed := regexp.MustCompile(pattern).ReplaceAll(old, []byte(with))
	if len(changed) != len(old) || bytes.Equal(changed, old) {
		w.t.Errorf("%s is not to be replaced in the ledger by %s", pattern, with)
	}
	w.put(w.ledger, changed, 0o600)
}

// lock holds the ledger as one that writes does.
func (w *world) lock() {
	var err error
	if w.writer, err = os.OpenFile(w.ledger, os.O_RDWR, 0); err != nil {
		w.t.Error(err)
		return
	}
	if err := syscall.Flock(int(w.writer.Fd()), syscall.LOCK_EX); err != nil {
		w.t.Error(err)
	}
}

func (w *world) unlock() { _ = w.writer.Close() }
