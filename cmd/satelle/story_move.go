package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"satelle/internal/engine"
	"satelle/internal/fault"
	"satelle/workflow"
)

func newStorySetCmd(a *app) *cobra.Command {
	var status string
	var next, dryRun, detach bool
	cmd := &cobra.Command{
		Use:   "set ID --status S | --next",
		Short: "Move a story through one gate",
		Long: long(`Asks for one move of a story along its route. Checks, reviewers and performers work
in a process of their own, which goes on if this command is killed or ends for any
other reason; asking again, or satelle story wait, attaches to it. Ctrl-C stops it:
its agents are ended, and the story stays where it was. --dry-run says what would
be asked.`, 3, 4, 5),
		Example: `  satelle story set sty_7k2m9q4w --next
  satelle story set sty_7k2m9q4w --status done --dry-run
  satelle story set sty_7k2m9q4w --status blocked`,
		Args: exactly("ID"),
	}
	cmd.Flags().StringVar(&status, "status", "", "the state to move to")
	offerBy(cmd, "status", a.completeWays)
	cmd.Flags().BoolVar(&next, "next", false, "the next step of the route")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be asked, and change nothing")
	cmd.Flags().BoolVar(&detach, "detach", false, "do not wait for the gate")
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		if (status == "") == !next {
			return fault.Try(fault.New(fault.Usage, "give either --status or --next"), "satelle story set "+args[0]+" --next")
		}
		e, err := a.engine(ctx)
		if err != nil {
			return err
		}
		m, err := e.Set(ctx, args[0], engine.SetOptions{To: status, DryRun: dryRun, Detach: detach, Progress: a.stderr})
		if fault.Is(err, fault.Busy) && errors.Is(context.Cause(ctx), errInterrupt) {
			m, err = a.stopped(ctx, e, args[0])
		}
		if dryRun && m.To != "" {
			return cmp.Or(a.printPlan(args[0], m), err)
		}
		if err != nil {
			return err
		}
		return a.printMoved(m)
	})
	return cmd
}

// stopped stops the transition that Ctrl-C was pressed on. Pressed once more, it
// leaves off waiting for the end.
func (a *app) stopped(ctx context.Context, e *engine.Engine, id string) (engine.Moved, error) {
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), os.Interrupt)
	defer stop()
	fmt.Fprintln(a.stderr, "stopping")
	return e.Stop(ctx, id, a.stderr)
}

func newStoryWaitCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "wait ID",
		Short: "Wait for the transition in flight",
		Long: long(`Waits until the gate that judges a story has spoken, and ends as satelle story set
would have ended. Without a transition in flight it tells how the last one ended.
Ctrl-C ends the waiting and nothing else.`, 3, 4, 5),
		Example: `  satelle story wait sty_7k2m9q4w`,
		Args:    exactly("ID"),
		RunE: a.run(func(ctx context.Context, args []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			m, err := e.Wait(ctx, args[0], a.stderr)
			if err != nil {
				return err
			}
			return a.printMoved(m)
		}),
	}
}

func (a *app) printMoved(m engine.Moved) error {
	s := m.Story
	return a.object(brief(s), func(w io.Writer) {
		if m.Running {
			fmt.Fprintf(w, "%s is being judged\nnext: satelle story wait %s\n", s.ID, s.ID)
			return
		}
		if m.From != "" {
			fmt.Fprintf(w, "%s: %s → %s\n", s.ID, m.From, m.To)
		} else {
			fmt.Fprintf(w, "%s is in %s\n", s.ID, s.Status)
		}
		if s.Seat != nil {
			fmt.Fprintln(w, "it holds the seat of this work tree")
		}
		printNext(w, s)
	})
}

// printNext says how a story goes on, and before it leaves its seat that commits
// need it.
func printNext(w io.Writer, s workflow.Story) {
	next := s.Next()
	if next == "" {
		return
	}
	if s.Seat != nil && !s.Plan.Performs(next) {
		fmt.Fprintf(w, "commit before it is %s: git commit needs the seat\n", next)
	}
	fmt.Fprintf(w, "next: satelle story set %s --status %s\n", s.ID, next)
}

// planned is a dry run in JSON.
type planned struct {
	ID       string         `json:"id"`
	From     string         `json:"from"`
	To       string         `json:"to"`
	Kind     string         `json:"kind"`
	Gate     []plannedJudge `json:"gate"`
	Accepted bool           `json:"accepted_so_far"`
	// Performer is dispatched once the gate accepts.
	Performer string `json:"performer,omitempty"`
}

type plannedJudge struct {
	Skill     string `json:"skill"`
	Kind      string `json:"kind"`
	Mandatory bool   `json:"mandatory"`
	Verdict   string `json:"verdict,omitempty"`
	Notes     string `json:"notes,omitempty"`
}

func (a *app) printPlan(id string, m engine.Moved) error {
	p := planned{ID: id, From: m.From, To: m.To, Kind: m.Kind, Accepted: m.Refusal == nil, Performer: m.Performer, Gate: []plannedJudge{}}
	for _, j := range m.Gate {
		pj := plannedJudge{Skill: j.Skill, Kind: j.Kind, Mandatory: j.Mandatory}
		for _, v := range m.Verdicts {
			if v.Skill == j.Skill {
				pj.Verdict, pj.Notes = v.Decision, v.Notes
			}
		}
		p.Gate = append(p.Gate, pj)
	}
	return a.object(p, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s → %s (%s)\n", id, p.From, p.To, p.Kind)
		if len(p.Gate) == 0 {
			fmt.Fprintln(w, "  nobody is asked")
		}
		for _, j := range p.Gate {
			says := j.Verdict
			if says == "" {
				says = "would be asked"
			}
			fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-14s %-8s %s %s", j.Skill, j.Kind, says, printable(j.Notes)), " "))
		}
		if p.Performer != "" {
			fmt.Fprintf(w, "  %s would then be dispatched to perform %s\n", p.Performer, p.To)
		}
	})
}

func newStoryRouteCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "route ID",
		Short:   "Show a story's route: plan and outcome",
		Long:    long("Shows the lane that a story is pinned to, step by step, and how each gate went.", 3, 4, 5),
		Example: `  satelle story route sty_7k2m9q4w`,
		Args:    exactly("ID"),
		RunE: a.run(func(ctx context.Context, args []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			r, err := e.Route(ctx, args[0])
			if err != nil {
				return err
			}
			return a.object(r, func(w io.Writer) { printRoute(w, r) })
		}),
	}
}

func printRoute(w io.Writer, r engine.StoryRoute) {
	fmt.Fprintf(w, "%s  lane %s\n", r.ID, r.Name)
	for _, s := range r.Steps {
		mark := " "
		switch {
		case s.Name == r.Status:
			mark = ">"
		case s.Passed:
			mark = "+"
		}
		printStep(w, mark, s)
	}
	if r.Refused != "" {
		fmt.Fprintf(w, "refused: %s\n", inLine(r.Refused))
	}
	if r.Behind {
		fmt.Fprintf(w, "the repository's lane has changed since: satelle story restamp %s takes this story to it\n", r.ID)
	}
	if r.Park != "" {
		fmt.Fprintf(w, "park: %s\n", r.Park)
	}
	if r.Cancel != "" {
		fmt.Fprintf(w, "cancel: %s\n", r.Cancel)
	}
	for _, adv := range r.Advisors {
		fmt.Fprintf(w, "advisor: %s (may be consulted; put its advice down with satelle story comment %s --kind advice)\n", adv, r.ID)
	}
	for _, x := range r.Ways {
		fmt.Fprintf(w, "way on: satelle story set %s --status %s (%s)\n", r.ID, x.To, x.Kind)
	}
}

func printStep(w io.Writer, mark string, s engine.RouteStep) {
	gate := "no gate"
	if len(s.Gate) > 0 {
		gate = strings.Join(s.Gate, ", ")
	}
	agent := s.Agent
	if agent == "" {
		agent = "nobody performs"
	}
	fmt.Fprintf(w, "%s %-14s %-16s gate: %s\n", mark, s.Name, agent, gate)
	for _, o := range s.Outcomes {
		fmt.Fprintf(w, "    %s\n", printable(o))
	}
}

func newStoryDiffCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "diff ID",
		Short:   "Show what has changed since the seat was taken",
		Long:    long("Shows the difference between the commit at which the story took its seat and the\nwork tree, new files included. It needs the seat.", 3, 4, 5),
		Example: `  satelle story diff sty_7k2m9q4w`,
		Args:    exactly("ID"),
		RunE: a.run(func(ctx context.Context, args []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			b, err := e.Diff(ctx, args[0])
			if err != nil {
				return err
			}
			return a.object(map[string]string{"id": args[0], "diff": string(b)}, func(io.Writer) { a.foreign(b) })
		}),
	}
}

func newStoryRestampCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "restamp ID",
		Short:   "Move a story to today's route",
		Long:    long("Pins a story to its lane as it stands today, by a record. Accepts that were given\nbecome stale. Refused in an agent's session.", 3, 4, 5),
		Example: `  satelle story restamp sty_7k2m9q4w`,
		Args:    exactly("ID"),
		RunE: a.run(func(ctx context.Context, args []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			s, err := e.Restamp(ctx, args[0])
			if err != nil {
				return err
			}
			return a.object(brief(s), func(w io.Writer) { fmt.Fprintf(w, "%s follows today's lane %s\n", s.ID, s.Plan.Name) })
		}),
	}
}

func newStoryJoinCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "join ID",
		Short:   "Take part in a story's seat, or wake it",
		Long:    long("Records that this session works under a story that sits in this work tree. It also\nwakes a seat that was suspended because nobody used it.", 3, 4, 5),
		Example: `  satelle story join sty_7k2m9q4w`,
		Args:    exactly("ID"),
		RunE: a.run(func(ctx context.Context, args []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			s, err := e.Join(ctx, args[0])
			if err != nil {
				return err
			}
			return a.object(brief(s), func(w io.Writer) {
				fmt.Fprintf(w, "joined: %s holds the seat of this work tree (%s)\n", s.ID, s.Status)
			})
		}),
	}
}
