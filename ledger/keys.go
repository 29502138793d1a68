package ledger

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/mod/sumdb/note"
)

// A KeyStore keeps the private keys of logs. Keys are named by their public
// half in the form of x/mod/sumdb/note ("name+hash+base64").
type KeyStore interface {
	// Create makes an Ed25519 key of the given name. When it returns, the key
	// is kept for good: a log that nobody can sign for any more is lost.
	Create(name string) (vkey string, err error)
	// Signer returns the signer for vkey, an error of class fault.NotFound if
	// the store does not hold it.
	Signer(vkey string) (note.Signer, error)
	// Remove destroys the key. It is called for keys that no longer sign; a
	// key that is already gone is no error.
	Remove(vkey string) error
}

// A KeyEpoch is a key and the heads that it signs: those of more than After
// records, up to the next epoch's.
type KeyEpoch struct {
	After uint64
	VKey  string
}

// keyring is the fold of genesis and key.rotated records, oldest first.
type keyring []KeyEpoch

func (k keyring) current() string { return k[len(k)-1].VKey }

// verifiers returns the keys that may sign a head of the given size. The head
// that a rotation ends with bears both signatures; either speaks for it.
func (k keyring) verifiers(size uint64) (note.Verifiers, error) {
	var list []note.Verifier
	for i, e := range k {
		if e.After >= size || i+1 < len(k) && k[i+1].After+1 < size {
			continue
		}
		v, err := note.NewVerifier(e.VKey)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return note.VerifierList(list...), nil
}

// rotatedBody is the body of a key.rotated record.
type rotatedBody struct {
	Old    string `json:"old"`
	New    string `json:"new"`
	OldSig string `json:"old_sig"`
	NewSig string `json:"new_sig"`
}

// rotationMessage is what both keys sign. Its first line contains spaces, which
// no origin does, so that it can never be taken for a checkpoint; the position
// ties it to one place of one log.
func rotationMessage(origin string, seq uint64, oldKey, newKey string) []byte {
	return []byte("satelle key rotation v1\n" + origin + "\n" +
		strconv.FormatUint(seq, 10) + "\n" + oldKey + "\n" + newKey + "\n")
}

// rotate adds the epoch of a key.rotated record, if it holds.
func (k keyring) rotate(origin string, seq uint64, body []byte) (keyring, error) {
	var r rotatedBody
	if err := ownBody(body, &r); err != nil {
		return nil, err
	}
	if r.Old != k.current() {
		return nil, errors.New("names another key than the current one as old")
	}
	msg := rotationMessage(origin, seq, r.Old, r.New)
	for _, p := range []struct{ key, sig string }{{r.Old, r.OldSig}, {r.New, r.NewSig}} {
		v, err := note.NewVerifier(p.key)
		if err != nil {
			return nil, err
		}
		sig, err := base64.StdEncoding.DecodeString(p.sig)
		if err != nil || v.Name() != origin || !v.Verify(msg, sig) {
			return nil, fmt.Errorf("is not signed by %s", p.key)
		}
	}
	return append(k[:len(k):len(k)], KeyEpoch{After: seq, VKey: r.New}), nil
}
