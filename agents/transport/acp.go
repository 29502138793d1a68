package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"satelle/agents"
	"satelle/agents/event"
	"satelle/internal/proc"
)

// farewell is how long an agent that was told to cancel may take to say so.
const farewell = 2 * time.Second

// runACP starts an agent that speaks the Agent Client Protocol on its standard
// input and output, gives it one prompt in a session of its own, and ends it.
func runACP(ctx context.Context, inv Invocation) (Result, error) {
	tell := inv.sink()
	began := time.Now()
	r, err := talk(ctx, inv, tell)
	r.Elapsed = time.Since(began)
	if r.Usage.Available() || r.Usage.CostMicros != nil {
		tell(event.Event{Kind: event.Usage, Usage: &r.Usage})
	}
	if err != nil {
		r.Text = "" // what it said so far is no answer
		err.ExitCode = r.ExitCode
		tell(event.Event{Kind: event.Failure, Class: err.Class, Text: err.Message})
		return r, err
	}
	tell(event.Event{Kind: event.Completion})
	return r, nil
}

// spawn is the command line of an agent. Grok alone takes the effort there; for
// all others it is the session's.
func spawn(b agents.Binding) []string {
	argv := b.Argv(agents.Values{})
	if i := slices.Index(argv, "agent"); b.Effort != "" && i > 0 && strings.Contains(argv[0], "grok") {
		argv = slices.Insert(argv, i+1, "--reasoning-effort", b.Effort)
	}
	return argv
}

func talk(ctx context.Context, inv Invocation, tell event.Sink) (Result, *Failure) {
	argv := spawn(inv.Binding)
	if len(argv) == 0 {
		return Result{}, &Failure{Class: Missing, Message: "the binding names no program"}
	}
	program, f := lookUp(argv[0], inv)
	if f != nil {
		return Result{}, f
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return Result{}, &Failure{Class: Failed, Message: err.Error()}
	}
	defer ours.Close()
	defer theirs.Close()
	heard, said := io.Pipe()
	listener := &acpClient{grant: grantOf(inv.Binding), files: filesOf(inv), tell: tell, ended: true, passed: make(chan struct{}, 1)}
	owed := make(chan struct{}, maxOwed)
	conn := acp.NewClientSideConnection(listener, &acpAnswers{to: ours, owed: owed}, heard)
	conn.SetLogger(slog.New(slog.DiscardHandler))
	lines := &acpLines{to: said, raw: cmp.Or[io.Writer](inv.Raw, io.Discard), heard: listener.passed, owed: owed, over: conn.Done()}

	run, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	limit, stop := context.WithTimeout(ctx, inv.Timeout)
	defer stop()
	type ending struct {
		res proc.Result
		err error
	}
	ended := make(chan ending, 1)
	go func() {
		res, err := proc.Run(run, proc.Spec{
			Argv: append([]string{program}, argv[1:]...), Dir: inv.Dir, Env: inv.Env, Input: theirs, OutputCap: maxStderr, Stdout: lines,
			Registered: func(pid int) error {
				if err := inv.registered(pid); err != nil {
					return err
				}
				tell(event.Event{Kind: event.Start})
				return nil
			},
		})
		said.CloseWithError(io.EOF)
		ended <- ending{res, err}
	}()

	// An agent that no longer reads must not hold up who tells it to cancel.
	defer context.AfterFunc(limit, func() { _ = ours.SetWriteDeadline(time.Now().Add(farewell)) })()
	s := acpSession{conn: conn, client: listener, inv: inv}
	response, failed := s.run(limit)
	// Whoever still writes would wait for a reader for ever.
	heard.CloseWithError(io.ErrClosedPipe)
	end()
	last := <-ended
	r := listener.result(response)
	r.Program = program
	switch {
	case errors.Is(lines.wrong, errPestering):
		return r, &Failure{Class: Protocol, Message: fmt.Sprintf("it asked more than %d times", maxRequests)}
	case lines.wrong != nil:
		return r, &Failure{Class: Protocol, Message: fmt.Sprintf("it printed more than an agent may: %d MiB in all, %d MiB in one line", maxOutput>>20, maxLine>>20)}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return r, &Failure{Class: TimedOut, Message: "it did not answer in the time that was left"}
	case ctx.Err() != nil:
		return r, &Failure{Class: Cancelled, Message: "it was cancelled"}
	case limit.Err() != nil:
		return r, &Failure{Class: TimedOut, Message: "it did not answer within " + inv.Timeout.String()}
	case failed != nil:
		r.ExitCode = max(last.res.ExitCode, 0) // of an agent that was ended it says nothing
		return r, acpFailure(failed, last.res, last.err, argv[0])
	}
	return r, listener.verdict(response, &r)
}

// acpSession is one session with one prompt.
type acpSession struct {
	conn   *acp.ClientSideConnection
	client *acpClient
	inv    Invocation
}

func (s acpSession) run(ctx context.Context) (response acp.PromptResponse, err error) {
	hello, err := s.conn.Initialize(ctx, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber, ClientInfo: &acp.Implementation{Name: "satelle", Version: "1"},
		ClientCapabilities: acp.ClientCapabilities{Fs: s.client.files.offer()},
	})
	if err != nil {
		return response, fmt.Errorf("initialize: %w", err)
	}
	if hello.ProtocolVersion != acp.ProtocolVersionNumber {
		return response, fmt.Errorf("initialize: it speaks version %d of the protocol, and satelle version %d", hello.ProtocolVersion, acp.ProtocolVersionNumber)
	}
	session, err := s.conn.NewSession(ctx, acp.NewSessionRequest{Cwd: s.inv.Dir, McpServers: []acp.McpServer{}})
	if err != nil {
		return response, fmt.Errorf("session/new: %w", err)
	}
	s.client.serve(session.SessionId)
	s.settle(ctx, session)
	type answer struct {
		response acp.PromptResponse
		err      error
	}
	answered := make(chan answer, 1)
	prompt, drop := context.WithCancel(context.WithoutCancel(ctx))
	defer drop()
	go func() {
		response, err := s.conn.Prompt(prompt, acp.PromptRequest{
			SessionId: session.SessionId,
			Prompt:    []acp.ContentBlock{acp.TextBlock(s.inv.System), acp.TextBlock(string(s.inv.Payload))},
		})
		if err != nil {
			response = acp.PromptResponse{} // it may be half decoded
		}
		answered <- answer{response, err}
	}()
	select {
	case a := <-answered:
		return a.response, a.err
	case <-ctx.Done():
	}
	// What it has spent comes with its word that it has cancelled.
	if s.conn.Cancel(prompt, acp.CancelNotification{SessionId: session.SessionId}) == nil {
		late := time.NewTimer(farewell)
		defer late.Stop()
		select {
		case a := <-answered:
			return a.response, ctx.Err()
		case <-late.C:
		}
	}
	return response, ctx.Err()
}

// settle asks for the binding's model and effort, and for the mode in which an
// agent that may not change anything can't. What an agent does not know of these
// it need not obey: an agent of another mode asks for permission.
func (s acpSession) settle(ctx context.Context, session acp.NewSessionResponse) {
	grant := grantOf(s.inv.Binding)
	if session.Modes != nil && !grant.edits && !grant.runs {
		for _, m := range session.Modes.AvailableModes {
			if m.Id == "read-only" || m.Id == "plan" {
				_, _ = s.conn.SetSessionMode(ctx, acp.SetSessionModeRequest{SessionId: session.SessionId, ModeId: m.Id})
				break
			}
		}
	}
	set := func(value string, ids ...acp.SessionConfigId) {
		if value == "" {
			return
		}
		for _, id := range ids {
			_, err := s.conn.SetSessionConfigOption(ctx, acp.SetSessionConfigOptionRequest{
				ValueId: &acp.SetSessionConfigOptionValueId{SessionId: session.SessionId, ConfigId: id, Value: acp.SessionConfigValueId(value)},
			})
			if err == nil {
				return
			}
		}
	}
	set(s.inv.Binding.Model, "model")
	set(s.inv.Binding.Effort, "reasoning_effort", "effort")
}

// acpFailure is why a talk ended without an answer.
func acpFailure(failed error, res proc.Result, ended error, program string) *Failure {
	var refused *acp.RequestError
	if errors.As(failed, &refused) && !ofTheConnection(refused) {
		message, class := refused.Message, ""
		if data, ok := refused.Data.(map[string]any); ok {
			if text, ok := data["message"].(string); ok && text != "" {
				message = text
			}
			if status, ok := data["http_status"].(float64); ok {
				class = classOfStatus(int(status))
			}
			if info, ok := data["codexErrorInfo"].(string); ok && strings.HasPrefix(info, "usageLimit") {
				class = RateLimited
			}
		}
		if class == "" {
			if class = classOfText(message); refused.Code == -32000 {
				class = Auth
			}
		}
		return &Failure{Class: class, Message: clip(message)}
	}
	if ended != nil && !errors.Is(ended, context.Canceled) {
		return notStarted(program, ended)
	}
	if res.ExitCode > 0 {
		return exited(outcome{}, res)
	}
	return &Failure{Class: Protocol, Message: clip("it does not speak the Agent Client Protocol: " + failed.Error())}
}

// ofTheConnection reports whether an error is no answer of the agent: the library
// says so where the talk was cut.
func ofTheConnection(e *acp.RequestError) bool {
	data, _ := e.Data.(map[string]any)
	_, own := data["error"]
	return own && len(data) == 1
}
