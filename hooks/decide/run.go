package decide

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"satelle/hooks/dialect"
	"satelle/internal/ancestry"
	"satelle/internal/place"
	"satelle/internal/spool"
	"satelle/ledger/seatread"
)

const (
	// deadline is when an answer is given, whatever is still being found out.
	// A harness that has waited too long lets the call pass; Grok's own
	// patience of 5 seconds is the shortest.
	deadline = 2 * time.Second

	// maxStack ends the program long before the machine suffers; the wrapper
	// answers in its place. What is read is bounded, and so is the heap.
	maxStack = 128 << 20
)

// Env is what a hook knows of its machine and process.
type Env struct {
	Home     string        // satelle's folder
	HomeErr  error         // why it can't be told
	User     string        // the user's home, "" if unknown
	Dir      func() string // where this process works, for a payload that names no folder
	Path     string        // $PATH
	Temps    []string      // temporary folders; mktemp creates its files in the first
	Exported func(name string) bool
	Variable func(name string) string // its value, "" if there is none
	Now      func() time.Time
	Deadline time.Duration // 0: the default
	Exit     func(int)     // ends the process when the deadline has passed and the answer is written

	// Register makes the process that runs this hook known as a session; nil
	// for one that only asks.
	Register func(home, session, harness string) error

	// Worker finds the agent of satelle's that this process runs below; nil:
	// there are none.
	Worker func(home string) (ancestry.Worker, bool, error)

	// Observe writes a line to a spool; nil for one that only asks.
	Observe func(dir string, l *spool.Line) error

	// heard is told of the call as soon as it is known, so that an answer that
	// comes from elsewhere has its harness's form.
	heard func(c dialect.Call)

	// holds ends the deadline, for work that takes longer and is bounded by
	// itself. It reports false where time is up, and answered, already.
	holds func() bool

	// Check tells what is wrong with satelle's own enforcement when a session
	// starts, "" if nothing is or it can't tell within the limit; nil: nobody
	// asks.
	Check func(program, dir, harness string, limit time.Duration) string
}

// System is the environment of this process.
func System() Env {
	env := Env{
		User:     os.Getenv("HOME"),
		Path:     os.Getenv("PATH"),
		Exported: func(name string) bool { _, ok := os.LookupEnv(name); return ok },
		Variable: os.Getenv,
		Now:      time.Now,
		Exit:     os.Exit,
		Register: ancestry.Register,
		Worker:   ancestry.FindWorker,
		Observe:  spool.Append,
		Check:    check,
		Dir: func() string {
			dir, _ := os.Getwd() // without one the call is refused
			return dir
		},
	}
	env.Home, env.HomeErr = place.HomeDir()
	env.Temps = []string{os.TempDir(), "/tmp", "/var/tmp"}
	return env
}

// Run reads one payload from in and writes the answer to out: at most one
// object, in one write. It returns the exit code, which is 0 but for an answer
// that could not be written: 2 with a reason on errw is a denial, too. It never
// waits longer than its deadline, not even for the end of its input.
func Run(in io.Reader, out, errw io.Writer, env Env) int {
	debug.SetMaxStack(maxStack)
	w := &once{out: out, errw: errw}
	if env.Deadline == 0 {
		env.Deadline = deadline
	}
	// No goroutine does the work, which would cost a thread: the timer's
	// comes to be only when time is up.
	timer := time.AfterFunc(env.Deadline, func() {
		env.Exit(w.write(refuse(w.about(), errLate)))
	})
	defer timer.Stop()
	env.holds = timer.Stop
	env.heard = w.hear
	return w.write(w.judge(in, env))
}

// once writes one answer, whoever comes first with it.
type once struct {
	mu        sync.Mutex
	done      bool
	call      dialect.Call
	out, errw io.Writer
}

func (w *once) hear(c dialect.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.call = c
}

// about is the call that was heard of, as far as its harness's form goes.
func (w *once) about() dialect.Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.call
}

func (w *once) write(b []byte) (code int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done || len(b) == 0 {
		w.done = true
		return 0
	}
	w.done = true
	if _, err := w.out.Write(b); err != nil {
		fmt.Fprintln(w.errw, "satelle: the hook's answer could not be written, so the call is denied:", err)
		return 2
	}
	return 0
}

// judge returns the answer; a panic is one of them.
func (w *once) judge(in io.Reader, env Env) (b []byte) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintln(w.errw, "satelle: the hook failed:", p)
			b = refuse(w.about(), errFailed)
		}
	}()
	return answer(in, env)
}

var (
	errFailed = errors.New("the hook failed")
	errLate   = errors.New("the hook ran out of time")
)

// refuse is the denial of what could not be judged.
func refuse(c dialect.Call, why error) []byte {
	what := "the call"
	if c.Tool != "" {
		what = quoted(c.Tool)
	}
	lead := "Repeat the call; if it is denied again, a person runs: satelle doctor . "
	if errors.Is(why, dialect.ErrClipped) {
		lead = "Give the tool less at once, and call it several times: Grok shows a hook at most 128 KiB of an input. "
	}
	return dialect.Denial(c, lead+"satelle denied "+what+", because it can't judge it: "+why.Error()+".")
}

// answer returns what is written to the harness; nothing lets the call pass.
func answer(in io.Reader, env Env) []byte {
	payload, err := dialect.ReadAll(in)
	if err != nil {
		return refuse(dialect.Call{}, err)
	}
	c, err := dialect.Parse(payload)
	if err != nil {
		return refuse(c, err)
	}
	env.heard(c)
	if c.Event == dialect.Quiet {
		return nil
	}
	if c.CWD == "" {
		c.CWD = env.Dir()
	}
	w, err := newWorld(env, c.CWD)
	w.roots = c.Roots
	w.login = c.Harness == dialect.Codex // it runs commands in a login shell, which sets a PATH of its own
	switch c.Event {
	case dialect.SessionStart:
		return w.sessionStart(c, err)
	case dialect.ConfigChange:
		return w.configChange(c, err)
	case dialect.PostTool:
		w.after(c, err)
		return w.lateWelcome(c, err)
	}
	return w.tool(c, err)
}

// tool answers a call to a tool.
func (w *world) tool(c dialect.Call, err error) []byte {
	if err != nil {
		act, bad := understand(c, w.shell())
		if bad == nil && !act.changes() {
			return nil
		}
		return w.say(c, Facts{Act: act, Err: err})
	}
	act, bad := understand(c, w.shell())
	if bad == nil && act.Kind == Reads {
		return w.say(c, Facts{Act: act, Secret: w.secret(act)})
	}
	here, err := w.here(bad == nil && act.changes() || len(act.Effect.Satelle) > 0)
	if bad == nil && act.changes() && here.Governed {
		act, bad = w.readers(c, act, here)
	}
	if err == nil && here.Governed && (act.Kind == Command || act.Kind == Strange) && !(canary(c) && act.tame()) {
		w.register(c) // before anything runs that could call satelle
	}
	if bad != nil {
		if err == nil && !here.Governed {
			return nil
		}
		w.decided(c, Facts{Act: act, Here: here, Err: err}, Decision{Deny: true, Rule: ruleInput})
		return refuse(c, bad)
	}
	if b := w.say(c, w.gather(act, here, err)); b != nil {
		return b
	}
	return w.carry(c, act)
}

// readers judges a call again by what the gate counts as reading.
func (w *world) readers(c dialect.Call, act Act, here Spot) (Act, error) {
	gate := here.Row.Gate
	switch {
	case readerTool(c, gate.Tools):
		act.Kind = Reads
	case act.Kind == Command && len(gate.Readers) > 0:
		env := w.shell()
		env.Readers, env.Tree = gate.Readers, here.Tree
		return understand(c, env)
	}
	return act, nil
}

// say decides, and words the answer. How satelle is called on this machine is
// found out only for a denial.
func (w *world) say(c dialect.Call, f Facts) []byte {
	d := Decide(c, f)
	if d.Rule != "" {
		f.Program = w.program()
		d = Decide(c, f)
	}
	switch d = w.decided(c, f, d); {
	case d.Deny:
		return dialect.Denial(c, d.Reason)
	case d.Mode == seatread.ModeWarn:
		return dialect.Warning(c, d.Reason)
	}
	return nil
}

// register makes the harness that runs this hook known as a session. Where
// that fails, ancestry fails as well and so grants nothing to anybody.
func (w *world) register(c dialect.Call) {
	if w.registers != nil {
		_ = w.registers(w.home, c.Session, string(c.Harness))
	}
}

// configChange keeps the settings that a session began with. A change of
// settings that bear hooks is never of use to the session itself.
func (w *world) configChange(c dialect.Call, err error) []byte {
	if err == nil {
		here, wrong := w.here(false)
		if wrong == nil && !here.Governed {
			return nil
		}
		if c.File != "" && protectedName(absolute(w.dir, c.File), false) == "" {
			return nil
		}
	}
	w.decided(c, Facts{Act: Act{Paths: []string{c.File}}, Err: err}, Decision{Deny: true, Rule: ruleProtected})
	return dialect.Denial(c, "The settings of the harness stay as they were when this session began: satelle's hook lies in them. They take effect in the next session.")
}

// rowProblem names why a row could not be read. The error's own text may hold
// a path, so only the classes speak.
func rowProblem(err error) string {
	switch {
	case errors.Is(err, seatread.ErrBusy):
		return "the ledger is busy"
	case errors.Is(err, seatread.ErrNewer):
		return "the ledger was written by a newer satelle"
	case errors.Is(err, seatread.ErrCorrupt):
		return "the ledger is damaged"
	}
	return "the ledger can't be opened"
}
