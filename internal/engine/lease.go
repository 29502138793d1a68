package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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
		return nil, fault.Wrap(ctx.Err(), fault.Busy, "waiting for the transition in flight")
	}
}

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if err != unix.EINTR {
			return err
		}
	}
}

// startJudging starts the process that asks the gate and hands it the lease.
func (e *Engine) startJudging(ctx context.Context, id string, token uint64, lease *os.File) error {
	fail := func(err error, doing string) error {
		return fault.Wrap(firstError(err, e.abandon(id, token, "it could not be started")), nil, "%s", doing)
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

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// Wait follows the transition in flight of a story to its end, and reports
// how it ended. Without one in flight it reports how the last one ended.
func (e *Engine) Wait(ctx context.Context, id string, progress io.Writer) (Moved, error) {
	if _, err := e.Story(ctx, id); err != nil {
		return Moved{}, err
	}
	ctx, stop := context.WithCancel(ctx)
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		follow(ctx, e.judgeLog(id), progress)
	}()
	lease, err := waitLease(ctx, e.leasePath(id))
	stop()
	<-shown
	if err != nil {
		return Moved{}, err
	}
	defer lease.Close()
	return e.ended(context.WithoutCancel(ctx), id)
}

// follow copies a growing log to w until ctx ends.
func follow(ctx context.Context, path string, w io.Writer) {
	if w == nil {
		return
	}
	var at int64
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

// ended reports the latest end of a transition of the story.
func (e *Engine) ended(ctx context.Context, id string) (Moved, error) {
	var m Moved
	var err error
	if m.Story, err = e.Story(ctx, id); err != nil {
		return m, err
	}
	if t := m.Story.Transition; t != nil {
		m.Refusal = fault.Try(fault.New(nil, "the process that judged story %s is gone; nothing has changed", id),
			"satelle story set "+id+" --status "+t.To)
		return m, m.Refusal
	}
	var last *ledger.Record
	query := ledger.Query{Story: id, Kinds: ends, Limit: 1, Reverse: true}
	err = ledger.Scan(ctx, e.cfg, query, func(r ledger.Record) error {
		last = &r
		return nil
	})
	if err != nil || last == nil {
		return m, err
	}
	var body struct {
		Token  uint64         `json:"token"`
		Reason ledger.BlobRef `json:"reason"`
		Why    string         `json:"why"`
		workflow.Edge
	}
	if err := json.Unmarshal(last.Body, &body); err != nil {
		return m, fault.Wrap(err, fault.Integrity, "reading record %d", last.Seq)
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
		m.Refusal = fault.Try(fault.New(fault.Refused, "%s", bytes.TrimSpace(why)), "satelle story get "+id)
	case workflow.KindAbandoned:
		m.Refusal = fault.Try(fault.New(nil, "the transition was given up: %s", body.Why), "satelle story set "+id+" --next")
	}
	return m, m.Refusal
}

// checker runs functional checks in the work tree.
type checker struct {
	e        *Engine
	progress io.Writer
}

const (
	// checkOutput is how much of a check's output is kept, the end of it.
	checkOutput = 64 << 10
	// checkNotes is how much of it a verdict quotes.
	checkNotes = 4 << 10
)

// Check implements [workflow.Checker]: the check runs under sh in the work
// tree with the payload on stdin, and exit code 0 accepts. (Contract §2.)
func (c checker) Check(ctx context.Context, q workflow.Question) (workflow.Verdict, error) {
	timeout := q.Skill.Timeout
	if timeout <= 0 {
		timeout = defaultCheckTimeout
	}
	if c.progress != nil {
		fmt.Fprintf(c.progress, "asking %s (at most %s)\n", q.Judge.Skill, timeout)
	}
	res, err := proc.Run(ctx, proc.Spec{
		Argv: []string{"sh", "-c", q.Skill.Check}, Dir: c.e.repo.Top(), Env: checkEnv(os.Environ()),
		Stdin: q.Payload, Timeout: timeout, OutputCap: checkOutput,
	})
	if err != nil {
		return workflow.Verdict{}, fault.Wrap(err, nil, "running the check %s", q.Judge.Skill)
	}
	v := workflow.Verdict{Decision: workflow.Accept, Elapsed: res.Elapsed, Notes: tail(res.Output, checkNotes)}
	switch {
	case res.TimedOut:
		v.Decision = workflow.Reject
		v.Notes = fmt.Sprintf("it was stopped after %s\n%s", timeout, v.Notes)
	case !res.OK():
		v.Decision = workflow.Reject
		v.Notes = fmt.Sprintf("%s\n%s", ending(res), v.Notes)
	}
	if c.progress != nil {
		fmt.Fprintf(c.progress, "%s: %s after %s\n", q.Judge.Skill, v.Decision, res.Elapsed.Round(time.Millisecond))
	}
	return v, nil
}

func ending(res proc.Result) string {
	if res.Signal != "" {
		return "it was ended by " + res.Signal
	}
	return fmt.Sprintf("it exited with %d", res.ExitCode)
}
