package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newStoryAdoptCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "adopt ID",
		Short: "Take what is changed here into a story, marked so",
		Long: long(`Takes what is changed in this work tree, before any story sat here, into a story. It
takes the seat with its next step, if it does not hold it. The ledger keeps the mark,
and satelle audit shows the commits that follow to a person.`, 3, 4, 5),
		Example: `  satelle story create --title "Fix the login" --ac "A test shows it"
  satelle story adopt sty_7k2m9q4w`,
		Args: exactly("ID"),
		RunE: a.run(func(ctx context.Context, args []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			s, err := e.Adopt(ctx, args[0], a.stderr)
			if err != nil {
				return err
			}
			return a.object(brief(s), func(w io.Writer) {
				fmt.Fprintf(w, "adopted: %s holds the seat of this work tree (%s), and the change in it is marked as made before\n", s.ID, s.Status)
			})
		}),
	}
}
