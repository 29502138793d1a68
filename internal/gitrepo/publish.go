package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"satelle/internal/fault"
)

const (
	// pushTimeout bounds one exchange with a remote.
	pushTimeout = 5 * time.Minute
	// maxSaid bounds what is kept of what git says meanwhile.
	maxSaid = 16 << 10
)

// How an exchange with a remote failed, if it did.
var (
	// ErrDiverged: the remote's ref does not lead to ours.
	ErrDiverged = errors.New("the remote has something else there")
	// ErrDeclined: the remote takes no such ref.
	ErrDeclined = errors.New("the remote declines the ref")
	// ErrUnreachable: the remote gave no answer.
	ErrUnreachable = errors.New("the remote cannot be reached")
)

// Write makes a commit on a ref: the files of the parent, but for those that
// are given. The ref must be at the parent, or not be there if that is "".
func (r *Repo) Write(ctx context.Context, ref, parent, message string, at time.Time, files []File) error {
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit %s\ncommitter satelle <> %d +0000\ndata %d\n%s\n", ref, at.Unix(), len(message), message)
	if parent != "" {
		fmt.Fprintf(&in, "from %s\n", parent)
	}
	for _, f := range files {
		if strings.ContainsAny(f.Path, "\"\n ") {
			return fault.New(nil, "%q is no path to write to", f.Path)
		}
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n", f.Path, len(f.Data))
		in.Write(f.Data)
		in.WriteByte('\n')
	}
	in.WriteString("done\n")
	c := r.here()
	c.stdin = in.Bytes()
	_, _, err := c.git(ctx, "fast-import", "--quiet", "--done", "--date-format=raw")
	return fault.Wrap(err, nil, "writing %s", ref)
}

// Push pushes one ref of this repository to the same ref of a remote, forwards
// only, and asks no hook. It runs as the person's own git would: with their
// configuration, their credentials and their terminal. Errors are of the three
// kinds above, with what git said.
func (r *Repo) Push(ctx context.Context, remote, ref string) error {
	said, err := r.exchange(ctx, "push", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--porcelain", "--", remote, ref+":"+ref)
	switch {
	case err == nil:
		return nil
	case strings.Contains(said, "[remote rejected]"):
		return fault.Wrap(ErrDeclined, nil, "%s", lastLine(said, "[remote rejected]"))
	case strings.Contains(said, "[rejected]"):
		return ErrDiverged
	}
	return fault.Wrap(ErrUnreachable, nil, "%s", lastLine(said, ""))
}

// Fetch fetches one ref of a remote to a ref of this repository, whatever that
// was before; absent says that the remote has none.
func (r *Repo) Fetch(ctx context.Context, remote, from, to string) (absent bool, err error) {
	said, err := r.exchange(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--", remote, "+"+from+":"+to)
	switch {
	case err == nil:
		return false, nil
	case strings.Contains(said, "couldn't find remote ref"):
		return true, nil
	}
	return false, fault.Wrap(ErrUnreachable, nil, "%s", lastLine(said, ""))
}

// Forget deletes a ref, if it is there.
func (r *Repo) Forget(ctx context.Context, ref string) error {
	_, err := r.ask(ctx, "update-ref", "-d", ref)
	return fault.Wrap(err, nil, "deleting %s", ref)
}

// exchange runs git against a remote, in the process group of the caller: ssh
// may ask for a passphrase.
func (r *Repo) exchange(ctx context.Context, args ...string) (said string, err error) {
	ctx, stop := context.WithTimeout(ctx, pushTimeout)
	defer stop()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.top
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "LC_ALL":
		default:
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C") // what git says is told apart
	keep := &head{limit: maxSaid}
	cmd.Stdout, cmd.Stderr = lossy{keep}, lossy{keep}
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	return keep.buf.String(), err
}

// lossy drops what there is no room for.
type lossy struct{ h *head }

func (l lossy) Write(p []byte) (int, error) {
	_, _ = l.h.Write(p)
	return len(p), nil
}

// lastLine is the last line of a text that holds something, for people.
func lastLine(text, holds string) string {
	last := "git said nothing"
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line != "Done" && strings.Contains(line, holds) {
			last = strings.ReplaceAll(line, "\t", " ")
		}
	}
	return last
}

// Point makes a ref name a commit that is there.
func (r *Repo) Point(ctx context.Context, ref, commit string) error {
	_, err := r.ask(ctx, "update-ref", ref, commit)
	return fault.Wrap(err, nil, "setting %s", ref)
}
