package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"satelle/internal/engine"
	"satelle/internal/fault"
	"satelle/workflow"
)

func newStoryCmd(a *app) *cobra.Command {
	cmd := parent("story", "Stories: the units of governed work",
		"A story is created in the first step of its lane and moves by its gates alone.\nIn a performing step it holds the seat of its work tree: only then may files change.",
		`  satelle story start --title "Fix the login" --ac "A test shows it"
  satelle story set sty_7k2m9q4w --next`)
	cmd.AddCommand(
		newStoryStartCmd(a), newStoryCreateCmd(a), newStoryListCmd(a), newStoryGetCmd(a), newStoryEditCmd(a),
		newStorySetCmd(a), newStoryWaitCmd(a), newStoryRouteCmd(a), newStoryDiffCmd(a), newStoryCostCmd(a), newStoryRestampCmd(a),
		newStoryJoinCmd(a), newStoryAdoptCmd(a), newStoryDocsCmd(a), newStoryDocCmd(a), newStoryAttachCmd(a), newStoryCommentCmd(a),
	)
	for _, c := range cmd.Commands() {
		if strings.Contains(c.Use, " ID") {
			c.ValidArgsFunction = a.completeStories
		}
	}
	return cmd
}

// fields binds the flags of a story's fields; those that were not given stay
// nil.
type fields struct {
	title, body, category, parent, priority, due, project, assignee string
	ac, tags, paths                                                 []string
}

func (f *fields) bind(fs *pflag.FlagSet, create bool) {
	fs.StringVar(&f.title, "title", "", "what is to be done, in one line")
	fs.StringVar(&f.body, "body", "", "why and how, in markdown; @FILE or - reads it from there")
	fs.StringArrayVar(&f.ac, "ac", nil, "an acceptance criterion; once for each")
	fs.StringVar(&f.category, "category", "", "picks the lane of the route")
	fs.StringSliceVar(&f.tags, "tag", nil, "a tag; once for each")
	fs.StringArrayVar(&f.paths, "path", nil, "a glob that edits are confined to; once for each")
	fs.StringVar(&f.priority, "priority", "", "a word of your own")
	fs.StringVar(&f.due, "due", "", "a date, as 2026-12-31")
	fs.StringVar(&f.project, "project", "", "a word of your own")
	fs.StringVar(&f.assignee, "assignee", "", "who it is for")
	if create {
		fs.StringVar(&f.parent, "parent", "", "the story that this one is part of")
	}
}

func (f *fields) given(ctx context.Context, a *app, fs *pflag.FlagSet) (workflow.Fields, error) {
	var out workflow.Fields
	str := func(name string, v *string) *string {
		if !fs.Changed(name) {
			return nil
		}
		return v
	}
	strs := func(name string, v *[]string) *[]string {
		if !fs.Changed(name) {
			return nil
		}
		return v
	}
	if fs.Changed("body") {
		b, err := a.text(ctx, f.body)
		if err != nil {
			return out, err
		}
		f.body = b
	}
	out = workflow.Fields{
		Title: str("title", &f.title), Body: str("body", &f.body), Criteria: strs("ac", &f.ac),
		Category: str("category", &f.category), Tags: strs("tag", &f.tags), Parent: str("parent", &f.parent),
		Priority: str("priority", &f.priority), Due: str("due", &f.due), Project: str("project", &f.project),
		Assignee: str("assignee", &f.assignee), Paths: strs("path", &f.paths),
	}
	return out, nil
}

// maxInput bounds what is read from a file or stdin.
const maxInput = 8 << 20

// text returns a flag's value, or the content of what @FILE or - names.
func (a *app) text(ctx context.Context, v string) (string, error) {
	file, isFile := strings.CutPrefix(v, "@")
	if v != "-" && !isFile {
		return v, nil
	}
	if v == "-" {
		file = "-"
	}
	b, err := a.input(ctx, file)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(b) {
		return "", fault.New(fault.Usage, "%s is no UTF-8 text", file)
	}
	return string(b), nil
}

// input reads a file, or stdin where it is named "-" or "".
func (a *app) input(ctx context.Context, file string) ([]byte, error) {
	r := a.stdin
	if file != "-" && file != "" {
		f, err := open(ctx, file)
		if err != nil {
			return nil, fault.Wrap(err, fault.NotFound, "reading the file")
		}
		defer f.Close()
		r = patient{ctx, f}
	}
	b, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, fault.Wrap(err, nil, "reading the input")
	}
	if len(b) > maxInput {
		return nil, fault.New(fault.Usage, "the input has more than 8 MiB")
	}
	return b, nil
}

func newStoryStartCmd(a *app) *cobra.Command {
	var f fields
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Create a story and take the seat of this work tree",
		Long: long(`Creates a story and moves it into its first performing step, which holds the
seat of this work tree: from then on its edits are allowed. It is the one
command that a denied edit asks for. Where another story holds the seat, or the
first gate refuses, nothing is created.`, 3, 4, 5),
		Example: `  satelle story start --title "Fix the login" --ac "A test shows it"
  satelle story start --title "Tidy the guide" --ac "It reads well" --category docs --path "docs/**"`,
		Args: none(),
	}
	f.bind(cmd.Flags(), true)
	cmd.RunE = a.run(func(ctx context.Context, _ []string) error {
		fields, err := f.given(ctx, a, cmd.Flags())
		if err != nil {
			return err
		}
		e, err := a.engine(ctx)
		if err != nil {
			return err
		}
		s, err := e.Start(ctx, fields)
		if err != nil {
			return err
		}
		return a.object(brief(s), func(w io.Writer) {
			fmt.Fprintf(w, "%s holds the seat of this work tree (%s)\n", s.ID, s.Status)
			if len(s.Paths) > 0 {
				fmt.Fprintf(w, "edits are confined to %s\n", inLine(strings.Join(s.Paths, ", ")))
			}
			printNext(w, s)
		})
	})
	return cmd
}

func newStoryCreateCmd(a *app) *cobra.Command {
	var f fields
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create a story in the first step of its lane",
		Long:  long("Creates a story. It always enters the first step; only its gates move it on.", 3, 4, 5),
		Example: `  satelle story create --title "Fix the login" --ac "A test shows it" --priority high
  satelle story create --title "Part of it" --parent sty_7k2m9q4w`,
		Args: none(),
	}
	f.bind(cmd.Flags(), true)
	cmd.RunE = a.run(func(ctx context.Context, _ []string) error {
		fields, err := f.given(ctx, a, cmd.Flags())
		if err != nil {
			return err
		}
		e, err := a.engine(ctx)
		if err != nil {
			return err
		}
		s, err := e.Create(ctx, fields)
		if err != nil {
			return err
		}
		return a.object(brief(s), func(w io.Writer) {
			fmt.Fprintf(w, "%s is in %s\nnext: satelle story set %s --status %s\n", s.ID, s.Status, s.ID, s.Next())
		})
	})
	return cmd
}

func newStoryEditCmd(a *app) *cobra.Command {
	var f fields
	cmd := &cobra.Command{
		Use:   "edit ID",
		Short: "Change fields of a story",
		Long: long(`Changes the fields that are given. Once a gate has been passed, a change of title,
body, criteria or path scopes makes its accept stale: the next move asks that
gate again.`, 3, 4, 5),
		Example: `  satelle story edit sty_7k2m9q4w --ac "A test shows it" --ac "The log says why"`,
		Args:    exactly("ID"),
	}
	f.bind(cmd.Flags(), false)
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		fields, err := f.given(ctx, a, cmd.Flags())
		if err != nil {
			return err
		}
		if cmd.Flags().NFlag() == 0 {
			return fault.Try(fault.New(fault.Usage, "nothing to change was given"), "satelle story edit --help")
		}
		e, err := a.engine(ctx)
		if err != nil {
			return err
		}
		s, err := e.Edit(ctx, args[0], fields)
		if err != nil {
			return err
		}
		return a.object(brief(s), func(w io.Writer) {
			fmt.Fprintf(w, "%s is edited\n", s.ID)
			if s.Stale {
				fmt.Fprintln(w, "its accepts are stale: the next move asks the gates again")
			}
		})
	})
	return cmd
}

// storyBrief is a story in lists and after a move.
type storyBrief struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Category string   `json:"category"`
	Status   string   `json:"status"`
	Next     string   `json:"next,omitempty"`
	Seat     string   `json:"seat,omitempty"`
	InFlight string   `json:"in_flight,omitempty"`
	Stale    bool     `json:"stale,omitempty"`
	Paths    []string `json:"paths,omitempty"`
	Parent   string   `json:"parent,omitempty"`
	Assignee string   `json:"assignee,omitempty"`
	Priority string   `json:"priority,omitempty"`
	Updated  string   `json:"updated"`
}

func brief(s workflow.Story) storyBrief {
	b := storyBrief{
		ID: s.ID, Title: s.Title, Category: s.Category, Status: s.Status, Next: s.Next(), Stale: s.Stale,
		Paths: s.Paths, Parent: s.Parent, Assignee: s.Assignee, Priority: s.Priority, Updated: stamp(s.Updated),
	}
	if s.Seat != nil {
		b.Seat = s.Seat.WorkTree
	}
	if s.Transition != nil {
		b.InFlight = s.Transition.To
	}
	return b
}

func newStoryListCmd(a *app) *cobra.Command {
	var status, category, assignee string
	var all bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List stories, the latest first",
		Long:  long("Lists the stories that have not ended, the one that moved last first.", 3, 4, 5),
		Example: `  satelle story list
  satelle story list --all --status done --json`,
		Args: none(),
	}
	cmd.Flags().BoolVar(&all, "all", false, "also those that have ended")
	cmd.Flags().StringVar(&status, "status", "", "only those in this state")
	cmd.Flags().StringVar(&category, "category", "", "only those of this category")
	cmd.Flags().StringVar(&assignee, "assignee", "", "only those of this assignee")
	cmd.RunE = a.run(func(ctx context.Context, _ []string) error {
		e, err := a.engine(ctx)
		if err != nil {
			return err
		}
		stories, err := e.Stories(ctx, func(s workflow.Story) bool {
			return (all || status != "" || !s.Terminal()) &&
				(status == "" || s.Status == status) &&
				(category == "" || s.Category == category) &&
				(assignee == "" || s.Assignee == assignee)
		})
		if err != nil {
			return err
		}
		if a.json {
			for _, s := range stories {
				if err := a.line(brief(s)); err != nil {
					return err
				}
			}
			return nil
		}
		if len(stories) == 0 {
			fmt.Fprintln(a.stderr, "no such stories; satelle story list --all shows those that have ended")
		}
		var rows [][]string
		for _, s := range stories {
			seat := ""
			if s.Seat != nil {
				seat = "seat " + s.Seat.WorkTree
			}
			rows = append(rows, []string{s.ID, s.Status, seat, s.Category, s.Title})
		}
		return a.table([]string{"ID", "STATUS", "SEAT", "CATEGORY", "TITLE"}, rows)
	})
	return cmd
}

func newStoryGetCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "get ID",
		Short: "Show one story in full",
		Long:  long("Shows the full current record of a story.", 3, 4, 5),
		Example: `  satelle story get sty_7k2m9q4w
  satelle story get sty_7k2m9q4w --json`,
		Args: exactly("ID"),
		RunE: a.run(func(ctx context.Context, args []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			d, err := e.Detail(ctx, args[0])
			if err != nil {
				return err
			}
			return a.object(d, func(w io.Writer) { printStory(w, d) })
		}),
	}
}

func printStory(w io.Writer, d engine.Detail) {
	fmt.Fprintf(w, "%s  %s\n", d.ID, inLine(d.Title))
	row := func(name, v string) {
		if v != "" {
			fmt.Fprintf(w, "  %-10s %s\n", name, inLine(v))
		}
	}
	status := d.Status
	if d.Transition != nil {
		status += ", being judged on its way to " + d.Transition.To
	}
	if d.Stale {
		status += ", its accepts are stale"
	}
	row("status", status)
	row("next", d.Next())
	row("category", d.Category)
	if d.Seat != nil {
		seat := d.Seat.WorkTree
		if d.Seat.Suspended {
			seat += ", suspended"
		}
		row("seat", seat)
		row("sessions", strings.Join(d.Seat.Sessions, ", "))
	}
	row("paths", strings.Join(d.Paths, ", "))
	row("tags", strings.Join(d.Tags, ", "))
	row("parent", d.Parent)
	row("children", strings.Join(d.Children, ", "))
	row("priority", d.Priority)
	row("due", d.Due)
	row("project", d.Project)
	row("assignee", d.Assignee)
	row("updated", stamp(d.Updated))
	if d.Body != "" {
		fmt.Fprintf(w, "\n%s\n", printable(strings.TrimRight(d.Body, "\n")))
	}
	if len(d.AcceptanceCriteria) > 0 {
		fmt.Fprintln(w)
	}
	for i, c := range d.AcceptanceCriteria {
		fmt.Fprintf(w, "AC%d  %s\n", i+1, printable(c))
	}
	if len(d.Docs) > 0 {
		fmt.Fprintln(w, "\ndocuments")
	}
	var docs [][]string
	for _, doc := range d.Docs {
		docs = append(docs, []string{"  " + doc.Name, doc.Type, fmt.Sprintf("%d bytes", doc.Ref.Length)})
	}
	_ = grid(w, nil, docs)
	if len(d.Comments) > 0 {
		fmt.Fprintln(w, "\ndiscussion")
	}
	for _, c := range d.Comments {
		fmt.Fprintf(w, "  %s %s (%s): %s\n", stamp(c.Time), inLine(c.By), c.Kind, printable(strings.TrimSpace(c.Body)))
	}
}
