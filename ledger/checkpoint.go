package ledger

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// maxCheckpoint bounds a signed checkpoint in bytes: three lines and a
// signature take a few hundred, cosignatures of witnesses some more.
const maxCheckpoint = 64 << 10

// ErrCheckpoint is the error of a text that is no checkpoint at all, as
// opposed to one that does not fit.
var ErrCheckpoint = errors.New("not a signed checkpoint")

// A Checkpoint is what a signed note of the C2SP tlog-checkpoint form says.
type Checkpoint struct {
	Origin string
	Size   uint64
	Root   [32]byte
}

// text is the part of the note that is signed.
func (c *Checkpoint) text() string {
	return c.Origin + "\n" + strconv.FormatUint(c.Size, 10) + "\n" +
		base64.StdEncoding.EncodeToString(c.Root[:]) + "\n"
}

// ParseCheckpoint reads a signed checkpoint without checking its signatures:
// what it says may be believed only after note.Open.
func ParseCheckpoint(signed string) (Checkpoint, error) {
	var c Checkpoint
	if len(signed) > maxCheckpoint {
		return c, ErrCheckpoint
	}
	_, err := openNote(signed, nil)
	unverified, ok := errors.AsType[*note.UnverifiedNoteError](err)
	if !ok {
		return c, ErrCheckpoint
	}
	return parseCheckpointText(unverified.Note.Text)
}

// openNote is note.Open, but accepts only one spelling of each signature: its
// base64 decoder passes over bits that do not matter.
func openNote(signed string, known note.Verifiers) (*note.Note, error) {
	n, err := note.Open([]byte(signed), known)
	all := n
	if unverified, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		all = unverified.Note
	} else if err != nil {
		return nil, err
	}
	for _, s := range append(all.Sigs, all.UnverifiedSigs...) {
		if _, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil {
			return nil, ErrCheckpoint
		}
	}
	return n, err
}

func parseCheckpointText(text string) (Checkpoint, error) {
	var c Checkpoint
	lines := strings.Split(text, "\n")
	// Three lines at least, then extension lines, none of them empty; what
	// follows the last newline is.
	if len(lines) < 4 || lines[len(lines)-1] != "" {
		return c, ErrCheckpoint
	}
	for _, l := range lines[:len(lines)-1] {
		if l == "" {
			return c, ErrCheckpoint
		}
	}
	size, err := strconv.ParseUint(lines[1], 10, 63)
	if err != nil || strconv.FormatUint(size, 10) != lines[1] {
		return c, ErrCheckpoint
	}
	root, err := tlog.ParseHash(lines[2])
	if err != nil || root.String() != lines[2] {
		return c, ErrCheckpoint
	}
	return Checkpoint{Origin: lines[0], Size: size, Root: root}, nil
}

// A head entry keeps a signed checkpoint in a hundred bytes: the root, then
// key id and signature of each key that signed. Origin and size are known from
// elsewhere, so the note can be written out again, byte for byte.
const (
	sigLen       = 4 + 64 // key id and Ed25519 signature
	headEntryMin = tlog.HashSize + sigLen
)

// sealHead signs a head and returns its entry.
func sealHead(c *Checkpoint, signers []note.Signer) ([]byte, error) {
	entry := append(make([]byte, 0, headEntryMin), c.Root[:]...)
	text := []byte(c.text())
	for _, s := range signers {
		sig, err := s.Sign(text)
		if err != nil {
			return nil, err
		}
		if len(sig) != sigLen-4 {
			return nil, errors.New("the signer does not sign by Ed25519")
		}
		entry = binary.BigEndian.AppendUint32(entry, s.KeyHash())
		entry = append(entry, sig...)
	}
	return entry, nil
}

// validHeadEntry reports whether e has the length of a head entry.
func validHeadEntry(e []byte) bool {
	return len(e) >= headEntryMin && (len(e)-tlog.HashSize)%sigLen == 0
}

// openHead is the inverse of sealHead: the head with its note written out.
// It checks no signature.
func openHead(origin string, size uint64, entry []byte) (Head, error) {
	if !validHeadEntry(entry) {
		return Head{}, ErrCheckpoint
	}
	c := Checkpoint{Origin: origin, Size: size, Root: [32]byte(entry[:32])}
	var b bytes.Buffer
	b.WriteString(c.text())
	b.WriteByte('\n')
	for sig := entry[32:]; len(sig) > 0; sig = sig[sigLen:] {
		b.WriteString("— " + origin + " " + base64.StdEncoding.EncodeToString(sig[:sigLen]) + "\n")
	}
	return Head{Size: size, Root: c.Root, Note: b.String()}, nil
}
