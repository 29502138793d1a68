package ancestry

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Worker is an agent that satelle dispatched. Everything below its process is
// the worker, whatever a harness has registered nearer and whatever stands in
// the environment.
type Worker struct {
	// ID is a digest of the worker's token, from which the token can't be told.
	ID string
	// Role is that of its binding, or [RoleJudge].
	Role    string
	Binding string
	Story   string
	// Transition is the position of the one that dispatched it.
	Transition uint64
	// Tree is the root of the work tree that it works in, a real path.
	Tree string
}

// Roles of workers: the two of a binding, and that of a process which starts
// agents. What is below that and below no agent's own process has left one.
const (
	RoleAgent    = "agent"
	RoleReviewer = "reviewer"
	RoleJudge    = "judge"
)

// workersDir holds the registrations, below satelle's folder.
const workersDir = "workers"

// maxWorkers bounds the registrations that are searched for a token.
const maxWorkers = 4096

var errWorker = errors.New("not a worker's registration")

// RegisterWorker records that all which a process of this system starts is a
// worker. It returns what takes the record back; a record whose process has
// ended counts as none. That of this process itself is seen from other namespaces
// of processes, too.
func RegisterWorker(home string, pid int, w Worker) (dismiss func(), err error) {
	p, err := lookup(pid)
	if err != nil {
		return nil, fmt.Errorf("looking at the worker's process: %w", err)
	}
	dir := filepath.Join(home, workersDir)
	if err := write(dir, p, w.encode()); err != nil {
		return nil, fmt.Errorf("registering the worker: %w", err)
	}
	path := filepath.Join(dir, p.name())
	release := func() {}
	if pid == os.Getpid() {
		if release, err = hold(path); err != nil {
			return nil, fmt.Errorf("registering the worker: %w", err)
		}
	}
	return func() { os.Remove(path); release() }, nil
}

// FindWorker returns the nearest worker among the ancestors of this process. An
// error means that it can't be told, which must count as "a worker": one works
// where this process can't see, so it may be an ancestor. Where none is
// registered, that takes one look.
func FindWorker(home string) (Worker, bool, error) { return findWorker(home, wholeMachine) }

// findWorker asks machine whether every process is to be seen here, and so every
// ancestor was.
func findWorker(home string, machine func() bool) (Worker, bool, error) {
	dir := filepath.Join(home, workersDir)
	none, err := empty(dir)
	if none || err != nil {
		return Worker{}, false, err
	}
	pid, err := parent()
	if err != nil {
		return Worker{}, false, fmt.Errorf("looking at the ancestors: %w", err)
	}
	for depth := 0; pid > 0; depth++ {
		if depth == maxDepth {
			return Worker{}, false, errDepth
		}
		p, err := lookup(pid)
		if err != nil {
			return Worker{}, false, fmt.Errorf("looking at the ancestors: %w", err)
		}
		w, err := readWorker(filepath.Join(dir, p.name()))
		if err == nil {
			return w, true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return Worker{}, false, err
		}
		pid = p.parent
	}
	if machine() {
		return Worker{}, false, nil
	}
	names, err := registered(dir)
	for _, name := range names {
		if !lives(name) && held(filepath.Join(dir, name)) {
			return Worker{}, false, errors.New("an agent works in another namespace of processes, and this may be a part of it")
		}
	}
	return Worker{}, false, err
}

// lives reports whether the process of a registration is there to be seen.
func lives(name string) bool {
	id, _, _ := strings.Cut(name, "-")
	pid, err := strconv.Atoi(id)
	if err != nil {
		return false
	}
	p, err := lookup(pid)
	return err == nil && p.name() == name
}

// registered lists the names of registrations.
func registered(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(maxWorkers)
	if err == io.EOF {
		err = nil
	}
	return names, err
}

// Workers returns those whose processes live.
func Workers(home string) ([]Worker, error) {
	dir := filepath.Join(home, workersDir)
	names, err := registered(dir)
	if err != nil {
		return nil, err
	}
	var all []Worker
	for _, name := range names {
		if !lives(name) {
			continue
		}
		if w, err := readWorker(filepath.Join(dir, name)); err == nil {
			all = append(all, w)
		}
	}
	return all, nil
}

// empty reports whether no worker is registered.
func empty(dir string) (bool, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	if err == io.EOF {
		return true, nil
	}
	return false, err
}

// encode is the registration's one line: words that hold no blank, and a path.
func (w Worker) encode() string {
	return strings.Join([]string{
		"worker", plain(w.ID), plain(w.Role), plain(w.Binding), plain(w.Story), strconv.FormatUint(w.Transition, 10), strconv.Quote(w.Tree),
	}, " ") + "\n"
}

func readWorker(path string) (Worker, error) {
	f, err := os.Open(path)
	if err != nil {
		return Worker{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxWorker+1))
	if err != nil {
		return Worker{}, err
	}
	line, whole := strings.CutSuffix(string(b), "\n")
	words := strings.SplitN(line, " ", 7)
	if !whole || len(b) > maxWorker || len(words) != 7 || words[0] != "worker" {
		return Worker{}, fmt.Errorf("%s: %w", path, errWorker)
	}
	w := Worker{ID: words[1], Role: words[2], Binding: words[3], Story: words[4]}
	w.Transition, err = strconv.ParseUint(words[5], 10, 64)
	if err == nil {
		w.Tree, err = strconv.Unquote(words[6])
	}
	if err != nil || w.encode() != string(b) {
		return Worker{}, fmt.Errorf("%s: %w", path, errWorker)
	}
	return w, nil
}

// maxWorker bounds a registration: its path is the longest part, and may need
// four bytes for one.
const maxWorker = 20 << 10
