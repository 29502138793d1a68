package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"satelle/internal/fault"
)

func newStoryDocsCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "docs ID",
		Short:   "List a story's documents",
		Long:    long("Lists the documents of a story: what was attached, and the summary that each gated\nmove left. The files that mirror them are brought up to date.", 3, 4, 5),
		Example: `  satelle story docs sty_7k2m9q4w`,
		Args:    exactly("ID"),
		RunE: a.run(func(ctx context.Context, args []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			s, err := e.Story(ctx, args[0])
			if err != nil {
				return err
			}
			if err := e.Mirror(ctx, s.ID); err != nil {
				return err
			}
			var rows [][]string
			for _, d := range s.Docs {
				if a.json {
					err := a.line(map[string]any{
						"name": d.Name, "type": d.Type, "size": d.Ref.Length, "media_type": d.Ref.Type,
						"digest": d.Ref.Digest, "seq": d.Seq, "file": filepath.Join(e.MirrorDir(s.ID), d.Name),
					})
					if err != nil {
						return err
					}
					continue
				}
				rows = append(rows, []string{d.Name, d.Type, strconv.FormatInt(d.Ref.Length, 10)})
			}
			if a.json {
				return nil
			}
			return a.table([]string{"NAME", "TYPE", "BYTES"}, rows)
		}),
	}
}

func newStoryDocCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "doc ID NAME",
		Short:   "Print one document, byte for byte",
		Long:    long("Prints one document of a story as it was attached. On a terminal, control\ncharacters are shown instead of sent.", 3, 4, 5),
		Example: `  satelle story doc sty_7k2m9q4w plan`,
		Args:    exactly("ID", "NAME"),
		RunE: a.run(func(ctx context.Context, args []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			b, err := e.Document(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			return a.object(map[string]string{"name": args[1], "body": string(b)}, func(io.Writer) { a.foreign(b) })
		}),
	}
}

func newStoryAttachCmd(a *app) *cobra.Command {
	var name, docType, file string
	cmd := &cobra.Command{
		Use:   "attach ID --name N [--type T] [--file F|-]",
		Short: "Attach a document to a story",
		Long:  long("Attaches a document, or replaces the one of that name; the old one stays in the\nledger. Without --file it is read from stdin. At most 8 MiB.", 3, 4, 5),
		Example: `  satelle story attach sty_7k2m9q4w --name plan --type plan --file plan.md
  git log -3 | satelle story attach sty_7k2m9q4w --name log`,
		Args: exactly("ID"),
	}
	cmd.Flags().StringVar(&name, "name", "", "the document's name")
	cmd.Flags().StringVar(&docType, "type", "", "what it is, in a word (default \"document\")")
	cmd.Flags().StringVar(&file, "file", "", "the file to read; - or nothing is stdin")
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		if name == "" {
			return fault.Try(fault.New(fault.Usage, "a document needs a --name"), "satelle story attach --help")
		}
		data, err := a.input(ctx, file)
		if err != nil {
			return err
		}
		e, err := a.engine(ctx)
		if err != nil {
			return err
		}
		if err := e.Attach(ctx, args[0], name, docType, data); err != nil {
			return err
		}
		return a.object(map[string]any{"id": args[0], "name": name, "size": len(data)}, func(w io.Writer) {
			fmt.Fprintf(w, "%s: attached %s (%d bytes)\n", args[0], name, len(data))
		})
	})
	return cmd
}

func newStoryCommentCmd(a *app) *cobra.Command {
	var kind, body string
	cmd := &cobra.Command{
		Use:   "comment ID --kind comment|question|plan|advice --body B",
		Short: "Say something on a story, for the record",
		Long:  long("Adds a comment to a story. --body @FILE or - reads it from there.", 3, 4, 5),
		Example: `  satelle story comment sty_7k2m9q4w --body "the lock is the hard part"
  satelle story comment sty_7k2m9q4w --kind advice --body @advice.md`,
		Args: exactly("ID"),
	}
	cmd.Flags().StringVar(&kind, "kind", "comment", "comment, question, plan or advice")
	offer(cmd, "kind", "comment", "question", "plan", "advice")
	cmd.Flags().StringVar(&body, "body", "", "the text")
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		text, err := a.text(ctx, body)
		if err != nil {
			return err
		}
		e, err := a.engine(ctx)
		if err != nil {
			return err
		}
		if err := e.Comment(ctx, args[0], kind, []byte(text)); err != nil {
			return err
		}
		return a.object(map[string]string{"id": args[0], "kind": kind}, func(w io.Writer) {
			fmt.Fprintf(w, "%s: noted a %s\n", args[0], kind)
		})
	})
	return cmd
}
