package spool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what one Read takes.
const (
	maxRead    = 4 << 20 // bytes
	readChunk  = 64 << 10
	maxEntries = 4096 // of a folder
)

// A Position is a place in a spool: so many bytes into the file of that
// number. Everything before it was taken; the zero Position is the beginning.
type Position struct {
	File   uint64
	Offset int64
}

// A Batch is what a reader takes at once.
type Batch struct {
	Lines []Line
	Torn  int      // stretches that hold no line, passed over
	Cut   bool     // the file is shorter than it was: somebody has cut it
	To    Position // what was taken ends here
	More  bool     // there is more
}

// Empty reports whether a batch tells nothing.
func (b *Batch) Empty() bool { return len(b.Lines) == 0 && b.Torn == 0 && !b.Cut }

// Read returns up to limit lines from a position on. What a writer may still be
// at is left for later. The caller holds whatever keeps other readers out.
func Read(dir string, from Position, limit int) (Batch, error) {
	batch := Batch{To: from}
	closed, err := closedFiles(dir)
	if err != nil {
		return batch, err
	}
	budget := maxRead
	for _, number := range closed {
		if number < batch.To.File {
			continue
		}
		if number > batch.To.File {
			batch.To = Position{File: number}
		}
		if err := batch.read(closedPath(dir, number), true, limit, &budget); err != nil || batch.More {
			return batch, err
		}
		batch.To = Position{File: number + 1}
	}
	err = batch.read(filepath.Join(dir, linesName), false, limit, &budget)
	if errors.Is(err, fs.ErrNotExist) {
		batch.Cut = batch.Cut || batch.To.Offset > 0
		batch.To.Offset = 0
		err = nil
	}
	return batch, err
}

// read goes on in one file from where the batch ends.
func (b *Batch) read(path string, closed bool, limit int, budget *int) error {
	f, size, err := openFile(path, closed)
	if err != nil {
		return err
	}
	defer f.Close()
	if size < b.To.Offset {
		b.Cut, b.To.Offset = true, 0
	}
	s := splitter{r: io.NewSectionReader(f, b.To.Offset, size-b.To.Offset), budget: budget}
	for {
		if len(b.Lines) >= limit || *budget <= 0 {
			b.More = b.To.Offset < size
			return nil
		}
		text, n, whole, err := s.next()
		if err != nil {
			return fmt.Errorf("reading the spool: %w", err)
		}
		if n == 0 || !whole && !closed && n <= MaxLine {
			return nil
		}
		b.To.Offset += n
		if len(text) == 0 && whole {
			continue // between a line's end and the next one's beginning
		}
		if l, err := decode(text); err == nil && whole {
			b.Lines = append(b.Lines, l)
		} else {
			b.Torn++
		}
	}
}

// openFile opens a file of the spool, as long as it is one. A closed file gets
// the mark of it first: its reader may have died in between.
func openFile(path string, closed bool) (*os.File, int64, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, &fs.PathError{Op: "open", Path: path, Err: errors.New("it is no regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	if info, err = f.Stat(); err == nil && closed && info.Mode().Perm() != closedMode {
		if err = f.Chmod(closedMode); err == nil {
			info, err = f.Stat()
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// A splitter cuts a file into texts at its line ends. A text that is longer
// than any line comes in pieces that are none.
type splitter struct {
	r      io.Reader
	budget *int
	buf    []byte
	have   []byte // read and not handed out
	ended  bool
}

// next returns a text without its line end, and the bytes it takes in the file.
// whole is false for one without a line end.
func (s *splitter) next() (text []byte, n int64, whole bool, err error) {
	for {
		if i := bytes.IndexByte(s.have, '\n'); i >= 0 {
			text, s.have = s.have[:i], s.have[i+1:]
			return text, int64(i) + 1, true, nil
		}
		if s.ended || len(s.have) > MaxLine {
			text, s.have = s.have, nil
			return text, int64(len(text)), false, nil
		}
		s.buf = append(slices.Grow(s.buf[:0], len(s.have)+readChunk), s.have...)
		m, err := io.ReadFull(s.r, s.buf[len(s.have):len(s.have)+readChunk])
		s.have = s.buf[:len(s.have)+m]
		*s.budget -= m
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			s.ended = true
		} else if err != nil {
			return nil, 0, false, err
		}
	}
}

// closedFiles lists the numbers of the closed files, in order.
func closedFiles(dir string) ([]uint64, error) {
	var out []uint64
	err := entries(dir, func(name string) error {
		rest, ok := strings.CutPrefix(name, linesName+".")
		if n, err := strconv.ParseUint(rest, 10, 53); ok && err == nil && closedPath(dir, n) == filepath.Join(dir, name) {
			out = append(out, n)
		}
		return nil
	})
	slices.Sort(out)
	return out, err
}

func closedPath(dir string, number uint64) string {
	return filepath.Join(dir, linesName+"."+strconv.FormatUint(number, 10))
}

// entries calls fn with the names in a folder, if there is one. Anything else
// that stands there is not opened: a pipe would make the reader wait.
func entries(dir string, fn func(name string) error) error {
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return &fs.PathError{Op: "open", Path: dir, Err: errors.New("it is no folder")}
	}
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for _, name := range names {
		if err := fn(name); err != nil {
			return err
		}
	}
	return nil
}
