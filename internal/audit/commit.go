package audit

import (
	"encoding/base64"
	"strconv"
	"strings"

	"satelle/workflow"
)

// A Commit is what an audit has to know of one.
type Commit struct {
	Hash, Tree string
	Parents    []string
	// Author is "name <email>", as the commit claims.
	Author  string
	Message string
	// Paths are those that differ from the parent; of a merge, those that
	// differ from every parent.
	Paths []string
}

// Subject is the first line of the message.
func (c *Commit) Subject() string {
	line, _, _ := strings.Cut(strings.TrimLeft(c.Message, "\n"), "\n")
	return line
}

// The trailers of a governed commit.
const (
	TrailerStory  = workflow.TrailerStory
	TrailerLedger = workflow.TrailerLedger
)

// A claim is what trailers say of a commit: the story, and the head of a log
// whose last record is the commit's.
type claim struct {
	story  string
	origin string
	size   uint64
	root   [32]byte
	// bad says what is wrong with its form.
	bad string
}

// maxClaims bounds the claims that are read from one message.
const maxClaims = 1000

// claims reads the trailers of a message. Those in its last paragraph are the
// commit's own; others, which a forge that squashes leaves further up, are
// hints: who writes about trailers makes no false claim.
func claims(message string) (own, hints []claim) {
	text := strings.TrimRight(strings.ReplaceAll(message, "\r\n", "\n"), "\n \t")
	body, last := "", text
	if i := strings.LastIndex(text, "\n\n"); i >= 0 {
		body, last = text[:i], text[i+2:]
	} else if strings.Contains(text, "\n") {
		// A message of one paragraph: its first line is the subject.
		body, last, _ = strings.Cut(text, "\n")
	} else {
		return nil, nil
	}
	own = readClaims(last)
	for _, c := range readClaims(body) {
		if c.bad == "" {
			hints = append(hints, c)
		}
	}
	return own, hints
}

func readClaims(text string) (all []claim) {
	story, open := "", false
	for line := range strings.Lines(text) {
		if len(all) >= maxClaims {
			break
		}
		line = strings.TrimRight(line, "\n")
		if v, ok := strings.CutPrefix(line, TrailerStory+": "); ok {
			if open {
				all = append(all, claim{story: story, bad: "a story without a ledger"})
			}
			story, open = strings.TrimSpace(v), true
		}
		if v, ok := strings.CutPrefix(line, TrailerLedger+": "); ok {
			c := readLedger(strings.TrimSpace(v))
			c.story = story
			all = append(all, c)
			story, open = "", false
		}
	}
	if open {
		all = append(all, claim{story: story, bad: "a story without a ledger"})
	}
	return all
}

// readLedger reads the value of [TrailerLedger] as a claim.
func readLedger(value string) (c claim) {
	f := strings.Split(value, " ")
	if len(f) != 3 {
		c.bad = "not of the form ORIGIN SIZE ROOT"
		return c
	}
	c.origin = f[0]
	size, err := strconv.ParseUint(f[1], 10, 53)
	if err != nil || size == 0 || strconv.FormatUint(size, 10) != f[1] {
		c.bad = "a size that is none"
		return c
	}
	root, err := base64.StdEncoding.Strict().DecodeString(f[2])
	if err != nil || len(root) != len(c.root) {
		c.bad = "a root that is none"
		return c
	}
	c.size = size
	copy(c.root[:], root)
	return c
}

// WriteLedger is the value of [TrailerLedger] for the head of a log.
func WriteLedger(origin string, size uint64, root [32]byte) string {
	return origin + " " + strconv.FormatUint(size, 10) + " " + base64.StdEncoding.EncodeToString(root[:])
}

// ReadLedger is the inverse of WriteLedger; ok is false where the value has
// not that form.
func ReadLedger(value string) (origin string, size uint64, root [32]byte, ok bool) {
	c := readLedger(value)
	return c.origin, c.size, c.root, c.bad == ""
}
