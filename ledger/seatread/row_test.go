package seatread

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/fnv"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// fixMeta makes the checksum of the meta page at off right, so that a fuzzer
// gets past it.
func fixMeta(b []byte, off int) {
	m := b[off+pageHeader:]
	h := fnv.New64a()
	_, _ = h.Write(m[:56])
	binary.LittleEndian.PutUint64(m[56:], h.Sum64())
}

var fullRow = Row{
	Format: 1, Projection: 7, Halt: "a \"reason\"\n",
	Seats: map[string]Seat{
		".": {
			Story: "sty_1", Title: "Zoë’s", Step: "in_progress", Category: "*", Paths: []string{"a/**", "b"},
			IdleAt: 1 << 40, Suspended: true, Substrate: true, Worker: "ab",
		},
		"tree \"two\"": {Story: "sty_2"},
	},
	Open: []Open{{"sty_3", "t", "in_progress"}, {"sty_4", "", "x"}},
	Gate: Gate{
		Outside: "deny", Readers: [][]string{{"go", "test", "**"}, {"make"}}, Tools: []string{"mcp__a__get"},
		Mode: map[string]string{"edit": "warn"},
	},
}

// What encoding/json writes of a row, Decode reads.
func TestDecode(t *testing.T) {
	for _, want := range []Row{fullRow, {Format: 1}} {
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(b)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Decode(%s) = %+v, %v", b, got, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct {
		name, row string
		err       error
	}{
		{"empty", "", ErrCorrupt},
		{"text", "hello", ErrCorrupt},
		{"null", "null", ErrCorrupt},
		{"half", `{"format":1,"seats":{`, ErrCorrupt},
		{"no format", `{"projection":1}`, ErrCorrupt},
		{"format as text", `{"format":"1"}`, ErrCorrupt},
		{"half a format", `{"format":1.5}`, ErrCorrupt},
		{"halt as number", `{"format":1,"halt":1}`, ErrCorrupt},
		{"seats as list", `{"format":1,"seats":[]}`, ErrCorrupt},
		{"a seat as text", `{"format":1,"seats":{".":"x"}}`, ErrCorrupt},
		{"suspended as number", `{"format":1,"seats":{".":{"suspended":1}}}`, ErrCorrupt},
		{"a path as number", `{"format":1,"seats":{".":{"paths":[1]}}}`, ErrCorrupt},
		{"open as object", `{"format":1,"open":{}}`, ErrCorrupt},
		{"deep", `{"format":1,"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, ErrCorrupt},
		{"2 MB of brackets", strings.Repeat("[", 2<<20), ErrCorrupt},
		{"newer", `{"format":2,"seats":{".":{"suspended":"since noon"}}}`, ErrNewer},
		{"more members", `{"format":1,"later":{"a":[1]},"seats":{".":{"later":1}}}`, nil},
	}
	for _, tt := range tests {
		if _, err := Decode([]byte(tt.row)); !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.err)
		}
	}
}

func TestRead(t *testing.T) {
	db := create(t, 4<<10)
	if _, err := Read(db.Path()); !errors.Is(err, ErrNoRow) {
		t.Errorf("without a row: %v", err)
	}
	if err := db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte(Bucket))
		if err != nil {
			return err
		}
		v, err := json.Marshal(fullRow)
		if err != nil {
			return err
		}
		return b.Put([]byte(Key), v)
	}); err != nil {
		t.Fatal(err)
	}
	if r, err := Read(db.Path()); err != nil || !reflect.DeepEqual(r, fullRow) {
		t.Errorf("Read = %+v, %v", r, err)
	}
}

// The package is linked into the hook, whose start must stay cheap.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for dep := range strings.Lines(string(out)) {
		dep = strings.TrimSpace(dep)
		if strings.Contains(dep, ".") && dep != "satelle/ledger/seatread" && !strings.HasPrefix(dep, "github.com/tidwall/") && !strings.HasPrefix(dep, "vendor/") {
			t.Errorf("depends on %s", dep)
		}
	}
}

func FuzzDecode(f *testing.F) {
	b, err := json.Marshal(fullRow)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"format":1,"seats":{".":{}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Decode(b)
		if err == nil && (r.Format < 1 || r.Format > Format) {
			t.Fatalf("%q gives %+v", b, r)
		}
	})
}
