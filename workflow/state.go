package workflow

import (
	"encoding/json"
	"slices"
	"time"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/ledger/seatread"
)

// reader is the part of [ledger.Rows] that decisions need.
type reader interface {
	Get(bucket, key string) []byte
	Each(bucket, prefix string, fn func(key string, v []byte) bool)
}

// State is what the fold knows, as of one moment. Its methods read; they are
// valid as long as the view that they were made from.
type State struct{ rows reader }

// NewState reads the fold's rows.
func NewState(rows ledger.Rows) State { return State{rows} }

// Story returns a story by id, or an error of class NotFound.
func (st State) Story(id string) (Story, error) {
	s, ok := readStory(st.rows, id)
	if !ok {
		return Story{}, fault.Try(fault.New(fault.NotFound, "there is no story %q", id), "satelle story list")
	}
	return s, nil
}

// Stories calls fn for each story, in the order of their ids, until it
// returns false.
func (st State) Stories(fn func(Story) bool) {
	st.rows.Each(rowsStory, "", func(_ string, v []byte) bool {
		var s Story
		if json.Unmarshal(v, &s) != nil {
			return true
		}
		return fn(s)
	})
}

// Children returns the stories whose parent is id.
func (st State) Children(id string) []Story {
	var ids []string
	st.rows.Each(rowsChild, id+"/", func(key string, _ []byte) bool {
		ids = append(ids, childOf(key))
		return true
	})
	var out []Story
	for _, c := range ids {
		if s, ok := readStory(st.rows, c); ok {
			out = append(out, s)
		}
	}
	return out
}

// Row is what the hook reads: halt, seats, stories that could take one.
func (st State) Row() seatread.Row { return readRow(st.rows) }

// Lane returns where the lane of a digest is kept, if it is pinned.
func (st State) Lane(sha256 string) (ledger.BlobRef, bool) {
	var ref ledger.BlobRef
	raw := st.rows.Get(rowsLane, sha256)
	if raw == nil || json.Unmarshal(raw, &ref) != nil {
		return ref, false
	}
	return ref, true
}

// Trusted reports whether a person on this machine trusted the digest of
// something that can be executed.
func (st State) Trusted(digest string) bool { return st.rows.Get(rowsTrust, digest) != nil }

// Approvers returns the allowed_signers content that was trusted last, and
// its digest; ok is false where approvers were never set.
func (st State) Approvers() (content ledger.BlobRef, digest string, ok bool) {
	var b approversTrusted
	raw := st.rows.Get(rowsApprover, "current")
	if raw == nil || json.Unmarshal(raw, &b) != nil {
		return ledger.BlobRef{}, "", false
	}
	return b.Content, b.Digest, true
}

// Seated returns the story that holds the seat of a work tree, whether or not
// the seat is suspended.
func (st State) Seated(workTree string) (Story, bool) {
	seat, ok := st.Row().Seats[workTree]
	if !ok {
		return Story{}, false
	}
	return readStory(st.rows, seat.Story)
}

// idle reports whether the seat of a work tree has been left alone so long
// that another story may have it.
func (st State) idle(workTree string, now time.Time) bool {
	seat := st.Row().Seats[workTree]
	return seat.Suspended || seat.IdleAt <= now.Unix()
}

// Change is what a decision wants appended, all of it or nothing.
type Change struct {
	Drafts []ledger.Draft
	Blobs  []ledger.Blob
}

func (c *Change) add(kind, story string, actor ledger.Actor, body any) {
	c.Drafts = append(c.Drafts, ledger.Draft{
		Kind: kind, Story: story, Actor: actor, Crit: kinds[kind], Schema: Schema, Body: body,
	})
}

// blob keeps foreign text beside the records and returns its reference.
func (c *Change) blob(mediaType string, data []byte) ledger.BlobRef {
	b := ledger.NewBlob(mediaType, data)
	c.Blobs = append(c.Blobs, b)
	return b.Ref
}

// then appends another change to this one.
func (c *Change) then(d Change) {
	c.Drafts = append(c.Drafts, d.Drafts...)
	c.Blobs = append(c.Blobs, d.Blobs...)
}

// overlay shows the rows as they will be once drafts are appended, so that a
// decision can rest on an earlier one of the same transaction.
type overlay struct {
	base reader
	rows map[string]map[string][]byte
}

// After returns the state as it will be when the change has been appended at
// position seq, which the decisions of one transaction share.
func (st State) After(c Change, seq uint64, now time.Time) State {
	o := &overlay{base: st.rows, rows: map[string]map[string][]byte{}}
	for i, d := range c.Drafts {
		body, err := json.Marshal(d.Body)
		if err != nil {
			continue // the append will refuse it with its reason
		}
		_ = Fold{}.Apply(o, ledger.Record{
			Seq: seq + uint64(i), Time: now, Kind: d.Kind, Story: d.Story, Actor: d.Actor,
			Crit: d.Crit, Schema: d.Schema, Body: body,
		})
	}
	return State{o}
}

func (o *overlay) Get(bucket, key string) []byte {
	if v, ok := o.rows[bucket][key]; ok {
		return v
	}
	return o.base.Get(bucket, key)
}

func (o *overlay) Put(bucket, key string, v []byte) {
	if o.rows[bucket] == nil {
		o.rows[bucket] = map[string][]byte{}
	}
	o.rows[bucket][key] = v
}

// Delete implements [ledger.Rows]; a nil value hides the row below.
func (o *overlay) Delete(bucket, key string) { o.Put(bucket, key, nil) }

func (o *overlay) Each(bucket, prefix string, fn func(key string, v []byte) bool) {
	seen := map[string][]byte{}
	o.base.Each(bucket, prefix, func(key string, v []byte) bool {
		seen[key] = v
		return true
	})
	for key, v := range o.rows[bucket] {
		if len(key) >= len(prefix) && key[:len(prefix)] == prefix {
			seen[key] = v
		}
	}
	keys := make([]string, 0, len(seen))
	for key, v := range seen {
		if v != nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if !fn(key, seen[key]) {
			return
		}
	}
}
