package ledger

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"

	"golang.org/x/mod/sumdb/tlog"

	"satelle/internal/fault"
)

// exportHeader is the first line of an export.
type exportHeader struct {
	Format int    `json:"satelle_export"`
	Origin string `json:"origin"`
	Size   uint64 `json:"size"`
	Note   string `json:"note"` // the signed checkpoint of that size
}

// Export writes the log as lines: a header with the newest checkpoint, then
// the bytes of each record. Blobs stay where they are. [ReadExport] checks all
// of it with nothing but these lines.
func Export(ctx context.Context, cfg Config, w io.Writer) error {
	err := export(ctx, cfg, w)
	return fault.Wrap(err, nil, "exporting the ledger")
}

func export(ctx context.Context, cfg Config, w io.Writer) error {
	plain := cfg
	plain.Projection = nil
	l, err := open(ctx, plain)
	if err != nil {
		return err
	}
	head, err := l.Head()
	if err = either(err, l.Close()); err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	header, err := ExportHeader(head.Note)
	if err != nil {
		return err
	}
	if _, err := out.Write(header); err != nil {
		return err
	}
	next := uint64(0)
	err = Scan(ctx, cfg, Query{Limit: int(head.Size)}, func(r Record) error {
		if r.Seq != next {
			return fault.New(fault.Integrity, "record %d is missing", next)
		}
		next++
		if _, err := out.Write(r.Raw); err != nil {
			return err
		}
		return out.WriteByte('\n')
	})
	return either(err, out.Flush())
}

// ExportHeader is the first line of the export that a signed checkpoint is of,
// with its newline: what has to stand before the records where they are kept
// apart from it. It checks no signature.
func ExportHeader(note string) ([]byte, error) {
	cp, err := ParseCheckpoint(note)
	if err != nil {
		return nil, err
	}
	header, err := json.Marshal(exportHeader{Format: Format, Origin: cp.Origin, Size: cp.Size, Note: note})
	return append(header, '\n'), err
}

// ReadExport reads an export and calls fn, which may be nil, for each record.
// It checks every record's form and id, the key rotations, and at the end that
// the signed checkpoint of the header holds for exactly these records: only
// then has fn seen the truth. vkey, if not empty, must be one of the log's
// keys, and against, if not empty, a checkpoint that the export has to agree
// with. The report is as that of [Verify]; blobs are not in an export.
func ReadExport(r io.Reader, vkey, against string, fn func(Record) error) (Report, error) {
	v := &verifier{opts: VerifyOptions{Against: against, VKey: vkey}}
	v.facts = newFacts(&v.report, func(string, int) bool { return true })
	err := v.readExport(bufio.NewReaderSize(r, MaxRecord+1), fn)
	if err != nil {
		return v.report, fault.Wrap(err, nil, "reading the export")
	}
	return v.report, fault.Wrap(v.verdict(), fault.Integrity, "reading the export")
}

func (v *verifier) readExport(r *bufio.Reader, fn func(Record) error) error {
	v.parseAgainst()
	line, err := r.ReadSlice('\n')
	var h exportHeader
	if err != nil || json.Unmarshal(line, &h) != nil || h.Format < 1 {
		v.report.add(NoPosition, ClassFormat, "the first line is no header of an export")
		return nil
	}
	if again, err := json.Marshal(h); h.Format == Format && (err != nil || !bytes.Equal(append(again, '\n'), line)) {
		v.report.add(NoPosition, ClassFormat, "the header has not the one form that an export's has")
		return nil
	}
	if h.Format > Format {
		err := fault.New(fault.Refused, "the export has format %d, this program knows formats up to %d: upgrade satelle", h.Format, Format)
		return fault.Try(err, "satelle version")
	}
	for seq := uint64(0); ; seq++ {
		line, err := r.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 {
			break
		}
		if err != nil {
			v.report.add(int64(seq), ClassMalformed, "a line that does not end, or is longer than a record may be")
			return nil
		}
		if err := v.exported(seq, bytes.Clone(line[:len(line)-1]), fn); err != nil {
			return err
		}
	}
	v.judgeExport(h)
	return nil
}

// exported takes the next record of an export.
func (v *verifier) exported(seq uint64, raw []byte, fn func(Record) error) error {
	hash := tlog.RecordHash(raw)
	if seq == 0 {
		v.facts.genesis(raw)
	}
	rec, err := parse(raw)
	if err != nil {
		v.report.add(int64(seq), ClassMalformed, "%v", err)
	} else {
		b := briefOf(seq, &rec, hash)
		v.facts.addContent(&b)
	}
	_ = v.facts.tree.add(hash, func(int, uint64, []byte) error { return nil })
	if v.against != nil && v.against.Size == seq+1 {
		v.againstRoot = v.facts.tree.root()
	}
	if err != nil || fn == nil {
		return nil
	}
	record := rec.record(raw)
	record.Seq = seq
	return fn(record)
}

// judgeExport holds the records against the header's checkpoint.
func (v *verifier) judgeExport(h exportHeader) {
	v.size = v.facts.tree.size
	v.head = Head{Size: v.size, Root: v.facts.tree.root(), Note: h.Note}
	v.report.Origin, v.report.Size, v.report.Root = v.facts.origin, v.size, v.head.Root
	v.report.Note, v.report.Keys = h.Note, v.facts.keys
	cp, err := ParseCheckpoint(h.Note)
	switch {
	case err != nil:
		v.report.add(NoPosition, ClassCheckpoint, "its checkpoint: %v", err)
	case cp.Origin != v.facts.origin || h.Origin != cp.Origin:
		v.report.add(NoPosition, ClassOrigin, "the header is of %s, its checkpoint of %s, the records of %s", h.Origin, cp.Origin, v.facts.origin)
	case cp.Size > v.size:
		v.report.add(int64(v.size), ClassMissing, "the checkpoint has %d records, the export %d", cp.Size, v.size)
	case cp.Size < v.size || h.Size != cp.Size:
		v.report.add(int64(cp.Size), ClassExtra, "the checkpoint has %d records, the header %d, the export %d", cp.Size, h.Size, v.size)
	default:
		if err := v.signed(v.head); err != nil {
			v.report.add(NoPosition, ClassSignature, "its checkpoint: %v", err)
		} else if cp.Root != v.head.Root {
			v.report.add(NoPosition, ClassChanged, "the records do not give the root that was signed")
		}
	}
	v.outside()
}
