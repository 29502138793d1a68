package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"satelle/agents"
	"satelle/agents/transport"
	"satelle/hooks/decide"
	"satelle/internal/ancestry"
	"satelle/internal/fault"
	"satelle/internal/place"
	"satelle/internal/spool"
	"satelle/ledger"
	"satelle/workflow"
)

// What an agent finds in its environment besides $SATELLE_HOME.
const (
	tokenEnv = "SATELLE_TOKEN"
	storyEnv = "SATELLE_STORY"
)

// pass is what a worker is known by beside its process: a token of 256 bits,
// which only its environment holds, and a digest of it for files and records.
type pass struct{ token, id string }

func newPass() pass {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	token := hex.EncodeToString(b[:])
	return pass{token, workerID(token)}
}

func workerID(token string) string {
	sum := sha256.Sum256([]byte("satelle worker\n" + token))
	return hex.EncodeToString(sum[:16])
}

// worker is an agent that is about to be started.
type worker struct {
	pass
	role, binding, story string
	token                uint64 // of the transition
	workTree             string
}

// hire prepares the start of an agent: its variables, which go behind all
// others; what is called once its process has an id and before anything of it
// runs; and what is called when it is gone. path is the PATH that it would have had.
func (e *Engine) hire(w worker, path string) (own []string, started func(pid int) error, dismiss func(), err error) {
	shim, err := e.shim()
	if err != nil {
		return nil, nil, nil, err
	}
	if path != "" {
		path = string(os.PathListSeparator) + path
	}
	own = []string{tokenEnv + "=" + w.pass.token, storyEnv + "=" + w.story, place.HomeEnv + "=" + e.Home, "PATH=" + shim + path}
	registered := func() {}
	started = func(pid int) error {
		taken, err := ancestry.RegisterWorker(e.Home, pid, ancestry.Worker{
			ID: w.id, Role: w.role, Binding: w.binding, Story: w.story, Transition: w.token, Tree: w.workTree,
		})
		if err == nil {
			registered = taken
		}
		return err
	}
	return own, started, func() { registered() }, nil
}

// employ starts an agent as a worker, in its place, and waits for its answer. The
// Dir of the invocation and what its environment tells of satelle are set here.
func (r *errand) employ(ctx context.Context, inv transport.Invocation) (transport.Result, error) {
	d := r.d
	site, err := d.site(ctx, inv.Binding, r.record.Number)
	if err != nil {
		return transport.Result{}, err
	}
	defer func() { r.record.Copy = d.leave(site) }()
	if site.repo == nil && inv.Binding.Role == agents.RoleAgent {
		d.within.Store(true)
	}
	w := worker{
		pass: r.brief.pass, role: inv.Binding.Role, binding: inv.Binding.Name,
		story: d.story.ID, token: d.story.Transition.Token, workTree: site.dir,
	}
	if w.id == "" {
		w.pass = newPass()
	}
	path := ""
	for _, kv := range inv.Env {
		if value, is := strings.CutPrefix(kv, "PATH="); is {
			path = value
		}
	}
	if _, set := inv.Binding.Env["PATH"]; !set && w.role == agents.RoleReviewer {
		path = transport.Outside(path, w.workTree) // nor may what it starts be of those whose work it judges
	}
	own, started, dismiss, err := d.e.hire(w, path)
	if err != nil {
		return transport.Result{}, err
	}
	defer dismiss()
	inv.Env, inv.Dir, inv.Started = append(inv.Env, own...), site.dir, started
	if r.brief.pass.id != "" { // the seat is lent to this one
		inv.MayWrite = func(path string) error { return d.e.mayWrite(w, path) }
	}
	return transport.Run(ctx, inv)
}

// mayWrite refuses a worker to write a file where its hook would.
func (e *Engine) mayWrite(w worker, path string) error {
	env := decide.System()
	env.Home, env.HomeErr, env.Now = e.Home, nil, e.now
	env.Worker = func(string) (ancestry.Worker, bool, error) {
		return ancestry.Worker{ID: w.id, Role: w.role, Binding: w.binding, Story: w.story, Transition: w.token, Tree: w.workTree}, true, nil
	}
	return decide.MayWrite(env, w.workTree, path)
}

// asJudge registers and marks this process: whatever it starts (checks, agents, and
// what these leave behind when their supervisor is killed) has no rights of a person
// or a session, and reads.
func (e *Engine) asJudge() (done func(), err error) {
	if err := ancestry.TakeMark(e.Home); err != nil {
		return nil, fault.Wrap(err, nil, "marking the process that asks a gate")
	}
	done, err = ancestry.RegisterWorker(e.Home, os.Getpid(), ancestry.Worker{Role: ancestry.RoleJudge, Tree: e.repo.Top()})
	return done, fault.Wrap(err, nil, "registering the process that asks a gate")
}

// shim returns a folder with a satelle that runs this very program: an agent's
// version is that of the engine which started it. (Decision Q52.)
func (e *Engine) shim() (dir string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", fault.Wrap(err, nil, "finding this program")
	}
	dir = filepath.Join(e.Place.Dir, "bin")
	text := "#!/bin/sh\nexec " + shellWord(self) + ` "$@"` + "\n"
	path := filepath.Join(dir, "satelle")
	if old, err := readBounded(path, maxConfig); err == nil && string(old) == text {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fault.Wrap(err, nil, "making the folder of the agents' satelle")
	}
	return dir, fault.Wrap(writeAtomic(path, []byte(text), 0o700), nil, "writing the agents' satelle")
}

func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// caller is the worker that asks.
type caller struct {
	ancestry.Worker
	auth string
}

// rule is a caller as the rules know it.
func (c caller) rule() workflow.Worker {
	w := workflow.Worker{ID: c.ID, Story: c.Story, Performs: c.Role == ancestry.RoleAgent}
	return w
}

// asking finds the worker that this process belongs to. The ancestors tell,
// whatever the environment says; where they show none, as in a container or
// after it left its tree on a system that adopts nobody, a token shows that it is
// one. An error means that it can't be told.
func asking(homes []string) (c caller, found bool, err error) {
	for _, home := range homes {
		if c.Worker, found, err = ancestry.FindWorker(home); found || err != nil {
			c.auth = ledger.AuthAncestry
			return c, found, err
		}
	}
	token := os.Getenv(tokenEnv)
	if token == "" {
		for _, home := range homes {
			if found, err = ancestry.Marked(home); found || err != nil {
				c.auth = ledger.AuthAncestry
				return c, found, err // somebody has deleted its registration
			}
		}
		return c, false, nil
	}
	c.ID, c.auth = workerID(token), ledger.AuthToken
	for _, home := range homes {
		all, err := ancestry.Workers(home)
		if err != nil {
			return c, true, err
		}
		for _, w := range all {
			if w.ID == c.ID {
				c.Worker = w
				return c, true, nil
			}
		}
	}
	return c, true, nil // a token that nobody has any more is that of one whose time is up
}

// workerActor is a worker in the records.
func (e *Engine) workerActor(c caller) ledger.Actor {
	return ledger.Actor{Kind: ledger.ActorWorker, Name: c.Binding, Session: c.ID, Host: e.host, Auth: c.auth}
}

// MayUse refuses a verb to the agents that satelle has started, as far as it is
// not theirs, and notes that. dir is where the verb would take effect.
func MayUse(dir, verb string) error {
	if workflow.VerbAccess(verb) == workflow.Everybody {
		return nil
	}
	home, err := place.HomeDir()
	if err != nil {
		return nil // no verb works without it
	}
	p, err := place.Find(home, dir)
	if err != nil {
		p = place.Place{} // which the verb itself will say; whoever asks is told without it
	}
	c, found, err := asking(homes(home, p.CommonDir))
	if err != nil {
		return fault.Wrap(err, fault.Refused, "finding out who asks")
	}
	if !found {
		return nil
	}
	refusal := c.rule().MayUse(verb)
	if refusal != nil {
		noteRefusal(p, c, "satelle "+verb)
	}
	return refusal
}

// mayAppend refuses what the worker that asks must not put into the log.
func (e *Engine) mayAppend(log *ledger.Log, c workflow.Change) error {
	if !slices.ContainsFunc(c.Drafts, func(d ledger.Draft) bool { return d.Actor.Kind == ledger.ActorWorker }) {
		return nil
	}
	w, _, err := asking(homes(e.Home, e.repo.CommonDir()))
	if err != nil {
		return fault.Wrap(err, fault.Refused, "finding out who asks")
	}
	if refusal := w.rule().MayAppend(c); refusal != nil {
		for _, d := range c.Drafts {
			if d.Actor.Kind == ledger.ActorWorker {
				noteRefusal(e.Place, w, d.Kind)
				break
			}
		}
		return refusal
	}
	return allowance(log, w, c)
}

// A worker makes at most so many records in one dispatch, with texts of so many
// bytes: what is in the ledger stays there.
const (
	maxMade      = 200
	maxMadeBytes = 64 << 20
)

// allowance refuses a worker a change beyond what it may make in its dispatch.
func allowance(log *ledger.Log, w caller, c workflow.Change) error {
	made, size := len(c.Drafts), int64(0)
	for _, b := range c.Blobs {
		size += b.Ref.Length
	}
	from := w.Transition
	if from == 0 { // a person runs it; what it has made is among the last records
		head, err := log.Head()
		if err != nil {
			return fault.Wrap(err, nil, "counting what this agent has made")
		}
		from = max(head.Size, 10*readPage) - 10*readPage
	}
	for {
		records, err := log.Read(from, readPage)
		if err != nil {
			return fault.Wrap(err, nil, "counting what this agent has made")
		}
		for _, r := range records {
			if r.Actor.Kind == ledger.ActorWorker && r.Actor.Session == w.ID {
				made++
				for _, ref := range refs(r) {
					size += ref.Length
				}
			}
		}
		if len(records) < readPage {
			break
		}
		from += uint64(len(records))
	}
	if made > maxMade || size > maxMadeBytes {
		return fault.Try(fault.New(fault.Refused, "with this, the agent would have made %d records of %d bytes in this dispatch; at most %d and %d are taken", made, size, maxMade, maxMadeBytes),
			"satelle story docs "+w.Story)
	}
	return nil
}

// readPage is how many records are read at once.
const readPage = 1000

// noteRefusal leaves word of a refusal where the denials of hooks are left: they come
// into the ledger, and no rule rests on them.
func noteRefusal(p place.Place, c caller, what string) {
	if !p.Registered {
		return
	}
	// It is refused all the same.
	_ = spool.Append(filepath.Join(p.Dir, "spool"), &spool.Line{
		Time: time.Now().UnixMilli(), Kind: spool.Denied, Session: c.ID, Harness: "satelle", Agent: c.Binding, Tool: what,
		Rule: "worker", Mode: "enforce", Tree: p.TreeID, Story: c.Story,
	})
}

// committer is the worker that makes a commit, nil where none does.
func (e *Engine) committer() (*workflow.Worker, error) {
	c, found, err := asking(homes(e.Home, e.repo.CommonDir()))
	if err != nil {
		return nil, fault.Wrap(err, fault.Refused, "finding out who commits")
	}
	if !found {
		return nil, nil
	}
	w := c.rule()
	// What is committed in a copy of the work tree is for no seat, and a token
	// alone is nobody's seat.
	w.Performs = w.Performs && c.auth == ledger.AuthAncestry && c.Tree == e.repo.Top()
	return &w, nil
}
