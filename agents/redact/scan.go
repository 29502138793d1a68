package redact

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// mark stands where a secret was.
const mark = "[redacted]"

// shortest is the least length of a named value: anything shorter would blot
// out half of a text and hide little.
const shortest = 4

// Rules is what to look for. The zero value looks for shapes alone; a Rules is
// safe for several goroutines at once.
type Rules struct{ values []string }

// New returns rules that also look for these values, as they are and as JSON
// and URLs write them, and for each longer line of one that has several.
// Values of less than four bytes are not looked for.
func New(values []string) *Rules {
	var all []string
	add := func(v string) {
		if len(v) >= shortest {
			all = append(all, v)
		}
	}
	for _, v := range values {
		v = strings.TrimSpace(v)
		add(v)
		for _, html := range []bool{false, true} {
			add(quote(v, html))
			add(quote(quote(v, html), html)) // JSON within JSON
		}
		add(url.QueryEscape(v))
		add(url.PathEscape(v))
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); len(line) >= 16 {
				add(line)
			}
		}
	}
	slices.Sort(all)
	return &Rules{values: slices.Compact(all)}
}

// quote is s as it stands between the quotes of JSON, with Go's escapes for
// HTML or without.
func quote(s string, html bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	if enc.Encode(s) != nil {
		return ""
	}
	return strings.Trim(b.String(), "\n")[1 : b.Len()-2]
}

// String returns s without its secrets.
func (r *Rules) String(s string) string {
	return replace(s, r.find(s))
}

// Values returns s without the named values alone: what only looks like a secret
// may be anything, where s is no text.
func (r *Rules) Values(s string) string {
	return replace(s, merge(r.named(s)))
}

// span is a part of a text.
type span struct{ from, to int }

// find returns where the secrets of a text are, in order and apart.
func (r *Rules) find(s string) []span {
	all := r.named(s)
	low := lower(s)
	for _, sh := range shapes {
		for _, word := range sh.words {
			for at := 0; ; {
				i := strings.Index(low[at:], word)
				if i < 0 {
					break
				}
				i += at
				at = i + len(word)
				if sh.may != nil && !sh.may(s[:at], s[at:]) {
					continue
				}
				if sp, ok := sh.around(s, i); ok {
					all = append(all, sp)
					at = max(at, sp.to)
				}
			}
		}
	}
	return merge(all)
}

// named returns where the named values of a text are.
func (r *Rules) named(s string) []span {
	var all []span
	for _, v := range r.values {
		for at := 0; ; {
			i := strings.Index(s[at:], v)
			if i < 0 {
				break
			}
			all = append(all, span{at + i, at + i + len(v)})
			at += i + 1
		}
	}
	return all
}

// nearby and ahead are how far before and after its word a match has to show
// itself, where its shape does not say. A secret of more than most bytes is one,
// whatever else might be said of it: so no text is read over and over.
const (
	nearby = 24
	ahead  = 64
	most   = 256
)

// around returns the secret of a match that has the word at i in it.
func (sh *shape) around(s string, i int) (span, bool) {
	for far := cmp.Or(sh.far, ahead); ; far *= 8 {
		to := min(len(s), i+far)
		m, at := sh.match(s[:to], max(0, i-cmp.Or(sh.near, nearby)), i)
		if m == nil {
			return span{}, false
		}
		if at+m[1] == to && to < len(s) {
			continue // more of it may follow
		}
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 {
				sp := span{at + m[g], at + m[g+1]}
				return sp, sh.genuine == nil || sp.to-sp.from > most || sh.genuine(s[sp.from:sp.to])
			}
		}
		return span{}, false
	}
}

// match returns the match that begins at or after from and has i in it,
// relative to where it was looked for.
func (sh *shape) match(s string, from, i int) (m []int, at int) {
	for from <= i {
		m := sh.re().FindStringSubmatchIndex(s[from:])
		switch {
		case m == nil || from+m[0] > i:
			return nil, 0
		case from+m[1] > i:
			return m, from
		}
		from += max(m[1], 1)
	}
	return nil, 0
}

// lower is s in lower case as far as it is ASCII.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func merge(all []span) []span {
	slices.SortFunc(all, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	out := all[:0]
	for _, s := range all {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

func replace(s string, spans []span) string {
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, sp := range spans {
		b.WriteString(s[at:sp.from])
		b.WriteString(mark)
		at = sp.to
	}
	b.WriteString(s[at:])
	return b.String()
}

// held is how many words at the end of a text may still turn out to be part of
// a secret, as in "Authorization: Bearer x" or "password = x".
const held = 4

// safe returns how much of a text stays as it is judged now, whatever follows.
func (r *Rules) safe(s string, spans []span) int {
	cut := tail(s)
	for _, v := range r.values {
		for n := min(len(v)-1, len(s)); n > len(s)-cut; n-- {
			if strings.HasSuffix(s, v[:n]) {
				cut = len(s) - n
			}
		}
	}
	if i := strings.LastIndex(s, "-----BEGIN "); i >= 0 && !strings.Contains(s[i:], "-----END ") {
		cut = min(cut, i)
	}
	// What a secret touches waits with it: more of it may come.
	for i := len(spans) - 1; i >= 0; i-- {
		if spans[i].to == len(s) || spans[i].from < cut && cut < spans[i].to {
			cut = min(cut, spans[i].from)
		}
	}
	return cut
}

// tail is where the last line begins, or the last few words of it.
func tail(s string) int {
	line := strings.LastIndexByte(s, '\n') + 1
	if i := strings.LastIndex(s, `\n`); i >= 0 {
		line = max(line, i) // with the escape: it tells that a word begins
	}
	at := len(s)
	for range held {
		i := strings.LastIndexAny(strings.TrimRight(s[line:at], " \t\r"), " \t\r")
		if i < 0 {
			return line
		}
		at = line + i + 1
	}
	return at
}
