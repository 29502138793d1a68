//go:build bench

package main

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"satelle/internal/audit"
	"satelle/internal/gitrepo"
	"satelle/ledger"
	"satelle/workflow"
)

const (
	auditCommits = 5_000
	auditLimit   = 5 * time.Second
	// Of auditPer commits, one was rebased on a forge, one squashed, and one is
	// a merge.
	auditPer   = 20
	auditFiles = 200
)

// TestBenchAudit measures an audit of 5,000 commits as a process: most are
// bound by tree and parents, and some by patch, by content or as a merge.
//
//	go test -tags bench -run TestBenchAudit -v ./cmd/satelle
func TestBenchAudit(t *testing.T) {
	w := newWorld(t)
	w.must("git", "add", "-A")
	w.must("git", "commit", "-q", "-m", "Set up satelle")
	base := strings.TrimSpace(w.must("git", "rev-parse", "HEAD"))
	substrate := strings.TrimSpace(w.must("git", "rev-parse", "HEAD:.satelle"))
	plain := &history{w: w, base: base, substrate: substrate}
	w.fastImport(plain.write("refs/heads/plain", func(int, *benchCommit) string { return "change\n" }))
	patches := w.patchesOf(plain.commits)
	log := w.openLog()
	real := &history{w: w, base: base, substrate: substrate}
	stream := real.write("refs/heads/real", func(i int, c *benchCommit) string {
		return "change\n\n" + log.prepare(i, c, patches[plain.commits[i].hash])
	})
	if err := log.log.Close(); err != nil {
		t.Fatal(err)
	}
	w.fastImport(stream)
	w.must("git", "checkout", "-q", "real")
	export := w.must("sh", "-c", "satelle ledger export > ../export.jsonl && wc -l < ../export.jsonl")
	out := w.must("satelle", "audit", base+"..real", "--ledger", "../export.jsonl")
	fmt.Printf("%s records; %s", strings.TrimSpace(export), out[max(0, strings.Index(out, fmt.Sprint(auditCommits, " commits"))):])
	if !strings.Contains(out, "; 0 errors") {
		t.Fatal(out[:min(len(out), 2000)])
	}
	took := w.median(5, "satelle", "audit", base+"..real", "--ledger", "../export.jsonl")
	git := w.median(5, "git", "log", "--raw", "--format=raw", base+"..real")
	fmt.Printf("audit of %d commits: median %s a process, %.1f times git log --raw\n", auditCommits, took, float64(took)/float64(git))
	if took > auditLimit {
		t.Errorf("the audit takes %s, more than %s", took, auditLimit)
	}
}

// benchCommit is a commit as it will be once it is imported.
type benchCommit struct {
	hash, tree string
	parents    []string
}

// history writes a stream for git fast-import and knows the hashes of what
// comes of it, so that trailers can be made before.
type history struct {
	w         *world
	base      string
	substrate string // the tree of .satelle
	commits   []benchCommit
	blobs     [auditFiles]string
}

func gitHash(kind string, data []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

func raw(hash string) []byte {
	b, err := hex.DecodeString(hash)
	if err != nil {
		panic(err)
	}
	return b
}

func fileName(i int) string { return fmt.Sprintf("f%04d", i) }

func (h *history) tree() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "40000 .satelle\x00%s", raw(h.substrate))
	for i, blob := range h.blobs {
		if blob == "" {
			continue
		}
		fmt.Fprintf(&b, "100644 %s\x00%s", fileName(i), raw(blob))
	}
	return gitHash("tree", b.Bytes())
}

// write makes the stream; message is asked for each commit in order.
func (h *history) write(ref string, message func(i int, c *benchCommit) string) []byte {
	var out bytes.Buffer
	parent := h.base
	const who = "Ada <ada@example.org> 1700000000 +0000"
	for i := range auditCommits {
		content := fmt.Sprintf("%d\n", i)
		file := i % auditFiles
		c := benchCommit{parents: []string{parent}}
		if i%auditPer == 3 && i > auditPer {
			c.parents = append(c.parents, h.commits[i-2].hash)
		} else {
			h.blobs[file] = gitHash("blob", []byte(content))
		}
		c.tree = h.tree()
		text := message(i, &c)
		var b bytes.Buffer
		fmt.Fprintf(&b, "tree %s\n", c.tree)
		for _, p := range c.parents {
			fmt.Fprintf(&b, "parent %s\n", p)
		}
		fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s", who, who, text)
		c.hash = gitHash("commit", b.Bytes())
		from := h.base
		if i > 0 {
			from = fmt.Sprintf(":%d", i) // what is in the stream has no name but its mark yet
		}
		fmt.Fprintf(&out, "commit %s\nmark :%d\nauthor %s\ncommitter %s\ndata %d\n%s\nfrom %s\n", ref, i+1, who, who, len(text), text, from)
		if len(c.parents) > 1 {
			fmt.Fprintf(&out, "merge :%d\n", i-1)
		} else {
			fmt.Fprintf(&out, "M 100644 inline %s\ndata %d\n%s\n", fileName(file), len(content), content)
		}
		h.commits = append(h.commits, c)
		parent = c.hash
	}
	return out.Bytes()
}

func (w *world) fastImport(stream []byte) {
	w.t.Helper()
	cmd := w.command("git", "fast-import", "--quiet")
	cmd.Stdin = bytes.NewReader(stream)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git fast-import: %v\n%s", err, out)
	}
}

func (w *world) patchesOf(commits []benchCommit) map[string]string {
	w.t.Helper()
	repo, err := gitrepo.Open(context.Background(), w.repo)
	if err != nil {
		w.t.Fatal(err)
	}
	var ids []string
	for _, c := range commits {
		if len(c.parents) == 1 {
			ids = append(ids, c.hash)
		}
	}
	patches, err := repo.Patches(context.Background(), ids)
	if err != nil {
		w.t.Fatal(err)
	}
	return patches
}

// benchLog appends the records of the commits.
type benchLog struct {
	w    *world
	log  *ledger.Log
	head ledger.Head
	id   string
}

func (w *world) openLog() *benchLog {
	w.t.Helper()
	log, err := ledger.Open(context.Background(), w.config())
	if err != nil {
		w.t.Fatal(err)
	}
	head, err := log.Head()
	if err != nil {
		w.t.Fatal(err)
	}
	return &benchLog{w: w, log: log, head: head, id: w.id}
}

// prepare records a commit and what else goes on around it, and returns its
// trailers.
func (l *benchLog) prepare(i int, c *benchCommit, patch string) string {
	l.w.t.Helper()
	body := workflow.Prepared{Tree: c.tree, Parents: c.parents, Patch: patch, Source: "message", WorkTree: "."}
	switch {
	case len(c.parents) > 1:
		return "" // a forge's
	case i%auditPer == 7: // rebased there
		body.Tree, body.Parents = strings.Repeat("0", 40), []string{strings.Repeat("1", 40)}
	case i%auditPer == 11: // squashed there
		body.Patch, body.Parents = strings.Repeat("2", 64), []string{strings.Repeat("1", 40)}
	}
	agent := ledger.Actor{Kind: ledger.ActorSession, Session: "s", Harness: "claude", Auth: ledger.AuthAncestry}
	observed := ledger.Draft{
		Kind: workflow.KindChanges, Story: l.id, Actor: agent, Schema: 1,
		Body: map[string]any{"n": i, "at": "2026-01-01T00:00:00Z", "tool": "Write", "targets": []string{fileName(i % auditFiles)}, "work_tree": "."},
	}
	drafts := slices.Repeat([]ledger.Draft{observed}, 4)
	comment := ledger.Draft{Kind: workflow.KindSeatJoined, Story: l.id, Actor: agent, Schema: 1, Crit: true, Body: map[string]any{"work_tree": "."}}
	drafts = append(drafts, comment, ledger.Draft{Kind: workflow.KindPrepared, Story: l.id, Actor: agent, Schema: 1, Body: body})
	var err error
	if l.head, _, err = l.log.Append(context.Background(), l.head.Size, drafts, nil); err != nil {
		l.w.t.Fatal(err)
	}
	return workflow.TrailerStory + ": " + l.id + "\n" + workflow.TrailerLedger + ": " + audit.WriteLedger(l.log.Origin(), l.head.Size, l.head.Root) + "\n"
}
