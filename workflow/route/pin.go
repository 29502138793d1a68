package route

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

const (
	// laneFormat is the format of pinned lanes. Lanes of format 1 are read for
	// ever; a field that is added must be left out where it is zero.
	laneFormat = 1
	// maxLane bounds the text of a lane's skills, and maxPinned its encoding:
	// without control characters JSON at most doubles a text.
	maxLane   = 4 << 20
	maxPinned = 4 * maxLane
)

type pinned struct {
	Format int `json:"format"`
	Lane
}

// Encode gives a lane its one form in bytes: the same lane, the same bytes.
func Encode(l Lane) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(pinned{laneFormat, l}); err != nil {
		panic(err) // structs of strings and numbers always encode
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// Decode reads what Encode wrote and nothing else: bytes that are not exactly
// the encoding of a lane without flaws are an error.
func Decode(data []byte) (Lane, error) {
	if len(data) > maxPinned {
		return Lane{}, fmt.Errorf("reading a pinned lane: %d bytes are more than %d", len(data), maxPinned)
	}
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return Lane{}, fmt.Errorf("reading a pinned lane: %w", err)
	}
	if head.Format != laneFormat {
		return Lane{}, fmt.Errorf("reading a pinned lane: its format is %d and this program reads %d: upgrade satelle", head.Format, laneFormat)
	}
	var p pinned
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return Lane{}, fmt.Errorf("reading a pinned lane: %w", err)
	}
	// This holds duplicate keys, other spellings, blanks and what follows off.
	if !bytes.Equal(Encode(p.Lane), data) {
		return Lane{}, errors.New("reading a pinned lane: it is not in its one form")
	}
	if flaws := p.flaws(); len(flaws) > 0 {
		return Lane{}, fmt.Errorf("reading a pinned lane: %s", flaws[0].what)
	}
	return p.Lane, nil
}
