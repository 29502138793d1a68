package spool

import (
	"errors"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Kinds of lines.
const (
	Denied = "denied" // a call was refused
	Warned = "warned" // a call should have been refused, but the mode lets it pass
	Edit   = "edit"   // a call that changes governed files was let pass
	Done   = "done"   // such a call has ended
)

// MaxLine bounds a line in the file, with its line ends.
const MaxLine = 4 << 10

// Bounds of the parts of a line, in bytes as they are written.
const (
	maxID      = 96
	maxSession = 200
	maxName    = 96
	maxTree    = 128
	maxTarget  = 256
	maxTargets = 6
	maxWhy     = 160
	maxWord    = 64
)

// A Line is one thing that the hook saw. Texts that are too long are clipped
// when they are written.
type Line struct {
	N       uint64 // its number within the session, from 1
	Time    int64  // Unix milliseconds, by the hook's clock
	Kind    string
	Session string
	Harness string
	Agent   string // the sub-agent, "" in the main session
	ID      string // the harness's id of the call
	Tool    string
	Failed  bool     // the harness says that the call failed
	Targets []string // what it changes: the first of them
	More    int      // targets left out
	Why     string   // the part of a command that decided
	Cause   string   // the rule by which that part changes files
	Rule    string   // the kind of rule that fired
	Mode    string
	Tree    string // the work tree's id
	Story   string // that holds its seat
	Step    string
	Holding string
}

// errLine means that a text is no line of a spool.
var errLine = errors.New("no line of a spool")

// encode returns a line as it stands in the file: a line end, a checksum, a
// blank, an object, a line end. The line end before it closes whatever a
// writer that died has left there.
func encode(l *Line) []byte {
	b := make([]byte, 1+sumLen+1, 768)
	b = append(b, `{"n":`...)
	b = strconv.AppendUint(b, l.N, 10)
	b = append(b, `,"time":`...)
	b = strconv.AppendInt(b, l.Time, 10)
	b = member(b, "kind", l.Kind, maxWord)
	b = member(b, "session", l.Session, maxSession+len("…"))
	b = member(b, "harness", l.Harness, maxWord)
	b = member(b, "agent", l.Agent, maxName)
	b = member(b, "id", l.ID, maxID)
	b = member(b, "tool", l.Tool, maxName)
	if l.Failed {
		b = append(b, `,"failed":true`...)
	}
	more := l.More
	for i, t := range l.Targets {
		if i == maxTargets {
			more += len(l.Targets) - i
			break
		}
		if i == 0 {
			b = append(b, `,"targets":[`...)
		} else {
			b = append(b, ',')
		}
		b = quote(b, tail(redact(t, true)), maxTarget)
	}
	if len(l.Targets) > 0 {
		b = append(b, ']')
	}
	if more > 0 {
		b = append(b, `,"more":`...)
		b = strconv.AppendInt(b, int64(more), 10)
	}
	b = member(b, "why", redact(l.Why, false), maxWhy)
	b = member(b, "cause", l.Cause, maxWord)
	b = member(b, "rule", l.Rule, maxWord)
	b = member(b, "mode", l.Mode, maxWord)
	b = member(b, "tree", l.Tree, maxTree)
	b = member(b, "story", l.Story, maxWord)
	b = member(b, "step", l.Step, maxWord)
	b = member(b, "holding", l.Holding, maxWord)
	b = append(b, "}\n"...)
	b[0] = '\n'
	sum(b[1:1+sumLen], b[1+sumLen+1:len(b)-1])
	b[1+sumLen] = ' '
	return b
}

// member appends a member that is not empty.
func member(b []byte, name, value string, most int) []byte {
	if value == "" {
		return b
	}
	b = append(b, `,"`...)
	b = append(b, name...)
	b = append(b, `":`...)
	return quote(b, value, most)
}

// quote appends s as a JSON string of at most so many bytes between its
// quotes. What can't be printed becomes U+FFFD.
func quote(b []byte, s string, most int) []byte {
	const cut = "…"
	b = append(b, '"')
	begin := len(b)
	for _, r := range s {
		size := utf8.RuneLen(r)
		switch {
		case r == '"' || r == '\\':
			size = 2
		case r < ' ' || r == 0x7f || r >= 0x80 && unprintable(r):
			r, size = utf8.RuneError, 3
		}
		if len(b)-begin+size > most-len(cut) {
			b = append(b, cut...)
			break
		}
		if r == '"' || r == '\\' {
			b = append(b, '\\')
		}
		b = utf8.AppendRune(b, r)
	}
	return append(b, '"')
}

// unprintable reports whether a character could change how a line looks.
// unicode.IsPrint knows more, at the cost of tables that the hook would link.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}

// tail keeps the end of a long path, which tells more than its beginning.
func tail(path string) string {
	if len(path) <= maxTarget-len("…") {
		return path
	}
	return "…" + strings.ToValidUTF8(path[len(path)-maxTarget/2:], "")
}

// sumLen is the length of a checksum: 64 bits of FNV-1a, in hexadecimal.
const sumLen = 16

func sum(to, text []byte) {
	const digits = "0123456789abcdef"
	h := fnv.New64a()
	h.Write(text)
	v := h.Sum64()
	for i := range sumLen {
		to[i] = digits[v>>(60-4*i)&0xf]
	}
}

// decode reads what encode wrote, without its line ends.
func decode(b []byte) (Line, error) {
	var have [sumLen]byte
	if len(b) < sumLen+2 || len(b) > MaxLine || b[sumLen] != ' ' {
		return Line{}, errLine
	}
	text := b[sumLen+1:]
	if sum(have[:], text); string(have[:]) != string(b[:sumLen]) || !gjson.ValidBytes(text) {
		return Line{}, errLine
	}
	root := gjson.ParseBytes(text)
	if !root.IsObject() {
		return Line{}, errLine
	}
	l, bad := Line{}, false
	words := map[string]*string{
		"kind": &l.Kind, "session": &l.Session, "harness": &l.Harness, "agent": &l.Agent, "id": &l.ID, "tool": &l.Tool,
		"why": &l.Why, "cause": &l.Cause, "rule": &l.Rule, "mode": &l.Mode, "tree": &l.Tree, "story": &l.Story, "step": &l.Step, "holding": &l.Holding,
	}
	root.ForEach(func(key, v gjson.Result) bool {
		switch into := words[key.Str]; {
		case into != nil:
			bad = bad || v.Type != gjson.String
			*into = v.Str
		case key.Str == "n":
			n, err := strconv.ParseUint(v.Raw, 10, 53)
			l.N, bad = n, bad || err != nil
		case key.Str == "time":
			n, err := strconv.ParseInt(v.Raw, 10, 54)
			l.Time, bad = n, bad || err != nil
		case key.Str == "more":
			n, err := strconv.ParseInt(v.Raw, 10, 32)
			l.More, bad = int(n), bad || err != nil || n < 0
		case key.Str == "failed":
			l.Failed, bad = v.Bool(), bad || !v.IsBool()
		case key.Str == "targets":
			bad = bad || !v.IsArray()
			v.ForEach(func(_, t gjson.Result) bool {
				bad = bad || t.Type != gjson.String || len(l.Targets) == maxTargets
				l.Targets = append(l.Targets, t.Str)
				return !bad
			})
		}
		return !bad
	})
	switch l.Kind {
	case Denied, Warned, Edit, Done:
	default:
		bad = true
	}
	if bad || l.N == 0 || l.Session != Name(l.Session) {
		return Line{}, errLine
	}
	return l, nil
}
