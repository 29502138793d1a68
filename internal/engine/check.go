package engine

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"satelle/internal/fault"
	"satelle/internal/place"
	"satelle/internal/proc"
	"satelle/workflow"
)

// checker runs functional checks in the work tree.
type checker struct {
	e        *Engine
	progress io.Writer
}

const (
	// checkOutput is how much of a check's output is kept, the end of it.
	checkOutput = 64 << 10
	// checkNotes is how much of it a verdict quotes.
	checkNotes = 4 << 10
)

// Check implements [workflow.Checker]: the check runs under sh in the work
// tree with the payload on stdin, and exit code 0 accepts. (Contract §2.)
func (c checker) Check(ctx context.Context, q workflow.Question) (workflow.Verdict, error) {
	timeout := cmp.Or(q.Skill.Timeout, workflow.DefaultTimeout)
	if c.progress != nil {
		fmt.Fprintf(c.progress, "asking %s (at most %s)\n", q.Judge.Skill, timeout)
	}
	argv, filter, err := confine([]string{"sh", "-c", q.Skill.Check})
	if err != nil {
		return workflow.Verdict{}, err
	}
	if filter != nil {
		defer filter.Close()
	}
	res, err := proc.Run(ctx, proc.Spec{
		Argv: argv, Dir: c.e.repo.Top(), Env: unsteered(os.Environ()),
		Stdin: q.Payload, Extra: filter, Timeout: timeout, OutputCap: checkOutput,
		// Nothing of a check outlives it: it would change what was judged, and be
		// below nothing of satelle's any more.
		Registered: func(int) error { return nil },
	})
	if err != nil {
		return workflow.Verdict{}, fault.Wrap(err, nil, "running the check %s", q.Judge.Skill)
	}
	v := workflow.Verdict{Decision: workflow.Accept, Elapsed: res.Elapsed, Notes: tail(res.Output, checkNotes)}
	switch {
	case res.TimedOut:
		v.Decision = workflow.Reject
		v.Notes = fmt.Sprintf("it was stopped after %s\n%s", timeout, v.Notes)
	case !res.OK():
		v.Decision = workflow.Reject
		v.Notes = fmt.Sprintf("%s\n%s", ending(res), v.Notes)
	}
	if c.progress != nil {
		fmt.Fprintf(c.progress, "%s: %s after %s\n", q.Judge.Skill, v.Decision, res.Elapsed.Round(time.Millisecond))
	}
	return v, nil
}

func ending(res proc.Result) string {
	if res.Signal != "" {
		return "it was ended by " + res.Signal
	}
	return fmt.Sprintf("it exited with %d", res.ExitCode)
}

// steering are variables by which the caller of a gate, or a make or git that
// called it, could tell the programs of a check or a reviewer to do something else
// than is meant: `MAKEFLAGS=-n` makes every `make test` pass. A name that ends in
// `*` is a prefix. The list can't be complete, since a check needs a PATH and
// settings of the project; docs/threat-model.md says what that means.
var steering = []string{
	"MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "MAKELEVEL", "MAKEOVERRIDES",
	"BASH_ENV", "ENV", "BASHOPTS", "SHELLOPTS", "BASH_FUNC_*", "IFS", "CDPATH", "PS4", "PROMPT_COMMAND",
	"LD_*", "DYLD_*", "GCONV_PATH", "GLIBC_TUNABLES",
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_NAMESPACE", "GIT_PREFIX", "GIT_EXEC_PATH", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_*",
	"GIT_CONFIG_VALUE_*", "GIT_CONFIG_PARAMETERS", "GIT_CEILING_DIRECTORIES",
	"NODE_OPTIONS", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTEST_ADDOPTS", "PERL5OPT", "PERL5DB", "RUBYOPT", "MAVEN_OPTS",
	"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS",
	// Satelle's own: tokens are nothing for a script of the repository.
	"SATELLE_*",
}

// unsteered is an environment without [steering].
func unsteered(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name != place.HomeEnv && slices.ContainsFunc(steering, func(s string) bool {
			prefix, is := strings.CutSuffix(s, "*")
			return name == s || is && strings.HasPrefix(name, prefix)
		})
	})
}

// tail returns the last n bytes of b, cut at the start of a line if one is
// near, as valid text.
func tail(b []byte, n int) string {
	if len(b) > n {
		b = b[len(b)-n:]
		if i := strings.IndexByte(string(b), '\n'); i >= 0 && i < n/2 {
			b = b[i+1:]
		}
	}
	return strings.ToValidUTF8(strings.TrimSpace(string(b)), "�")
}
