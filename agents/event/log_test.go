package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"satelle/workflow"
)

// seen is what those who wait see.
type seen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *seen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *seen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// dispatched is what a dispatch leaves behind.
type dispatched struct {
	events   []Event
	log, raw string
	progress string
}

// dispatch keeps what do tells a log, and reads it back.
func dispatch(t *testing.T, raw bool, secrets []string, do func(*Log)) dispatched {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "logs", "dispatch")
	var shown seen
	l := open(dir, "sty_1", "planner", secrets, &shown, raw)
	do(l)
	l.Close()
	d := dispatched{progress: shown.String()}
	logs, _ := filepath.Glob(filepath.Join(dir, "*"+logSuffix))
	if len(logs) != 1 {
		t.Fatalf("%d logs", len(logs))
	}
	d.log = read(t, logs[0])
	for line := range strings.Lines(d.log) {
		var e Event
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&e); err != nil || !e.Kind.Known() || e.Time.IsZero() {
			t.Fatalf("%q is no event: %v", line, err)
		}
		d.events = append(d.events, e)
	}
	sibling := strings.TrimSuffix(logs[0], logSuffix) + rawSuffix
	if _, err := os.Stat(sibling); (err == nil) != raw {
		t.Fatalf("raw wanted: %v, %s: %v", raw, sibling, err)
	}
	if raw {
		d.raw = read(t, sibling)
	}
	return d
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v", path, fi.Mode(), err)
	}
	if fi, err := os.Stat(filepath.Dir(path)); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("%s: %v, %v", filepath.Dir(path), fi.Mode(), err)
	}
	return string(b)
}

// TestKinds: each kind is kept and shown, and none that is not of the set.
func TestKinds(t *testing.T) {
	t.Parallel()
	yes, n := true, int64(7)
	all := []Event{
		{Kind: Start, Text: "claude"},
		{Kind: Heartbeat},
		{Kind: Message, Text: "I look\n"},
		{Kind: ToolStart, Call: "1", Tool: "Read", Text: "main.go"},
		{Kind: ToolEnd, Call: "1", Tool: "Read", OK: &yes},
		{Kind: Artifact, Text: "plan"},
		{Kind: Usage, Usage: &workflow.Usage{Input: &n}},
		{Kind: Completion},
		{Kind: Failure, Class: "unavailable", Text: "503"},
	}
	d := dispatch(t, false, nil, func(l *Log) {
		for _, e := range append(all, Event{Kind: "thought", Text: "SENTINEL"}) {
			l.Sink()(e)
		}
	})
	if len(d.events) != len(kinds) || len(kinds) != 9 {
		t.Fatalf("%d events of %d kinds:\n%s", len(d.events), len(kinds), d.log)
	}
	for i, k := range kinds {
		if d.events[i].Kind != k {
			t.Errorf("event %d is %s, not %s", i, d.events[i].Kind, k)
		}
	}
	shown := strings.Split(d.progress, "\n")
	for i, want := range []string{
		"planner: started: claude", "planner: still at work after 0s", "planner: I look", "planner: uses Read: main.go", "planner: Read ended",
		"planner: offers an artifact: plan", "planner: 7 tokens", "planner: done after", "planner: failed (unavailable): 503",
	} {
		if !strings.HasPrefix(shown[i], want) {
			t.Errorf("shown %q, want %q", shown[i], want)
		}
	}
	if strings.Contains(d.log+d.progress, "SENTINEL") {
		t.Error("an unknown kind was kept")
	}
}

// TestHeartbeats: a silent agent is seen to live, one that talks needs none.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		d := dispatch(t, false, nil, func(l *Log) {
			l.Sink()(Event{Kind: Start})
			time.Sleep(2*HeartbeatInterval + time.Second)
			l.Sink()(Event{Kind: ToolStart, Tool: "Bash"})
			for range 4 {
				time.Sleep(HeartbeatInterval - time.Second)
				l.Sink()(Event{Kind: ToolEnd, Tool: "Bash"})
				synctest.Wait()
			}
			time.Sleep(HeartbeatInterval + time.Second)
		})
		var at []time.Duration
		for _, e := range d.events {
			if e.Kind == Heartbeat {
				at = append(at, e.Time.Sub(began))
			}
		}
		last := 2*HeartbeatInterval + time.Second + 4*(HeartbeatInterval-time.Second) + HeartbeatInterval
		if want := []time.Duration{HeartbeatInterval, 2 * HeartbeatInterval, last}; fmt.Sprint(at) != fmt.Sprint(want) {
			t.Errorf("heartbeats after %v, want %v", at, want)
		}
		if strings.Count(d.progress, "still at work after") != 3 {
			t.Error(d.progress)
		}
	})
}

// TestMessagesAreLive: a text that ends with a line is shown while nothing
// else happens, and no part of a secret with it.
func TestMessagesAreLive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var shown seen
		l := open(t.TempDir(), "sty_1", "planner", nil, &shown, false)
		said := func() string {
			time.Sleep(2 * settling)
			synctest.Wait()
			return shown.String()
		}
		l.Sink()(Event{Kind: Message, Text: "I look\n"})
		if got := said(); got != "planner: I look\n" {
			t.Errorf("shown %q", got)
		}
		l.Sink()(Event{Kind: Message, Text: "and th"})
		if got := said(); strings.Contains(got, "and") {
			t.Errorf("shown %q", got)
		}
		l.Sink()(Event{Kind: Message, Text: "ink\n"})
		if got := said(); !strings.HasSuffix(got, "planner: and think\n") {
			t.Errorf("shown %q", got)
		}
		for line := range strings.Lines("-----BEGIN PRIVATE KEY-----\nMIIBOgIBAAJBAKj34GkxFhD9\n0vcNYPKA0vcNYPKA\n-----END PRIVATE KEY-----\n") {
			l.Sink()(Event{Kind: Message, Text: line})
			if got := said(); strings.Contains(got, "MIIB") || strings.Contains(got, "0vcN") {
				t.Errorf("shown %q", got)
			}
		}
		l.Close()
		if got := shown.String(); strings.Contains(got, "MIIB") || strings.Contains(got, "0vcN") {
			t.Errorf("shown %q", got)
		}
	})
}

// TestRawOnlyFor1: the trace is asked for by one value.
func TestRawOnlyFor1(t *testing.T) {
	for value, want := range map[string]bool{"1": true, "": false, "0": false, "true": false, "01": false, " 1": false} {
		t.Setenv(RawVariable, value)
		dir := filepath.Join(t.TempDir(), "d")
		l := Open(dir, "sty_1", "planner", nil, nil)
		if (l.Raw() != nil) != want {
			t.Errorf("%q: a trace: %v", value, l.Raw() != nil)
		}
		l.Close()
		logs, _ := filepath.Glob(filepath.Join(dir, "*"+logSuffix))
		raws, _ := filepath.Glob(filepath.Join(dir, "*"+rawSuffix))
		if len(logs) != 1 || (len(raws) == 1) != want {
			t.Errorf("%q: %v %v", value, logs, raws)
		}
		if want && strings.TrimSuffix(raws[0], rawSuffix) != strings.TrimSuffix(logs[0], logSuffix) {
			t.Errorf("%s is no sibling of %s", raws[0], logs[0])
		}
	}
	os.Unsetenv(RawVariable)
	if wantsRaw() {
		t.Error("unset asks for a trace")
	}
}

// TestCredentials: none is kept or shown, whole or in two pieces.
func TestCredentials(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"AKIAIOSFODNN7EXAMPLE", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "Bearer abcdef0123456789", "named-one", "sk-ant-api03-abcdef-0123456789"} {
		bare := strings.TrimPrefix(secret, "Bearer ")
		for cut := 0; cut < len(secret); cut += 3 {
			d := dispatch(t, true, []string{"named-one"}, func(l *Log) {
				l.Sink()(Event{Kind: Message, Text: "the key is " + secret[:cut]})
				l.Sink()(Event{Kind: Message, Text: secret[cut:] + " \x1b[1m" + secret + "\x1b[0m, keep it\n"})
				l.Sink()(Event{Kind: ToolStart, Tool: "Bash", Call: secret, Text: strings.Repeat("x ", maxTool/2-5) + secret})
				l.Sink()(Event{Kind: ToolEnd, Tool: secret, Text: "out\n" + secret})
				l.Sink()(Event{Kind: Failure, Class: "failed", Text: secret})
				w := l.Raw()
				fmt.Fprintf(w, `{"delta":{"text":"the key is %s"}}`+"\n", secret[:cut])
				fmt.Fprintf(w, `{"delta":{"text":"%s and"}}`+"\n", secret[cut:])
				line := fmt.Sprintf(`{"text":"see\n%s"}`+"\nError: "+secret+"\nno line's end: "+secret, secret)
				fmt.Fprint(w, line[:len(line)-cut])
				fmt.Fprint(w, line[len(line)-cut:])
			})
			for name, text := range map[string]string{"log": d.log, "trace": d.raw, "progress": d.progress} {
				if strings.Contains(text, bare) || cut > 0 && strings.Contains(strings.ReplaceAll(text, "\"}}\n{\"delta\":{\"text\":\"", ""), bare) {
					t.Errorf("%s cut at %d is in the %s:\n%s", secret, cut, name, text)
				}
				if !strings.Contains(text, "the key is") || !strings.Contains(text, "[redacted]") {
					t.Errorf("the %s lost its words:\n%s", name, text)
				}
			}
		}
	}
}

// TestReasoningStaysHidden: in no form that a protocol has for it does what a
// model thinks reach the trace.
func TestReasoningStaysHidden(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"SENTINEL","signature":"SENTINEL"},{"type":"text","text":"KEPT 1"}]}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"SENTINEL"}}}`,
		`{"type":"assistant","message":{"content":[{"type":"redacted_thinking","data":"SENTINEL"}]}}`,
		`{"type":"item.completed","item":{"id":"1","type":"reasoning","text":"SENTINEL"}}`,
		`{"type":"item.completed","item":{"type":"agent_message","text":"KEPT 2"}}`,
		`{"type":"reasoning","summary":[{"type":"summary_text","text":"SENTINEL"}],"encrypted_content":"SENTINEL"}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"SENTINEL"}}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"KEPT 3"}}}}`,
		`{"text":"KEPT 4","thought":"SENTINEL","usage":{"reasoning_tokens":5}}`,
		`{"type":"thought","data":"SENTINEL"}`,
		`{"type":"reasoning","part":{"type":"reasoning","text":"SENTINEL"}}`,
		`{"choices":[{"delta":{"reasoning_content":"SENTINEL","content":"KEPT 5"}}]}`,
		`data: {"type":"thinking","thinking":"SENTINEL"}`,
		"{",
		`  "text": "KEPT 6",`,
		`  "thought": "SENTINEL \" SENTINEL",`,
		"}",
		`{"type":"thinking","thinking":"SENTINEL`,
		"KEPT 7",
	}
	d := dispatch(t, true, nil, func(l *Log) {
		for _, line := range lines {
			fmt.Fprintln(l.Raw(), line)
		}
	})
	if strings.Contains(d.raw+d.log+d.progress, "SENTINEL") {
		t.Errorf("hidden reasoning in the trace:\n%s", d.raw)
	}
	for i := range 7 {
		if !strings.Contains(d.raw, fmt.Sprintf("KEPT %d", i+1)) {
			t.Errorf("KEPT %d is lost:\n%s", i+1, d.raw)
		}
	}
	if !strings.Contains(d.raw, `"reasoning_tokens":5`) {
		t.Error("the count of reasoning is usage, and no reasoning")
	}
}

// TestNothingSpeaksToATerminal: what an agent says is shown and never sent.
func TestNothingSpeaksToATerminal(t *testing.T) {
	t.Parallel()
	foul := "a\x1b]0;title\x07b\x1b[2Jc\u009b31md\u202ee\u200bf\ufeffg\U000e0041h\xffi\x00j\rk\x9bl\u2028m"
	d := dispatch(t, true, nil, func(l *Log) {
		l.Sink()(Event{Kind: Message, Text: foul + "\nplanner: done after 1s\n"})
		l.Sink()(Event{Kind: ToolStart, Tool: foul, Call: foul, Text: foul})
		l.Sink()(Event{Kind: Failure, Class: foul, Text: foul})
		fmt.Fprintln(l.Raw(), foul)
	})
	for name, text := range map[string]string{"log": d.log, "trace": d.raw, "progress": d.progress} {
		if text != Printable(text) || !strings.Contains(text, "a") {
			t.Errorf("the %s: %q", name, text)
		}
	}
	if n := strings.Count(d.progress, "\n"); n != 3 {
		t.Errorf("%d lines for 3 events:\n%s", n, d.progress)
	}
}

// TestPiecesAreOneText: the log does not depend on where a protocol cuts.
func TestPiecesAreOneText(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("A text of some words, with an ü.\n", 2000)
	whole := dispatch(t, false, nil, func(l *Log) { l.Sink()(Event{Kind: Message, Text: text}) })
	var said string
	for _, e := range whole.events {
		if len(e.Text) > maxPiece {
			t.Errorf("a message of %d bytes", len(e.Text))
		}
		said += e.Text
	}
	if said != text {
		t.Errorf("%d bytes of %d", len(said), len(text))
	}
	pieces := dispatch(t, false, nil, func(l *Log) {
		for i := 0; i < 330; i += 7 {
			l.Sink()(Event{Kind: Message, Text: text[i:min(i+7, 330)]})
		}
		l.Sink()(Event{Kind: Completion})
	})
	if len(pieces.events) != 2 || pieces.events[0].Text != text[:330] {
		t.Errorf("%d events: %q", len(pieces.events), pieces.events[0].Text)
	}
}

// TestLogIsBounded: the last line of a full log says so.
func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	const most = 100 << 10
	d := dispatch(t, true, nil, func(l *Log) {
		l.out.most = most
		chunk := strings.Repeat("many words ", 1000) + "\n"
		for range most/len(chunk) + 10 {
			l.Sink()(Event{Kind: Message, Text: chunk})
		}
		l.Sink()(Event{Kind: Completion})
		fmt.Fprintln(l.Raw(), strings.Repeat("x", maxRawLine+1))
	})
	last := d.events[len(d.events)-1]
	if len(d.log) > most || !last.Truncated || !strings.Contains(last.Text, "full") {
		t.Errorf("%d bytes, then %+v", len(d.log), last)
	}
	if !strings.Contains(d.progress, "done after") {
		t.Error("those who wait see no more")
	}
	if want := fmt.Sprintf("[a line of %d bytes was left out]\n", maxRawLine+1); d.raw != want {
		t.Errorf("%.100q", d.raw)
	}
}

// TestUnwritableLog: the dispatch goes on, and it is said once.
func TestUnwritableLog(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var shown seen
	l := open(dir, "sty_1", "planner", nil, &shown, true)
	l.Sink()(Event{Kind: Start})
	if w := l.Raw(); w != nil {
		fmt.Fprintln(w, "raw")
	}
	l.Sink()(Event{Kind: Completion})
	l.Close()
	if got := shown.String(); strings.Count(got, "can't be written") != 1 || !strings.Contains(got, "done after") {
		t.Error(got)
	}
}

// TestFullDisk: the same where the first writes went well.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	var shown seen
	l := open(t.TempDir(), "sty_1", "planner", nil, &shown, true)
	l.out.f.Close()
	l.out.f = full
	for range 3 {
		l.Sink()(Event{Kind: Start})
	}
	l.Close()
	if got := shown.String(); strings.Count(got, "can't be written") != 1 || strings.Count(got, "started") != 3 {
		t.Error(got)
	}
}

// TestOldLogsGo: a folder keeps the newest logs.
func TestOldLogsGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range kept + 20 {
		for _, suffix := range []string{logSuffix, rawSuffix} {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("20200101T%06dZ-x-y-1%s", i, suffix)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	open(dir, "sty_1", "planner", nil, nil, false).Close()
	logs, _ := filepath.Glob(filepath.Join(dir, "*"+logSuffix))
	raws, _ := filepath.Glob(filepath.Join(dir, "*"+rawSuffix))
	if len(logs) != kept || len(raws) != kept-1 || !strings.HasSuffix(logs[0], "000021Z-x-y-1"+logSuffix) {
		t.Errorf("%d logs, %d traces, the oldest %s", len(logs), len(raws), logs[0])
	}
}

// TestManyAtOnce: dispatches of one moment have logs of their own, and events
// may come from anywhere.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			l := open(dir, "../../sty/1", "a b", nil, &seen{}, true)
			var some sync.WaitGroup
			for range 4 {
				some.Go(func() {
					l.Sink()(Event{Kind: Message, Text: "m"})
					l.Sink()(Event{Kind: ToolEnd})
					fmt.Fprintln(l.Raw(), `{"text":"m"}`)
				})
			}
			some.Wait()
			l.Close()
		})
	}
	all.Wait()
	if logs, _ := filepath.Glob(filepath.Join(dir, "*-______sty_1-a_b-*"+logSuffix)); len(logs) != 20 {
		t.Errorf("%d logs", len(logs))
	}
}
