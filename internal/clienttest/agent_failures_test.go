//go:build clients

package clienttest

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"satelle/agents"
	"satelle/agents/transport"
)

// bare is a world without a repository of satelle's: for one run of an agent by
// the transport alone.
func bare(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, home: filepath.Join(dir, "home"), repo: filepath.Join(dir, "my repo")}
	w.cwd = w.repo
	for _, d := range []string{w.home, w.repo, filepath.Join(dir, "tmp")} {
		w.mkdir(d)
	}
	w.run(nil, "git", "init", "-q", "-b", "main")
	return w
}

// invocation is one run of the agent as a reviewer.
func (a *agent) invocation(w *world, model *Server, more ...string) transport.Invocation {
	w.t.Helper()
	file, err := agents.Parse("agents.toml", []byte("[reviewer]\n"+a.reviews))
	if err != nil {
		w.t.Fatal(err)
	}
	b, _ := file.Binding(agents.Reviewer)
	return transport.Invocation{
		Binding: b, Env: w.env(append(a.prepare(w, model.URL), more...)...), System: "Judge the work.",
		Payload: []byte(`{"story":{"id":"sty_00000000","title":"MAIN"},"from":"a","to":"b","review_skill":"r","docs":[]}`),
		Dir:     w.repo, Timeout: patience,
	}
}

// A service that has no room, or is not there, is told as that.
func TestAgentsClassifyFailures(t *testing.T) {
	each(t, func(t *testing.T, a *agent) {
		for status, class := range map[int]string{
			http.StatusTooManyRequests: transport.RateLimited, http.StatusServiceUnavailable: transport.Unavailable,
		} {
			t.Run(http.StatusText(status), func(t *testing.T) {
				t.Parallel()
				w := bare(t)
				model := New(t, Script{{Turns: []Turn{{Status: status}}}})
				began := time.Now()
				res, err := transport.Run(t.Context(), a.invocation(w, model))
				var f *transport.Failure
				if !errors.As(err, &f) || f.Class != class || !f.Elsewhere() {
					t.Errorf("%+v, %v", res, err)
				}
				t.Logf("%d: %d requests, %v: %v", status, len(model.Requests()), time.Since(began).Round(time.Millisecond), err)
			})
		}
	})
}

// mark is set in the environment of everything that a run starts.
const mark = "CLIENTTEST_MARK"

// An agent that is cancelled while it waits for its model is gone with all that
// it has started.
func TestAgentsAreCancelled(t *testing.T) {
	each(t, func(t *testing.T, a *agent) {
		w := bare(t)
		asked := make(chan struct{})
		model := New(t, Script{{Turns: []Turn{{Hold: true, Before: func() { close(asked) }}}}})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			_, err := transport.Run(ctx, a.invocation(w, model, mark+"="+w.dir))
			ended <- err
		}()
		select {
		case <-asked:
		case err := <-ended:
			t.Fatalf("it did not ask the model: %v", err)
		}
		if len(marked(t, w.dir)) == 0 {
			t.Error("no process is seen while it runs")
		}
		cancel()
		gone(t, w, <-ended, transport.Cancelled)
	})
}

// So is one whose time is up, wherever that finds it.
func TestAgentsTimeOut(t *testing.T) {
	each(t, func(t *testing.T, a *agent) {
		w := bare(t)
		model := New(t, Script{{Turns: []Turn{{Hold: true}}}})
		inv := a.invocation(w, model, mark+"="+w.dir)
		inv.Timeout = 5 * time.Second
		_, err := transport.Run(t.Context(), inv)
		gone(t, w, err, transport.TimedOut)
		t.Logf("%d requests", len(model.Requests()))
	})
}

// gone expects a run that failed so, and nothing of it to be left.
func gone(t *testing.T, w *world, err error, class string) {
	t.Helper()
	var f *transport.Failure
	if !errors.As(err, &f) || f.Class != class {
		t.Errorf("%v", err)
	}
	if left := marked(t, w.dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// marked are the command lines of the processes that bear the mark.
func marked(t *testing.T, value string) (all []string) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !strings.Contains("\x00"+string(env), "\x00"+mark+"="+value+"\x00") {
			continue // another user's, ended, or not ours
		}
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err == nil && len(line) > 0 {
			all = append(all, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return all
}
