package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"satelle/hooks/liveness"
	"satelle/internal/engine"
	"satelle/internal/fault"
)

func newDoctorCmd(a *app) *cobra.Command {
	var play bool
	var session string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Prove that the hooks hold, and say what mends them",
		Long: long(`Runs each installed hook as its harness would, for a change that nobody may make
and for a call that reads; asks Codex and Grok what they loaded and trust, where
they are on the PATH; and looks for whatever turns hooks off, drops them or lets
an agent start without them. Each finding ends in what mends it. --claude-run
also lets Claude Code play one scripted turn against a model on loopback and
sees that its Write was denied; it takes seconds, sends nothing anywhere, and is
refused in an agent's session, since it starts one.

Levels: broken (something installed does not hold), open (a way around that can
be closed), note (worth knowing). The exit status is 1 if anything is broken or
open, or if no hook is installed. What stays open by the harnesses' own design is
listed at the end and fails nothing. Nothing is changed.`, 3),
		Example: `  satelle doctor
  satelle doctor --claude-run
  satelle doctor --json`,
		Args: none(),
	}
	cmd.Flags().BoolVar(&play, "claude-run", false, "also let Claude Code play one scripted turn")
	cmd.Flags().StringVar(&session, "session", "", "say in a line what is wrong for a session of this harness")
	if err := cmd.Flags().MarkHidden("session"); err != nil {
		panic(err) // the flag is defined above
	}
	cmd.RunE = a.run(func(ctx context.Context, _ []string) error {
		o, err := a.doctorOptions()
		if err != nil {
			return err
		}
		if play {
			if err := engine.OnlyPerson(o.SatelleHome, o.Repo, "doctor --claude-run"); err != nil {
				return err // it starts an agent
			}
		}
		o.Play, o.Quick = play, session != ""
		r, err := liveness.Examine(ctx, o)
		if err != nil {
			return fault.Wrap(err, nil, "looking at the installation")
		}
		if session != "" {
			_, err := io.WriteString(a.stdout, r.Warning(session))
			return fault.Wrap(err, nil, "printing")
		}
		a.health(ctx, &r)
		r.OK = r.OK && r.Installed()
		if err := a.object(r, func(w io.Writer) { a.diagnosis(w, r) }); err != nil {
			return err
		}
		return verdict(r)
	})
	return cmd
}

// doctorOptions say where things lie on this machine.
func (a *app) doctorOptions() (liveness.Options, error) {
	o := liveness.Options{Env: os.Environ(), System: "/etc", Shell: liveness.LoginShell()}
	if err := a.locate(&o.Options); err != nil {
		return o, err
	}
	o.Dir = o.Repo
	return o, nil
}

// verdict is the exit status of a diagnosis.
func verdict(r liveness.Report) error {
	if !r.Installed() {
		return fault.Try(fault.New(nil, "no agent has a hook of satelle here"), "satelle agents install all")
	}
	n, mend := 0, ""
	for _, f := range r.Findings {
		if f.Level == liveness.Note {
			continue
		}
		if n++; mend == "" && pasteable(f.Mend) {
			mend = f.Mend
		}
	}
	if n == 0 {
		return nil
	}
	err := fault.New(nil, "findings that are broken or open: %d", n)
	if mend == "" {
		return err // what mends them are edits
	}
	return fault.Try(err, mend)
}

// pasteable reports whether what mends a finding is a command.
func pasteable(mend string) bool {
	first, _, _ := strings.Cut(mend, " ")
	return slices.Contains([]string{"satelle", "git", "chmod", "unset", "export"}, first) && !strings.Contains(mend, ", ")
}

// diagnosis prints a report for people.
func (a *app) diagnosis(w io.Writer, r liveness.Report) {
	where := inLine(r.Dir)
	if !r.Governed {
		where += ", which satelle does not govern"
	}
	fmt.Fprintf(w, "looked at %s\n\n", where)
	rows := [][]string{}
	for _, h := range r.Hooks {
		program := h.Program
		if program == "" {
			program = "not on the PATH"
		}
		if !h.Installed {
			rows = append(rows, []string{h.Harness, h.Scope, "no", "-", "-", "-", "-", "-", program})
			continue
		}
		denies, took := yesNo(h.Denies), strconv.FormatInt(h.Millis, 10)+" ms"
		if h.Proof == liveness.ProofFiles {
			denies, took = "-", "-" // nothing was fired
		}
		rows = append(rows, []string{
			h.Harness, h.Scope, "yes", yesNo(h.Current), yesNo(h.Trusted), denies, yesNo(h.Live) + " (" + h.Proof + ")", took, program,
		})
	}
	_ = grid(w, []string{"HARNESS", "SCOPE", "INSTALLED", "CURRENT", "TRUSTED", "DENIES", "LIVE", "TOOK", "PROGRAM"}, rows)
	for _, f := range r.Findings {
		fmt.Fprintf(w, "\n%s: %s%s\n  mend: %s\n", f.Level, about(f), inLine(f.What), inLine(f.Mend))
	}
	if len(r.Open) > 0 {
		fmt.Fprintf(w, "\nopen by the harnesses' own design:\n")
	}
	for _, o := range r.Open {
		fmt.Fprintf(w, "- %s: %s: %s (%s)\n", o.Harness, o.What, o.Outcome, o.Narrows)
	}
	if r.OK && r.Installed() {
		fmt.Fprintf(w, "\nall that is installed holds\n")
	}
}

func about(f liveness.Finding) string {
	switch {
	case f.Harness == "":
		return ""
	case f.Scope == "":
		return f.Harness + ": "
	}
	return f.Harness + ", " + f.Scope + ": "
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// health adds what is wrong with the repository's records and bindings.
func (a *app) health(ctx context.Context, r *liveness.Report) {
	if !r.Governed {
		return
	}
	e, err := a.engine(ctx)
	if err != nil {
		mend := fault.TryOf(err)
		if mend == "" {
			mend = "satelle status"
		}
		r.Add(liveness.Finding{Name: "repository", Level: liveness.Broken, What: err.Error(), Mend: mend})
		return
	}
	for _, ail := range e.Health(ctx) {
		level := liveness.Note
		if ail.Broken {
			level = liveness.Broken
		}
		r.Add(liveness.Finding{Name: ail.Name, Level: level, What: ail.What, Mend: ail.Mend})
	}
}
