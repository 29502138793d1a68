package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"satelle/internal/proc"
)

const (
	// timeout bounds one git child. Reading a very large tree for the first time
	// takes minutes; nothing takes longer.
	timeout = 5 * time.Minute
	// maxOutput bounds what is read from one: a million paths fit.
	maxOutput = 512 << 20
)

// quiet is configuration that runs nothing and believes nothing it can check,
// whatever the repository says.
var quiet = []string{
	"--no-pager",
	"-c", "core.hooksPath=/dev/null",
	"-c", "core.fsmonitor=false",
	"-c", "core.untrackedCache=false",
	"-c", "core.splitIndex=false",
	"-c", "core.ignoreStat=false",
	"-c", "core.quotePath=false",
	"-c", "core.safecrlf=false",
}

// environ is the caller's environment without what steers git, and with what
// keeps it to itself.
func environ(extra ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "LC_") && name != "LANG" && name != "LANGUAGE" {
			env = append(env, v)
		}
	}
	env = append(env,
		"LC_ALL=C", // messages are told apart below
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none",
	)
	return append(env, extra...)
}

// call is one run of git.
type call struct {
	dir   string
	env   []string // beside environ
	conf  []string // before the command; nil is quiet
	stdin []byte
	limit int       // keep so many bytes of the output and end git there; 0: all
	out   io.Writer // takes the output instead
}

// exitError is git's refusal.
type exitError struct {
	command string
	code    int
	message string
}

func (e *exitError) Error() string {
	return fmt.Sprintf("git %s: exit code %d: %s", e.command, e.code, e.message)
}

// said reports whether err is git's refusal with this in its message.
func said(err error, text string) bool {
	var e *exitError
	return errors.As(err, &e) && strings.Contains(e.message, text)
}

// exited reports whether err is git's refusal with this code and no message:
// how commands that ask a question say no.
func exited(err error, code int) bool {
	var e *exitError
	return errors.As(err, &e) && e.code == code && e.message == ""
}

// git runs git and returns its standard output and what it said beside it.
func (c call) git(ctx context.Context, args ...string) (out []byte, beside string, err error) {
	conf := c.conf
	if conf == nil {
		conf = quiet
	}
	limit := c.limit
	if limit == 0 {
		limit = maxOutput
	}
	keep := &head{limit: limit}
	var to io.Writer = keep
	if c.out != nil {
		to = c.out
	}
	argv := append(append([]string{"git"}, conf...), args...)
	res, err := proc.Run(ctx, proc.Spec{
		Argv: argv, Dir: c.dir, Env: environ(c.env...), Stdin: c.stdin, Timeout: timeout, Stdout: to,
	})
	beside = strings.TrimSpace(string(res.Output))
	switch {
	case errors.Is(err, errFull) && c.limit > 0:
		return keep.buf.Bytes(), beside, errFull
	case err != nil:
		return nil, beside, fmt.Errorf("git %s: %w", args[0], err)
	case res.TimedOut:
		return nil, beside, fmt.Errorf("git %s: no answer within %v", args[0], timeout)
	case !res.OK():
		message := beside
		if res.Signal != "" {
			message = "ended by " + res.Signal
		}
		return nil, beside, &exitError{args[0], res.ExitCode, message}
	}
	return keep.buf.Bytes(), beside, nil
}

// errFull ends a git whose output nobody needs any more of.
var errFull = errors.New("the output is larger than wanted")

// head keeps the first bytes written to it and refuses the rest.
type head struct {
	buf   bytes.Buffer
	limit int
}

func (h *head) Write(p []byte) (int, error) {
	if room := h.limit - h.buf.Len(); len(p) > room {
		h.buf.Write(p[:room])
		return room, errFull
	}
	return h.buf.Write(p)
}

// records takes NUL-terminated output apart.
func records(out []byte) []string {
	s := strings.TrimSuffix(string(out), "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}
