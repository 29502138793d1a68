package decide

import (
	"os"
	"time"

	"satelle/hooks/dialect"
	"satelle/internal/ancestry"
)

// Grok reads no answer of a hook when a session starts. It reads one after a
// call, so there its welcome waits for the first one: a file by the session's
// name says that it is owed.

// Bounds of what is owed to sessions that never made a call.
const (
	maxOwed = 64
	owedFor = 24 * time.Hour
)

func (w *world) owed(c dialect.Call) string {
	return w.home + "/welcome/" + ancestry.Plain(c.Session)
}

// owe notes that a session is to be welcomed. Where that fails it is not.
func (w *world) owe(c dialect.Call) {
	if c.Session == "" || canary(c) {
		return
	}
	dir := w.home + "/welcome"
	if os.Mkdir(dir, 0o700) != nil {
		w.forget(dir)
	}
	if f, err := os.OpenFile(w.owed(c), os.O_WRONLY|os.O_CREATE, 0o600); err == nil {
		f.Close()
	}
}

// forget drops what is owed to sessions of long ago.
func (w *world) forget(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxOwed)
	for _, name := range names {
		if info, err := os.Lstat(dir + "/" + name); err == nil && w.now.Sub(info.ModTime()) > owedFor {
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
