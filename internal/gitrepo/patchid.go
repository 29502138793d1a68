package gitrepo

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"strconv"
	"strings"
)

// A patch id names what a commit changes, wherever it is applied: the SHA-256,
// in hexadecimal, of the patch that git makes with the options of patchForm,
// less what depends on the place (the numbers in hunk headers, and the hashes
// of text files). Git's own patch id leaves out all white space, so that code
// whose indentation means something could be changed under the id of another
// patch; this one keeps every byte.

// patchForm makes one patch of one change, whatever is configured.
var patchForm = []string{
	"--patch", "--unified=3", "--inter-hunk-context=0", "--no-renames", "--full-index", "--diff-algorithm=myers",
	"--indent-heuristic", "--src-prefix=a/", "--dst-prefix=b/", "-O/dev/null",
}

// patchConf goes before the command: no attributes decide what is text.
var patchConf = append([]string{"-c", "core.attributesFile=/dev/null"}, quiet...)

var errPatch = errors.New("git printed no patch that can be read")

// patchReader reads patches, each under a line of its own (what git diff-tree
// --stdin prints of a commit or of two trees), or one without such a line.
type patchReader struct {
	r *bufio.Reader
	// sum of the patch so far; nil before the first line of one
	sum   hash.Hash
	index []byte // of the file that is read
}

// readPatches calls each for every patch with the line above it, and its id.
func readPatches(from io.Reader, each func(line, id string)) error {
	p := &patchReader{r: bufio.NewReaderSize(from, 1<<16)}
	line := ""
	flush := func() {
		if p.sum != nil {
			each(line, hex.EncodeToString(p.sum.Sum(nil)))
		}
		p.sum = nil
	}
	for {
		text, err := p.line()
		if err == io.EOF {
			flush()
			return nil
		}
		if err != nil {
			return err
		}
		if heading(text) {
			flush()
			line = string(text)
			continue
		}
		if p.sum == nil {
			p.sum = sha256.New()
		}
		if err := p.header(text); err != nil {
			return err
		}
	}
}

// patches reads what write writes.
func patches(write func(to io.Writer) error, each func(line, id string)) error {
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := readPatches(in, each)
		in.CloseWithError(err) // nil makes it io.ErrClosedPipe, and nobody writes then
		done <- err
	}()
	err := write(out)
	out.Close()
	if perr := <-done; err == nil {
		err = perr
	}
	return err
}

// heading reports whether a line outside of hunks is one or two hashes.
func heading(text []byte) bool {
	for i, c := range text {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c != ' ' || i*2+1 != len(text)) {
			return false
		}
	}
	return len(text) >= 40
}

// line reads one line without its end; the last may lack one.
func (p *patchReader) line() ([]byte, error) {
	text, err := p.r.ReadBytes('\n')
	if err == io.EOF && len(text) > 0 {
		err = nil
	}
	return bytes.TrimSuffix(text, []byte("\n")), err
}

func (p *patchReader) add(text []byte) {
	p.sum.Write(text)
	p.sum.Write([]byte("\n"))
}

// header takes a line outside of hunks, and with a hunk's header the hunk.
func (p *patchReader) header(text []byte) error {
	switch {
	case bytes.HasPrefix(text, []byte("index ")):
		p.index = text
	case bytes.HasPrefix(text, []byte("Binary files ")):
		p.add(p.index) // there is nothing else to tell the content by
		p.add(text)
	case bytes.HasPrefix(text, []byte("@@ ")):
		return p.hunk(string(text))
	default:
		p.add(text)
	}
	return nil
}

// hunk reads as many lines as the header says there are.
func (p *patchReader) hunk(header string) error {
	f := strings.SplitN(header, " ", 5)
	if len(f) < 4 {
		return errPatch
	}
	before, ok1 := span(f[1], "-")
	after, ok2 := span(f[2], "+")
	if !ok1 || !ok2 {
		return errPatch
	}
	p.sum.Write([]byte("@@\n"))
	for before > 0 || after > 0 {
		text, err := p.line()
		if err != nil || len(text) == 0 {
			return errPatch
		}
		switch text[0] {
		case ' ':
			before--
			after--
		case '-':
			before--
		case '+':
			after--
		case '\\': // no newline at the end of the file
		default:
			return errPatch
		}
		p.add(text)
	}
	if before < 0 || after < 0 {
		return errPatch
	}
	return nil // a last "\ No newline" is taken as a header: it counts the same
}

// span reads the number of lines in "-12,3" or "+12".
func span(text, sign string) (int, bool) {
	text, ok := strings.CutPrefix(text, sign)
	_, count, found := strings.Cut(text, ",")
	if !found {
		return 1, ok
	}
	n, err := strconv.Atoi(count)
	return n, ok && err == nil && n >= 0
}
