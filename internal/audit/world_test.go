package audit

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"satelle/ledger"
	"satelle/workflow"
)

// clone is a developer's clone: a log with stories, and the commits that were
// made under its hooks.
type clone struct {
	t   testing.TB
	cfg ledger.Config
	log *ledger.Log
	now ledger.Head
}

func newClone(t testing.TB, name string) *clone {
	t.Helper()
	dir := t.TempDir()
	c := &clone{t: t, cfg: ledger.Config{
		Path: filepath.Join(dir, "ledger.db"), Keys: ledger.KeyDir(filepath.Join(dir, "keys")),
		Projection: workflow.Fold{}, Known: func(string, int) bool { return true }, // so that records of the future can be made
	}}
	c.reopen(func() (*ledger.Log, error) {
		return ledger.Create(t.Context(), c.cfg, ledger.Genesis{Project: "p", Clone: name})
	})
	return c
}

// reopen reads the log's head anew; nobody holds the log between calls.
func (c *clone) reopen(open func() (*ledger.Log, error)) {
	c.t.Helper()
	log, err := open()
	if err != nil {
		c.t.Fatal(err)
	}
	c.log = log
	if c.now, err = log.Head(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = log.Close() })
}

var (
	agent  = ledger.Actor{Kind: ledger.ActorSession, Session: "s", Auth: ledger.AuthAncestry}
	person = ledger.Actor{Kind: ledger.ActorPerson, Name: "Ada", Auth: ledger.AuthAsserted}
)

func (c *clone) origin() string { return c.log.Origin() }

// add appends a record and returns its position.
func (c *clone) add(kind, story string, actor ledger.Actor, body any) uint64 {
	c.t.Helper()
	seq := c.now.Size
	crit := !strings.HasPrefix(kind, "commit.")
	var err error
	c.now, _, err = c.log.Append(c.t.Context(), seq, []ledger.Draft{{Kind: kind, Story: story, Actor: actor, Schema: 1, Crit: crit, Body: body}}, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return seq
}

type m = map[string]any

// start makes a story and lets it take the seat.
func (c *clone) start(story, lane string, paths ...string) {
	c.add(workflow.KindCreated, story, agent, m{
		"title": "T " + story, "category": lane, "criteria": 1, "paths": paths,
		"plan": m{"lane": "l", "name": lane, "cancel": "cancelled", "steps": []m{{"name": "backlog"}, {"name": "in_progress", "performs": true}, {"name": "done"}}},
	})
	c.move(story, "backlog", "in_progress", "advance")
}

// move moves a story, as a person approved.
func (c *clone) move(story, from, to, kind string) {
	token := c.add(workflow.KindRequested, story, agent, m{"from": from, "to": to, "kind": kind, "work_tree": ".", "host": "h", "expires": 0})
	c.add(workflow.KindCommitted, story, agent, m{"token": token, "from": from, "to": to, "kind": kind, "work_tree": ".", "approved": true})
}

func (c *clone) done(story string) { c.move(story, "in_progress", "done", "advance") }

// prepare records a commit and gives it its trailers.
func (c *clone) prepare(commit *Commit, story string, actor ledger.Actor, body workflow.Prepared) {
	c.t.Helper()
	body.WorkTree = "."
	if body.Tree == "" {
		body.Tree, body.Parents = commit.Tree, commit.Parents
	}
	if body.Patch == "" {
		body.Patch = patchOf(commit)
	}
	c.add(workflow.KindPrepared, story, actor, body)
	commit.Message = commit.Subject() + "\n\n" + c.trailers(story)
}

func (c *clone) trailers(story string) string {
	text := TrailerLedger + ": " + WriteLedger(c.origin(), c.now.Size, c.now.Root) + "\n"
	if story != "" {
		text = TrailerStory + ": " + story + "\n" + text
	}
	return text
}

func (c *clone) export() []byte {
	c.t.Helper()
	if err := c.log.Close(); err != nil {
		c.t.Fatal(err)
	}
	var b bytes.Buffer
	if err := ledger.Export(c.t.Context(), c.cfg, &b); err != nil {
		c.t.Fatal(err)
	}
	c.reopen(func() (*ledger.Log, error) { return ledger.Open(c.t.Context(), c.cfg) })
	return b.Bytes()
}

func (c *clone) published() *Log { return ReadLog(c.origin(), bytes.NewReader(c.export())) }

func (c *clone) keys() Keys { return ReadKeys([]byte(c.log.VKey() + "\n")) }

// commit makes a commit whose tree and patch follow from its name.
func commit(name string, parents ...string) Commit {
	return Commit{
		Hash: "c" + name, Tree: "t" + name, Parents: parents, Author: "Ada <ada@example.org>",
		Message: "Change " + name + "\n", Paths: []string{"src/" + name},
	}
}

// patchOf is the patch that the fake repository says a commit makes: the same
// for all that change the same paths.
func patchOf(c *Commit) string { return fmt.Sprint(c.Paths) }

// repository is a fake of [Objects].
type repository struct {
	commits []Commit
	patches map[string]string // beside those of patchOf
	merges  map[string][]string
	seen    []string
	heads   map[string][]Commit // by the commit that has the content
}

func (r *repository) Patches(_ context.Context, changes []string) (map[string]string, error) {
	ids := map[string]string{}
	for _, change := range changes {
		for i := range r.commits {
			if r.commits[i].Hash == change {
				ids[change] = patchOf(&r.commits[i])
			}
		}
		if id, ok := r.patches[change]; ok {
			ids[change] = id
		}
	}
	return ids, nil
}

func (r *repository) Merges(_ context.Context, commits []Commit) ([][]string, error) {
	out := make([][]string, len(commits))
	for i, c := range commits {
		out[i] = r.merges[c.Hash]
	}
	return out, nil
}

func (r *repository) Seen(_ context.Context, trees []string) (map[string]bool, error) {
	seen := map[string]bool{}
	for _, t := range trees {
		seen[t] = slices.Contains(r.seen, t)
	}
	return seen, nil
}

func (r *repository) Requests(context.Context, []Commit) (map[string][]Commit, error) {
	return r.heads, nil
}

// brief is a finding in a line: level, rule, commit.
func brief(r Report) []string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, strings.TrimRight(f.Level+" "+f.Rule+" "+f.Commit, " "))
	}
	return all
}
