//go:build differ && linux

package shell

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// The sandbox: this very test program runs inside of bubblewrap as the first
// process of its own namespaces, takes commands on standard input, runs each,
// and answers what it changed. Nothing but a temporary file system can be
// written there, and there is no network but its own loopback.
const (
	boxHome = "/home/u"
	boxRepo = boxHome + "/repo"
	boxTime = time.Second            // for a command
	boxRest = 150 * time.Millisecond // for what it leaves in the background
	boxVar  = "SATELLE_DIFFER_BOX"
)

func boxEnv() []string {
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + boxHome, "USER=u", "LOGNAME=u",
		"SHELL=/bin/bash", "LANG=C.UTF-8", "TERM=dumb", "PWD=" + boxRepo, "OLDPWD=" + boxHome, "SHLVL=1",
	}
}

type boxRequest struct {
	Fixture string   `json:",omitempty"` // a script that builds the fixture, once
	Argv    []string `json:",omitempty"`
	Print   bool     `json:",omitempty"` // its output is wanted
}

type boxReply struct {
	Changes []string          `json:",omitempty"`
	Exit    int               `json:",omitempty"`
	Late    bool              `json:",omitempty"` // it took too long
	Killed  bool              `json:",omitempty"` // it, or what it left in the background, was ended
	Output  string            `json:",omitempty"`
	Fatal   string            `json:",omitempty"` // the sandbox is of no more use
	Dashed  map[string]bool   `json:",omitempty"` // folders with a name that begins with a dash
	Dirs    map[string]string `json:",omitempty"` // of the fixture: folders, and links with where they lead
}

// box is a running sandbox, seen from outside.
type box struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *json.Decoder
	dirs   map[string]string
	dashed map[string]bool
}

func openBox(fixture string) (*box, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("bwrap", "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000", "--die-with-parent", "--new-session", "--as-pid-1",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
		"--size", "67108864", "--tmpfs", "/tmp", "--size", "67108864", "--tmpfs", "/home", "--tmpfs", "/root", "--tmpfs", "/run",
		"--dir", boxHome, "--ro-bind", self, "/run/differ", "--remount-ro", "/run", "--chdir", boxHome,
		"--cap-drop", "ALL", "--clearenv", "--setenv", boxVar, "1", "--", "/run/differ")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("bubblewrap can't be run: %w", err)
	}
	b := &box{cmd: cmd, in: in, out: json.NewDecoder(out)}
	reply, err := b.ask(boxRequest{Fixture: fixture}, time.Minute)
	if err != nil {
		b.close()
		return nil, fmt.Errorf("no sandbox: %w: %s", err, stderr.Bytes())
	}
	b.dirs, b.dashed = reply.Dirs, reply.Dashed
	return b, nil
}

func (b *box) close() {
	_ = b.in.Close()
	_ = b.cmd.Process.Kill()
	_ = b.cmd.Wait()
}

func (b *box) ask(request boxRequest, limit time.Duration) (boxReply, error) {
	var reply boxReply
	late := time.AfterFunc(limit, func() { _ = b.cmd.Process.Kill() })
	defer late.Stop()
	if err := json.NewEncoder(b.in).Encode(request); err != nil {
		return reply, err
	}
	if err := b.out.Decode(&reply); err != nil {
		return reply, err
	}
	if reply.Fatal != "" {
		return reply, errors.New(reply.Fatal)
	}
	return reply, nil
}

func init() {
	if os.Getenv(boxVar) == "" {
		return
	}
	if os.Getpid() != 1 { // what ends processes below must never run anywhere else
		fmt.Fprintln(os.Stderr, "not the first process of a sandbox")
		os.Exit(1)
	}
	if err := serveBox(); err != nil {
		_ = json.NewEncoder(os.Stdout).Encode(boxReply{Fatal: err.Error()})
		os.Exit(1)
	}
	os.Exit(0)
}

// serveBox is the sandbox, seen from inside.
func serveBox() error {
	listener, err := net.Listen("tcp", "127.0.0.1:8080")
	if err != nil {
		return err
	}
	go func() {
		_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Disposition", `attachment; filename="fetched"`)
			http.SetCookie(w, &http.Cookie{Name: "k", Value: "v"})
			fmt.Fprintln(w, "fetched")
		}))
	}()
	if err := limit(syscall.RLIMIT_FSIZE, 4<<20); err != nil {
		return err
	}
	out, err := newDrain()
	if err != nil {
		return err
	}
	requests, replies := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	var base *tree
	for {
		var request boxRequest
		if err := requests.Decode(&request); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var reply boxReply
		if request.Fixture != "" {
			if reply = out.run([]string{"/bin/bash", "-c", request.Fixture}, true); reply.Exit != 0 {
				return fmt.Errorf("the fixture: %s", reply.Output)
			}
			base = newTree("/home")
			reply = boxReply{Dirs: map[string]string{}, Dashed: map[string]bool{}}
			for path, n := range base.nodes {
				if strings.HasPrefix(filepath.Base(path), "-") {
					reply.Dashed[filepath.Dir(path)] = true
				}
				switch n.mode & syscall.S_IFMT {
				case syscall.S_IFDIR:
					reply.Dirs[path] = ""
				case syscall.S_IFLNK:
					reply.Dirs[path] = n.data
				}
			}
		} else {
			start := time.Now()
			reply = out.run(request.Argv, request.Print)
			var touched bool
			if reply.Changes, touched = base.changes(start); touched {
				err := base.restore()
				if left, _ := base.changes(start); err != nil || len(left) > 0 {
					reply.Fatal = fmt.Sprintf("not put back: %v %v", err, left)
				}
			}
			clearTemp()
		}
		if err := replies.Encode(reply); err != nil {
			return err
		}
	}
}

func clearTemp() {
	for _, dir := range [...]string{"/tmp", "/dev/shm"} {
		_ = os.Chmod(dir, 0o777)
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if d != nil && d.IsDir() {
				_ = os.Chmod(path, 0o777)
			}
			return nil
		})
		names, _ := os.ReadDir(dir)
		for _, name := range names {
			_ = os.RemoveAll(dir + "/" + name.Name())
		}
	}
}

// drain is where the output of commands goes: a pipe, since some programs do
// nothing when they see that it is thrown away.
type drain struct {
	null, w *os.File
	text    chan string
	mark    string
}

func newDrain() (*drain, error) {
	null, err := os.Open("/dev/null")
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s := &drain{null: null, w: w, text: make(chan string), mark: "\x00end of output\x00"}
	go func() {
		var kept bytes.Buffer
		b := make([]byte, 64<<10)
		for {
			n, err := r.Read(b)
			if err != nil {
				return
			}
			kept.Write(b[:n])
			if bytes.HasSuffix(kept.Bytes(), []byte(s.mark)) {
				s.text <- strings.TrimSuffix(kept.String(), s.mark)
				kept.Reset()
			} else if kept.Len() > 1<<20 {
				kept.Next(kept.Len() - 100)
			}
		}
	}()
	return s, nil
}

// run runs a program until nothing of it is left.
func (s *drain) run(argv []string, print bool) boxReply {
	var reply boxReply
	unlimit := limitMemory()
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Dir: workDir(), Env: boxEnv(), Files: []uintptr{s.null.Fd(), s.w.Fd(), s.w.Fd()}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	unlimit()
	if err != nil {
		reply.Exit = 127
		reply.Output = err.Error()
		return reply
	}
	patience := boxTime
	if print {
		patience = 30 * time.Second
	}
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() { // the only one that waits, so that no status is lost
		defer close(ended)
		for main := true; ; {
			var status syscall.WaitStatus
			got, err := syscall.Wait4(-1, &status, 0, nil)
			switch {
			case errors.Is(err, syscall.EINTR):
			case err != nil:
				if main {
					close(done)
				}
				return
			case got == pid && main:
				main = false
				if reply.Exit = status.ExitStatus(); status.Signaled() {
					reply.Exit = 128 + int(status.Signal())
				}
				close(done)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(patience):
		reply.Late, reply.Killed = true, true
		killAll()
		<-done
	}
	for rest := boxRest; ; rest = time.Millisecond {
		select {
		case <-ended:
			if _, err := s.w.WriteString(s.mark); err != nil {
				reply.Fatal = err.Error()
				return reply
			}
			if text := <-s.text; print {
				reply.Output = text
			}
			return reply
		case <-time.After(rest):
			reply.Killed = true
			killAll()
		}
	}
}

func workDir() string {
	if _, err := os.Stat(boxRepo); err == nil {
		return boxRepo
	}
	return boxHome
}

// killAll ends every process of the sandbox, of which this is the first one.
func killAll() {
	names, _ := os.ReadDir("/proc")
	for _, name := range names {
		if pid, err := strconv.Atoi(name.Name()); err == nil && pid > 1 && os.Getpid() == 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func limit(resource int, to uint64) error {
	r := syscall.Rlimit{Cur: to, Max: to}
	return prlimit(resource, &r, nil)
}

// limitMemory lowers the limit that a new process inherits, until the returned
// function is called.
func limitMemory() func() {
	var was syscall.Rlimit
	_ = prlimit(syscall.RLIMIT_AS, nil, &was)
	now := was
	now.Cur = 3 << 30
	_ = prlimit(syscall.RLIMIT_AS, &now, nil)
	return func() { _ = prlimit(syscall.RLIMIT_AS, &was, nil) }
}

// prlimit is the system call: Go's own would undo the limit of open files.
func prlimit(resource int, to, was *syscall.Rlimit) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, uintptr(resource), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(was)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
