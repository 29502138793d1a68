//go:build clients

package clienttest

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"os/exec"
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

// Ctrl-C on the move that an agent works for, while it waits for its model: it is
// gone with all that it has started, and the story is where it was.
func TestAgentsAreCancelled(t *testing.T) {
	each(t, func(t *testing.T, a *agent) {
		w := governed(t, "[planner]\n"+a.plans)
		asked := make(chan struct{})
		model := New(t, Script{{Turns: []Turn{{Hold: true, Before: func() { close(asked) }}}}})
		env := a.prepare(w, model.URL)
		id := w.newStory()
		move := exec.Command(filepath.Join(programs, "satelle"), "story", "set", id, "--next")
		var out bytes.Buffer
		move.Dir, move.Env, move.Stdout, move.Stderr = w.repo, w.env(append(env, mark+"="+w.dir)...), &out, &out
		if err := move.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- move.Wait() }()
		select {
		case <-asked:
		case err := <-ended:
			t.Fatalf("it did not ask the model: %v\n%s", err, out.String())
		}
		if len(marked(t, w.dir)) < 3 { // this command, the one that judges, and the agent
			t.Error("the agent is not seen while it runs")
		}
		if err := move.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err == nil {
			t.Errorf("it ended as if the story had moved:\n%s", out.String())
		}
		gone(t, w)
		tries := w.records(id, "agent.attempt")
		if len(tries) != 1 || tries[0].Get("class").String() != transport.Cancelled {
			t.Errorf("%v", tries)
		}
		// Nobody holds the story any more.
		w.satelle("story", "set", id, "--status", "cancelled")
	})
}

// One whose time is up is gone, too, wherever that finds it.
func TestAgentsTimeOut(t *testing.T) {
	each(t, func(t *testing.T, a *agent) {
		w := bare(t)
		model := New(t, Script{{Turns: []Turn{{Hold: true}}}})
		inv := a.invocation(w, model, mark+"="+w.dir)
		inv.Timeout = 5 * time.Second
		_, err := transport.Run(t.Context(), inv)
		var f *transport.Failure
		if !errors.As(err, &f) || f.Class != transport.TimedOut {
			t.Errorf("%v", err)
		}
		if left := marked(t, w.dir); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
}

// gone expects that no process is left, that which judged a moment ago included.
func gone(t *testing.T, w *world) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(10 * time.Second)
	for {
		left := marked(t, w.dir)
		if len(left) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Errorf("left behind: %q", left)
			return
		}
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
