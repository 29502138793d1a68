package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Bounds of the record form. They are part of the format.
const (
	// MaxRecord is the largest record in bytes. What is larger is foreign text
	// and belongs into a blob.
	MaxRecord = 128 << 10
	// MaxBlob is the largest blob in bytes.
	MaxBlob = 64 << 20
	// MaxDepth bounds the nesting of a body, the body itself being level one.
	MaxDepth = 32
	// MaxName bounds kinds and story names in bytes.
	MaxName = 64
)

// Kinds of records that the ledger itself writes and understands. No draft may
// bear them: they come from [Create], [RotateKey] and [Redact].
const (
	KindGenesis   = "ledger.genesis"
	KindContinued = "ledger.continued"
	KindRotated   = "key.rotated"
	KindRedacted  = "blob.redacted"
)

// ownSchema is the newest schema of the kinds above.
const ownSchema = 1

// Who acted, as far as it is known.
const (
	ActorPerson  = "person"
	ActorSession = "session"
	ActorWorker  = "worker"
	ActorEngine  = "engine"
)

// How it is known who acted, weakest first.
const (
	AuthAsserted = "asserted" // the caller says so
	AuthAncestry = "ancestry" // read off the ancestors of the process
	AuthToken    = "token"    // holds the secret of a dispatched worker
	AuthSSH      = "ssh-sig"  // Key and Sig hold an SSH signature
)

// An Actor is who caused a record. All fields but Kind and Auth may be empty.
type Actor struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Session string `json:"session"`
	Harness string `json:"harness"`
	Host    string `json:"host"` // a random id of the machine, never its name
	Auth    string `json:"auth"`
	Key     string `json:"key"` // fingerprint of the key that made Sig
	Sig     string `json:"sig"`
}

// A Record is one entry of the log. The fields are decoded from Raw, which is
// what the tree commits to. Seq is the record's position: it is not part of
// the bytes, the tree gives it.
type Record struct {
	Seq    uint64
	ID     string    // ULID; strictly increasing with the position
	Time   time.Time // UTC; for people, nothing orders by it
	Kind   string
	Story  string // "" for a record that concerns no story
	Actor  Actor
	Crit   bool
	Schema int
	Body   json.RawMessage
	Raw    []byte
}

// A Draft is a record to be: the log adds id and time. Body is anything that
// encoding/json turns into an object without fractions, exponents or duplicate
// names, and with integers that a float64 holds exactly.
type Draft struct {
	Kind   string
	Story  string
	Actor  Actor
	Crit   bool
	Schema int
	Body   any
}

// A Head is the state of the log after an append: how many records it has, the
// root of its tree and the checkpoint that signs both.
type Head struct {
	Size uint64
	Root [32]byte
	Note string
}

// checkDraft says what is wrong with a draft before anything is written.
func checkDraft(d *Draft) error {
	if !validName(d.Kind) || !strings.Contains(d.Kind, ".") {
		return fmt.Errorf("kind %q: want at most %d of a-z, 0-9, '.', '_', '-', in two parts", d.Kind, MaxName)
	}
	if d.Story != "" && !validName(d.Story) {
		return fmt.Errorf("story %q: want at most %d of a-z, 0-9, '.', '_', '-'", d.Story, MaxName)
	}
	if d.Schema < 1 || int64(d.Schema) > maxInt {
		return fmt.Errorf("schema %d: want a positive integer", d.Schema)
	}
	switch d.Actor.Kind {
	case ActorPerson, ActorSession, ActorWorker, ActorEngine:
	default:
		return fmt.Errorf("unknown kind of actor %q", d.Actor.Kind)
	}
	switch d.Actor.Auth {
	case AuthAsserted, AuthAncestry, AuthToken, AuthSSH:
	default:
		return fmt.Errorf("unknown authentication of an actor %q", d.Actor.Auth)
	}
	return nil
}

// validName reports whether s can be a kind or a story. The alphabet keeps
// index keys unambiguous: a name never contains NUL.
func validName[T string | []byte](s T) bool {
	if len(s) == 0 || len(s) > MaxName {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// ownBody decodes the body of a record of the ledger's own. Much hangs on these
// few, so it must be written exactly as this program writes it: encoding/json
// alone would let names differ in case and more members pass.
func ownBody(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return err
	}
	again, err := bodyJSON(v)
	if err == nil {
		again, err = canonical(again)
	}
	if err == nil && !bytes.Equal(again, body) {
		err = errors.New("has not the one form of its kind")
	}
	return err
}

// OwnKind reports whether the ledger itself writes the kind, and understands it
// in the schema.
func OwnKind(kind string, schema int) bool { return ownKind(kind) && schema <= ownSchema }

// ownKind reports whether only the ledger itself may write the kind.
func ownKind(kind string) bool {
	switch kind {
	case KindGenesis, KindContinued, KindRotated, KindRedacted:
		return true
	}
	return false
}

// entropyLen is the length of the random part of an id.
const entropyLen = 10

// nextID returns an id for now that is greater than last, also when the clock
// went back. So ids are unique without an index, and a binary search finds one.
func nextID(now time.Time, last string, entropy []byte) (string, error) {
	var id ulid.ULID
	if err := id.SetTime(ulid.Timestamp(now)); err != nil {
		return "", err
	}
	if err := id.SetEntropy(entropy); err != nil {
		return "", err
	}
	if s := id.String(); s > last {
		return s, nil
	}
	prev, err := ulid.ParseStrict(last)
	if err != nil {
		return "", err
	}
	// The same millisecond, or an earlier one: the successor of the last id.
	for i := len(prev) - 1; i >= 0; i-- {
		prev[i]++
		if prev[i] != 0 {
			return prev.String(), nil
		}
	}
	return "", fmt.Errorf("no id follows %s", last)
}
