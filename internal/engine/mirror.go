package engine

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

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

// Mirror brings the files of a story's documents up to date: what is missing
// or differs is written anew, each file at once, and nothing else is touched.
func (e *Engine) Mirror(ctx context.Context, id string) error {
	docs := map[string][]byte{}
	err := e.View(ctx, func(st workflow.State, look Lookup) error {
		s, err := st.Story(id)
		if err != nil {
			return err
		}
		for _, d := range s.Docs {
			b, err := look.Blob(d.Ref)
			switch {
			case errors.Is(err, ledger.ErrRedacted):
				docs[d.Name] = nil // its file goes, too
			case err != nil:
				return fault.Wrap(err, nil, "reading document %s", d.Name)
			default:
				docs[d.Name] = append([]byte{}, b...)
			}
		}
		return nil
	})
	if err != nil || len(docs) == 0 {
		return err
	}
	dir := e.MirrorDir(id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fault.Wrap(err, nil, "making the mirror of story %s", id)
	}
	for name, want := range docs {
		path := filepath.Join(dir, name)
		if want == nil {
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				return fault.Wrap(err, nil, "removing the mirror of a redacted document")
			}
			continue
		}
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, want) {
			continue
		}
		if err := writeAtomic(path, want, 0o600); err != nil {
			return fault.Wrap(err, nil, "mirroring document %s", name)
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

// writeAtomic replaces a file as a whole: a reader sees the old bytes or the
// new, never some of each.
func writeAtomic(path string, data []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
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
