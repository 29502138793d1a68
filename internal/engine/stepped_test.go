package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow"
)

// steppedEnv names the file that says by how much the clock was stepped. A test
// can't step the machine's own.
const steppedEnv = "ENGINE_TEST_STEPPED"

// planned is a planner's good answer.
const planned = `printf '%s' '{"artifact":{"name":"plan","type":"plan","body":"# Plan\n\n- AC1: so"}}'`

// TestMain is also what the tests start to judge.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "judge" {
		os.Exit(judgeStepped(os.Args[2], os.Args[3]))
	}
	os.Exit(m.Run())
}

func judgeStepped(id, token string) int {
	ctx := context.Background()
	n, err := strconv.ParseUint(token, 10, 53)
	var e *Engine
	if err == nil {
		e, err = Open(ctx, ".")
	}
	if err == nil {
		e.step()
		lease := os.NewFile(3, "lease")
		defer lease.Close()
		err = e.Judge(ctx, id, n, lease, os.Stdout)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// step lets the engine and its log go by the stepped clock.
func (e *Engine) step() {
	e.now = func() time.Time {
		b, _ := os.ReadFile(os.Getenv(steppedEnv))
		d, _ := time.ParseDuration(string(b))
		return time.Now().Add(d)
	}
	e.cfg.Clock = e.now
}

// TestStepped: the clock is stepped while an agent works. What it did then counts
// as ever, what it failed at is refused; its time, its lease and its end hang on no
// clock, and the log takes records of every time.
func TestStepped(t *testing.T) {
	for _, by := range []time.Duration{-20 * 365 * 24 * time.Hour, -time.Hour, 3 * time.Hour, 20 * 365 * 24 * time.Hour} {
		for _, tt := range []struct{ name, timeout, agent, status, refuse string }{
			{"it answers", "1m", planned, "plan", ""},
			{"it fails", "1m", "echo no; exit 7", "backlog", "7"},
			{"it hangs", "1s", "sleep 1000", "backlog", "did not answer within 1s"},
		} {
			t.Run(fmt.Sprint(by, " ", tt.name), func(t *testing.T) {
				e := newRepo(t)
				stepped := filepath.Join(t.TempDir(), "by")
				t.Setenv(steppedEnv, stepped)
				e = e.withPlanner(t, tt.timeout, fmt.Sprintf("printf %s > %s; %s", by, stepped, tt.agent))
				e.step()
				id := created(t, e, workflow.Fields{})

				m, err := e.Set(t.Context(), id, SetOptions{})
				if tt.refuse == "" && err != nil {
					t.Fatal(err)
				}
				if tt.refuse != "" && (!fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), tt.refuse)) {
					t.Fatalf("err = %v, want a refusal with %q", err, tt.refuse)
				}
				if m.Story.Status != tt.status || m.Story.Transition != nil {
					t.Errorf("it is at %s, in flight: %v", m.Story.Status, m.Story.Transition)
				}
				e.attemptsTook(t, id, time.Minute)
				if lease, err := tryLease(e.leasePath(id)); err != nil || lease == nil {
					t.Errorf("the lease is not free: %v", err)
				} else {
					lease.Close()
				}
				if ended := strings.Join(e.kindsOf(t, id), " "); tt.refuse != "" && !strings.HasSuffix(ended, workflow.KindRefused) {
					t.Errorf("the log ends with %s", ended)
				}

				// Whatever the clock says by now, the next one asks and gets an end.
				e = e.withPlanner(t, "1m", planned)
				e.step()
				if tt.refuse != "" {
					if m, err = e.Set(t.Context(), id, SetOptions{}); err != nil || m.Story.Status != "plan" {
						t.Errorf("asked again: %s, %v", m.Story.Status, err)
					}
				}
				if _, err := ledger.Verify(t.Context(), e.Ledger(), ledger.VerifyOptions{}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestSteppedMeanwhile: who asks while an agent works, after the clock has passed
// the lease's end by far, waits for that agent and starts no second one.
func TestSteppedMeanwhile(t *testing.T) {
	e := newRepo(t)
	dir := t.TempDir()
	stepped, said, goOn := filepath.Join(dir, "by"), filepath.Join(dir, "said"), filepath.Join(dir, "go")
	t.Setenv(steppedEnv, stepped)
	for _, pipe := range []string{said, goOn} {
		if err := unix.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e = e.withPlanner(t, "1m", fmt.Sprintf("printf 999h > %s; echo > %s; read x < %s; %s", stepped, said, goOn, planned))
	e.step()
	id := created(t, e, workflow.Fields{})

	first := make(chan error, 1)
	go func() {
		_, err := e.Set(t.Context(), id, SetOptions{})
		first <- err
	}()
	began := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(said)
		began <- err
	}()
	select {
	case err := <-began:
		if err != nil {
			t.Fatal(err)
		}
	case err := <-first:
		t.Fatal("it ended before its agent began: ", err)
	}
	m, err := e.Set(t.Context(), id, SetOptions{Detach: true})
	if err != nil || !m.Running {
		t.Errorf("asked meanwhile: running %v, %v", m.Running, err)
	}
	if err := os.WriteFile(goOn, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
	kinds := strings.Join(e.kindsOf(t, id), " ")
	if n := strings.Count(kinds, workflow.KindRequested); n != 1 || !strings.HasSuffix(kinds, workflow.KindCommitted) {
		t.Errorf("the log: %s", kinds)
	}
}

// withPlanner gives the repository a step that a shell performs, and trusts it.
func (e *Engine) withPlanner(t *testing.T, timeout, script string) *Engine {
	t.Helper()
	for name, text := range map[string]string{
		"workflows/done.md": "---\nname: done\ntype: workflow\n---\n\n## *\n- raised\n- planned\n- closed\npark: blocked\ncancel: cancelled\n",
		"workflows/step.md": "---\nname: step\ntype: workflow\n---\n\n## backlog\nprovides: raised\n\n" +
			"## plan\nagent: planner\nskills: plan\nprovides: planned\nrequires: raised\n\n## done\nprovides: closed\nrequires: planned\n",
		"workflows/agents.toml": "[executor]\ncommand = \"in-loop\"\n\n[planner]\ncommand = \"sh agent.sh {system}\"\ntools = \"Bash(satelle:*)\"\ntimeout = \"" + timeout + "\"\n",
		"skills/plan.md":        "---\nname: plan\noutput_name: plan\noutput_type: plan\noutput_required: true\noutput_schema: body\noutput_ac_coverage: true\n---\nPlan.\n",
		"../agent.sh":           script,
	} {
		path := filepath.Join(e.Top(), ".satelle", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e = reopen(t, e.Top())
	p, err := e.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p.Count() > 0 {
		if err := e.Trust(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// attemptsTook holds that each attempt took some time, and not more than limit.
func (e *Engine) attemptsTook(t *testing.T, id string, limit time.Duration) {
	t.Helper()
	n := 0
	err := ledger.Scan(t.Context(), e.cfg, ledger.Query{Story: id, Kinds: []string{workflow.KindAttempt}}, func(r ledger.Record) error {
		var a struct {
			Elapsed *int64 `json:"elapsed_ms"`
		}
		if err := json.Unmarshal(r.Body, &a); err != nil {
			return err
		}
		if a.Elapsed == nil || *a.Elapsed < 0 || *a.Elapsed > limit.Milliseconds() {
			t.Errorf("an attempt took %v ms", a.Elapsed)
		}
		n++
		return nil
	})
	if err != nil || n == 0 {
		t.Errorf("%d attempts: %v", n, err)
	}
}

// kindsOf are the kinds of a story's records, in order.
func (e *Engine) kindsOf(t *testing.T, id string) (kinds []string) {
	t.Helper()
	err := ledger.Scan(t.Context(), e.cfg, ledger.Query{Story: id}, func(r ledger.Record) error {
		kinds = append(kinds, r.Kind)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}
