package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"satelle/internal/engine"
	"satelle/internal/fault"
)

// maxHookInput bounds what git tells a hook on its standard input.
const maxHookInput = 64 << 20

// newGitHookCmd is what the hooks of satelle agents install git call, with the
// words and the input that git gave them.
func newGitHookCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "git-hook NAME [ARG]...",
		Hidden: true,
		Args:   cobra.MinimumNArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			dir, err := os.Getwd()
			if err != nil {
				return fault.Wrap(err, nil, "finding the current directory")
			}
			e, governed, err := engine.OpenCommit(ctx, dir, os.Getenv("GIT_DIR"))
			if err != nil || !governed {
				return err
			}
			return outside(a.gitHook(ctx, e, args[0], args[1:]), args[0])
		}),
	}
}

// outside tells a git that runs in a sandbox where else it has to run: its hook
// has to write where no agent may.
func outside(err error, hook string) error {
	kept := errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM)
	if !kept || fault.TryOf(err) != "" {
		return err
	}
	command := "git commit"
	if hook == "pre-push" {
		command = "git push"
	}
	return fault.Try(fault.Wrap(err, fault.Refused, "a sandbox keeps git's hook from satelle's folder: run git outside of it, or leave it to a person"), command)
}

func (a *app) gitHook(ctx context.Context, e *engine.Engine, name string, args []string) error {
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	index := os.Getenv("GIT_INDEX_FILE")
	in := io.LimitReader(a.stdin, maxHookInput)
	switch name {
	case "pre-commit":
		return e.MayCommit(ctx, index, false)
	case "pre-merge-commit":
		return e.MayCommit(ctx, index, true)
	case "prepare-commit-msg":
		return e.PrepareCommit(ctx, engine.PrepareOptions{File: arg(0), Source: arg(1), Index: index})
	case "commit-msg":
		return e.CheckMessage(ctx, arg(0))
	case "post-rewrite":
		return e.Rewrote(ctx, arg(0), in)
	case "pre-push":
		return e.PrePush(ctx, arg(0), in, shown{a.stderr})
	}
	return fault.New(fault.Usage, "git has no hook %q that satelle answers", strings.TrimSpace(name))
}

// shown writes foreign text as a terminal may have it.
type shown struct{ w io.Writer }

func (s shown) Write(p []byte) (int, error) {
	_, err := io.WriteString(s.w, printable(string(p)))
	return len(p), err
}
