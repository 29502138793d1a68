package ledger

import (
	"context"
	"io"
	"os"
)

// readCold reads the file once in sequence if little of it is in memory. bbolt
// marks its mapping as read at random, so a walk through a cold file would wait
// for the disk page by page, which takes twenty times as long. It is only about
// speed: what is wrong with the file, the walk will say.
func readCold(ctx context.Context, path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil || inMemory(f, info.Size()) {
		return
	}
	buf := make([]byte, 1<<20)
	for ctx.Err() == nil {
		if _, err := io.ReadFull(f, buf); err != nil {
			return
		}
	}
}
