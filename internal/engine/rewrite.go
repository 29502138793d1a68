package engine

import (
	"bufio"
	"context"
	"io"
	"strings"

	"satelle/internal/fault"
	"satelle/workflow"
)

// maxRewritten bounds the pairs that one rewriting may tell of.
const maxRewritten = 100_000

// Rewrote records commits that took the place of others. Git tells of them in
// lines: the old one, the new one, and maybe more.
func (e *Engine) Rewrote(ctx context.Context, how string, lines io.Reader) error {
	r := workflow.Rewritten{How: how, WorkTree: e.Place.TreeID}
	in := bufio.NewScanner(lines)
	for in.Scan() {
		f := strings.Fields(in.Text())
		if len(f) < 2 || !isHash(f[0]) || !isHash(f[1]) {
			return fault.New(nil, "git tells of no commits: %q", in.Text())
		}
		if r.Pairs = append(r.Pairs, [2]string{f[0], f[1]}); len(r.Pairs) > maxRewritten {
			return fault.New(nil, "more than %d commits were made anew", maxRewritten)
		}
	}
	if err := in.Err(); err != nil || len(r.Pairs) == 0 {
		return fault.Wrap(err, nil, "reading which commits were made anew")
	}
	actor := e.Actor(ctx)
	_, err := e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		return st.Rewrite(r, e.now(), actor), nil
	})
	return err
}

func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// CheckMessage refuses a message that says nothing besides our trailers: git
// would take them for one, though the person left the editor without a word.
func (e *Engine) CheckMessage(ctx context.Context, file string) error {
	message, err := readBounded(file, maxMessage)
	if err != nil {
		return err
	}
	comment, err := e.repo.Comment(ctx)
	if err != nil {
		return err
	}
	if emptyMessage(string(message), comment) {
		return fault.New(fault.Refused, "the commit has no message")
	}
	return nil
}

func emptyMessage(message, comment string) bool {
	trailers := false
	for line := range strings.Lines(message) {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, comment+" ------------------------ >8"):
			return trailers
		case text == "" || strings.HasPrefix(line, comment):
		case strings.HasPrefix(text, workflow.TrailerStory+": ") || strings.HasPrefix(text, workflow.TrailerLedger+": "):
			trailers = true
		default:
			return false
		}
	}
	return trailers
}
