package ledger

import (
	"os"

	"golang.org/x/sys/unix"
)

// readAhead asks the kernel to read the file in sequence, in the background.
// bbolt marks its mapping as read at random, so a walk through a file that is
// not cached would wait for the disk page by page. What is cached already costs
// next to nothing. The returned function ends it.
func readAhead(path string) (end func()) {
	const step = 8 << 20
	f, err := os.Open(path)
	if err != nil {
		return func() {} // it is only about speed; the walk will say what is wrong
	}
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		info, err := f.Stat()
		for off := int64(0); err == nil && off < info.Size(); off += step {
			select {
			case <-quit:
				return
			default:
				err = unix.Fadvise(int(f.Fd()), off, step, unix.FADV_WILLNEED)
			}
		}
	}()
	return func() {
		close(quit)
		<-ended
		_ = f.Close()
	}
}
