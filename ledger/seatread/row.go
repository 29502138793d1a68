package seatread

import (
	"github.com/tidwall/gjson"
)

// Where the row of a work tree's seats stands in the ledger, and the newest
// form of it that this package reads.
const (
	Bucket = "p:seat"
	Key    = "row"
	Format = 1
)

// Bounds of a row: what is beyond is no row that satelle has written.
const (
	maxRow   = 1 << 20
	maxDepth = 8
)

// A Row is all that the hook has to know of a repository.
type Row struct {
	Format     int             `json:"format"`
	Projection int             `json:"projection"`
	Halt       string          `json:"halt,omitempty"`  // why every edit is denied, "" if none is
	Seats      map[string]Seat `json:"seats,omitempty"` // by work tree
	Open       []Open          `json:"open,omitempty"`
	Gate       Gate            `json:"gate,omitzero"`
}

// A Seat is the right of a story to change a work tree.
type Seat struct {
	Story     string   `json:"story"`
	Title     string   `json:"title"`
	Step      string   `json:"step"`
	Category  string   `json:"category"`
	Paths     []string `json:"paths,omitempty"`
	IdleAt    int64    `json:"idle_at"` // Unix seconds; from then on it counts as suspended
	Suspended bool     `json:"suspended"`
	Substrate bool     `json:"substrate"`        // a person approved: .satelle/ may change
	Worker    string   `json:"worker,omitempty"` // digest of the token of the worker that alone may use it
}

// An Open is a story that could take a seat.
type Open struct {
	Story string `json:"story"`
	Title string `json:"title"`
	Next  string `json:"next"` // the status that takes the seat
}

// Read returns the row of the ledger file at path, as [Get] does. A row in a
// newer form than [Format] is [ErrNewer].
func Read(path string) (Row, error) {
	b, err := Get(path, Bucket, Key)
	if err != nil {
		return Row{}, err
	}
	return Decode(b)
}

// Decode reads a row as encoding/json writes it. Members that it does not know
// are passed over, types that do not fit are [ErrCorrupt].
func Decode(b []byte) (Row, error) {
	if len(b) > maxRow || !shallow(b) || !gjson.ValidBytes(b) {
		return Row{}, ErrCorrupt
	}
	d := decoder{}
	var r Row
	d.object(gjson.ParseBytes(b), func(name string, v gjson.Result) {
		switch name {
		case "format":
			r.Format = int(d.integer(v))
		case "projection":
			r.Projection = int(d.integer(v))
		case "halt":
			r.Halt = d.string(v)
		case "seats":
			r.Seats = make(map[string]Seat)
			d.object(v, func(tree string, v gjson.Result) { r.Seats[tree] = d.seat(v) })
		case "open":
			d.array(v, func(v gjson.Result) { r.Open = append(r.Open, d.open(v)) })
		case "gate":
			r.Gate = d.gate(v)
		}
	})
	switch {
	case r.Format > Format:
		return Row{}, ErrNewer
	case d.bad || r.Format < 1:
		return Row{}, ErrCorrupt
	}
	return r, nil
}

// A decoder takes JSON values of the expected types, or turns bad.
type decoder struct{ bad bool }

func (d *decoder) seat(v gjson.Result) (s Seat) {
	d.object(v, func(name string, v gjson.Result) {
		switch name {
		case "story":
			s.Story = d.string(v)
		case "title":
			s.Title = d.string(v)
		case "step":
			s.Step = d.string(v)
		case "category":
			s.Category = d.string(v)
		case "paths":
			d.array(v, func(v gjson.Result) { s.Paths = append(s.Paths, d.string(v)) })
		case "idle_at":
			s.IdleAt = d.integer(v)
		case "suspended":
			s.Suspended = d.bool(v)
		case "substrate":
			s.Substrate = d.bool(v)
		case "worker":
			s.Worker = d.string(v)
		}
	})
	return s
}

func (d *decoder) open(v gjson.Result) (o Open) {
	d.object(v, func(name string, v gjson.Result) {
		switch name {
		case "story":
			o.Story = d.string(v)
		case "title":
			o.Title = d.string(v)
		case "next":
			o.Next = d.string(v)
		}
	})
	return o
}

func (d *decoder) strings(v gjson.Result) (all []string) {
	d.array(v, func(v gjson.Result) { all = append(all, d.string(v)) })
	return all
}

func (d *decoder) object(v gjson.Result, fn func(name string, v gjson.Result)) {
	if !v.IsObject() {
		d.bad = true
		return
	}
	v.ForEach(func(k, v gjson.Result) bool {
		fn(k.String(), v)
		return !d.bad
	})
}

func (d *decoder) array(v gjson.Result, fn func(v gjson.Result)) {
	if !v.IsArray() {
		d.bad = d.bad || v.Type != gjson.Null
		return
	}
	v.ForEach(func(_, v gjson.Result) bool {
		fn(v)
		return !d.bad
	})
}

func (d *decoder) string(v gjson.Result) string {
	d.bad = d.bad || v.Type != gjson.String
	return v.String()
}

func (d *decoder) bool(v gjson.Result) bool {
	d.bad = d.bad || !v.IsBool()
	return v.Bool()
}

func (d *decoder) integer(v gjson.Result) int64 {
	d.bad = d.bad || v.Type != gjson.Number || v.Num != float64(v.Int())
	return v.Int()
}

// shallow reports whether brackets outside of strings nest at most maxDepth
// deep. It comes before any parser that recurses.
func shallow(b []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return true
}
