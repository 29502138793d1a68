package liveness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"satelle/hooks/dialect"
	"satelle/hooks/install"
	"satelle/internal/proc"
)

const (
	// askTime bounds a question to a harness, which takes a second or two to
	// start on a busy machine.
	askTime = 20 * time.Second
	// maxSaid bounds its answer.
	maxSaid = 8 << 20
)

// ask asks the harnesses whether they loaded the hooks and trust them.
func (l *look) ask(ctx context.Context) {
	if program := l.program("codex"); program != "" && len(l.scopes("codex")) > 0 {
		l.askCodex(ctx, program)
	}
	if program := l.program("grok"); program != "" && len(l.scopes("grok"))+len(l.scopes("claude")) > 0 {
		l.askGrok(ctx, program)
	}
	if program := l.program("claude"); program != "" && l.Play && len(l.scopes("claude")) > 0 {
		l.playClaude(ctx, program)
	}
}

func (l *look) unasked(harness string, err error) {
	l.find(Note, "unasked", harness, "", "start "+harness+" here once, and repeat", "%s could not be asked what it loads: %v", title(harness), err)
}

// codexSaid is what Codex says of one hook.
type codexSaid struct{ key, command, trust string }

// askCodex compares what Codex says it loads with what is installed.
func (l *look) askCodex(ctx context.Context, program string) {
	said, complaints, err := codexList(ctx, program, l.Dir, l.Env)
	if err != nil {
		l.unasked("codex", err)
		return
	}
	for _, c := range complaints {
		l.find(Broken, "codex-says", "codex", "", "mend what it names", "Codex says: %s", clip(c))
	}
	for _, scope := range l.scopes("codex") {
		h := l.hook("codex", scope)
		doc, err := load(h.File)
		if err != nil {
			continue // install has reported it
		}
		wanted, err := install.Reviews(codexSource(scope, h.File), doc)
		if err != nil {
			continue // so has the look at the trust
		}
		h.Proof, h.Says = ProofAsked, "loaded"
		var not []string
		for _, w := range wanted {
			trust := "not loaded"
			for _, s := range said {
				if s.key == w.Key && dialect.IsOurs(s.command) {
					trust = s.trust
				}
			}
			if trust != "trusted" && trust != "managed" {
				not = append(not, w.Event+" "+trust)
			}
		}
		if len(not) == 0 {
			continue
		}
		h.Says = strings.Join(not, ", ")
		// Where the files have told already why, its own word adds nothing.
		if h.Trusted {
			h.Trusted = false
			l.find(Broken, "codex-says", "codex", scope, trusting("codex", scope), "Codex says of the hooks in %s: %s", h.File, clip(h.Says))
		}
	}
}

// codexList speaks JSON-RPC with Codex's app server, which leaves when its
// input ends.
func codexList(ctx context.Context, program, dir string, env []string) (said []codexSaid, complaints []string, err error) {
	cwds, err := json.Marshal([]string{dir})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer := &lineFor{id: 2, done: cancel}
	res, err := proc.Run(ctx, proc.Spec{
		Argv: []string{program, "app-server"}, Dir: dir, Env: env, Timeout: askTime, HoldStdin: true, Stdout: answer,
		Stdin: []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"satelle","title":"satelle doctor","version":"1"}}}` + "\n" +
			`{"jsonrpc":"2.0","method":"initialized"}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"hooks/list","params":{"cwds":` + string(cwds) + `}}` + "\n"),
	})
	switch {
	case answer.line != nil:
	case res.TimedOut:
		return nil, nil, fmt.Errorf("no answer within %v", askTime)
	case err != nil:
		return nil, nil, err
	default:
		return nil, nil, fmt.Errorf("it ended without an answer (exit code %d): %s", res.ExitCode, clip(string(res.Output)))
	}
	root := gjson.ParseBytes(answer.line)
	if e := root.Get("error"); e.Exists() {
		return nil, nil, fmt.Errorf("it refuses the question: %s", clip(e.Get("message").String()))
	}
	for _, d := range root.Get("result.data").Array() {
		for _, h := range d.Get("hooks").Array() {
			if !h.Get("enabled").Exists() || h.Get("enabled").Bool() {
				said = append(said, codexSaid{h.Get("key").Str, h.Get("command").Str, h.Get("trustStatus").Str})
			}
		}
		for _, e := range d.Get("errors").Array() {
			complaints = append(complaints, e.Raw)
		}
	}
	return said, complaints, nil
}

// lineFor takes the line that answers a request, and then calls done.
type lineFor struct {
	id   int64
	done func()
	buf  []byte
	line []byte
}

func (a *lineFor) Write(p []byte) (int, error) {
	if a.line != nil {
		return len(p), nil
	}
	if len(a.buf)+len(p) > maxSaid {
		return 0, fmt.Errorf("the answer is larger than %d bytes", maxSaid)
	}
	a.buf = append(a.buf, p...)
	for {
		line, rest, ok := bytes.Cut(a.buf, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		if v := gjson.GetBytes(line, "id"); json.Valid(line) && v.Type == gjson.Number && v.Int() == a.id {
			a.line = line
			a.done()
			return len(p), nil
		}
		a.buf = rest
	}
}

// askGrok compares what Grok says it loads with what is installed. Of hooks
// with one command Grok keeps one, whoever's settings it is from.
func (l *look) askGrok(ctx context.Context, program string) {
	var out bytes.Buffer
	res, err := proc.Run(ctx, proc.Spec{
		Argv: []string{program, "inspect", "--json"}, Dir: l.Dir, Env: l.Env, Timeout: askTime, Stdout: &limited{&out, maxSaid},
	})
	root := gjson.ParseBytes(out.Bytes())
	switch {
	case err != nil:
	case res.TimedOut:
		err = fmt.Errorf("no answer within %v", askTime)
	case !json.Valid(out.Bytes()) || !root.Get("hooks").IsArray():
		err = fmt.Errorf("its answer can't be read (exit code %d): %s", res.ExitCode, clip(string(res.Output)))
	}
	if err != nil {
		l.unasked("grok", err)
		return
	}
	loaded := false
	for _, h := range root.Get("hooks").Array() {
		status := h.Get("compatibilityStatus").Str
		if h.Get("event").Str == "pre_tool_use" && strings.Contains(h.Get("target").Str, "/satelle-hook\"") && (status == "" || status == "enabled") {
			loaded = true
		}
	}
	for _, scope := range l.scopes("grok") {
		h := l.hook("grok", scope)
		if h.Proof, h.Says = ProofAsked, "loaded"; loaded && (scope == install.User || root.Get("projectTrusted").Bool()) {
			continue
		}
		if h.Says = "not loaded"; !h.Trusted {
			continue // the files have told already why
		}
		h.Trusted = false
		mend := trusting("grok", scope)
		if root.Get("projectRoot").Type == gjson.Null {
			mend = installing("grok", install.User)
		}
		l.find(Broken, "grok-says", "grok", scope, mend, "Grok says that it has not loaded the hook (project trusted: %v)", root.Get("projectTrusted").Bool())
	}
}

// limited refuses what is more than its bound.
type limited struct {
	to   *bytes.Buffer
	room int
}

func (w *limited) Write(p []byte) (int, error) {
	if w.room -= len(p); w.room < 0 {
		return 0, fmt.Errorf("the answer is too large")
	}
	return w.to.Write(p)
}
