package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func anyone(int) error { return nil }

// life is a named pipe that processes keep open while they live: its other end
// ends when the last of them has.
type life struct {
	path string
	r    *os.File
}

func newLife(t *testing.T) life {
	t.Helper()
	l := life{path: filepath.Join(t.TempDir(), "life")}
	if err := unix.Mkfifo(l.path, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenFile(l.path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	l.r = r
	return l
}

// over fails the test unless everything that could say "here" has ended, and that
// was said so often; -1 for once at most.
func (l life) over(t *testing.T, said int) {
	t.Helper()
	l.r.SetReadDeadline(time.Now().Add(20 * time.Second))
	got, err := io.ReadAll(l.r)
	if said < 0 {
		said = min(1, strings.Count(string(got), "here"))
	}
	if err != nil || string(got) != strings.Repeat("here\n", said) {
		t.Errorf("something lives on: %q, %v", got, err)
	}
}

// now is what has been said, and whether all of those who could have ended.
func (l life) now(t *testing.T) (said string, over bool) {
	t.Helper()
	conn, err := l.r.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	err = conn.Read(func(fd uintptr) bool {
		for {
			n, err := unix.Read(int(fd), buf)
			if n <= 0 {
				over = n == 0 && err == nil
				return true
			}
			said += string(buf[:n])
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return said, over
}

func TestRegisteredBeforeTheProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mark := filepath.Join(dir, "ran")
	var pid int
	var born string
	spec := sh("touch ran; echo $PPID; exec sleep 600")
	spec.Dir = dir
	spec.Registered = func(p int) error {
		pid, born = p, startTime(t, p)
		if _, err := os.Stat(mark); err == nil {
			t.Error("the program ran before it was registered")
		}
		return nil
	}
	var later string
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	spec.Stdout = writerFunc(func(p []byte) (int, error) {
		later = startTime(t, pid)
		cancel()
		return out.Write(p)
	})
	if res, err := Run(ctx, spec); !errors.Is(err, context.Canceled) {
		t.Fatalf("%+v, %v", res, err)
	}
	if got := strings.TrimSpace(out.String()); got != strconv.Itoa(pid) {
		t.Errorf("the command runs below %s, registered was %d", got, pid)
	}
	if born != later {
		t.Errorf("start time %s became %s", born, later)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error(err)
	}
}

func TestRegisteredRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	no := errors.New("no")
	spec := sh("touch ran")
	spec.Dir = dir
	var pid int
	spec.Registered = func(p int) error { pid = p; return no }
	res, err := Run(t.Context(), spec)
	if !errors.Is(err, no) || res.ExitCode != -1 {
		t.Errorf("%+v, %v", res, err)
	}
	if err := unix.Kill(pid, 0); !errors.Is(err, unix.ESRCH) {
		t.Errorf("process %d is there: %v", pid, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("the program ran")
	}
}

// All that Run promises holds for a supervised command too.
func TestSupervisedIsLikeAlone(t *testing.T) {
	t.Parallel()
	extra := func(t *testing.T, s Spec) Spec {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close(); w.Close() })
		s.Extra = w
		return s
	}
	tests := []struct {
		name string
		spec Spec
		want Result
	}{
		{"exit code", sh("echo no; exit 7"), Result{ExitCode: 7, Output: []byte("no\n")}},
		{"signal", sh("kill -USR1 $$"), Result{ExitCode: -1, Signal: "SIGUSR1"}},
		{"input", Spec{Argv: []string{"cat"}, Stdin: bytes.Repeat([]byte("p"), 30<<10)}, Result{Output: bytes.Repeat([]byte("p"), 30<<10)}},
		{"unread input", Spec{Argv: []string{"true"}, Stdin: bytes.Repeat([]byte("p"), 1<<20)}, Result{}},
		{"environment", Spec{Argv: []string{"/usr/bin/env"}, Env: []string{"A=1", "b-c=2", "B=x\ny"}}, Result{Output: []byte("A=1\nb-c=2\nB=x\ny\n")}},
		{"extra", extra(t, sh("echo x >&3 && echo y")), Result{Output: []byte("y\n")}},
		{"words as they are", Spec{Argv: []string{"printf", "%s|", "", "a b", "\xff\n", "{"}}, Result{Output: []byte("|a b|\xff\n|{|")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.spec.Registered = anyone
			got, err := Run(t.Context(), tt.spec)
			if err != nil {
				t.Fatal(err)
			}
			if got.ExitCode != tt.want.ExitCode || got.Signal != tt.want.Signal || got.TimedOut || !bytes.Equal(got.Output, tt.want.Output) {
				t.Errorf("got %+v (%.200q), want %+v", got, got.Output, tt.want)
			}
		})
	}
}

// No pipe of the supervisor reaches the command.
func TestSupervisedDescriptors(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("descriptors are read from /proc")
	}
	t.Parallel()
	var pipes []string
	spec := sh("ls -l /proc/self/fd")
	spec.Extra = os.Stderr
	spec.Registered = func(pid int) error {
		for _, fd := range []int{ordersFD, reportFD} {
			link, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
			pipes = append(pipes, link)
			if err != nil || !strings.HasPrefix(link, "pipe:") {
				t.Errorf("descriptor %d is %q, %v", fd, link, err)
			}
		}
		return nil
	}
	res, err := Run(t.Context(), spec)
	if err != nil || !res.OK() {
		t.Fatalf("%+v, %v", res, err)
	}
	for _, p := range pipes {
		if strings.Contains(string(res.Output), p) {
			t.Errorf("the command has the supervisor's %s:\n%s", p, res.Output)
		}
	}
}

func TestSupervisedCannotStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"closed": "#!/bin/sh\n", "garbage": "no program\n", "lost": "#!/no/such/interpreter\n"} {
		mode := os.FileMode(0o755)
		if name == "closed" {
			mode = 0o644
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		argv0 string
		want  error
	}{
		{"no-such-program-anywhere", exec.ErrNotFound},
		{"/no/such/program", os.ErrNotExist},
		{dir + "/closed", os.ErrPermission},
		{dir + "/garbage", syscall.ENOEXEC},
		{dir + "/lost", os.ErrNotExist},
		{dir, os.ErrPermission},
	} {
		res, err := Run(t.Context(), Spec{Argv: []string{tt.argv0}, Registered: anyone})
		if !errors.Is(err, tt.want) || res.ExitCode != -1 {
			t.Errorf("%s: %+v, %v; want %v", tt.argv0, res, err, tt.want)
		}
	}
}

// Whatever execve takes can be started.
func TestSupervisedLongArgv(t *testing.T) {
	t.Parallel()
	argv := []string{"sh", "-c", `echo $# "${#1}"`, "sh"}
	for range 12 {
		argv = append(argv, strings.Repeat("x", 128<<10-1))
	}
	res, err := Run(t.Context(), Spec{Argv: argv, Env: []string{"PATH=" + os.Getenv("PATH")}, Registered: anyone})
	if err != nil || string(res.Output) != fmt.Sprintln(12, 128<<10-1) {
		t.Fatalf("%q, %v", res.Output, err)
	}
}

// escapes are ways out of the process group.
var escapes = []struct{ name, script string }{
	{"background", `sleep 600 &`},
	{"session", `setsid sleep 600 &`},
	{"double fork", `(setsid sh -c 'sleep 600 & exit 0' &)`},
	{"clean environment", `(env -i /usr/bin/setsid /bin/sh -c '/bin/sleep 600 & exit 0' &)`},
	{"deaf", `setsid sh -c 'trap "" TERM HUP INT; sleep 600; sleep 600' &`},
	{"closed output", `setsid sleep 600 >/dev/null 2>&1 </dev/null &`},
	{"deep", `setsid sh -c 'setsid sh -c "setsid sleep 600 & sleep 600" & sleep 600' &`},
	{"stopped", `setsid sh -c 'kill -STOP $$; sleep 600' &`},
}

func TestNothingLivesAfterRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux gives a lost process a new parent of our choice")
	}
	t.Parallel()
	for _, e := range escapes {
		for _, how := range []string{"exit 0", "exit 3", "kill -KILL $$", "echo up; sleep 600"} {
			t.Run(e.name+", "+how, func(t *testing.T) {
				t.Parallel()
				alive := newLife(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				spec := sh(`exec 9>"$ALIVE"; echo here >&9; ` + e.script + "\n" + how)
				spec.Env = append(os.Environ(), "ALIVE="+alive.path)
				spec.Registered = anyone
				spec.Stdout = writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
				res, err := Run(ctx, spec)
				if ctx.Err() == nil && err != nil {
					t.Errorf("%+v, %v", res, err)
				}
				// No grace: whatever holds it now was alive when Run returned.
				if got, over := alive.now(t); !over || got != "here\n" {
					t.Errorf("something lives on: %q", got)
				}
			})
		}
	}
}

func TestTimeoutEndsWhatLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("see above")
	}
	t.Parallel()
	alive := newLife(t)
	spec := sh(`exec 9>"$ALIVE"; echo here >&9; setsid sleep 600 & exec sleep 600`)
	spec.Env = append(os.Environ(), "ALIVE="+alive.path)
	spec.Registered, spec.Timeout = anyone, 200*time.Millisecond
	res, err := Run(t.Context(), spec)
	if err != nil || !res.TimedOut || res.Signal != "SIGTERM" {
		t.Errorf("%+v, %v", res, err)
	}
	alive.over(t, 1)
}

// One run that ends leaves alone what another one has started, in its group or
// out of it.
func TestRunsLeaveEachOtherAlone(t *testing.T) {
	t.Parallel()
	alive := newLife(t)
	ctx, cancel := context.WithCancel(t.Context())
	up := make(chan struct{})
	var once sync.Once
	done := make(chan struct{})
	go func() {
		defer close(done)
		spec := sh(`exec 9>"$ALIVE"; (setsid sh -c 'echo here >&9; echo up; exec sleep 600' &); exec sleep 600`)
		spec.Env = append(os.Environ(), "ALIVE="+alive.path)
		spec.Registered = anyone
		spec.Stdout = writerFunc(func(p []byte) (int, error) { once.Do(func() { close(up) }); return len(p), nil })
		_, _ = Run(ctx, spec)
	}()
	<-up
	for range 3 {
		spec := sh(`(setsid sleep 600 &); exit 0`)
		spec.Registered = anyone
		if res, err := Run(t.Context(), spec); err != nil || !res.OK() {
			t.Errorf("%+v, %v", res, err)
		}
	}
	buf := make([]byte, 100)
	n, err := alive.r.Read(buf)
	if string(buf[:n]) != "here\n" || err != nil {
		t.Errorf("%q, %v", buf[:n], err)
	}
	alive.r.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := alive.r.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("another run ended it: %q, %v", buf[:n], err)
	}
	cancel()
	<-done
	if runtime.GOOS == "linux" {
		alive.over(t, 0)
	}
}

// A parent that ended before anybody looked has ended all the same.
func TestOutliveTheGone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a parent's end is followed on Linux only")
	}
	t.Parallel()
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() { outlive(gone.Process.Pid); close(over) }()
	select {
	case <-over:
	case <-time.After(20 * time.Second):
		t.Error("waits for a process that is gone")
	}
}

// The caller may be killed, and so may the supervisor: the command goes too.
func TestKilledAbove(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the supervisor's death is followed on Linux only")
	}
	t.Parallel()
	t.Run("caller", func(t *testing.T) {
		t.Parallel()
		alive := newLife(t)
		script := `exec 9>"$ALIVE"; setsid sleep 600 & echo here >&9; exec sleep 600`
		cmd := exec.Command(os.Args[0], "sh", "-c", script)
		cmd.Env = append(part("caller"), "ALIVE="+alive.path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		alive.r.SetReadDeadline(time.Now().Add(20 * time.Second))
		for { // nobody has opened it to write yet: that reads as its end
			if n, err := alive.r.Read(make([]byte, 5)); n == 5 {
				break
			} else if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		alive.over(t, 0)
	})
	t.Run("caller, whose pipe is held open", func(t *testing.T) {
		t.Parallel()
		alive := newLife(t)
		script := `exec 9>"$ALIVE"; exec 8<>/proc/$PPID/fd/3; while read -r k v; do [ "$k" = PPid: ] && kill -KILL $v; done < /proc/$PPID/status
			echo here >&9; exec sleep 600`
		cmd := exec.Command(os.Args[0], "sh", "-c", script)
		cmd.Env = append(part("caller"), "ALIVE="+alive.path)
		if err := cmd.Run(); err == nil {
			t.Error("the caller lives")
		}
		alive.over(t, -1)
	})
	t.Run("supervisor", func(t *testing.T) {
		t.Parallel()
		alive := newLife(t)
		var pid int
		spec := sh(`exec 9>"$ALIVE"; echo here >&9; echo up; exec sleep 600`)
		spec.Env = append(os.Environ(), "ALIVE="+alive.path)
		spec.Registered = func(p int) error { pid = p; return nil }
		spec.Stdout = writerFunc(func(p []byte) (int, error) { return len(p), unix.Kill(pid, unix.SIGKILL) })
		res, err := Run(t.Context(), spec)
		if err == nil || !strings.Contains(err.Error(), "supervisor") || res.OK() {
			t.Errorf("%+v, %v", res, err)
		}
		alive.over(t, 1)
	})
	t.Run("supervisor, by what has left the group", func(t *testing.T) {
		t.Parallel()
		alive := newLife(t)
		spec := sh(`exec 9>"$ALIVE"; echo here >&9; export P=$PPID
			(env -i P=$P /usr/bin/setsid /bin/sh -c '(/usr/bin/setsid /bin/sleep 600 &); kill -KILL $P; exec /bin/sleep 600' &)
			exec sleep 600`)
		spec.Env = append(os.Environ(), "ALIVE="+alive.path)
		spec.Registered = anyone
		res, err := Run(t.Context(), spec)
		if err == nil || res.OK() {
			t.Errorf("%+v, %v", res, err)
		}
		if got, over := alive.now(t); !over || got != "here\n" {
			t.Errorf("something lives on: %q", got)
		}
	})
	// What the command, or what it leaves, may do to the supervisor's pipe and to
	// the supervisor. None of it is believed, and nothing lives when Run returns.
	for name, do := range map[string]string{
		"says that all is over":       `printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0o\0\0\0\0' > /proc/$P/fd/4; kill -KILL $P`,
		"says that something is left": `printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0l\0\0\0\0' > /proc/$P/fd/4; kill -KILL $P`,
		"says so and waits":           `printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0l\0\0\0\0' > /proc/$P/fd/4`,
		"says a bit":                  `printf 'o' > /proc/$P/fd/4; kill -KILL $P`,
		"holds the pipe":              `exec 8>/proc/$P/fd/4; kill -KILL $P`,
	} {
		t.Run("supervisor, by one that "+name, func(t *testing.T) {
			t.Parallel()
			alive := newLife(t)
			spec := sh(`exec 9>"$ALIVE"; echo here >&9; export P=$PPID
				/usr/bin/setsid /bin/sh -c "$DO; exec /bin/sleep 600" &
				exec sleep 600`)
			spec.Env = append(os.Environ(), "ALIVE="+alive.path, "DO="+do)
			spec.Registered = anyone
			res, err := Run(t.Context(), spec)
			if err == nil || res.OK() {
				t.Errorf("%+v, %v", res, err)
			}
			if got, over := alive.now(t); !over || got != "here\n" {
				t.Errorf("something lives on: %q", got)
			}
		})
	}
	t.Run("supervisor, with a report before its first", func(t *testing.T) {
		t.Parallel()
		alive := newLife(t)
		spec := sh(`exec 9>"$ALIVE"; echo here >&9; exec sleep 600`)
		spec.Env = append(os.Environ(), "ALIVE="+alive.path)
		spec.Registered = func(p int) error {
			return os.WriteFile(fmt.Sprintf("/proc/%d/fd/%d", p, reportFD), append(make([]byte, 16), over, 0, 0, 0, 0), 0)
		}
		res, err := Run(t.Context(), spec)
		if err == nil || !strings.Contains(err.Error(), "in its name") || res.OK() {
			t.Errorf("%+v, %v", res, err)
		}
		if got, over := alive.now(t); !over {
			t.Errorf("something lives on: %q", got)
		}
	})
	t.Run("supervisor asked", func(t *testing.T) {
		t.Parallel()
		var pid int
		spec := sh(`trap 'exit 4' TERM; echo up; while :; do sleep 0.01; done`)
		spec.Registered = func(p int) error { pid = p; return nil }
		spec.Stdout = writerFunc(func(p []byte) (int, error) { return len(p), unix.Kill(pid, unix.SIGTERM) })
		res, err := Run(t.Context(), spec)
		if err != nil || res.ExitCode != 4 {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// Processes that are never the same for long are found all the same: each forks
// into a new session and ends, dozens at a time.
func TestNoneGetsAway(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing is adopted elsewhere")
	}
	t.Parallel()
	alive := newLife(t)
	spec := sh(`exec 9>"$ALIVE"; echo here >&9
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do "$CHAIN" & done
		read x`)
	chain := filepath.Join(t.TempDir(), "chain")
	err := os.WriteFile(chain, []byte("#!/bin/sh\n[ ! -e \"$ALIVE\" ] || /usr/bin/setsid \"$0\" &\n"), 0o700)
	if err != nil {
		t.Fatal(err)
	}
	spec.Env = append(os.Environ(), "ALIVE="+alive.path, "CHAIN="+chain)
	spec.Registered, spec.HoldStdin, spec.Timeout = anyone, true, time.Second
	if res, err := Run(t.Context(), spec); err != nil || !res.TimedOut {
		t.Errorf("%+v, %v", res, err)
	}
	if got, over := alive.now(t); !over || got != "here\n" {
		t.Errorf("something lives on: %q", got)
	}
}

// Many runs at once each get their own, and leave nothing.
func TestManyRunsAtOnce(t *testing.T) {
	t.Parallel()
	alive := newLife(t)
	var wg sync.WaitGroup
	const runs = 50
	for i := range runs {
		wg.Go(func() {
			spec := sh(`exec 9>"$ALIVE"; (setsid sleep 600 &); cat; exit $CODE`)
			spec.Env = append(os.Environ(), "ALIVE="+alive.path, fmt.Sprint("CODE=", i))
			spec.Stdin = []byte(strings.Repeat(fmt.Sprintln(i), 1000))
			spec.Registered = anyone
			res, err := Run(t.Context(), spec)
			if err != nil || res.ExitCode != i || !bytes.Equal(res.Output, spec.Stdin) {
				t.Errorf("%d: exit code %d, %d bytes, %v", i, res.ExitCode, len(res.Output), err)
			}
		})
	}
	wg.Wait()
	if said, over := alive.now(t); runtime.GOOS == "linux" && (!over || said != "") {
		t.Errorf("something lives on: %q", said)
	}
}

func FuzzReadOrders(f *testing.F) {
	f.Add(orders{newPass(), newPass(), 1, "/bin/true", []string{"true", "", "a b"}}.encode())
	f.Add([]byte{4, 0, 0, 0, 0, 'a', 0, 'b'})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 4 && (b[2] > 0 || b[3] > 0) {
			t.Skip("only its own starter writes them: the length is trusted")
		}
		o, err := readOrders(bytes.NewReader(b))
		if err == nil && len(o.argv) == 0 {
			t.Errorf("%+v", o)
		}
		if err == nil {
			again, err := readOrders(bytes.NewReader(o.encode()))
			if err != nil || !reflect.DeepEqual(again, o) {
				t.Errorf("%+v, %v, want %+v", again, err, o)
			}
		}
	})
}

func BenchmarkRun(b *testing.B) {
	for name, registered := range map[string]func(int) error{"alone": nil, "supervised": anyone} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if _, err := Run(b.Context(), Spec{Argv: []string{"/bin/true"}, Registered: registered}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func startTime(t *testing.T, pid int) string {
	t.Helper()
	out, err := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil || len(out) == 0 {
		t.Errorf("ps: %q, %v", out, err)
	}
	return string(out)
}
