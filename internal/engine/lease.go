package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cockroachdb/errors"
	"golang.org/x/sys/unix"

	"satelle/internal/fault"
	"satelle/internal/proc"
	"satelle/ledger"
	"satelle/workflow"
)

// progressPoll is how often a waiting command looks for new progress to show.
// The end itself is not polled for: the kernel tells when the lease is free.
const progressPoll = 100 * time.Millisecond

// stopPoll is how often one that stops a transition looks whether it has begun.
const stopPoll = 20 * time.Millisecond

func (e *Engine) leasePath(id string) string {
	return filepath.Join(e.Place.Dir, "leases", id)
}

func (e *Engine) judgeLog(id string) string {
	return filepath.Join(e.Place.Dir, "logs", "gates", id+".log")
}

// A lease file's lock is the proof of life of whoever moves a story: the
// kernel frees it when the last process that inherited it is gone. The file
// itself stays, so that no two processes ever lock different inodes.
func openLease(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fault.Wrap(err, nil, "making the leases' folder")
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	return f, fault.Wrap(err, nil, "opening the lease")
}

// tryLease takes the lease if it is free; nil without an error means that
// somebody holds it.
func tryLease(path string) (*os.File, error) {
	f, err := openLease(path)
	if err != nil {
		return nil, err
	}
	err = flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return nil, f.Close()
	}
	if err != nil {
		f.Close()
		return nil, fault.Wrap(err, nil, "taking the lease")
	}
	return f, nil
}

// waitLease takes the lease as soon as it is free.
func waitLease(ctx context.Context, path string) (*os.File, error) {
	f, err := openLease(path)
	if err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- flock(f, unix.LOCK_EX) }()
	select {
	case err := <-done:
		if err != nil {
			f.Close()
			return nil, fault.Wrap(err, nil, "taking the lease")
		}
		return f, nil
	case <-ctx.Done():
		go func() { <-done; f.Close() }()
		return nil, fault.Try(fault.New(fault.Busy, "the transition is still in flight; this command no longer waits for it"), "satelle story wait "+filepath.Base(path))
	}
}

// holds refuses unless the file is the lease at the path and its lock is ours.
func holds(f *os.File, path string) error {
	given, err := f.Stat()
	if err != nil {
		return fault.Wrap(err, fault.Refused, "looking at the lease that was handed over")
	}
	named, err := os.Stat(path)
	if err != nil || !os.SameFile(given, named) {
		return fault.New(fault.Refused, "no lease was handed over: satelle story set starts the judges")
	}
	return fault.Wrap(flock(f, unix.LOCK_EX|unix.LOCK_NB), fault.Refused, "taking the lease that was handed over")
}

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if err != unix.EINTR {
			return err
		}
	}
}

// sign writes into the lease which process works under it, so that it can be
// told to stop. Whoever takes the lease clears it first: what is read from a
// lease that is held was written by its holder.
func sign(lease *os.File) error {
	_, err := lease.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return fault.Wrap(err, nil, "signing the lease")
}

// Stop ends the work of the transition in flight of a story: its checks and
// agents are ended, and the story stays where it was. It returns how the
// transition ended, which may have been a moment before.
func (e *Engine) Stop(ctx context.Context, id string, progress io.Writer) (Moved, error) {
	told, shown := 0, int64(0)
	if fi, err := os.Stat(e.judgeLog(id)); err == nil {
		shown = fi.Size() // who stops it has seen that much
	}
	tick := time.NewTicker(stopPoll)
	defer tick.Stop()
	for told == 0 {
		lease, err := tryLease(e.leasePath(id))
		if err != nil {
			return Moved{}, err
		}
		if lease != nil {
			lease.Close() // it is over
			break
		}
		b, err := readBounded(e.leasePath(id), 32)
		if err != nil {
			return Moved{}, err
		}
		// A lease that is not signed yet is about to be.
		if pid, err := strconv.Atoi(string(bytes.TrimSpace(b))); err == nil && pid > 1 {
			if told = pid; unix.Kill(pid, unix.SIGTERM) != nil {
				break // it has just ended
			}
			_ = unix.Kill(pid, unix.SIGCONT) // what it runs may have stopped it
			continue
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return Moved{}, fault.Try(fault.New(fault.Busy, "the transition has not stopped yet; this command no longer waits for it"), "satelle story wait "+id)
		}
	}
	return e.waitFrom(ctx, id, shown, progress)
}

// startJudging starts the process that asks the gate and hands it the lease.
func (e *Engine) startJudging(ctx context.Context, id string, token uint64, lease *os.File) error {
	if err := lease.Truncate(0); err != nil {
		return fault.Wrap(cmp.Or(e.abandon(id, token, "its lease could not be written"), err), nil, "clearing the lease")
	}
	fail := func(err error, doing string) error {
		return fault.Wrap(cmp.Or(err, e.abandon(id, token, "it could not be started")), nil, "%s", doing)
	}
	program, err := os.Executable()
	if err != nil {
		return fail(err, "finding this program")
	}
	if err := os.MkdirAll(filepath.Dir(e.judgeLog(id)), 0o700); err != nil {
		return fail(err, "making the gates' log folder")
	}
	log, err := os.OpenFile(e.judgeLog(id), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return fail(err, "opening the gate's log")
	}
	defer log.Close()
	_, err = proc.Detach(proc.Spec{
		Argv: []string{program, "judge", id, strconv.FormatUint(token, 10)},
		Dir:  e.repo.Top(),
		Env:  os.Environ(),
	}, log, lease)
	if err != nil {
		return fail(err, "starting the gate")
	}
	return nil
}

// Wait follows the transition in flight of a story to its end, and reports
// how it ended. Without one in flight it reports how the last one ended.
func (e *Engine) Wait(ctx context.Context, id string, progress io.Writer) (Moved, error) {
	return e.waitFrom(ctx, id, 0, progress)
}

func (e *Engine) waitFrom(ctx context.Context, id string, shown int64, progress io.Writer) (Moved, error) {
	s, err := e.Story(ctx, id)
	if err != nil {
		return Moved{}, err
	}
	if s.Transition == nil {
		return e.wait(ctx, id, 0, 0, nil) // what is in the log is over
	}
	return e.wait(ctx, id, s.Transition.Token, shown, progress)
}

// wait waits for the end of a transition and shows its log from a place on.
func (e *Engine) wait(ctx context.Context, id string, token uint64, from int64, progress io.Writer) (Moved, error) {
	ctx, stop := context.WithCancel(ctx)
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		follow(ctx, e.judgeLog(id), from, progress)
	}()
	lease, err := waitLease(ctx, e.leasePath(id))
	stop()
	<-shown
	if err != nil {
		return Moved{}, err
	}
	defer lease.Close()
	return e.ended(context.WithoutCancel(ctx), id, token)
}

// follow copies a growing log from a place on to w until ctx ends.
func follow(ctx context.Context, path string, at int64, w io.Writer) {
	if w == nil {
		return
	}
	tick := time.NewTicker(progressPoll)
	defer tick.Stop()
	for {
		ended := ctx.Err() != nil
		if f, err := os.Open(path); err == nil {
			if fi, err := f.Stat(); err == nil && fi.Size() < at {
				at = 0
			}
			if _, err := f.Seek(at, io.SeekStart); err == nil {
				n, _ := io.Copy(w, io.LimitReader(f, 1<<20))
				at += n
			}
			f.Close()
		}
		if ended {
			return
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// ends are the kinds of records that end a transition.
var ends = []string{workflow.KindCommitted, workflow.KindRefused, workflow.KindAbandoned}

// errFound ends a scan.
var errFound = errors.New("found")

// holderGone is why a transition ended whose process died.
const holderGone = "its holder is gone"

// reap ends the transition that lent the seat of this work tree, if the process
// that led it is dead: others may have the seat.
func (e *Engine) reap(ctx context.Context) error {
	var s workflow.Story
	lent := false
	err := e.View(ctx, func(st workflow.State, _ Lookup) error {
		seat, ok := st.Row().Seats[e.Place.TreeID]
		if !ok || seat.Worker == "" {
			return nil
		}
		var err error
		s, err = st.Story(seat.Story)
		lent = err == nil && s.Transition != nil && s.Transition.Host == e.host
		return err
	})
	if err != nil || !lent {
		return err
	}
	lease, err := tryLease(e.leasePath(s.ID))
	if err != nil || lease == nil {
		return err
	}
	defer lease.Close()
	return e.abandon(s.ID, s.Transition.Token, holderGone)
}

// ended reports how a transition of the story ended, the latest one if token
// is 0.
func (e *Engine) ended(ctx context.Context, id string, token uint64) (Moved, error) {
	var m Moved
	var err error
	if m.Story, err = e.Story(ctx, id); err != nil {
		return m, err
	}
	if t := m.Story.Transition; t != nil && (token == 0 || t.Token == token) {
		if t.Host == e.host && t.Worker != "" { // the lease was free, so its holder is dead, and gives back the seat that it lent
			if err := e.abandon(id, t.Token, holderGone); err != nil {
				return m, err
			}
		}
		m.Refusal = fault.Try(fault.New(nil, "the process that judged story %s is gone; nothing has changed", id),
			"satelle story set "+id+" --status "+t.To)
		return m, m.Refusal
	}
	var last *ledger.Record
	var body struct {
		Token  uint64         `json:"token"`
		Reason ledger.BlobRef `json:"reason"`
		Try    string         `json:"try"`
		Why    string         `json:"why"`
		workflow.Edge
	}
	query := ledger.Query{Story: id, Kinds: ends, Reverse: true}
	err = ledger.Scan(ctx, e.cfg, query, func(r ledger.Record) error {
		if err := json.Unmarshal(r.Body, &body); err != nil {
			return fault.Wrap(err, fault.Integrity, "reading record %d", r.Seq)
		}
		if token != 0 && body.Token != token {
			return nil
		}
		last = &r
		return errFound
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	if err != nil || last == nil {
		return m, err
	}
	m.Token, m.Edge = body.Token, body.Edge
	switch last.Kind {
	case workflow.KindRefused:
		var why []byte
		err := e.with(ctx, func(log *ledger.Log) (err error) {
			why, err = log.Blob(body.Reason)
			return err
		})
		if errors.Is(err, ledger.ErrRedacted) {
			why, err = []byte("the reason was redacted"), nil
		}
		if err != nil {
			return m, err
		}
		m.Refusal = fault.Try(fault.New(fault.Refused, "%s", bytes.TrimSpace(why)), cmp.Or(body.Try, "satelle story route "+id))
	case workflow.KindAbandoned:
		m.Refusal = fault.Try(fault.New(nil, "the transition was given up: %s", body.Why), "satelle story set "+id+" --next")
	}
	return m, m.Refusal
}
