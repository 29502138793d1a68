package engine

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"

	"satelle/internal/fault"
	"satelle/internal/gitrepo"
	"satelle/ledger"
)

// LogRefs is where the logs of clones are published in a repository: below it,
// each under its origin, as commits whose tree holds the signed checkpoint and
// the records, a line each, in files of 1,000.
const LogRefs = "refs/satelle/logs/"

const (
	publishedNote    = "checkpoint"
	publishedRecords = "records"
	// maxPublished bounds the files of a published log.
	maxPublished = 100_000
)

// readPublished returns a published log in the form of an export.
func readPublished(ctx context.Context, repo *gitrepo.Repo, commit string) (io.Reader, error) {
	notes, err := repo.Files(ctx, commit, publishedNote, 1)
	if err != nil {
		return nil, err
	}
	if len(notes) != 1 {
		return nil, fault.New(fault.Integrity, "it holds no %s", publishedNote)
	}
	header, err := ledger.ExportHeader(string(notes[0].Data))
	if err != nil {
		return nil, fault.Wrap(err, fault.Integrity, "its %s", publishedNote)
	}
	files, err := repo.Files(ctx, commit, publishedRecords, maxPublished)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b gitrepo.File) int { return cmp.Compare(a.Path, b.Path) })
	parts := []io.Reader{bytes.NewReader(header)}
	for _, f := range files {
		parts = append(parts, bytes.NewReader(f.Data))
	}
	return io.MultiReader(parts...), nil
}
