package ledger

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/mod/sumdb/note"

	"satelle/internal/fault"
)

var update = flag.Bool("update", false, "write testdata/vectors anew")

const vectorDir = "testdata/vectors"

// A vector is a published example of something to be checked, with what the
// check must say: testdata/vectors/README.md has its form.
type vector struct {
	name    string
	kind    string // export, proof, record or checkpoint
	expect  string // "ok" or the class of the failure
	seq     string // the first bad position, "" if none
	comment string
	vkey    string // proof: the log's key; checkpoint: likewise
	record  string // proof: the record; a checkpoint that an export is held against
	payload string
}

func (v *vector) format() []byte {
	var b bytes.Buffer
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	line("comment", v.comment)
	line("kind", v.kind)
	line("expect", v.expect)
	line("seq", v.seq)
	line("vkey", v.vkey)
	line("beside", base64.StdEncoding.EncodeToString([]byte(v.record)))
	b.WriteString("\n" + v.payload)
	return b.Bytes()
}

func parseVector(t *testing.T, name string, b []byte) vector {
	t.Helper()
	v := vector{name: name}
	head, payload, ok := strings.Cut(string(b), "\n\n")
	if !ok {
		t.Fatal("no blank line behind the header")
	}
	v.payload = payload
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		switch key {
		case "comment":
			v.comment = value
		case "kind":
			v.kind = value
		case "expect":
			v.expect = value
		case "seq":
			v.seq = value
		case "vkey":
			v.vkey = value
		case "beside":
			b, err := base64.StdEncoding.DecodeString(value)
			must(t, err)
			v.record = string(b)
		default:
			t.Fatalf("header %q", line)
		}
	}
	return v
}

// check runs the check that the vector is about and returns what it says.
func (v *vector) check() (class, seq string) {
	switch v.kind {
	case "export":
		r, err := ReadExport(strings.NewReader(v.payload), v.vkey, v.record, nil)
		if err == nil {
			return "ok", ""
		}
		if !fault.Is(err, fault.Integrity) || len(r.Problems) == 0 {
			return err.Error(), ""
		}
		if r.FirstBad != nil {
			seq = fmt.Sprint(*r.FirstBad)
		}
		return r.Problems[0].Class, seq
	case "proof":
		p, err := CheckProof(v.vkey, []byte(v.payload), []byte(v.record))
		if err != nil {
			return "proof", ""
		}
		return "ok", fmt.Sprint(p.Record.Seq)
	case "record":
		if _, err := ParseRecord([]byte(v.payload)); err != nil {
			return ClassMalformed, ""
		}
		return "ok", ""
	case "checkpoint":
		if _, err := ParseCheckpoint(v.payload); err != nil {
			return ClassCheckpoint, ""
		}
		key, err := note.NewVerifier(v.vkey)
		if err == nil {
			_, err = openNote(v.payload, note.VerifierList(key))
		}
		if err != nil {
			return ClassSignature, ""
		}
		return "ok", ""
	}
	return "unknown kind", ""
}

// TestVectors checks the published vectors, and that they are still what this
// version writes. After a change on purpose:
//
//	go test ./ledger -run TestVectors -update
func TestVectors(t *testing.T) {
	fresh := makeVectors(t)
	if *update {
		must(t, os.MkdirAll(vectorDir, 0o755))
		for _, v := range fresh {
			must(t, os.WriteFile(filepath.Join(vectorDir, v.name), v.format(), 0o644))
		}
	}
	files, err := filepath.Glob(filepath.Join(vectorDir, "*-*"))
	must(t, err)
	if len(files) != len(fresh) {
		t.Errorf("%d files, want %d", len(files), len(fresh))
	}
	for _, f := range files {
		name := filepath.Base(f)
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(f)
			must(t, err)
			v := parseVector(t, name, b)
			if class, seq := v.check(); class != v.expect || seq != v.seq {
				t.Errorf("%s at %q, want %s at %q", class, seq, v.expect, v.seq)
			}
			i := slices.IndexFunc(fresh, func(w vector) bool { return w.name == name })
			if i < 0 || !bytes.Equal(fresh[i].format(), b) {
				t.Error("this version writes it differently")
			}
		})
	}
}

// makeVectors makes all vectors out of the sample.
func makeVectors(t *testing.T) []vector {
	s := newSample(t)
	var b bytes.Buffer
	must(t, Export(t.Context(), s.cfg, &b))
	export := b.String()
	l := reopen(t, s.cfg)
	vkey := l.VKey()
	h, err := l.Head()
	must(t, err)
	first := l.keys[0].VKey
	closeLog(t, l)
	proof, record, err := Prove(t.Context(), s.cfg, 17)
	must(t, err)

	lines := strings.SplitAfter(export, "\n")
	edit := func(fn func(lines []string) []string) string { return strings.Join(fn(slices.Clone(lines)), "") }
	sub := func(in, old, with string) string {
		if !strings.Contains(in, old) {
			t.Fatalf("no %q to replace", old)
		}
		return strings.Replace(in, old, with, 1)
	}
	var out []vector
	add := func(kind, name, expect, seq, comment, beside, payload string) {
		v := vector{name: kind + "-" + name, kind: kind, expect: expect, seq: seq, comment: comment, record: beside, payload: payload}
		if kind == "proof" || kind == "checkpoint" {
			v.vkey = vkey
		}
		out = append(out, v)
	}
	add("export", "good", "ok", "", "51 records with blobs, critical kinds, a redaction and a key rotation", "", export)
	add("export", "against-older", "ok", "", "beside it an older checkpoint, signed by the key before", s.kept.Note, export)
	add("export", "record-flipped", ClassChanged, "", "a letter of a name in record 17 differs", "", edit(func(l []string) []string {
		l[18] = sub(l[18], `"n":6`, `"n":7`)
		return l
	}))
	add("export", "record-missing", ClassMissing, "50", "record 31 is left out: all that follow move up", "", edit(func(l []string) []string { return slices.Delete(l, 32, 33) }))
	add("export", "records-swapped", ClassOrder, "16", "records 15 and 16 have changed places", "", edit(func(l []string) []string {
		l[16], l[17] = l[17], l[16]
		return l
	}))
	add("export", "record-twice", ClassOrder, "13", "record 12 comes twice", "", edit(func(l []string) []string { return slices.Insert(l, 13, l[13]) }))
	add("export", "record-more", ClassOrder, "51", "a record behind the checkpoint", "", export+lines[13])
	add("export", "space", ClassMalformed, "4", "a space in record 4", "", edit(func(l []string) []string {
		l[5] = sub(l[5], `,"kind"`, `, "kind"`)
		return l
	}))
	add("export", "cut", ClassMalformed, "50", "the last line does not end", "", export[:len(export)-9])
	add("export", "no-header", ClassFormat, "", "the header is missing", "", strings.Join(lines[1:], ""))
	add("export", "rotation-forged", ClassKey, fmt.Sprint(s.rotation), "the rotation's new key did not sign it", "", edit(func(l []string) []string {
		i := int(s.rotation) + 1
		old := between(l[i], `"new_sig":"`, `"`)
		l[i] = sub(l[i], old, between(l[i], `"old_sig":"`, `"`))
		return l
	}))
	add("export", "signature-flipped", ClassSignature, "", "the checkpoint's signature differs", "", edit(func(l []string) []string {
		sig := between(l[0], `— satelle/demo/c1 `, `\n`)
		l[0] = sub(l[0], sig, sig[:20]+swapCase(sig[20:21])+sig[21:])
		return l
	}))
	add("export", "rollback", ClassRollback, "", "beside it the newest checkpoint; the export ends where an older one is", h.Note, edit(func(l []string) []string {
		l = l[:s.kept.Size+1]
		l[0] = string(mustHeader(t, s.kept, "satelle/demo/c1"))
		return l
	}))
	add("export", "other-log", ClassOrigin, "", "beside it the checkpoint of a log of another name", strings.ReplaceAll(h.Note, "/c1", "/c9"), export)

	add("record", "good", "ok", "", "a record in canonical form", "", strings.TrimSuffix(lines[2], "\n"))
	for _, r := range []struct{ name, comment, old, with string }{
		{"name-twice", "a name occurs twice in the body", `"body":{`, `"body":{"n":1,`},
		{"field-order", "crit and schema have changed places", `"crit":true,"schema":1`, `"schema":1,"crit":true`},
		{"field-more", "an unknown field in the envelope", `"crit":true`, `"crit":true,"x":1`},
		{"fraction", "a number with a fraction", `"n":0`, `"n":0.5`},
		{"exponent", "a number with an exponent", `"n":0`, `"n":1e3`},
		{"large-integer", "2^53", `"n":0`, `"n":9007199254740992`},
		{"escape", "an escape that is not needed", `"text/plain"`, `"text\/plain"`},
		{"escape-long", "a newline as \\u000a", `"text/plain"`, `"text\u000aplain"`},
		{"no-utf-8", "a byte that is not UTF-8", `"text/plain"`, "\"text\xffplain\""},
		{"control", "a control character as it is", `"text/plain"`, "\"text\tplain\""},
		{"time-short", "a time with three digits after the point", "000006Z", "Z"},
		{"reference-more", "a reference to a blob with a member more", `"type":"text/plain"`, `"type":"text/plain","x":1`},
	} {
		add("record", r.name, ClassMalformed, "", r.comment, "", sub(strings.TrimSuffix(lines[2], "\n"), r.old, r.with))
	}

	add("proof", "good", "ok", "17", "record 17 of 51", string(record), string(proof))
	add("proof", "other-record", "proof", "", "the record beside it is another one", strings.TrimSuffix(lines[19], "\n"), string(proof))
	add("proof", "other-index", "proof", "", "another position", string(record), sub(string(proof), "index 17", "index 16"))
	add("proof", "index-zero", "proof", "", "the position has a leading zero", string(record), sub(string(proof), "index 17", "index 017"))
	add("proof", "hash-less", "proof", "", "a hash is left out", string(record), dropLine(string(proof), 3))
	add("proof", "hash-flipped", "proof", "", "a hash differs", string(record), strings.Replace(string(proof), "\n"+strings.Split(string(proof), "\n")[3][:1], "\n"+swapCase(strings.Split(string(proof), "\n")[3][:1]), 1))
	add("proof", "size-changed", "proof", "", "the checkpoint's size differs", string(record), sub(string(proof), "\n51\n", "\n50\n"))

	add("checkpoint", "good", "ok", "", "the newest checkpoint", "", h.Note)
	add("checkpoint", "size-changed", ClassSignature, "", "the size differs", "", sub(h.Note, "\n51\n", "\n52\n"))
	add("checkpoint", "size-zero", ClassCheckpoint, "", "the size has a leading zero", "", sub(h.Note, "\n51\n", "\n051\n"))
	add("checkpoint", "no-root", ClassCheckpoint, "", "the root is missing", "", dropLine(h.Note, 2))
	add("checkpoint", "unsigned", ClassCheckpoint, "", "no signature", "", h.Note[:strings.Index(h.Note, "— ")])
	v := vector{name: "checkpoint-other-key", kind: "checkpoint", expect: ClassSignature, comment: "the key beside it is the one before the rotation", vkey: first, payload: h.Note}
	return append(out, v)
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

func swapCase(s string) string {
	if u := strings.ToUpper(s); u != s {
		return u
	}
	if l := strings.ToLower(s); l != s {
		return l
	}
	return "A"
}

func dropLine(s string, n int) string {
	lines := strings.SplitAfter(s, "\n")
	return strings.Join(slices.Delete(lines, n, n+1), "")
}

// goldenFile is a ledger that the first version wrote. It is never written
// anew: it has to open for ever.
const goldenFile = "testdata/format-1.db.gz"

func TestGolden(t *testing.T) {
	if _, err := os.Stat(goldenFile); *update && errors.Is(err, os.ErrNotExist) {
		s := newSample(t)
		b, err := os.ReadFile(s.cfg.Path)
		must(t, err)
		var z bytes.Buffer
		w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression)
		_, err = w.Write(b)
		must(t, errors.Join(err, w.Close(), os.WriteFile(goldenFile, z.Bytes(), 0o644)))
	}
	f, err := os.Open(goldenFile)
	must(t, err)
	defer f.Close()
	r, err := gzip.NewReader(f)
	must(t, err)
	b, err := io.ReadAll(r)
	must(t, err)
	s := newSample(t) // for its keys
	cfg := s.copyOf(t)
	must(t, os.WriteFile(cfg.Path, b, 0o600))
	if r := verifyOK(t, cfg); r.Size != 51 || r.Origin != "satelle/demo/c1" || len(r.Keys) != 2 || r.Redacted != 1 {
		t.Errorf("report %+v", r)
	}
	l := reopen(t, cfg)
	if data, err := l.Blob(s.blob); err != nil || string(data) != "blob of append 6" {
		t.Errorf("Blob = %q, %v", data, err)
	}
	appendTo(t, l, []Draft{draft("a.b", "", nil)})
	closeLog(t, l)
	verifyOK(t, cfg)

	// What this version writes of the same drafts is the same.
	same := func(cfg Config) (out string) {
		db, err := bolt.Open(cfg.Path, 0o600, &bolt.Options{ReadOnly: true})
		must(t, err)
		defer db.Close()
		must(t, db.View(func(tx *bolt.Tx) error {
			return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
				return b.ForEach(func(k, v []byte) error {
					out += fmt.Sprintf("%s %x=%x\n", name, k, v)
					return nil
				})
			})
		}))
		return out
	}
	must(t, os.WriteFile(cfg.Path, b, 0o600))
	if same(cfg) != same(s.cfg) {
		t.Error("the entries differ from those of the first version")
	}
}

func mustHeader(t *testing.T, h Head, origin string) []byte {
	t.Helper()
	b, err := json.Marshal(exportHeader{Format: Format, Origin: origin, Size: h.Size, Note: h.Note})
	must(t, err)
	return append(b, '\n')
}
