package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"satelle/internal/fault"
	"satelle/ledger"
)

func newLedgerVerifyCmd(a *app) *cobra.Command {
	var full bool
	var against string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Prove that the ledger was not tampered with",
		Long: long(`Checks every record, every stored hash, the signed head, the indexes and the blobs.
--full also folds all records anew and compares the result with what is stored.
--against holds the log against a checkpoint that was kept elsewhere: a log that
was rolled back or rewritten shows, and both checkpoints are printed.`, 4, 5, 6),
		Example: `  satelle ledger verify
  satelle ledger verify --full --against checkpoint.txt`,
		Args: none(),
	}
	cmd.Flags().BoolVar(&full, "full", false, "fold all records anew and compare")
	cmd.Flags().StringVar(&against, "against", "", "a file with a checkpoint from elsewhere; - is stdin")
	cmd.RunE = a.run(func(ctx context.Context, _ []string) error {
		opts := ledger.VerifyOptions{Full: full}
		if against != "" {
			b, err := a.input(ctx, against)
			if err != nil {
				return err
			}
			opts.Against = string(b)
			if _, err := ledger.ParseCheckpoint(opts.Against); err != nil {
				return fault.Try(fault.Wrap(err, fault.Usage, "reading %s", against), "satelle ledger checkpoint")
			}
		}
		e, err := a.engine(ctx)
		if err != nil {
			return err
		}
		rep, err := ledger.Verify(ctx, e.Ledger(), opts)
		if a.json {
			return cmp.Or(a.line(verified(rep, err)), err)
		}
		for _, p := range rep.Problems {
			fmt.Fprintln(a.stdout, printable(p.String()))
		}
		if rep.More > 0 {
			fmt.Fprintf(a.stdout, "and %d more\n", rep.More)
		}
		var both *ledger.Disagreement
		if errors.As(err, &both) {
			// Two signed checkpoints that contradict each other are evidence, to be
			// passed on as they are.
			fmt.Fprintf(a.stdout, "the checkpoint kept elsewhere:\n\n%s\nthe checkpoint of this ledger:\n\n%s\n", printable(both.Kept), printable(both.Ledger))
			return fault.New(fault.Integrity, "the ledger is not what it once signed (%s)", both.Class)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "%s\n%d records hold, root %x\n", rep.Origin, rep.Size, rep.Root)
		for _, k := range rep.Unknown {
			fmt.Fprintf(a.stdout, "the kind %s is of a newer satelle: this one reads and decides nothing\n", k)
		}
		return nil
	})
	return cmd
}

// verification is what verify prints as JSON.
type verification struct {
	Holds      bool             `json:"holds"`
	Origin     string           `json:"origin"`
	Records    uint64           `json:"records"`
	Root       string           `json:"root"`
	Checkpoint string           `json:"checkpoint"`
	Blobs      int              `json:"blobs"`
	Redacted   int              `json:"redacted"`
	FirstBad   *uint64          `json:"first_bad,omitempty"`
	Problems   []ledger.Problem `json:"problems,omitempty"`
	More       int              `json:"more_problems,omitempty"`
}

func verified(r ledger.Report, err error) verification {
	return verification{
		Holds: err == nil, Origin: r.Origin, Records: r.Size, Root: fmt.Sprintf("%x", r.Root), Checkpoint: r.Note,
		Blobs: r.Blobs, Redacted: r.Redacted, FirstBad: r.FirstBad, Problems: r.Problems, More: r.More,
	}
}

func newLedgerCheckpointCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "checkpoint",
		Short: "Print the signed checkpoint",
		Long: long(`Prints the ledger's size and root, signed: a few lines to keep where the ledger's
owner cannot change them. satelle ledger verify --against tells later whether the
log still contains them.`, 3, 4, 5, 6),
		Example: `  satelle ledger checkpoint > checkpoint.txt
  satelle ledger verify --against checkpoint.txt`,
		Args: none(),
		RunE: a.run(func(ctx context.Context, _ []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			head, err := e.Checkpoint(ctx)
			if err != nil {
				return err
			}
			return a.object(map[string]any{"size": head.Size, "root": fmt.Sprintf("%x", head.Root), "checkpoint": head.Note},
				func(w io.Writer) { fmt.Fprint(w, head.Note) })
		}),
	}
}

func newLedgerProveCmd(a *app) *cobra.Command {
	var check, record, key string
	cmd := &cobra.Command{
		Use:   "prove SEQ",
		Short: "Prove to somebody else that a record is in the log",
		Long: long(`Prints a proof (C2SP tlog-proof) that the record at a position is in the log, with
the record as its extra data on stderr. With --check, checks such a proof offline:
it takes the record's bytes and the log's public key from .satelle/logs.`, 3, 4, 5, 6),
		Example: `  satelle ledger prove 42 > proof.txt 2> record.json
  satelle ledger prove --check proof.txt --record record.json --key .satelle/logs/7k2m9q4w.pub`,
	}
	cmd.Flags().StringVar(&check, "check", "", "a file with a proof to check")
	cmd.Flags().StringVar(&record, "record", "", "with --check: the file with the record")
	cmd.Flags().StringVar(&key, "key", "", "with --check: the file with the log's public key")
	cmd.Args = func(c *cobra.Command, args []string) error {
		if check != "" {
			return none()(c, args)
		}
		return exactly("SEQ")(c, args)
	}
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		if check != "" {
			return a.checkProof(ctx, check, record, key)
		}
		seq, err := position(args[0])
		if err != nil {
			return err
		}
		e, err := a.engine(ctx)
		if err != nil {
			return err
		}
		proof, raw, err := ledger.Prove(ctx, e.Ledger(), seq)
		if err != nil {
			return err
		}
		if a.json {
			return a.line(map[string]string{"proof": string(proof), "record": string(raw)})
		}
		fmt.Fprintf(a.stdout, "%s", proof)
		fmt.Fprintf(a.stderr, "%s\n", raw)
		return nil
	})
	return cmd
}

func (a *app) checkProof(ctx context.Context, check, record, key string) error {
	if record == "" || key == "" {
		return fault.Try(fault.New(fault.Usage, "--check needs --record and --key"), "satelle ledger prove --help")
	}
	var in [3][]byte
	for i, f := range []string{check, record, key} {
		var err error
		if in[i], err = a.input(ctx, f); err != nil {
			return err
		}
	}
	var proven ledger.Proven
	err := fault.New(fault.Usage, "%s holds no public key", key)
	for vkey := range strings.Lines(string(in[2])) { // a line for each key that the log has had
		if vkey = strings.TrimSpace(vkey); vkey == "" {
			continue
		}
		proven, err = ledger.CheckProof(vkey, in[0], []byte(strings.TrimRight(string(in[1]), "\n")))
		if err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	return a.object(map[string]any{"seq": proven.Record.Seq, "origin": proven.Origin, "size": proven.Size}, func(w io.Writer) {
		fmt.Fprintf(w, "record %d is in the log %s of %d records\n", proven.Record.Seq, proven.Origin, proven.Size)
	})
}

func newLedgerExportCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "export",
		Short:   "Write all records, a line each",
		Long:    long("Writes a header with the signed checkpoint, then every record as it is stored.\nForeign text (bodies, notes, documents) stays behind.", 3, 4, 5, 6),
		Example: `  satelle ledger export > ledger.jsonl`,
		Args:    none(),
		RunE: a.run(func(ctx context.Context, _ []string) error {
			e, err := a.engine(ctx)
			if err != nil {
				return err
			}
			return ledger.Export(ctx, e.Ledger(), a.stdout)
		}),
	}
}
