package decide

import (
	"os"
	"time"

	"satelle/hooks/dialect"
	"satelle/internal/ancestry"
)

// A session is welcomed once. Codex runs the hooks of the person and of the
// project, and gives the model what both say; so a file by the session's name
// says that it has been done. Grok reads no answer of a hook when a session
// starts, but one after a call; there the file says that the welcome is owed.

const (
	// maxNoted and notedFor bound what is kept of sessions of long ago.
	maxNoted = 64
	notedFor = 24 * time.Hour
	// together is the time within which the hooks of one start run.
	together = 10 * time.Second
)

func (w *world) owed(c dialect.Call) string {
	return w.home + "/welcome/" + ancestry.Plain(c.Session)
}

// owe notes that a session is to be welcomed. Where that fails it is not.
func (w *world) owe(c dialect.Call) {
	if c.Session == "" || canary(c) {
		return
	}
	w.room()
	if f, err := os.OpenFile(w.owed(c), os.O_WRONLY|os.O_CREATE, 0o600); err == nil {
		f.Close()
	}
}

// welcomed reports whether another hook welcomes the session at this start of
// it, and notes that this one does otherwise.
func (w *world) welcomed(c dialect.Call) bool {
	if c.Session == "" || canary(c) {
		return false
	}
	w.room()
	file := w.owed(c) + ".told"
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		f.Close()
	} else if info, err := os.Lstat(file); err == nil {
		if age := w.now.Sub(info.ModTime()); age > -together && age < together {
			return true
		}
	}
	_ = os.Chtimes(file, w.now, w.now) // at worst it is said twice
	return false
}

// room makes the folder of the notes.
func (w *world) room() {
	dir := w.home + "/welcome"
	if os.Mkdir(dir, 0o700) != nil {
		w.forget(dir)
	}
}

// forget drops what is noted of sessions of long ago.
func (w *world) forget(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxNoted)
	for _, name := range names {
		if info, err := os.Lstat(dir + "/" + name); err == nil && w.now.Sub(info.ModTime()) > notedFor {
			os.Remove(dir + "/" + name)
		}
	}
}

// lateWelcome is the answer to the end of a session's first call, if its
// welcome is owed. Whoever removes the file gives it, so it is given once.
func (w *world) lateWelcome(c dialect.Call, err error) []byte {
	if err != nil || c.Harness != dialect.Grok || c.Failed || c.Agent != "" || c.Session == "" || os.Remove(w.owed(c)) != nil {
		return nil
	}
	here, err := w.here(true)
	if err != nil || !here.Governed {
		return nil
	}
	return w.welcome(c, here)
}
