package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"satelle/agents/redact"
)

// HeartbeatInterval is how long an agent may be silent before the log says that
// it lives, and how often it says so again.
const HeartbeatInterval = 15 * time.Second

// settling is how long a message that ends with a line waits for its next
// piece, which would belong to it, before it is told.
const settling = 300 * time.Millisecond

// Limits of the event log: of it all, and of a tool's text.
const (
	maxLog  = 16 << 20
	maxTool = 4 << 10
)

// Log is the log of one dispatch: it keeps its events and shows them to those
// who wait. Nothing that goes wrong with it fails the dispatch.
type Log struct {
	who      string
	rules    *redact.Rules
	progress io.Writer
	opened   time.Time
	out, raw file
	trace    *trace
	heard    chan struct{}
	closed   chan struct{}
	beats    sync.WaitGroup
	broken   sync.Once

	mu      sync.Mutex
	message *message
}

// Open begins the log of one dispatch of a binding for a story, in a folder
// that it makes. The secrets are redacted wherever they turn up, as is what
// looks like one. progress gets a line for each event; it may be nil, and is safe
// for several goroutines.
// The raw trace beside the log is written only where the environment asks for
// it (see [RawVariable]).
func Open(dir, story, binding string, secrets []string, progress io.Writer) *Log {
	return open(dir, story, binding, secrets, progress, wantsRaw())
}

func open(dir, story, binding string, secrets []string, progress io.Writer, raw bool) *Log {
	if progress == nil {
		progress = io.Discard
	}
	l := &Log{
		who: binding, rules: redact.New(secrets), progress: progress, opened: time.Now(),
		heard: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	l.message = newMessage(l.rules)
	full := Event{Time: l.opened, Kind: Message, Truncated: true, Text: "[the log is full; what follows was not kept]"}
	l.out = file{most: maxLog, full: encode(full), failed: l.failed}
	l.raw = file{most: maxRaw, full: []byte("[the trace is full; what follows was not kept]\n"), failed: l.failed}
	var err error
	if l.out.f, l.raw.f, err = create(dir, named(story)+"-"+named(binding), l.opened, raw); err != nil {
		l.failed(err)
	}
	if l.raw.f != nil {
		l.trace = newTrace(l.rules, &l.raw)
	}
	l.beats.Go(l.beat)
	return l
}

// Sink returns what takes the events of the dispatch, until Close.
func (l *Log) Sink() Sink { return l.take }

// Raw returns what takes the agent's traffic as it came, nil if nobody wants it.
func (l *Log) Raw() io.Writer {
	if l.trace == nil {
		return nil
	}
	return l.trace
}

// Close ends the log. It may be called once; what comes later is not kept.
func (l *Log) Close() {
	close(l.closed)
	l.beats.Wait()
	l.mu.Lock()
	l.tell(l.message.flow(true)...)
	l.mu.Unlock()
	if l.trace != nil {
		l.trace.close()
	}
	l.out.close()
	l.raw.close()
}

func (l *Log) take(e Event) {
	if !e.Kind.Known() {
		return
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.heard <- struct{}{}:
	default:
	}
	if e.Kind == Message {
		l.tell(l.message.add(e.Time, e.Text)...)
		return
	}
	l.tell(l.message.flow(true)...)
	l.tell(l.clean(e))
}

// clean makes an event fit to be kept and shown.
func (l *Log) clean(e Event) Event {
	for _, s := range []*string{&e.Text, &e.Tool, &e.Call, &e.Class} {
		// Redacted before it is cut: half a secret looks like none.
		*s = l.rules.String(uncoloured((*s)[:boundary(*s, min(len(*s), 16*maxTool))]))
		if len(*s) > maxTool {
			*s, e.Truncated = (*s)[:boundary(*s, maxTool)], true
		}
		*s = Printable(*s)
	}
	return e
}

// tell keeps events that are clean, and shows them.
func (l *Log) tell(events ...Event) {
	for _, e := range events {
		l.out.write(encode(e))
		fmt.Fprint(l.progress, line(l.who, e, e.Time.Sub(l.opened)))
	}
}

// encode is an event as a line of the log.
func encode(e Event) []byte {
	e.Time = e.Time.UTC()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(e) // no event holds what JSON can't
	return b.Bytes()
}

// beat tells of an agent that says nothing for a while, and of what it said
// last.
func (l *Log) beat() {
	silence, settle := time.NewTimer(HeartbeatInterval), time.NewTimer(settling)
	defer silence.Stop()
	defer settle.Stop()
	for {
		select {
		case <-l.closed:
			return
		case <-l.heard:
			silence.Reset(HeartbeatInterval)
			settle.Reset(settling)
		case <-settle.C:
			l.mu.Lock()
			if l.message.settled() {
				l.tell(l.message.flow(false)...)
			}
			l.mu.Unlock()
		case <-silence.C:
			l.mu.Lock()
			l.tell(l.message.flow(false)...)
			l.tell(Event{Time: time.Now(), Kind: Heartbeat})
			l.mu.Unlock()
			silence.Reset(HeartbeatInterval)
		}
	}
}

// failed says once that a log can't be written.
func (l *Log) failed(err error) {
	l.broken.Do(func() {
		fmt.Fprintf(l.progress, "%s: its log can't be written, the dispatch goes on: %s\n", short(l.who), short(err.Error()))
	})
}
