package ancestry

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

func TestWorkers(t *testing.T) {
	home := filepath.Join(t.TempDir(), "a home")
	if w, found, err := FindWorker(home); found || err != nil {
		t.Fatalf("in an empty home: %+v, %v", w, err)
	}
	want := Worker{ID: "id1", Role: RoleReviewer, Binding: "strict", Story: "sty_a", Transition: 17, Tree: "/a b/\"c\"\n\xff"}
	dismiss, err := RegisterWorker(home, os.Getppid(), want)
	if err != nil {
		t.Fatal(err)
	}
	if w, found, err := FindWorker(home); !found || err != nil || w != want {
		t.Errorf("below the worker: %+v, %v, %v", w, found, err)
	}
	// A session that is registered nearer changes nothing of it.
	if err := write(filepath.Join(home, "sessions"), process{pid: os.Getppid()}, encode("s", "claude")); err != nil {
		t.Fatal(err)
	}
	if w, found, _ := FindWorker(home); !found || w != want {
		t.Errorf("beside a session: %+v", w)
	}
	files, err := os.ReadDir(filepath.Join(home, workersDir))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	if fi, err := files[0].Info(); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", fi.Mode())
	}
	dismiss()
	if w, found, err := FindWorker(home); found || err != nil {
		t.Errorf("dismissed: %+v, %v", w, err)
	}
}

// TestTheNearestWorkerCounts: a process that starts agents is registered above
// them, and what left an agent's tree is still below it.
func TestTheNearestWorkerCounts(t *testing.T) {
	home := t.TempDir()
	parent, err := lookup(os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := RegisterWorker(home, parent.parent, Worker{Role: RoleJudge}); err != nil {
		t.Skip("the parent has no parent that can be looked at:", err)
	}
	if w, found, err := FindWorker(home); !found || err != nil || w.Role != RoleJudge {
		t.Errorf("below a judge: %+v, %v, %v", w, found, err)
	}
	if _, err := RegisterWorker(home, parent.pid, Worker{Role: RoleAgent}); err != nil {
		t.Fatal(err)
	}
	if w, found, err := FindWorker(home); !found || err != nil || w.Role != RoleAgent {
		t.Errorf("below an agent below a judge: %+v, %v, %v", w, found, err)
	}
}

// TestLivingWorkers: those whose process has ended, or whose process id is
// another's by now, are none, and are swept when the next one comes.
func TestLivingWorkers(t *testing.T) {
	home := t.TempDir()
	other := exec.Command("sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Process.Kill(); other.Wait() })
	want := Worker{ID: "id1", Role: RoleAgent, Binding: "planner", Story: "sty_a", Transition: 3, Tree: "/r"}
	if _, err := RegisterWorker(home, other.Process.Pid, want); err != nil {
		t.Fatal(err)
	}
	stale := self(t)
	stale.start = "1"
	if err := write(filepath.Join(home, workersDir), stale, Worker{ID: "id2"}.encode()); err != nil {
		t.Fatal(err)
	}
	if w, found, err := FindWorker(home); found || err != nil {
		t.Errorf("beside the worker: %+v, %v", w, err)
	}
	if all, err := Workers(home); err != nil || len(all) != 1 || all[0] != want {
		t.Errorf("%+v, %v", all, err)
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	other.Wait()
	left, err := filepath.Glob(filepath.Join(home, workersDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		age(t, path)
	}
	if all, err := Workers(home); err != nil || len(all) != 0 {
		t.Errorf("after its end: %+v, %v", all, err)
	}
	if _, err := RegisterWorker(home, os.Getppid(), want); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(filepath.Join(home, workersDir)); err != nil || len(files) != 1 {
		t.Errorf("not swept: %v, %v", files, err)
	}
}

// TestHiddenWorker: one that lives and can't be seen may be an ancestor.
func TestHiddenWorker(t *testing.T) {
	contained := func() bool { return false }
	home := t.TempDir()
	dir := filepath.Join(home, workersDir)
	unseen := process{pid: 1 << 30, start: "1"}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, unseen.name()), []byte(Worker{Role: RoleJudge}.encode()), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, found, err := findWorker(home, contained); found || err != nil {
		t.Errorf("beside one that has ended: %v, %v", found, err)
	}
	release, err := hold(filepath.Join(dir, unseen.name()))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := findWorker(home, contained); err == nil {
		t.Error("beside one that lives elsewhere: no error")
	}
	// Where every process is to be seen, no ancestor was missed.
	if _, found, err := findWorker(home, func() bool { return true }); found || err != nil {
		t.Errorf("on a whole machine: %v, %v", found, err)
	}
	other, err := RegisterWorker(home, os.Getppid(), Worker{})
	if err != nil {
		t.Fatal(err)
	}
	other()
	if !held(filepath.Join(dir, unseen.name())) {
		t.Error("it was swept")
	}
	release()
	if _, found, err := findWorker(home, contained); found || err != nil {
		t.Errorf("after its end: %v, %v", found, err)
	}
	// A process that registers itself is held, and is seen here.
	dismiss, err := RegisterWorker(home, os.Getpid(), Worker{Role: RoleJudge})
	if err != nil {
		t.Fatal(err)
	}
	if !held(filepath.Join(dir, self(t).name())) {
		t.Error("it does not hold its registration")
	}
	if _, found, err := findWorker(home, contained); found || err != nil {
		t.Errorf("above none: %v, %v", found, err)
	}
	dismiss()
}

// TestManyLook: who looks whether a registration is held does not hold it, for
// others who look or for who comes to hold it.
func TestManyLook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registration")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				if held(path) {
					t.Error("somebody who looks is taken for a holder")
					return
				}
			}
		})
	}
	wg.Wait()
	stop := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					held(path)
				}
			}
		})
	}
	for range 3 {
		release, err := hold(path)
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
	close(stop)
	wg.Wait()
}

func TestDamagedWorkersAreNoSession(t *testing.T) {
	parent, err := lookup(os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "nonsense\n", "worker a b c d 1 /r\n", "worker a b c d x \"/r\"\n", "worker a b c d 1 \"/r\"", "worker a/b b c d 1 \"/r\"\n"} {
		home := t.TempDir()
		if err := write(filepath.Join(home, workersDir), parent, text); err != nil {
			t.Fatal(err)
		}
		if _, found, err := FindWorker(home); err == nil {
			t.Errorf("%q: found %v, no error", text, found)
		}
	}
}

func self(t *testing.T) process {
	t.Helper()
	p, err := lookup(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return p
}
