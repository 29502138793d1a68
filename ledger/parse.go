package ledger

import (
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// ErrMalformed is the error of bytes that are not a record in the one form
// that the ledger writes.
var ErrMalformed = errors.New("not a record in canonical form")

// idLen is the length of a ULID as text.
const idLen = 26

// A view is a parsed record: slices of its bytes, nothing copied. Strings are
// still escaped as they stand between their quotes.
type view struct {
	id, time, kind, story []byte
	actor                 [len(actorKeys)][]byte
	crit                  bool
	schema                int64
	body                  []byte
	refs                  []ref
}

var actorKeys = [...]string{"kind", "name", "session", "harness", "host", "auth", "key", "sig"}

// actorPrefixes holds what stands before each value of the actor object.
var actorPrefixes = func() (p [len(actorKeys)]string) {
	for i, k := range actorKeys {
		p[i] = `,"` + k + `":`
	}
	p[0] = `,"actor":{"kind":`
	return p
}()

// parse reads a record. It accepts exactly what encode writes: the envelope's
// fields in their order, no white space, one spelling of each string and
// number. One accepted form means that no two parsers can read a record
// differently.
func parse(raw []byte) (view, error) {
	var v view
	if len(raw) > MaxRecord || !utf8.Valid(raw) {
		return v, ErrMalformed
	}
	s := scanner{b: raw}
	v.id = s.field(`{"id":`)
	v.time = s.field(`,"time":`)
	v.kind = s.field(`,"kind":`)
	v.story = s.field(`,"story":`)
	for i := range v.actor {
		v.actor[i] = s.field(actorPrefixes[i])
	}
	s.expect(`},"crit":`)
	v.crit = s.bool()
	s.expect(`,"schema":`)
	v.schema = s.integer()
	s.expect(`,"body":`)
	start := s.i
	s.object(1)
	v.body, v.refs = raw[min(start, s.i):s.i], s.refs
	s.expect(`}`)
	if s.bad || s.i != len(raw) {
		return v, ErrMalformed
	}
	if !validID(v.id) || !validTime(v.time) || !validName(v.kind) ||
		len(v.story) > 0 && !validName(v.story) || v.schema < 1 {
		return v, ErrMalformed
	}
	return v, nil
}

// ParseRecord decodes the bytes of a record, as an export or a proof carries
// them. The position is not in the bytes; the caller sets Seq.
func ParseRecord(raw []byte) (Record, error) {
	v, err := parse(raw)
	if err != nil {
		return Record{}, err
	}
	return v.record(raw), nil
}

func (v *view) record(raw []byte) Record {
	r := Record{
		ID: string(v.id), Time: parseTime(v.time), Kind: string(v.kind), Story: string(v.story),
		Crit: v.crit, Schema: int(v.schema), Body: json.RawMessage(v.body), Raw: raw,
	}
	for i, p := range []*string{
		&r.Actor.Kind, &r.Actor.Name, &r.Actor.Session, &r.Actor.Harness,
		&r.Actor.Host, &r.Actor.Auth, &r.Actor.Key, &r.Actor.Sig,
	} {
		*p = unescape(v.actor[i])
	}
	return r
}

// validID accepts the 26 characters of a ULID that encodes 128 bits.
func validID(id []byte) bool {
	if len(id) != idLen || id[0] > '7' {
		return false
	}
	for _, c := range id {
		if !crockford[c] {
			return false
		}
	}
	return true
}

var crockford = func() (t [256]bool) {
	for _, c := range "0123456789ABCDEFGHJKMNPQRSTVWXYZ" {
		t[c] = true
	}
	return t
}()
