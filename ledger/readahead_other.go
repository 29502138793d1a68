//go:build !linux

package ledger

import (
	"io"
	"os"
)

// readAhead reads the file in sequence, in the background. bbolt marks its
// mapping as read at random, so a walk through a file that is not cached would
// wait for the disk page by page. The returned function ends it.
func readAhead(path string) (end func()) {
	f, err := os.Open(path)
	if err != nil {
		return func() {} // it is only about speed; the walk will say what is wrong
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, 1<<20))
	}()
	return func() {
		_ = f.Close() // ends the read
		<-ended
	}
}
