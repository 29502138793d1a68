package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"satelle/agents"
	"satelle/internal/ancestry"
	"satelle/internal/fault"
	"satelle/internal/gitrepo"
)

// An agent whose binding says `worktree = true` works in a copy of the work tree,
// made for this one run. What it changes there stays there: it is kept and named,
// never merged and never removed. docs/decisions/worker-copies.md tells why.

// Copy is a copy of a work tree in which an agent worked.
type Copy struct {
	// Name is the folder's, below the copies' folder; Path is all of it.
	Name string `json:"name"`
	Path string `json:"path"`
	// Story and Binding say whose it is.
	Story   string `json:"story"`
	Binding string `json:"binding"`
	// Head and Tree are what it began with.
	Head string `json:"head"`
	Tree string `json:"tree"`
}

func (e *Engine) copiesDir() string { return filepath.Join(e.Place.Dir, "worktrees") }

// startFile lies beside a copy and says what it began with.
func startFile(dir string) string { return dir + ".json" }

// site is where an agent works.
type site struct {
	dir string
	// repo is the copy, nil where the agent works in the work tree itself.
	repo *gitrepo.Repo
	copy Copy
}

// site makes the place where an agent of the binding works.
func (d *dispatcher) site(ctx context.Context, b agents.Binding, number int) (site, error) {
	e := d.e
	if !b.Worktree {
		return site{dir: e.repo.Top()}, nil
	}
	if err := os.MkdirAll(e.copiesDir(), 0o700); err != nil {
		return site{}, fault.Wrap(err, nil, "making the folder of copies")
	}
	// No two runs share a position and a number; one of a person's has no position.
	name := strings.Join([]string{cmp.Or(d.story.ID, "run"), strconv.FormatUint(d.story.Transition.Token, 10), strconv.Itoa(number), strconv.FormatInt(e.now().UnixNano(), 36)}, "-")
	s := site{copy: Copy{Name: name, Path: filepath.Join(e.copiesDir(), name), Story: d.story.ID, Binding: b.Name}}
	var err error
	if s.repo, err = e.repo.Copy(ctx, s.copy.Path); err != nil {
		return site{}, err
	}
	s.dir = s.repo.Top()
	err = s.begin(ctx)
	if err != nil {
		_ = e.repo.RemoveCopy(context.WithoutCancel(ctx), s.dir) // nobody has worked in it
	}
	return s, err
}

// begin notes what the copy holds.
func (s *site) begin(ctx context.Context) (err error) {
	if s.copy.Head, s.copy.Tree, err = s.repo.Now(ctx); err != nil {
		return err
	}
	b, err := json.Marshal(s.copy)
	if err != nil {
		return fault.Wrap(err, nil, "writing what a copy began with")
	}
	return fault.Wrap(writeAtomic(startFile(s.copy.Path), b, 0o600), nil, "writing what a copy began with")
}

// leave removes a copy in which nothing was changed, and returns the name of one
// that is kept: its files or its commit are not what they were, or that can't be
// told. What git ignores does not count, as git itself has it.
func (d *dispatcher) leave(s site) (kept string) {
	if s.repo == nil {
		return ""
	}
	ctx := context.Background() // the transition's may have ended
	why := ""
	head, tree, err := s.repo.Now(ctx)
	switch {
	case err != nil:
		why = "can't be compared with its beginning (" + err.Error() + ")"
	case head != s.copy.Head || tree != s.copy.Tree:
		why = "has changed"
	default:
		if err = d.e.repo.RemoveCopy(ctx, s.copy.Path); err == nil {
			os.Remove(startFile(s.copy.Path))
			return ""
		}
		why = "can't be removed (" + err.Error() + ")"
	}
	fmt.Fprintf(d.progress, "kept: the copy in which %s worked %s, and nothing of it is in your work tree: %s\n", s.copy.Binding, why, s.copy.Path)
	return s.copy.Name
}

// maxCopies bounds how many are listed.
const maxCopies = 1000

// Copies lists the copies of work trees in which nobody works any more: those
// that are kept, and those that a killed process left.
func (e *Engine) Copies() ([]Copy, error) {
	out := []Copy{}
	f, err := os.Open(e.copiesDir())
	if os.IsNotExist(err) {
		return out, nil
	}
	if err != nil {
		return out, fault.Wrap(err, nil, "listing the copies")
	}
	defer f.Close()
	names, err := f.Readdirnames(maxCopies)
	if err != nil && err != io.EOF {
		return out, fault.Wrap(err, nil, "listing the copies")
	}
	slices.Sort(names)
	workers, err := ancestry.Workers(e.Home)
	if err != nil {
		return out, fault.Wrap(err, nil, "listing the agents at work")
	}
	for _, name := range names {
		path := filepath.Join(e.copiesDir(), name)
		if copied, is := strings.CutSuffix(path, ".json"); is {
			if _, err := os.Lstat(copied); os.IsNotExist(err) {
				os.Remove(path) // somebody has removed the copy
			}
			continue
		}
		if fi, err := os.Lstat(path); err != nil || !fi.IsDir() {
			continue
		}
		if slices.ContainsFunc(workers, func(w ancestry.Worker) bool { return filepath.Base(w.Tree) == name }) {
			continue
		}
		c := Copy{}
		if b, err := readBounded(startFile(path), maxConfig); err == nil {
			_ = json.Unmarshal(b, &c) // what can't be read is listed all the same
		}
		c.Name, c.Path = name, path
		out = append(out, c)
	}
	return out, nil
}
