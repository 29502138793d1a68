package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"satelle/agents/event"
	"satelle/workflow"
)

// Bounds of what an agent may print.
const (
	// maxOutput bounds all of it: an agent that prints more is ended.
	maxOutput = 64 << 20
	// maxLine bounds one line of a stream, and all of an output that is none.
	maxLine = 4 << 20
)

var errEndless = errors.New("it prints without end")

// An agent's standard output has one of three shapes, whoever it is:
//
//   - a stream: the first line is an object with which one of the known streams
//     begins, and then every line is an object with a type;
//   - an envelope: the whole output is one object of a known form, or an array
//     of all objects of a stream;
//   - plain text: everything else.
//
// The first line decides for the stream, and the whole for the envelope, so
// nothing within a text makes it another shape: an envelope that a model prints
// among its words, or that a tool prints, stays text. An output that begins as a
// stream and goes on as none is refused rather than read as either. What is
// inside of an envelope is text and is not opened again.

// outcome is what an output says of the run.
type outcome struct {
	// text is the final message, if answered.
	text     string
	answered bool
	// failure is why there is none, by the agent's own word.
	failure *Failure
	usage   workflow.Usage
	// plain says that it was text: whether the run went well is the exit code's to
	// say.
	plain bool
	// doubtful says that the failure is one only if the exit code says so too: a
	// model may answer in these words.
	doubtful bool
}

// object is a JSON object by its exact keys.
type object map[string]json.RawMessage

func parseObject(b []byte) (object, bool) {
	var o object
	b = bytes.TrimSpace(b)
	if len(b) == 0 || b[0] != '{' || json.Unmarshal(b, &o) != nil {
		return nil, false
	}
	return o, true
}

// text is the string under a key; ok is false where there is none.
func (o object) text(key string) (s string, ok bool) {
	raw := o[key]
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return s, json.Unmarshal(raw, &s) == nil
}

// kind is the object's type.
func (o object) kind() string {
	s, _ := o.text("type")
	return s
}

// into reads the object under a key into what v points at; what does not fit is
// left as it is.
func (o object) into(key string, v any) { _ = json.Unmarshal(o[key], v) }

// sub is the object under a key, nil if there is none.
func (o object) sub(key string) object {
	sub, _ := parseObject(o[key])
	return sub
}

// stream reads the lines of one client's stream.
type stream interface {
	// line takes the next object.
	line(object)
	// gap says that a line was too long to be read.
	gap()
	// outcome is what the lines so far say.
	outcome() outcome
}

// streams are the known ones, by the object with which they begin.
var streams = []func(first object, tell event.Sink) stream{claudeStream, codexStream, grokStream, opencodeStream}

// envelopes read an object that is all of an output.
var envelopes = []func(object) (outcome, bool){claudeEnvelope, grokEnvelope}

// reader is what an agent's standard output is written to. It tells what
// happens as the lines come.
type reader struct {
	tell event.Sink
	raw  io.Writer // nil for nowhere
	// endless ends an agent that prints more than it may.
	endless func()

	size    int
	held    []byte // the line under way, or all of an output that is no stream
	skipped bool   // the line under way is too long
	begun   bool   // the first line has been seen
	text    bool   // the output begins as text
	stream  stream
	broken  bool // a line of the stream is none
}

// Write implements [io.Writer].
func (r *reader) Write(p []byte) (int, error) {
	if r.size += len(p); r.size > maxOutput {
		r.endless()
		return 0, errEndless
	}
	for rest := p; len(rest) > 0; {
		line, ended := rest, false
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line, ended = rest[:i+1], true
		}
		rest = rest[len(line):]
		if err := r.take(line, ended); err != nil {
			r.endless()
			return 0, err
		}
	}
	return len(p), nil
}

func (r *reader) take(piece []byte, ended bool) error {
	switch {
	case len(r.held)+len(piece) <= maxLine:
		r.held = append(r.held, piece...)
	case r.stream == nil:
		return errEndless
	default:
		r.skipped = true
	}
	if ended {
		r.line()
	}
	return nil
}

// line ends the line under way.
func (r *reader) line() {
	switch {
	case r.stream != nil:
		r.streamed()
	case r.begun:
		r.spoken()
	case len(bytes.TrimSpace(r.held)) == 0:
		r.held = r.held[:0]
	default:
		r.begun = true
		r.text = !strings.ContainsRune("{[", rune(bytes.TrimSpace(r.held)[0]))
		if first, ok := parseObject(r.held); ok {
			if r.stream = r.open(first); r.stream != nil {
				r.streamed()
				return
			}
		}
		r.spoken()
	}
}

// streamed takes a line of a stream.
func (r *reader) streamed() {
	line, skipped := r.held, r.skipped
	r.held, r.skipped = r.held[:0], false
	switch o, ok := parseObject(line); {
	case skipped:
		r.trace([]byte("[a line that is too long was left out]"))
		r.stream.gap()
	case len(bytes.TrimSpace(line)) == 0:
	case !ok || o.kind() == "":
		r.broken = true
	default:
		r.trace(line)
		r.stream.line(o)
	}
}

// spoken tells the last line of a text. An output that begins like an object is
// told at its end, when it is known what it is.
func (r *reader) spoken() {
	if !r.text {
		return
	}
	line := r.held[bytes.LastIndexByte(bytes.TrimSuffix(r.held, []byte("\n")), '\n')+1:]
	r.trace(line)
	r.tell(event.Event{Kind: event.Message, Text: valid(line)})
}

// end says what the whole output was.
func (r *reader) end() outcome {
	if len(r.held) > 0 && (r.stream != nil || !r.begun || r.held[len(r.held)-1] != '\n') {
		r.line()
	}
	if r.broken {
		return outcome{failure: &Failure{Class: Protocol, Message: "its output begins as a stream of JSON lines and does not go on as one"}}
	}
	if r.stream != nil {
		return r.stream.outcome()
	}
	text := strings.TrimSpace(valid(r.held))
	if r.text || text == "" {
		return outcome{text: text, plain: true}
	}
	if out, ok := r.array([]byte(text)); ok {
		return out
	}
	out := outcome{text: text, plain: true}
	if o, ok := parseObject([]byte(text)); ok {
		for _, open := range envelopes {
			if opened, ok := open(o); ok {
				out = opened
				if out.doubtful {
					out.text = text
				}
				break
			}
		}
	}
	r.trace(oneLine([]byte(text)))
	if out.text != "" && (out.failure == nil || out.doubtful) {
		r.tell(whole(out.text))
	}
	return out
}

// array reads a stream that came as one array, as Claude Code's does if it is to
// be verbose.
func (r *reader) array(text []byte) (outcome, bool) {
	var lines []json.RawMessage
	if text[0] != '[' || json.Unmarshal(text, &lines) != nil || len(lines) == 0 {
		return outcome{}, false
	}
	objects := make([]object, len(lines))
	for i, line := range lines {
		o, ok := parseObject(line)
		if !ok || o.kind() == "" {
			return outcome{}, false
		}
		objects[i] = o
	}
	s := r.open(objects[0])
	if s == nil {
		return outcome{}, false
	}
	for i, o := range objects {
		r.trace(oneLine(lines[i]))
		s.line(o)
	}
	return s.outcome(), true
}

// open is the stream that begins with an object, nil if none does.
func (r *reader) open(first object) stream {
	for _, open := range streams {
		if s := open(first, r.tell); s != nil {
			return s
		}
	}
	return nil
}

// trace writes down the traffic, without reasoning; nothing rests on it.
func (r *reader) trace(line []byte) {
	if r.raw != nil {
		_, _ = io.WriteString(r.raw, event.WithoutReasoning(strings.TrimRight(valid(line), "\r\n"))+"\n")
	}
}

// oneLine is an object as one line, or what is none as it is.
func oneLine(b []byte) []byte {
	var line bytes.Buffer
	if json.Compact(&line, b) != nil {
		return b
	}
	return line.Bytes()
}

// whole is the event of a message that has an end.
func whole(text string) event.Event {
	return event.Event{Kind: event.Message, Text: strings.TrimRight(text, "\n") + "\n"}
}

func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// answer is the outcome of a run that ended well with this final message.
func answer(text string, usage workflow.Usage) outcome {
	return outcome{text: strings.TrimSpace(text), answered: true, usage: usage}
}

// refusal is the outcome of a run that failed by the agent's own word.
func refusal(class, message string, usage workflow.Usage) outcome {
	return outcome{failure: &Failure{Class: class, Message: clip(message)}, usage: usage}
}

// short is a tool's input or output for an event, bounded.
func short(v json.RawMessage) string {
	s := string(v)
	if s == "null" || json.Unmarshal(v, &s) == nil && s == "" {
		return ""
	}
	return strings.ToValidUTF8(s[:min(len(s), maxShort)], "\uFFFD")
}

// maxShort bounds a tool's text in an event.
const maxShort = 64 << 10
