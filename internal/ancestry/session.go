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
	"time"
)

// Session is a harness session that a hook registered.
type Session struct {
	ID      string // the harness's own session id
	Harness string
	PID     int // the harness's process
}

// Signature is the part of the installed hook command by which its processes
// are told from the harness that runs them. It holds no variable, since Grok
// puts the values of those that it knows into the command before a shell sees
// it.
const Signature = `/satelle-hook" && exit 0; `

// opening is how the command's text begins, in the shell that a harness starts
// and in the one that the command starts.
var opening = [...]string{`sh -c 'b="`, `b="`}

const (
	maxDepth = 64      // ancestors looked at
	maxEntry = 4 << 10 // bytes of a registration
	maxSweep = 512     // registrations looked at when a new one is written
)

// process is what the system tells of a process.
type process struct {
	pid, parent int
	start       string // unique among processes of that id since boot
	comm        string // its name, on Linux
}

func (p process) name() string { return strconv.Itoa(p.pid) + "-" + p.start }

// Register records that the harness which runs this hook drives a session: the
// nearest ancestor that is not the hook command itself. A registration that
// stands already costs one read. Where the answer goes to a terminal a person
// runs the hook by hand, since a harness could not read it; nobody is
// registered then.
func Register(home, session, harness string) error {
	if terminal(int(os.Stdout.Fd())) {
		return nil
	}
	p, err := lookup(os.Getppid())
	for depth := 0; err == nil && p.parent > 0 && depth < maxDepth; depth++ {
		var ours bool
		if ours, err = runsHook(p.pid); err != nil || !ours {
			break
		}
		p, err = lookup(p.parent)
	}
	if err != nil {
		return fmt.Errorf("finding the harness among the ancestors: %w", err)
	}
	if !mayDrive(p, wholeMachine) {
		return nil
	}
	return write(filepath.Join(home, "sessions"), p, encode(session, harness))
}

// mayDrive reports whether a process can be a harness. The first process of a
// machine takes in the hooks of a harness that died; all that a person starts
// is below it.
func mayDrive(p process, machine func() bool) bool {
	return p.pid != 1 || !machine()
}

// Find returns the session whose harness is an ancestor of this process. An
// error means that it can't be told, which must count as "in a session": so it is
// in a sandbox that anybody can make, such as unshare -Urp makes one.
func Find(home string) (Session, bool, error) {
	dir := filepath.Join(home, "sessions")
	pid, err := parent()
	if err != nil {
		return Session{}, false, fmt.Errorf("looking at the ancestors: %w", err)
	}
	for depth := 0; pid > 0; depth++ {
		if depth == maxDepth {
			return Session{}, false, errDepth
		}
		p, err := lookup(pid)
		if err != nil {
			return Session{}, false, fmt.Errorf("looking at the ancestors: %w", err)
		}
		s, err := read(filepath.Join(dir, p.name()))
		if err == nil {
			s.PID = p.pid
			return s, true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return Session{}, false, err
		}
		pid = p.parent
	}
	if alone() {
		return Session{}, false, errAlone
	}
	return Session{}, false, nil
}

// errAlone is why nobody is taken for a person in a sandbox.
var errAlone = errors.New("this is a sandbox with processes and users of its own, in which nobody can see who made it: ask from outside")

// write stores a registration so that a reader sees all of it or nothing.
func write(dir string, p process, line string) error {
	path := filepath.Join(dir, p.name())
	if old, err := os.ReadFile(path); err == nil && string(old) == line {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp := path + "." + strconv.Itoa(os.Getpid())
	if err := os.WriteFile(temp, []byte(line), 0o600); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return err
	}
	keep := time.Duration(0)
	if !wholeMachine() {
		keep = unseen
	}
	sweep(dir, keep)
	return nil
}

// unseen is how long a registration stays whose process can't be seen from
// within a container, or from a namespace of processes that an agent has made: it
// may live outside of that.
const unseen = 30 * 24 * time.Hour

// sweep removes registrations of processes that are gone, and that are older than
// keep. It runs only when
// one is written, and what it can't judge it leaves, and what somebody holds who
// is not to be seen here.
func sweep(dir string, keep time.Duration) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxSweep)
	for _, name := range names {
		id, _, _ := strings.Cut(name, "-")
		pid, err := strconv.Atoi(id)
		if err != nil {
			continue
		}
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err != nil || time.Since(info.ModTime()) < keep {
			continue
		}
		if p, err := lookup(pid); (gone(err) || err == nil && !strings.HasPrefix(name, p.name())) && !held(path) {
			os.Remove(path)
		}
	}
}

func read(path string) (Session, error) {
	f, err := os.Open(path)
	if err != nil {
		return Session{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxEntry))
	if err != nil {
		return Session{}, err
	}
	id, harness, ok := decode(string(b))
	if !ok {
		return Session{}, fmt.Errorf("%s: not a session registration", path)
	}
	return Session{ID: id, Harness: harness}, nil
}

// encode is the registration's one JSON line. Names come from a harness's
// payload, so whatever is not plain is replaced; an id is compared, not shown.
func encode(session, harness string) string {
	return `{"session":"` + plain(session) + `","harness":"` + plain(harness) + "\"}\n"
}

func decode(line string) (session, harness string, ok bool) {
	line, ok1 := strings.CutPrefix(line, `{"session":"`)
	line, ok2 := strings.CutSuffix(line, "\"}\n")
	session, harness, ok3 := strings.Cut(line, `","harness":"`)
	return session, harness, ok1 && ok2 && ok3 && plain(session) == session && plain(harness) == harness
}

// Plain is a session's id as a registration bears it.
func Plain(id string) string { return plain(id) }

func plain(s string) string {
	const maxName = 200
	if len(s) > maxName {
		s = s[:maxName]
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:@", r) {
			return r
		}
		return '_'
	}, s)
}

// ours reports whether an argument vector is a shell that runs the installed
// hook command, at once or in a further shell. A harness whose own arguments
// speak of the command (a prompt, a setting in quotes) is not one: to pass it
// over would register the terminal above it.
func ours(argv []string) bool {
	for i, arg := range argv {
		if i > 1 && i <= 3 && runsText(argv[i-1]) && opens(arg) && strings.Contains(arg, Signature) {
			return true
		}
	}
	return false
}

func opens(text string) bool {
	for _, o := range opening {
		if strings.HasPrefix(strings.TrimSpace(text), o) {
			return true
		}
	}
	return false
}

// runsText reports whether an option is a shell's -c, alone or among others.
func runsText(option string) bool {
	letters, ok := strings.CutPrefix(option, "-")
	return ok && strings.HasSuffix(letters, "c") && strings.Trim(letters, "abcdefghijklmnopqrstuvwxyz") == ""
}
