package engine

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/errors"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow"
)

// MirrorDir is where a story's documents lie as files, for performers that
// read files. The ledger holds the truth.
func (e *Engine) MirrorDir(id string) string {
	return filepath.Join(e.Place.Dir, "stories", id)
}

// Mirror brings the files of a story's documents to what the ledger holds: what
// is missing or differs is written anew, each file at once, and what is no
// document of the story is removed.
func (e *Engine) Mirror(ctx context.Context, id string) error {
	for {
		docs, err := e.documents(ctx, id)
		if err != nil {
			return err
		}
		if err := mirror(e.MirrorDir(id), docs); err != nil {
			return fault.Wrap(err, nil, "mirroring the documents of story %s", id)
		}
		// Another command may have attached one meanwhile, whose file was taken
		// for a stray.
		now, err := e.documents(ctx, id)
		if err != nil || maps.EqualFunc(docs, now, bytes.Equal) {
			return err
		}
	}
}

// documents reads those of a story that were not redacted.
func (e *Engine) documents(ctx context.Context, id string) (map[string][]byte, error) {
	docs := map[string][]byte{}
	err := e.View(ctx, func(st workflow.State, look Lookup) error {
		s, err := st.Story(id)
		if err != nil {
			return err
		}
		for _, d := range s.Docs {
			b, err := look.Blob(d.Ref)
			if errors.Is(err, ledger.ErrRedacted) {
				continue // its file goes, too
			}
			if err != nil {
				return fault.Wrap(err, nil, "reading document %s", d.Name)
			}
			docs[d.Name] = append([]byte{}, b...)
		}
		return nil
	})
	return docs, err
}

func mirror(dir string, docs map[string][]byte) error {
	if fi, err := os.Lstat(dir); err == nil && !fi.IsDir() {
		if err := os.Remove(dir); err != nil { // a link would show what lies elsewhere
			return err
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		_, is := docs[entry.Name()]
		if is && entry.Type().IsRegular() || strings.HasPrefix(entry.Name(), tempPrefix) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	if len(docs) == 0 {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, want := range docs {
		path := filepath.Join(dir, name)
		if have, err := readBounded(path, int64(len(want))); err == nil && bytes.Equal(have, want) {
			continue
		}
		if err := writeAtomic(path, want, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Document returns one document of a story.
func (e *Engine) Document(ctx context.Context, id, name string) (data []byte, err error) {
	err = e.View(ctx, func(st workflow.State, look Lookup) error {
		s, err := st.Story(id)
		if err != nil {
			return err
		}
		for _, d := range s.Docs {
			if d.Name == name {
				data, err = look.Blob(d.Ref)
				return fault.Wrap(err, nil, "reading document %s", name)
			}
		}
		return fault.Try(fault.New(fault.NotFound, "story %s has no document %q", id, name), "satelle story docs "+id)
	})
	return data, err
}

// tempPrefix opens the names of files that are being written.
const tempPrefix = ".tmp-"

// writeAtomic replaces a file as a whole: a reader sees the old bytes or the
// new, never some of each.
func writeAtomic(path string, data []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	err = errors.CombineErrors(err, f.Chmod(mode))
	err = errors.CombineErrors(err, f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
