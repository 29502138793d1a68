package transport

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	acp "github.com/coder/acp-go-sdk"

	"satelle/internal/place"
)

const (
	// maxFile bounds what is read or written at once.
	maxFile = 1 << 20
	// maxSkipped bounds what is read over to get to a line.
	maxSkipped = 64 << 20
)

// files are the files of the folder where an agent works, as far as its grant
// and what satelle keeps to itself let it have them.
type files struct {
	grant grant
	dir   string
	// home is $SATELLE_HOME, in case that it lies within dir.
	home string
	// mayWrite tells for each file whether it may be written now; nil for never.
	mayWrite func(path string) error
	// one holds writes apart: requests come several at a time.
	one sync.Mutex
}

func filesOf(inv Invocation) *files {
	f := &files{grant: grantOf(inv.Binding), dir: inv.Dir, mayWrite: inv.MayWrite}
	for _, pair := range inv.Env {
		if home, is := strings.CutPrefix(pair, place.HomeEnv+"="); is {
			f.home = home
		}
	}
	return f
}

// offer is what the agent is told that it may ask for.
func (f *files) offer() acp.FileSystemCapabilities {
	return acp.FileSystemCapabilities{ReadTextFile: f.grant.reads, WriteTextFile: f.grant.edits && f.mayWrite != nil}
}

// locate finds the file that a path of the agent leads to, by its name in the
// folder: every link that is there is followed. What does not exist yet is
// named as it would be made.
func (f *files) locate(path string) (name string, err error) {
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", errors.New("the path is not absolute")
	}
	dir, err := filepath.EvalSymlinks(f.dir)
	if err != nil {
		return "", err
	}
	real, rest := filepath.Clean(path), ""
	for {
		found, err := filepath.EvalSymlinks(real)
		if err == nil {
			real = filepath.Join(found, rest)
			break
		}
		up := filepath.Dir(real)
		if !errors.Is(err, fs.ErrNotExist) || up == real {
			return "", errno(err)
		}
		real, rest = up, filepath.Join(filepath.Base(real), rest)
	}
	name, err = filepath.Rel(dir, real)
	if err != nil || !filepath.IsLocal(name) {
		return "", errors.New("it lies outside of the folder that this agent works in")
	}
	parts := strings.Split(filepath.ToSlash(name), "/")
	for i, part := range parts {
		if strings.EqualFold(part, ".git") {
			return "", errors.New("it lies within .git")
		}
		if i > 0 && strings.EqualFold(part, "satelle.local.toml") && strings.EqualFold(parts[i-1], ".satelle") {
			return "", errors.New("satelle.local.toml is a person's")
		}
	}
	if local, err := os.Stat(filepath.Join(dir, ".satelle", "satelle.local.toml")); err == nil {
		if it, err := os.Stat(real); err == nil && os.SameFile(it, local) {
			return "", errors.New("it is satelle.local.toml by another name, and that is a person's")
		}
	}
	if home, err := filepath.EvalSymlinks(f.home); err == nil && f.home != "" {
		_, within := below(dir, home)
		if _, in := below(home, real); within && in {
			return "", errors.New("it lies in satelle's own folder")
		}
	}
	return name, nil
}

// below is a path as it is named from a folder, if it lies there.
func below(dir, path string) (name string, ok bool) {
	name, err := filepath.Rel(dir, path)
	return name, err == nil && filepath.IsLocal(name)
}

// still reports whether what was opened is what a path leads to, and lies under
// the name that was judged: somebody may have put a link there in between.
func (f *files) still(path, name string, root *os.Root, opened fs.FileInfo) error {
	now, err := f.locate(path)
	if err == nil && now == name {
		var there fs.FileInfo
		if there, err = root.Lstat(name); err == nil && os.SameFile(there, opened) {
			return nil
		}
	}
	return errors.New("it was replaced while it was opened")
}

// read is a file's text from a line on, which counts from 1, and at most so
// many lines; nil for all.
func (f *files) read(path string, line, limit *int) (string, error) {
	if !f.grant.reads {
		return "", errors.New("the grant of this agent's binding reads no files")
	}
	name, err := f.locate(path)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return "", errno(err)
	}
	defer root.Close()
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe has nobody who writes
	if err != nil {
		return "", errno(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", errno(err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is no file")
	}
	if err := f.still(path, name, root, info); err != nil {
		return "", err
	}
	return excerpt(file, line, limit)
}

func excerpt(from io.Reader, line, limit *int) (string, error) {
	r := bufio.NewReader(io.LimitReader(from, maxSkipped+maxFile))
	first, most := 1, -1
	if line != nil {
		first = max(*line, 1)
	}
	if limit != nil {
		most = max(*limit, 0)
	}
	skipped := 0
	for first > 1 {
		piece, err := r.ReadSlice('\n')
		if skipped += len(piece); skipped > maxSkipped {
			return "", fmt.Errorf("line %d lies beyond the first %d MiB", *line, maxSkipped>>20)
		}
		if err == io.EOF {
			return "", nil
		}
		if err == nil {
			first--
		} else if !errors.Is(err, bufio.ErrBufferFull) {
			return "", errno(err)
		}
	}
	var text strings.Builder
	for lines := 0; lines != most; {
		piece, err := r.ReadSlice('\n')
		if text.Write(piece); text.Len() > maxFile {
			return "", fmt.Errorf("it is more than %d MiB: read fewer lines at once", maxFile>>20)
		}
		if err == io.EOF {
			break
		}
		if err == nil {
			lines++
		} else if !errors.Is(err, bufio.ErrBufferFull) {
			return "", errno(err)
		}
	}
	if !utf8.ValidString(text.String()) {
		return "", errors.New("it is no text")
	}
	return text.String(), nil
}

// write gives a file this text, all of it or none.
func (f *files) write(path, text string) error {
	if !f.grant.edits || f.mayWrite == nil {
		return errors.New("this agent changes no files")
	}
	if len(text) > maxFile {
		return fmt.Errorf("the text has more than %d MiB", maxFile>>20)
	}
	f.one.Lock()
	defer f.one.Unlock()
	name, err := f.locate(path)
	if err != nil {
		return err
	}
	// Both by the name that was given and by what it leads to, which is written.
	dir, err := filepath.EvalSymlinks(f.dir)
	if err != nil {
		return errno(err)
	}
	for _, judged := range []string{path, filepath.Join(dir, name)} {
		if err := f.mayWrite(judged); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return errno(err)
	}
	defer root.Close()
	folder := filepath.Dir(name)
	if err := root.MkdirAll(folder, 0o777); err != nil {
		return errno(err)
	}
	in, err := root.OpenRoot(folder)
	if err != nil {
		return errno(err)
	}
	defer in.Close()
	opened, err := in.Stat(".")
	if err != nil {
		return errno(err)
	}
	if err := f.still(filepath.Dir(filepath.Join(f.dir, name)), folder, root, opened); err != nil {
		return err
	}
	return replace(in, filepath.Base(name), text)
}

// replace puts a file in the place of another, with the mode of that.
func replace(in *os.Root, name, text string) error {
	before, err := in.Lstat(name)
	if err == nil && !before.Mode().IsRegular() {
		return errors.New("it is no file")
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errno(err)
	}
	draft := ".satelle-" + rand.Text()
	file, err := in.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return errno(err)
	}
	_, err = file.WriteString(text)
	if before != nil && err == nil {
		err = file.Chmod(before.Mode().Perm())
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = in.Rename(draft, name)
	}
	if err != nil {
		_ = in.Remove(draft)
		return errno(err)
	}
	return nil
}

// ReadTextFile implements [acp.Client].
func (c *acpClient) ReadTextFile(_ context.Context, p acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	if err := c.foreign(p.SessionId); err != nil {
		return acp.ReadTextFileResponse{}, err
	}
	text, err := c.files.read(p.Path, p.Line, p.Limit)
	return acp.ReadTextFileResponse{Content: text}, refusedFile(err)
}

// WriteTextFile implements [acp.Client].
func (c *acpClient) WriteTextFile(_ context.Context, p acp.WriteTextFileRequest) (r acp.WriteTextFileResponse, err error) {
	if err := c.foreign(p.SessionId); err != nil {
		return r, err
	}
	return r, refusedFile(c.files.write(p.Path, p.Content))
}

// refusedFile is an error in the form in which an agent shows it to its model.
func refusedFile(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return &acp.RequestError{Code: -32002, Message: "Resource not found"}
	}
	return acp.NewInvalidParams(err.Error())
}
