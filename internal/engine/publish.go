package engine

import (
	"bytes"
	"context"
	"fmt"

	"github.com/cockroachdb/errors"

	"satelle/internal/fault"
	"satelle/internal/gitrepo"
	"satelle/ledger"
)

const (
	// publishedChunk is how many records a file of a published log holds. With
	// a push only the last file changes, and those that are new.
	publishedChunk = 1000
	// fetchedRefs is where the log that a remote has is looked at.
	fetchedRefs = "refs/satelle/fetched/"
)

// Published is what came of publishing the log.
type Published struct {
	Origin string
	Size   uint64
}

// Publish brings the log to a remote, below [LogRefs]. What the remote has must
// be the beginning of this log: what is not is an error of class
// fault.Integrity, since one of the two was rewritten or rolled back.
// Otherwise errors are those of [gitrepo.Repo.Push].
func (e *Engine) Publish(ctx context.Context, remote string) (Published, error) {
	var p Published
	head, err := e.publishable(ctx, &p)
	if err != nil {
		return p, err
	}
	ref := LogRefs + p.Origin
	if err := e.writePublished(ctx, ref, head); err != nil {
		return p, err
	}
	err = e.repo.Push(ctx, remote, ref)
	if !errors.Is(err, gitrepo.ErrDiverged) {
		return p, fault.Wrap(err, nil, "publishing the log")
	}
	// The remote has a branch of the log's own history that this clone does not
	// know: the ref was deleted here, or is pushed from another work tree.
	if err := e.continueFrom(ctx, remote, ref, head); err != nil {
		return p, err
	}
	return p, fault.Wrap(e.repo.Push(ctx, remote, ref), nil, "publishing the log")
}

func (e *Engine) publishable(ctx context.Context, p *Published) (head ledger.Head, err error) {
	err = e.with(ctx, func(log *ledger.Log) error {
		p.Origin = log.Origin()
		head, err = log.Head()
		return err
	})
	p.Size = head.Size
	if err == nil {
		err = e.keepCheckpoint(head)
	}
	return head, err
}

// writePublished brings the local ref up to the head.
func (e *Engine) writePublished(ctx context.Context, ref string, head ledger.Head) error {
	refs, err := e.repo.Refs(ctx, ref)
	if err != nil {
		return err
	}
	parent := refs[ref]
	size, err := e.publishedSize(ctx, parent, head)
	if err != nil || parent != "" && size == head.Size {
		return err
	}
	return e.extend(ctx, ref, parent, size, head)
}

// publishedSize reads how far a published log goes, and holds it against this
// one where it is longer.
func (e *Engine) publishedSize(ctx context.Context, commit string, head ledger.Head) (uint64, error) {
	if commit == "" {
		return 0, nil
	}
	files, err := e.repo.Files(ctx, commit, publishedNote, 1)
	if err != nil {
		return 0, err
	}
	if len(files) == 0 {
		return 0, fault.New(fault.Integrity, "commit %s, where the log was published, holds no %s", commit, publishedNote)
	}
	cp, err := ledger.ParseCheckpoint(string(files[0].Data))
	if err != nil {
		return 0, fault.Wrap(err, fault.Integrity, "the %s in commit %s", publishedNote, commit)
	}
	if cp.Size > head.Size {
		return 0, e.disagrees(ctx, string(files[0].Data))
	}
	return cp.Size, nil
}

// disagrees holds the log against a checkpoint of what was published.
func (e *Engine) disagrees(ctx context.Context, note string) error {
	_, err := ledger.Verify(ctx, e.cfg, ledger.VerifyOptions{Against: note})
	return fault.Try(fault.Wrap(err, nil, "the log that was published is not the beginning of this one"), "satelle ledger verify --full")
}

// extend writes the records from a size on, and those that share their file.
func (e *Engine) extend(ctx context.Context, ref, parent string, size uint64, head ledger.Head) error {
	from := size / publishedChunk * publishedChunk
	files := []gitrepo.File{{Path: publishedNote, Data: []byte(head.Note)}}
	next := from
	var chunk bytes.Buffer
	flush := func() {
		if chunk.Len() > 0 {
			name := fmt.Sprintf("%s/%09d", publishedRecords, (next-1)/publishedChunk)
			files = append(files, gitrepo.File{Path: name, Data: bytes.Clone(chunk.Bytes())})
			chunk.Reset()
		}
	}
	err := ledger.Scan(ctx, e.cfg, ledger.Query{From: from, Limit: int(head.Size - from)}, func(r ledger.Record) error {
		if r.Seq != next {
			return fault.New(fault.Integrity, "record %d is missing", next)
		}
		chunk.Write(r.Raw)
		chunk.WriteByte('\n')
		if next++; next%publishedChunk == 0 {
			flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	flush()
	return e.repo.Write(ctx, ref, parent, fmt.Sprintf("The log up to record %d\n", head.Size-1), e.now(), files)
}

// continueFrom takes up the log's history as a remote has it, if that is the
// beginning of this log.
func (e *Engine) continueFrom(ctx context.Context, remote, ref string, head ledger.Head) error {
	seen := fetchedRefs + ref[len(LogRefs):]
	absent, err := e.repo.Fetch(ctx, remote, ref, seen)
	if err != nil || absent {
		return err
	}
	defer func() { _ = e.repo.Forget(ctx, seen) }()
	refs, err := e.repo.Refs(ctx, seen)
	if err != nil {
		return err
	}
	theirs := refs[seen]
	files, err := e.repo.Files(ctx, theirs, publishedNote, 1)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fault.New(fault.Integrity, "%s of %s holds no %s", ref, remote, publishedNote)
	}
	if err := e.disagrees(ctx, string(files[0].Data)); err != nil {
		return err
	}
	size, err := e.publishedSize(ctx, theirs, head)
	if err != nil {
		return err
	}
	if err := e.repo.Forget(ctx, ref); err != nil {
		return err
	}
	// All of it anew, on top: the files there may be others than the records.
	if err := e.repo.Point(ctx, ref, theirs); err != nil || size == head.Size {
		return err
	}
	return e.extend(ctx, ref, theirs, 0, head)
}
