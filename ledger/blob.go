package ledger

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	bolt "go.etcd.io/bbolt"

	"satelle/internal/fault"
)

// digestPrefix begins every blob digest. An object in a body whose member
// "digest" begins so is a reference to a blob, wherever it stands.
const digestPrefix = "salted-sha256:"

// saltLen is the length of a blob's salt. Once it is gone, the digest tells
// nothing about the data, not even to somebody who guesses them.
const saltLen = 32

// ErrRedacted is the error of a blob that a record has dropped for good.
var ErrRedacted = errors.New("the blob has been redacted")

// A BlobRef names a blob in the body of a record: as a member of any name, at
// any depth, in exactly this form.
type BlobRef struct {
	Digest string `json:"digest"` // "salted-sha256:" and 64 hexadecimal digits
	Length int64  `json:"length"`
	Type   string `json:"type"` // the media type
}

// A Blob is foreign text on its way into the log. Ref is final before the
// append, so that the record can name it.
type Blob struct {
	Ref  BlobRef
	salt []byte
	data []byte
}

// NewBlob returns a blob with a fresh salt. It keeps data, which must not be
// changed before the append.
func NewBlob(mediaType string, data []byte) Blob {
	return newBlob(rand.Reader, mediaType, data)
}

func newBlob(random io.Reader, mediaType string, data []byte) Blob {
	salt := make([]byte, saltLen)
	if _, err := io.ReadFull(random, salt); err != nil {
		panic("ledger: no randomness: " + err.Error()) // crypto/rand never fails
	}
	sum := blobSum(salt, data)
	return Blob{
		Ref:  BlobRef{Digest: digestPrefix + hex.EncodeToString(sum[:]), Length: int64(len(data)), Type: mediaType},
		salt: salt,
		data: data,
	}
}

// blobSum is the digest: SHA-256 of salt and data.
func blobSum(salt, data []byte) (sum [32]byte) {
	h := sha256.New()
	h.Write(salt)
	h.Write(data)
	h.Sum(sum[:0])
	return sum
}

// parseDigest returns the key of a blob.
func parseDigest(digest string) ([]byte, error) {
	h, ok := strings.CutPrefix(digest, digestPrefix)
	key, err := hex.DecodeString(h)
	if !ok || err != nil || len(key) != sha256.Size || h != strings.ToLower(h) {
		return nil, fault.New(fault.Usage, "%q is no digest of a blob", digest)
	}
	return key, nil
}

// Blob returns the data of a blob: a copy, checked against its digest. A blob
// that was redacted fails with [ErrRedacted], one that never was here with
// class fault.NotFound.
func (l *Log) Blob(ref BlobRef) (data []byte, err error) {
	key, err := parseDigest(ref.Digest)
	if err != nil {
		return nil, err
	}
	err = l.view(func(tx *bolt.Tx) error {
		v := tx.Bucket(bucketBlobs).Get(key)
		switch {
		case v == nil:
			return fault.New(fault.NotFound, "no blob %s in the ledger", ref.Digest)
		case len(v) == 0:
			return fault.Wrap(ErrRedacted, fault.NotFound, "blob %s", ref.Digest)
		case !blobHolds(key, v):
			return fault.New(fault.Integrity, "blob %s does not have its digest", ref.Digest)
		}
		data = bytes.Clone(v[saltLen:])
		return nil
	})
	return data, err
}

// blobHolds reports whether a stored blob has the digest that is its key.
func blobHolds(key, v []byte) bool {
	if len(v) < saltLen {
		return false
	}
	sum := blobSum(v[:saltLen], v[saltLen:])
	return bytes.Equal(sum[:], key)
}

// checkBlob says what is wrong with a blob before anything is written.
func checkBlob(b *Blob) error {
	if len(b.salt) != saltLen {
		return errors.New("a blob must come from NewBlob")
	}
	if len(b.data) > MaxBlob {
		return fmt.Errorf("a blob of %d bytes is larger than %d", len(b.data), MaxBlob)
	}
	return nil
}
