package clienttest

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
)

// Script is what the model says: a conversation for each agent that talks to it.
type Script []Conversation

// Conversation is played to the agent whose first words from the user hold
// Match; the first one that fits counts.
type Conversation struct {
	Match string
	Turns []Turn // after the last one the model says "done"
}

// Turn is one answer of the model: text, then tool calls in parallel. A turn
// without a call ends the agent's loop.
type Turn struct {
	Text  string
	Calls []Call
	// Then, if set, makes further calls out of what the agent was told about the
	// calls of the turn before. It has to be a pure function.
	Then func(told []Result) []Call
	// Before, if set, runs once before the turn is first answered. It may change
	// the world between two turns.
	Before func()
	// Say, if set, makes the text out of all that the request says, its tools
	// aside. It has to be a pure function.
	Say func(request string) string
	// Status, if set, is that of an error which is answered instead.
	Status int
	// Hold leaves the request without an answer for as long as the agent waits.
	Hold bool
}

// Call is a tool call. Input is the JSON object of its arguments, or a string
// for a tool that takes free text.
type Call struct {
	Tool  string
	Input any
}

// Result is what an agent told the model about a call.
type Result struct {
	Call Call
	Text string
}

// Server is a model that plays a script.
type Server struct {
	URL string

	script Script
	before map[string]*sync.Once

	mu       sync.Mutex
	requests []Request
	calls    map[string][]Call // by turn, as they were made
	results  map[string]string // by call
}

// Request is what an agent sent.
type Request struct {
	Path string
	Body []byte
}

// New starts a server, which ends with the test.
func New(t testing.TB, script Script) *Server {
	s := &Server{script: script, before: map[string]*sync.Once{}, calls: map[string][]Call{}, results: map[string]string{}}
	for c, conv := range script {
		for n := range conv.Turns {
			s.before[turnID(c, n)] = &sync.Once{}
		}
	}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	s.URL = h.URL
	return s
}

// Requests returns what was sent so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Result returns what the agent told the model about call i of a turn of a
// conversation, and whether it told anything.
func (s *Server) Result(conversation, turn, i int) (Result, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, found := s.results[callID(conversation, turn, i)]
	if calls := s.calls[turnID(conversation, turn)]; i < len(calls) {
		return Result{calls[i], text}, found
	}
	return Result{s.script[conversation].Turns[turn].Calls[i], text}, found // the turn never came
}

// Calls returns how many calls a turn of a conversation made.
func (s *Server) Calls(conversation, turn int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(len(s.calls[turnID(conversation, turn)]), len(s.script[conversation].Turns[turn].Calls))
}

// turnID and callID name a turn and a call. The identifiers of the calls in a
// request tell which turns the agent has seen.
func turnID(conversation, turn int) string { return fmt.Sprintf("call_%d_%d_", conversation, turn) }

func callID(conversation, turn, i int) string {
	return turnID(conversation, turn) + fmt.Sprint(i)
}

// dialect reads requests and writes answers of one API.
type dialect struct {
	// side reports a request outside of the agent's loop, say for a title.
	side func(r *http.Request, body gjson.Result) bool
	// words are those of the user before the model's first answer.
	words func(body gjson.Result) string
	// results calls fn with the identifier and text of each tool result.
	results func(body gjson.Result, fn func(id, text string))
	answer  func(w http.ResponseWriter, body gjson.Result, id string, turn Turn)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		in = z
	}
	raw, err := io.ReadAll(in)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, Request{r.URL.Path, raw})
	s.mu.Unlock()

	path := strings.TrimRight(r.URL.Path, "/")
	var d dialect
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		writeJSON(w, models())
		return
	case r.Method != http.MethodPost:
		http.NotFound(w, r)
		return
	case strings.HasSuffix(path, "/messages"):
		d = anthropic
	case strings.HasSuffix(path, "/responses"):
		d = responses
	case strings.HasSuffix(path, "/chat/completions"):
		d = chat
	default:
		http.NotFound(w, r)
		return
	}
	if !gjson.ValidBytes(raw) {
		http.Error(w, "no valid JSON", http.StatusBadRequest)
		return
	}
	body := gjson.ParseBytes(raw)
	if d.side(r, body) {
		d.answer(w, body, "side_", Turn{Text: "ok"})
		return
	}
	id, turn := s.pick(d, body)
	switch {
	case turn.Hold:
		<-r.Context().Done()
		return
	case turn.Status != 0:
		fail(w, turn.Status)
		return
	case turn.Say != nil:
		turn.Text = turn.Say(said(body))
	}
	d.answer(w, body, id, turn)
}

// fail answers as all three APIs do where they have no room for a request.
func fail(w http.ResponseWriter, status int) {
	kind := "overloaded_error"
	if status == http.StatusTooManyRequests {
		kind = "rate_limit_error"
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After-Ms", "1") // who heeds it need not be waited for
	w.WriteHeader(status)
	io.WriteString(w, encode(object{"type": "error", "error": object{"type": kind, "message": "the script says " + http.StatusText(status)}}))
}

// said are the texts of a request, a line each, without its tools.
func said(body gjson.Result) string {
	var texts []string
	var walk func(v gjson.Result)
	walk = func(v gjson.Result) {
		if v.Type == gjson.String {
			texts = append(texts, v.String())
		}
		if v.IsObject() || v.IsArray() {
			v.ForEach(func(key, item gjson.Result) bool {
				if key.String() != "tools" {
					walk(item)
				}
				return true
			})
		}
	}
	walk(body)
	return strings.Join(texts, "\n")
}

// pick returns the turn that answers a request, and takes note of the results.
func (s *Server) pick(d dialect, body gjson.Result) (string, Turn) {
	words := d.words(body)
	conv := -1
	for i, c := range s.script {
		if strings.Contains(words, c.Match) {
			conv = i
			break
		}
	}
	if conv < 0 {
		return "none_", Turn{Text: "done"}
	}
	next, told := 0, map[string]string{}
	d.results(body, func(id, text string) {
		if !strings.HasPrefix(id, fmt.Sprintf("call_%d_", conv)) {
			return // of the history of the agent that started this one
		}
		told[id] = text
		for n := range s.script[conv].Turns {
			if strings.HasPrefix(id, turnID(conv, n)) {
				next = max(next, n+1)
			}
		}
	})
	s.mu.Lock()
	maps.Copy(s.results, told)
	s.mu.Unlock()
	if next >= len(s.script[conv].Turns) {
		return "done_", Turn{Text: "done"}
	}
	turn := s.script[conv].Turns[next]
	if turn.Before != nil {
		s.before[turnID(conv, next)].Do(turn.Before)
	}
	if turn.Then != nil {
		turn.Calls = append(turn.Calls[:len(turn.Calls):len(turn.Calls)], turn.Then(s.told(conv, next-1, told))...)
	}
	s.mu.Lock()
	s.calls[turnID(conv, next)] = turn.Calls
	s.mu.Unlock()
	return turnID(conv, next), turn
}

// told are the results of a turn, as the agent sent them.
func (s *Server) told(conversation, turn int, texts map[string]string) (all []Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range s.calls[turnID(conversation, turn)] {
		all = append(all, Result{c, texts[callID(conversation, turn, i)]})
	}
	return all
}

// text is the text of a result: a string, or the text parts of an array.
func text(v gjson.Result) string {
	if !v.IsArray() {
		return v.String()
	}
	var parts []string
	v.ForEach(func(_, part gjson.Result) bool {
		parts = append(parts, part.Get("text").String())
		return true
	})
	return strings.Join(parts, "\n")
}

// object is what the APIs' answers are made of.
type object map[string]any

func models() object {
	return object{"object": "list", "data": []object{{
		"id": "grok-4.5", "object": "model", "created": 1, "owned_by": "test",
	}}}
}

func encode(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // a script that is no JSON
	}
	return string(out)
}

// arguments are a call's input as the text that the OpenAI dialects send.
func (c Call) arguments() string {
	if s, ok := c.Input.(string); ok {
		return s
	}
	return encode(c.Input)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, encode(v))
}

// stream writes server-sent events.
type stream struct {
	w     http.ResponseWriter
	named bool // with the event's type on a line of its own
	n     int
}

func newStream(w http.ResponseWriter, named bool) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	return &stream{w: w, named: named}
}

func (s *stream) send(kind string, fields object) {
	if s.named {
		fields["type"] = kind
		fmt.Fprintf(s.w, "event: %s\n", kind)
	}
	fmt.Fprintf(s.w, "data: %s\n\n", encode(fields))
	s.n++
}
