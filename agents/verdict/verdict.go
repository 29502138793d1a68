package verdict

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"satelle/workflow"
)

const (
	// nonceBytes is the size of a nonce before it is written in hex.
	nonceBytes = 16
	// maxAnswer bounds the message that is read, in bytes.
	maxAnswer = 64 << 10
	// MaxNotes bounds the notes of a verdict, in bytes.
	MaxNotes = 16 << 10
)

// Nonce draws the nonce of one call, 128 bits in hex.
func Nonce() string {
	var b [nonceBytes]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // crypto/rand does not fail
	}
	return hex.EncodeToString(b[:])
}

// Answer is a verdict as a reviewer gave it.
type Answer struct {
	// Decision is workflow.Accept or workflow.Reject.
	Decision string
	Notes    string
}

// Form is what an answer has to satisfy.
type Form struct {
	// Nonce is the one of this call.
	Nonce string
	// Partial says that the payload did not hold everything: an accept then has
	// to say that the reviewer has read the rest, by "read":"all".
	Partial bool
}

// Parse reads a final message as the verdict of the call that the form belongs
// to. The message is one JSON object and nothing else, but for white space and
// at most one Markdown fence around all of it. The error says what is wrong; a
// message with an error is no verdict. (Decision Q16.)
func (f Form) Parse(message string) (Answer, error) {
	switch {
	case strings.TrimSpace(message) == "":
		return Answer{}, errors.New("the final message is empty")
	case len(message) > maxAnswer:
		return Answer{}, fmt.Errorf("the final message has %d bytes; at most %d are read", len(message), maxAnswer)
	case !utf8.ValidString(message):
		return Answer{}, errors.New("the final message is no UTF-8 text")
	}
	fields, err := object(unfenced(strings.TrimSpace(message)))
	if err != nil {
		return Answer{}, err
	}
	for _, key := range []string{"decision", "notes", "nonce"} {
		if _, there := fields[key]; !there {
			return Answer{}, fmt.Errorf("the verdict lacks %q", key)
		}
	}
	_, read := fields["read"]
	a := Answer{Decision: fields["decision"], Notes: fields["notes"]}
	switch {
	case subtle.ConstantTimeCompare([]byte(fields["nonce"]), []byte(f.Nonce)) != 1 || f.Nonce == "":
		return Answer{}, errors.New("the nonce is not the one of this call")
	case a.Decision != workflow.Accept && a.Decision != workflow.Reject:
		return Answer{}, fmt.Errorf("decision is neither %q nor %q", workflow.Accept, workflow.Reject)
	case len(a.Notes) > MaxNotes:
		return Answer{}, fmt.Errorf("notes have %d bytes; at most %d are kept", len(a.Notes), MaxNotes)
	case a.Decision == workflow.Reject && strings.TrimSpace(a.Notes) == "":
		return Answer{}, errors.New("a reject has to say why, in notes")
	case read && !f.Partial:
		return Answer{}, errors.New(`the verdict has the key "read", which nobody asked for`)
	case read && fields["read"] != "all":
		return Answer{}, errors.New(`read may only be "all"`)
	case a.Decision == workflow.Accept && f.Partial && !read:
		return Answer{}, errors.New(`the input was not whole: an accept has to say "read":"all", and only of what was read in full`)
	}
	return a, nil
}

// unfenced takes off the one fence that models like to put around JSON.
func unfenced(s string) string {
	first, rest, many := strings.Cut(s, "\n")
	inner, closed := strings.CutSuffix(rest, "```")
	if !many || !closed || first != "```" && first != "```json" || strings.Contains(inner, "```") {
		return s
	}
	return strings.TrimSpace(inner)
}

// object reads an object of strings with each key once and none that has no
// meaning.
func object(s string) (map[string]string, error) {
	form := errors.New(`the final message is not exactly one JSON object with the keys decision, notes and nonce`)
	dec := json.NewDecoder(strings.NewReader(s))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, form
	}
	fields := map[string]string{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, form
		}
		name, _ := key.(string) // a key is a string, or the decoder had failed
		switch name {
		case "decision", "notes", "nonce", "read":
		default:
			return nil, errors.New("the verdict has a key that it should not have")
		}
		if _, twice := fields[name]; twice {
			return nil, fmt.Errorf("the verdict has the key %q twice", name)
		}
		value, err := dec.Token()
		if err != nil {
			return nil, form
		}
		text, is := value.(string)
		if !is {
			return nil, fmt.Errorf("%s is no text", name)
		}
		fields[name] = text
	}
	if _, err := dec.Token(); err != nil {
		return nil, form
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, form
	}
	return fields, nil
}
