package transport

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"satelle/agents"
	"satelle/agents/event"
	"satelle/workflow"
)

// overACP is a run of the scripted peer under some program's name, and what it
// was sent.
type overACP struct {
	inv    Invocation
	log    string
	mu     sync.Mutex
	events []event.Event
	raw    strings.Builder
}

func newOverACP(t *testing.T, scene, command string) *overACP {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, _, _ := strings.Cut(command, " ")
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, program)); err != nil {
		t.Fatal(err)
	}
	o := &overACP{log: filepath.Join(dir, "log")}
	o.inv = Invocation{
		Binding: agents.Binding{Name: "a", Interface: agents.InterfaceACP, Role: agents.RoleAgent, Command: command, Tools: "read_file"},
		Env:     []string{"PATH=" + bin, acpScene + "=" + scene, acpLog + "=" + o.log},
		System:  "be brief", Payload: []byte(`{"story":{}}`), Dir: dir, Timeout: time.Minute,
		Raw: &o.raw,
		Events: func(e event.Event) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.events = append(o.events, e)
		},
	}
	return o
}

// sent are the lines that the peer got, its argv first.
func (o *overACP) sent(t *testing.T) (all []gjson.Result) {
	t.Helper()
	b, err := os.ReadFile(o.log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		all = append(all, gjson.Parse(line))
	}
	return all
}

func (o *overACP) kinds() (all []event.Kind) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.events {
		all = append(all, e.Kind)
	}
	return all
}

// What it is told comes over the session, and its argv is the spawn line.
func TestACPSession(t *testing.T) {
	t.Parallel()
	o := newOverACP(t, "plain", "nobody-knows-it stdio")
	o.inv.Binding.Model, o.inv.Binding.Effort = "m1", "high"
	o.inv.Env = append(o.inv.Env, "INITIAL_AGENT_MODE=read-only")
	r, err := Run(t.Context(), o.inv)
	if err != nil || r.Text != `{"story":{}}` {
		t.Fatalf("%+v, %v", r, err)
	}
	n := func(v int64) *int64 { return &v }
	want := workflow.Usage{Input: n(100), CacheRead: n(10), Output: n(20), Reasoning: n(5), Total: n(130)}
	if got := r.Usage; *got.Input != *want.Input || *got.CacheRead != *want.CacheRead || *got.Output != *want.Output || *got.Reasoning != *want.Reasoning || *got.Total != *want.Total || got.CacheWrite != nil || got.CostMicros != nil {
		t.Errorf("usage: %+v", got)
	}
	sent := o.sent(t)
	if sent[0].Get("argv").Raw != `["stdio"]` || sent[0].Get("mode").String() != "read-only" {
		t.Errorf("argv: %s", sent[0].Raw)
	}
	var methods []string
	for _, m := range sent[1:] {
		method := m.Get("method").String()
		if method == "session/set_config_option" {
			method += " " + m.Get("params.configId").String() + "=" + m.Get("params.value").String()
		}
		methods = append(methods, method)
		if method == "session/prompt" && (m.Get("params.prompt.0.text").String() != "be brief" || m.Get("params.prompt.1.text").String() != `{"story":{}}` || m.Get("params.prompt.#").Int() != 2) {
			t.Errorf("prompt: %s", m.Raw)
		}
	}
	if !slices.Equal(methods, []string{
		"initialize", "session/new", "session/set_mode", "session/set_config_option model=m1", "session/set_config_option reasoning_effort=high", "session/prompt",
	}) {
		t.Errorf("methods: %q", methods)
	}
	if want := []event.Kind{event.Start, event.Message, event.ToolStart, event.ToolEnd, event.Message, event.Usage, event.Completion}; !slices.Equal(o.kinds(), want) {
		t.Errorf("events: %q", o.kinds())
	}
	if raw := o.raw.String(); !strings.Contains(raw, "tool_call") || strings.Contains(raw, "SENTINEL") {
		t.Errorf("trace: %s", raw)
	}
}

// Grok takes the effort as a flag, too, and nobody else.
func TestACPSpawn(t *testing.T) {
	for _, tc := range []struct{ command, effort, want string }{
		{"grok agent stdio", "high", "grok agent --reasoning-effort high stdio"},
		{"grok agent stdio", "", "grok agent stdio"},
		{"npx -y @agentclientprotocol/codex-acp", "high", "npx -y @agentclientprotocol/codex-acp"},
		{"sh /home/a/launcher", "high", "sh /home/a/launcher"},
		{"unknown agent stdio", "high", "unknown agent stdio"},
	} {
		if got := strings.Join(spawn(agents.Binding{Command: tc.command, Effort: tc.effort}), " "); got != tc.want {
			t.Errorf("%s with %q: %s", tc.command, tc.effort, got)
		}
	}
}

// An agent that does not know an option is asked for the other name, and works
// all the same.
func TestACPEffortIsNoCondition(t *testing.T) {
	t.Parallel()
	o := newOverACP(t, "stubborn", "peer stdio")
	o.inv.Binding.Effort = "low"
	if r, err := Run(t.Context(), o.inv); err != nil || r.Text == "" {
		t.Fatalf("%+v, %v", r, err)
	}
	var ids []string
	for _, m := range o.sent(t) {
		if id := m.Get("params.configId").String(); id != "" {
			ids = append(ids, id)
		}
	}
	if !slices.Equal(ids, []string{"reasoning_effort", "effort"}) {
		t.Errorf("%q", ids)
	}
}

// The grant decides what is permitted, once; a reviewer never writes or runs.
func TestACPPermissions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ role, tools, asks, want string }{
		{agents.RoleAgent, "read_file", "read", "once"},
		{agents.RoleAgent, "read_file", "search", "once"},
		{agents.RoleAgent, "read_file", "edit", "no"},
		{agents.RoleAgent, "read_file", "delete", "no"},
		{agents.RoleAgent, "read_file", "execute: ls", "no"},
		{agents.RoleAgent, "read_file", "fetch", "no"},
		{agents.RoleAgent, "read_file", "other", "no"},
		{agents.RoleAgent, "read_file,write", "edit", "once"},
		{agents.RoleAgent, "read_file,run_terminal_command", "execute: ls", "once"},
		{agents.RoleAgent, "Bash(satelle:*)", "execute: satelle story get sty_00000000", "once"},
		{agents.RoleAgent, "Bash(satelle:*)", "execute: satelle story get sty_00000000; rm -rf .", "no"},
		{agents.RoleAgent, "Bash(satelle:*)", "execute: ls", "no"},
		{agents.RoleReviewer, "read_file,write,run_terminal_command", "edit", "no"},
		{agents.RoleReviewer, "read_file,write,run_terminal_command", "execute: ls", "no"},
		{agents.RoleReviewer, "*", "edit", "no"},
	} {
		t.Run(tc.role+" "+tc.tools+" "+tc.asks, func(t *testing.T) {
			t.Parallel()
			o := newOverACP(t, "asks "+tc.asks, "peer stdio")
			o.inv.Binding.Role, o.inv.Binding.Tools = tc.role, tc.tools
			if r, err := Run(t.Context(), o.inv); err != nil || r.Text != tc.want {
				t.Errorf("%q, %v", r.Text, err)
			}
		})
	}
}

func TestACPFailures(t *testing.T) {
	t.Parallel()
	for scene, want := range map[string]string{
		"busy": RateLimited, "used up": RateLimited, "broken": Unavailable, "signed out": Auth, "garbage": Protocol, "crash": Failed, "endless": Protocol,
	} {
		t.Run(scene, func(t *testing.T) {
			t.Parallel()
			o := newOverACP(t, scene, "peer stdio")
			r, err := Run(t.Context(), o.inv)
			var f *Failure
			if !errors.As(err, &f) || f.Class != want || f.Message == "" {
				t.Errorf("%+v, %v", r, err)
			}
			if kinds := o.kinds(); len(kinds) == 0 || kinds[len(kinds)-1] != event.Failure {
				t.Errorf("events: %q", kinds)
			}
		})
	}
	o := newOverACP(t, "plain", "peer stdio")
	o.inv.Binding.Command = "absent stdio"
	var f *Failure
	if _, err := Run(t.Context(), o.inv); !errors.As(err, &f) || f.Class != Missing {
		t.Errorf("%v", err)
	}
}

// Who is cancelled is told so, and says what it has spent; who does not listen
// is ended.
func TestACPCancel(t *testing.T) {
	t.Parallel()
	for scene, spent := range map[string]bool{"slow": true, "deaf": false} {
		t.Run(scene, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := newOverACP(t, scene, "peer stdio")
			prompted := make(chan struct{})
			go func() {
				defer close(prompted)
				tick := time.NewTicker(5 * time.Millisecond)
				defer tick.Stop()
				for t.Context().Err() == nil {
					if b, _ := os.ReadFile(o.log); strings.Contains(string(b), "session/prompt") {
						return
					}
					<-tick.C
				}
			}()
			go func() {
				<-prompted
				cancel()
			}()
			r, err := Run(ctx, o.inv)
			var f *Failure
			if !errors.As(err, &f) || f.Class != Cancelled || r.Usage.Available() != spent {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	o := newOverACP(t, "deaf", "peer stdio")
	o.inv.Timeout = 300 * time.Millisecond
	var f *Failure
	if _, err := Run(t.Context(), o.inv); !errors.As(err, &f) || f.Class != TimedOut {
		t.Errorf("%v", err)
	}
}
