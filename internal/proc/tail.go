package proc

// tail is a writer that keeps the last bytes written to it, and never holds
// more than twice its limit.
type tail struct {
	limit int
	buf   []byte
	lost  bool
}

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if n > t.limit {
		p = p[n-t.limit:]
		t.lost = true
	}
	if len(t.buf)+len(p) > 2*t.limit {
		t.trim()
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

func (t *tail) trim() {
	if over := len(t.buf) - t.limit; over > 0 {
		t.buf = t.buf[:copy(t.buf, t.buf[over:])]
		t.lost = true
	}
}

// bytes returns what was kept and whether anything was lost.
func (t *tail) bytes() ([]byte, bool) {
	t.trim()
	return t.buf, t.lost
}
