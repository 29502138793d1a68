package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"satelle/hooks/install"
	"satelle/internal/engine"
	"satelle/internal/fault"
	"satelle/internal/gitrepo"
	"satelle/internal/place"
)

func newAgentsCmd(a *app) *cobra.Command {
	cmd := parent("agents", "Launchers and blocking hooks for the coding agents",
		"Installs what makes a coding agent ask satelle before each tool call: blocking\nhooks in its settings, the small engine that answers them, and launchers.",
		`  satelle agents install all
  satelle agents status`)
	cmd.AddCommand(newAgentsInstallCmd(a), newAgentsRemoveCmd(a), newAgentsStatusCmd(a))
	return cmd
}

// harnessArg is the one argument of the agents verbs.
const harnessArg = "claude|grok|codex|git|all"

func newAgentsInstallCmd(a *app) *cobra.Command {
	var opts install.Options
	cmd := &cobra.Command{
		Use:   "install " + harnessArg,
		Short: "Write blocking hooks and launchers",
		Long: long(`Writes satelle's hooks into the settings of the named coding agents, at the root of
this repository or, with --scope user, for all repositories. Everything else in
those files stays byte for byte. --trust also records your trust in the hooks
where an agent skips untrusted ones in silence (Codex, Grok).

git is asked for by name: its hooks record each commit with the story that holds
the seat, refuse one that no story answers for, and publish the log with each
push. A hook that is there is kept, and called by ours. Refused in an agent's
session.`, 3, 4),
		Example: `  satelle agents install all
  satelle agents install codex --trust
  satelle agents install git
  satelle agents install all --scope user --dry-run`,
		Args:      oneHarness,
		ValidArgs: []string{"claude", "grok", "codex", "git", "all"},
	}
	cmd.Flags().StringVar(&opts.Scope, "scope", install.Project, "project or user")
	offer(cmd, "scope", install.Project, install.User)
	cmd.Flags().BoolVar(&opts.Trust, "trust", false, "record trust in the hooks the documented way")
	cmd.Flags().StringVar(&opts.Uninstalled, "uninstalled", install.Deny, "what the hook answers where satelle is missing: deny or allow")
	offer(cmd, "uninstalled", install.Deny, install.Allow)
	cmd.Flags().BoolVar(&opts.DryRun, "dry-run", false, "print what would change, and change nothing")
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		return a.installed(ctx, "agents install", &opts, args, install.Install, install.InstallGit)
	})
	return cmd
}

func newAgentsRemoveCmd(a *app) *cobra.Command {
	var opts install.Options
	cmd := &cobra.Command{
		Use:   "remove " + harnessArg,
		Short: "Take the hooks and launchers away again",
		Long: long(`Removes satelle's own entries and launchers, and nothing else; files that only
satelle made are deleted. The launchers are the machine's: other repositories
lose them, too, until install is run again. Refused in an agent's session.`, 3, 4),
		Example:   `  satelle agents remove grok`,
		Args:      oneHarness,
		ValidArgs: []string{"claude", "grok", "codex", "git", "all"},
	}
	cmd.Flags().StringVar(&opts.Scope, "scope", install.Project, "project or user")
	offer(cmd, "scope", install.Project, install.User)
	cmd.Flags().BoolVar(&opts.DryRun, "dry-run", false, "print what would change, and change nothing")
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		return a.installed(ctx, "agents remove", &opts, args, install.Remove, install.RemoveGit)
	})
	return cmd
}

func oneHarness(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fault.Try(fault.New(fault.Usage, "`%s` takes one of %s", cmd.CommandPath(), harnessArg), cmd.CommandPath()+" all")
	}
	return nil
}

func (a *app) installed(ctx context.Context, verb string, opts *install.Options, args []string, do func(install.Options) (install.Report, error), git func(install.Git) (install.Report, error)) error {
	if err := a.locate(opts); err != nil {
		return err
	}
	if !opts.DryRun {
		if err := engine.OnlyPerson(opts.SatelleHome, opts.Repo, verb); err != nil {
			return err
		}
	}
	opts.Targets = args
	var rep install.Report
	var err error
	if args[0] == "git" {
		rep, err = a.installedGit(ctx, opts, git)
	} else {
		rep, err = do(*opts)
	}
	if err != nil {
		return err
	}
	return a.object(rep, func(w io.Writer) {
		for _, c := range rep.Changes {
			word := map[string]string{"create": "created", "update": "updated", "remove": "removed"}[c.Action]
			if opts.DryRun {
				word = "would " + c.Action
			}
			fmt.Fprintf(w, "%s %s\n", word, c.Path)
			if opts.DryRun && c.Diff != "" {
				fmt.Fprintf(w, "%s\n", indent(printable(c.Diff)))
			}
		}
		if len(rep.Changes) == 0 {
			fmt.Fprintln(w, "nothing to change")
		}
		for _, n := range rep.Notes {
			fmt.Fprintf(w, "note: %s\n", n)
		}
	})
}

// installedGit does with git's hooks what a command does with those of agents.
func (a *app) installedGit(ctx context.Context, opts *install.Options, do func(install.Git) (install.Report, error)) (install.Report, error) {
	if opts.Scope != install.Project {
		return install.Report{}, fault.Try(fault.New(fault.Usage, "git's hooks are those of the clone: there is no scope %q", opts.Scope), "satelle agents install git")
	}
	g, err := gitHooks(ctx, opts)
	if err != nil {
		return install.Report{}, err
	}
	return do(g)
}

func gitHooks(ctx context.Context, opts *install.Options) (install.Git, error) {
	repo, err := gitrepo.Open(ctx, opts.Repo)
	if err != nil {
		return install.Git{}, err
	}
	hooks, err := repo.HooksPath(ctx)
	return install.Git{
		SatelleHome: opts.SatelleHome, Program: opts.Program, Hooks: hooks, Top: repo.Top(), CommonDir: repo.CommonDir(),
		Uninstalled: opts.Uninstalled, DryRun: opts.DryRun,
	}, err
}

// locate fills in where things lie on this machine.
func (a *app) locate(opts *install.Options) error {
	var err error
	if opts.Home, err = os.UserHomeDir(); err != nil {
		return fault.Wrap(err, nil, "finding the home folder")
	}
	if opts.SatelleHome, err = place.HomeDir(); err != nil {
		return fault.Wrap(err, nil, "finding $SATELLE_HOME")
	}
	opts.CodexHome = os.Getenv("CODEX_HOME")
	if opts.Repo, err = os.Getwd(); err != nil {
		return fault.Wrap(err, nil, "finding the current directory")
	}
	program, err := os.Executable()
	if err != nil {
		return fault.Wrap(err, nil, "finding this program")
	}
	opts.Program, err = filepath.EvalSymlinks(program)
	return fault.Wrap(err, nil, "finding this program")
}

func newAgentsStatusCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show what is installed where",
		Long: long(`Shows for each coding agent and scope whether the hooks are installed and current,
and whether the agent trusts them, by their files. It is the quick look; the proof
is satelle doctor.`, 3, 4),
		Example: `  satelle agents status --json`,
		Args:    none(),
		RunE: a.run(func(ctx context.Context, _ []string) error {
			opts := install.Options{Targets: []string{"all"}}
			if err := a.locate(&opts); err != nil {
				return err
			}
			var lines [][]string
			print := func(s install.State) error {
				if a.json {
					return a.line(s)
				}
				lines = append(lines, []string{s.Harness, s.Scope, installedWord(s), trustedWord(s), s.File})
				return nil
			}
			for _, opts.Scope = range []string{install.Project, install.User} {
				states, err := install.Status(opts)
				if err != nil {
					return err
				}
				for _, s := range states {
					if err := print(s); err != nil {
						return err
					}
				}
			}
			g, err := gitHooks(ctx, &opts)
			if err != nil {
				return err
			}
			if err := print(install.StatusGit(g)); err != nil {
				return err
			}
			if a.json {
				return nil
			}
			return a.table([]string{"HARNESS", "SCOPE", "INSTALLED", "TRUSTED", "FILE"}, lines)
		}),
	}
}

func installedWord(s install.State) string {
	switch {
	case s.Problem != "":
		return "unreadable: " + s.Problem
	case !s.Installed:
		return "no"
	case s.Off != "":
		return "switched off by " + s.Off
	case !s.Engine:
		return "the engine is missing"
	case !s.Current || !s.EngineFresh:
		return "outdated"
	}
	return "yes"
}

func trustedWord(s install.State) string {
	switch {
	case !s.Installed:
		return "-"
	case s.Trusted:
		return "yes"
	}
	return "no"
}
