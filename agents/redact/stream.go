package redact

import (
	"io"
	"strings"
)

// window bounds what is held of a text that may be a secret: larger ones than
// this are cut off at the next blank.
const window = 16 << 10

// Writer redacts a stream. It holds back the end of what it was given until it
// knows that no secret is in it; Close lets go of that.
type Writer struct {
	rules *Rules
	to    io.Writer
	buf   string
	// due is the length of buf at which it is read again: a quarter more than
	// was held, so that an endless word is not read over and over.
	due int
	// until ends what is being dropped: a secret that outgrew the window.
	until string
}

// Writer returns a writer that passes on to w what is no secret.
func (r *Rules) Writer(w io.Writer) *Writer { return &Writer{rules: r, to: w} }

// Write implements [io.Writer].
func (w *Writer) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := min(len(rest), window)
		w.buf += string(rest[:n])
		rest = rest[n:]
		if len(w.buf) < w.due {
			continue
		}
		if err := w.flow(); err != nil {
			return 0, err
		}
		w.due = len(w.buf) + len(w.buf)/4
	}
	return len(p), nil
}

// Pending is how many bytes are held back.
func (w *Writer) Pending() int { return len(w.buf) }

// ends are what a secret that outgrew the window ends with.
const (
	blank  = " \t\r\n\"'\\"
	keyEnd = "-----END "
)

func (w *Writer) flow() error {
	if !w.drop() {
		return nil
	}
	spans := w.rules.find(w.buf)
	cut := w.rules.safe(w.buf, spans)
	if len(w.buf)-cut > window {
		i := len(spans) - 1
		if i >= 0 && spans[i].to == len(w.buf) {
			out := replace(w.buf, spans)
			w.until = blank
			if strings.HasPrefix(w.buf[spans[i].from:], "-----BEGIN ") {
				w.until = keyEnd
			}
			w.buf = ""
			return w.put(out)
		}
		cut = len(w.buf) - window/4
		if i >= 0 && spans[i].to > cut {
			cut = spans[i].from
		}
	}
	return w.release(cut, spans)
}

// drop takes away what still belongs to a secret, and reports whether it ended.
func (w *Writer) drop() bool {
	switch w.until {
	case "":
		return true
	case blank:
		i := strings.IndexAny(w.buf, blank)
		if i < 0 {
			w.buf = ""
			return false
		}
		w.buf = w.buf[i:]
	case keyEnd:
		i := strings.Index(w.buf, keyEnd)
		if i < 0 {
			w.buf = w.buf[max(0, len(w.buf)-len(keyEnd)):]
			return false
		}
		w.buf = w.buf[i:]
	}
	w.until = ""
	return true
}

func (w *Writer) release(cut int, spans []span) error {
	n := len(spans)
	for n > 0 && spans[n-1].to > cut {
		n--
	}
	out := replace(w.buf[:cut], spans[:n])
	w.buf = w.buf[cut:]
	return w.put(out)
}

func (w *Writer) put(out string) error {
	if out == "" {
		return nil
	}
	_, err := io.WriteString(w.to, out)
	return err
}

// Close passes on what was held back; it does not close what lies below.
func (w *Writer) Close() error {
	out := ""
	if w.drop() {
		out = w.rules.String(w.buf)
	}
	w.buf, w.until, w.due = "", "", 0
	return w.put(out)
}
