package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"satelle/internal/engine"
	"satelle/internal/fault"
	"satelle/internal/nearest"
)

// What people see of an error stands here, and nowhere else:
//
//	satelle: what failed: why
//	try: the command that leads on
//
// The exit code is the error's class (package fault). A refusal of the
// command line itself is 2.

// app is what every command shares: the streams and how to open the engine.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	tty            bool
	json           bool
	// ran says that the command line was understood and a command started.
	ran bool
}

func (a *app) execute(ctx context.Context, args []string) int {
	root := newRootCmd(a)
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetIn(a.stdin)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if !a.ran && fault.Code(err) == 1 {
		err = fault.Try(fault.Wrap(err, fault.Usage, "reading the command line"), "satelle help")
	}
	err = sandboxed(err, args)
	// What it quotes may have lines of its own; none of them passes for a try.
	fmt.Fprintf(a.stderr, "satelle: %s\n", strings.ReplaceAll(printable(err.Error()), "\n", "\n  "))
	if try := fault.TryOf(err); try != "" {
		fmt.Fprintf(a.stderr, "try: %s\n", inLine(try))
	}
	return fault.Code(err)
}

func newRootCmd(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "satelle",
		Short: "Govern what coding agents change",
		Long: `Satelle governs what coding agents change in a repository. No edit goes through
without a story that holds the seat of the work tree; no story moves without the
gates of its route; everything is kept in a ledger whose rewriting shows.`,
		Example: `  satelle init                     # once in a repository
  satelle agents install all       # blocking hooks for Claude, Grok and Codex
  satelle story start --title "Fix the login" --ac "A test shows it"`,
		Version:           version,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args: func(root *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noCommand(root, args[0], "satelle help")
			}
			return nil
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.mayUse(verbOf(cmd)) },
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON: one object, or one a line for a list")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fault.Try(fault.Wrap(err, fault.Usage, "reading the flags"), cmd.CommandPath()+" --help")
	})
	root.AddGroup(
		&cobra.Group{ID: "work", Title: "Work:"},
		&cobra.Group{ID: "proof", Title: "Proof:"},
		&cobra.Group{ID: "setup", Title: "Setup:"},
		&cobra.Group{ID: "person", Title: "A person's:"},
	)
	group := func(id string, cmds ...*cobra.Command) {
		for _, c := range cmds {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	group("work", newStoryCmd(a), newStatusCmd(a), newAppealCmd(a))
	group("proof", newLedgerCmd(a), newAuditCmd(a))
	group("setup", newInitCmd(a), newDoctorCmd(a), newAgentsCmd(a), newAgentCmd(a), newWorkflowCmd(a))
	group("person", newApproveCmd(a), newTrustCmd(a), newHaltCmd(a), newResumeCmd(a))
	root.AddCommand(newHookCmd(a), newJudgeCmd(a), newMigrateCmd(a), newGitHookCmd(a), newVersionCmd(a))
	root.SetHelpCommand(newHelpCmd(root))
	return root
}

// verbOf is a command as the rules call it: its path below satelle, of those that
// complete and that only cobra knows the first word.
func verbOf(cmd *cobra.Command) string {
	_, verb, _ := strings.Cut(cmd.CommandPath(), " ")
	if first, _, _ := strings.Cut(verb, " "); first == "completion" || strings.HasPrefix(first, cobra.ShellCompRequestCmd) {
		return "completion"
	}
	return verb
}

// mayUse refuses a verb to the agents that satelle has started, as far as it is
// not theirs.
func (a *app) mayUse(verb string) error {
	dir, err := os.Getwd()
	if err != nil {
		dir = "/" // the verb will say so, to whom it may answer
	}
	err = engine.MayUse(dir, verb)
	a.ran = a.ran || err != nil // the command line was understood
	return err
}

// run makes the RunE of a command: it marks the command line as understood.
func (a *app) run(fn func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.ran = true
		return fn(cmd.Context(), args)
	}
}

// engine opens the repository of the current directory.
func (a *app) engine(ctx context.Context) (*engine.Engine, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fault.Wrap(err, nil, "finding the current directory")
	}
	return engine.Open(ctx, dir)
}

// exit texts of the EXIT STATUS section, by code (contract §3).
var exits = map[int]string{
	0: "done",
	1: "failed",
	2: "wrong usage",
	3: "refused by a gate, the route, a lease or authority",
	4: "not found",
	5: "busy, try again",
	6: "the ledger's integrity does not hold",
}

// long puts a command's description and its exit statuses together.
func long(text string, codes ...int) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(text))
	b.WriteString("\n\nEXIT STATUS\n")
	for _, c := range append([]int{0, 1, 2}, codes...) {
		fmt.Fprintf(&b, "  %d  %s\n", c, exits[c])
	}
	return strings.TrimRight(b.String(), "\n")
}

// exactly and none are cobra's argument rules with errors of our class.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return fault.Try(fault.New(fault.Usage, "`%s` takes %s, not %d arguments", cmd.CommandPath(), strings.Join(names, " "), len(args)),
			cmd.CommandPath()+" --help")
	}
}

func none() cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if cmd.HasSubCommands() {
			return noCommand(cmd, args[0], cmd.CommandPath()+" --help")
		}
		return fault.Try(fault.New(fault.Usage, "`%s` takes no argument, not %q", cmd.CommandPath(), args[0]), cmd.CommandPath()+" --help")
	}
}

// noCommand refuses a command that does not exist, and leads to the one that was
// probably meant.
func noCommand(parent *cobra.Command, name, elsewhere string) error {
	var known []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	if same := synonyms[name]; slices.Contains(known, same) {
		elsewhere = parent.CommandPath() + " " + same + " --help"
	} else if near, edits := nearest.Word(name, known); edits <= maxTypos {
		elsewhere = parent.CommandPath() + " " + near + " --help"
	}
	return fault.Try(fault.New(fault.Usage, "there is no command `%s %s`", parent.CommandPath(), printable(name)), elsewhere)
}

// synonyms are the words of git, gh and kubectl for verbs that are called otherwise
// here.
var synonyms = map[string]string{
	"show": "get", "view": "get", "describe": "get", "ls": "list", "new": "create", "add": "create", "log": "list", "move": "set", "test": "run", "check": "validate",
}

// maxTypos is how many edits a mistyped command may be away from one that is
// named instead.
const maxTypos = 2

// parent makes a command that only groups others.
func parent(use, short, long, example string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: none(),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
