package engine

import (
	"context"
	"os"
	"slices"
	"strings"

	"satelle/internal/audit"
	"satelle/internal/fault"
	"satelle/internal/gitrepo"
	"satelle/ledger"
	"satelle/workflow"
)

const (
	// maxMessage bounds a commit's message.
	maxMessage = 4 << 20
	// maxReplays bounds the records that one message may name.
	maxReplays = 16
)

// PrepareOptions are what git tells the hook that sees every commit.
type PrepareOptions struct {
	// File holds the message, Source is git's word for where it comes from.
	File, Source string
	// Index is as for [Engine.MayCommit].
	Index string
}

// PrepareCommit records a commit that git is about to make and names the
// record in its message. Git asks this also of rebase, cherry-pick and revert,
// and --no-verify does not pass it by: so a session without a seat is refused
// here as well, and a person's own edit is recorded as one.
func (e *Engine) PrepareCommit(ctx context.Context, o PrepareOptions) error {
	if !e.repo.Keeps(o.File) {
		return fault.New(fault.Refused, "%s is no message of git's", o.File)
	}
	message, err := readBounded(o.File, maxMessage)
	if err != nil {
		return err
	}
	staged, err := e.repo.Staged(ctx, o.Index)
	if err != nil {
		return err
	}
	defer staged.Discard()
	r := preparing{staged: staged, actor: e.Actor(ctx)}
	bare, stories, replays := readTrailers(string(message))
	r.body = workflow.Prepared{Tree: staged.Tree, Source: o.Source, WorkTree: e.Place.TreeID, Replays: replays}
	if err := e.commitFacts(ctx, &r); err != nil {
		return err
	}
	made, origin, err := e.recordCommit(ctx, &r)
	if err != nil {
		return err
	}
	if r.story == "" && len(stories) > 0 && foreign(replays, origin) {
		r.story = stories[0] // a commit of another clone, whose log tells of it
	}
	var trailers []string
	if r.story != "" {
		trailers = append(trailers, workflow.TrailerStory+": "+r.story)
	}
	trailers = append(trailers, workflow.TrailerLedger+": "+audit.WriteLedger(origin, made.Size, made.Root))
	whole, err := e.repo.AddTrailers(ctx, []byte(bare), trailers...)
	if err != nil {
		return err
	}
	return fault.Wrap(os.WriteFile(o.File, whole, 0o644), nil, "writing the commit's message")
}

// preparing is a commit on its way into the log.
type preparing struct {
	staged *gitrepo.Staged
	actor  ledger.Actor
	body   workflow.Prepared
	rule   workflow.Committing
	// holder is whose change body.Whole names; story whose the commit is.
	holder, story string
}

// commitFacts collects what is recorded of a commit and what the rule asks for.
func (e *Engine) commitFacts(ctx context.Context, r *preparing) (err error) {
	p := &r.body
	if p.Parents, err = e.repo.Parents(ctx); err != nil {
		return err
	}
	if p.Parents == nil {
		p.Parents = []string{} // the first commit: there are none, which is known
	}
	if r.rule, err = e.committing(ctx, r.staged, p.Parents); err != nil {
		return err
	}
	head := ""
	if len(p.Parents) > 0 {
		head = p.Parents[0]
	}
	if len(p.Parents) < 2 {
		if p.Patch, err = r.staged.Patch(ctx, head); err != nil {
			return err
		}
	}
	if len(p.Parents) == 1 {
		if p.Amend, err = e.amending(ctx, r.staged, head); err != nil {
			return err
		}
	}
	p.Whole, r.holder, err = e.whole(ctx, r.staged, head, p.Patch)
	return err
}

// amending tells what the commit is if it takes the place of HEAD.
func (e *Engine) amending(ctx context.Context, staged *gitrepo.Staged, head string) (*workflow.Replaced, error) {
	old, err := e.repo.Read(ctx, []string{head})
	if err != nil {
		return nil, err
	}
	a := &workflow.Replaced{Parents: slices.Clone(old[0].Parents)}
	_, _, a.Replays = readTrailers(old[0].Message)
	switch len(a.Parents) {
	case 0:
		a.Parents = []string{}
		a.Patch, err = staged.Patch(ctx, "")
	case 1:
		a.Patch, err = staged.Patch(ctx, a.Parents[0])
	}
	return a, err
}

// whole names all that the holder of the seat has changed so far. A base that
// is gone, after a rebase say, has nothing to be compared with.
func (e *Engine) whole(ctx context.Context, staged *gitrepo.Staged, head, patch string) (whole, holder string, err error) {
	var base string
	err = e.View(ctx, func(st workflow.State, _ Lookup) error {
		holder, base = st.Holder(e.Place.TreeID, e.now())
		return nil
	})
	switch {
	case err != nil || holder == "":
		return "", holder, err
	case base == head:
		return patch, holder, nil
	}
	whole, err = staged.Patch(ctx, base)
	if fault.Is(err, fault.NotFound) {
		return "", holder, nil
	}
	return whole, holder, err
}

// recordCommit appends the record, unless the rule refuses.
func (e *Engine) recordCommit(ctx context.Context, r *preparing) (made ledger.Head, origin string, err error) {
	made, _, err = e.decideHead(ctx, func(st workflow.State, look Lookup, _ uint64) (workflow.Change, error) {
		origin = look.log.Origin()
		holder, _ := st.Holder(e.Place.TreeID, r.rule.Now)
		p, rule := r.body, r.rule
		if holder != r.holder {
			p.Whole = ""
		}
		before, again := look.replayed(p)
		if again {
			rule.Paths = nil // the very same patch was recorded, and judged, before
		}
		if r.actor.Kind != ledger.ActorPerson {
			if err := st.MayCommit(rule, r.actor); err != nil {
				return workflow.Change{}, err
			}
		}
		r.story = holder
		if again {
			r.story = before
		}
		return st.Prepare(r.story, p, r.actor), nil
	})
	return made, origin, err
}

// replayed finds the record of this log that tells of the very same patch, and
// the story that it was recorded for.
func (l Lookup) replayed(p workflow.Prepared) (story string, ok bool) {
	ids := []string{p.Patch}
	points := p.Replays
	if p.Amend != nil {
		ids = append(ids, p.Amend.Patch)
		points = slices.Concat(points, p.Amend.Replays)
	}
	same := func(id string) bool { return id != "" && slices.Contains(ids, id) }
	for _, at := range points {
		if at.Origin != l.log.Origin() || at.Size == 0 {
			continue
		}
		r, err := l.log.Record(at.Size - 1)
		if err != nil {
			continue
		}
		old, is := workflow.ReadPrepared(r)
		if is && (same(old.Patch) || old.Amend != nil && same(old.Amend.Patch)) {
			return r.Story, true
		}
	}
	return "", false
}

// readTrailers takes satelle's trailers out of a message, wherever they stand:
// git puts messages together when it squashes.
func readTrailers(message string) (bare string, stories []string, points []workflow.LogPoint) {
	var b strings.Builder
	for line := range strings.Lines(message) {
		text := strings.TrimRight(line, "\r\n")
		if id, ok := strings.CutPrefix(text, workflow.TrailerStory+": "); ok {
			stories = append(stories, strings.TrimSpace(id))
			continue
		}
		if value, ok := strings.CutPrefix(text, workflow.TrailerLedger+": "); ok {
			if origin, size, _, ok := audit.ReadLedger(strings.TrimSpace(value)); ok && len(points) < maxReplays {
				points = append(points, workflow.LogPoint{Origin: origin, Size: size})
			}
			continue
		}
		b.WriteString(line)
	}
	bare = b.String()
	if len(bare) < len(message) {
		bare = strings.TrimRight(bare, " \t\r\n") + "\n" // git strips what it is given only where somebody edits it
	}
	return bare, stories, points
}

// foreign reports whether all records that a message names are of other logs.
func foreign(points []workflow.LogPoint, origin string) bool {
	return len(points) > 0 && !slices.ContainsFunc(points, func(p workflow.LogPoint) bool { return p.Origin == origin })
}
