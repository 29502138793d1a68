package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

var testTime = time.Date(2025, 6, 7, 8, 9, 10, 11, time.UTC)

const testID = "01JGJFGR4N52EG9X19350ZWDT3"

// good is a record in canonical form, for tests that break it.
const good = `{"id":"01JGJFGR4N52EG9X19350ZWDT3","time":"2025-06-07T08:09:10.000000011Z","kind":"a.b","story":"sty_1",` +
	`"actor":{"kind":"person","name":"Zoë","session":"","harness":"","host":"","auth":"asserted","key":"","sig":""},` +
	`"crit":false,"schema":1,"body":{"a":[1,-2,{"b":null}],"c":"x\ny","d":true}}`

func TestParseGood(t *testing.T) {
	r, err := ParseRecord([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if r.ID != testID || !r.Time.Equal(testTime) || r.Actor.Name != "Zoë" || r.Schema != 1 ||
		string(r.Body) != `{"a":[1,-2,{"b":null}],"c":"x\ny","d":true}` {
		t.Errorf("%+v", r)
	}
	raw, _, err := encode(r.ID, r.Time, &Draft{Kind: r.Kind, Story: r.Story, Actor: r.Actor, Schema: r.Schema, Body: r.Body})
	if err != nil || string(raw) != good {
		t.Errorf("encode gives %s, %v", raw, err)
	}
}

func TestParseRefuses(t *testing.T) {
	sub := func(old, with string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not in the record", old)
		}
		return strings.Replace(good, old, with, 1)
	}
	body := func(b string) string { return good[:strings.Index(good, `"body":`)+7] + b + "}" }
	ref := `{"digest":"salted-sha256:` + strings.Repeat("0a", 32) + `"`
	tests := []struct{ name, raw string }{
		{"empty", ""},
		{"null", "null"},
		{"an array", "[]"},
		{"half of it", good[:len(good)/2]},
		{"trailing space", good + " "},
		{"trailing newline", good + "\n"},
		{"twice", good + good},
		{"a space between", sub(`,"kind"`, `, "kind"`)},
		{"fields in another order", sub(`"crit":false,"schema":1`, `"schema":1,"crit":false`)},
		{"a field missing", sub(`"crit":false,`, ``)},
		{"a field more", sub(`"crit":false,`, `"crit":false,"x":1,`)},
		{"a field twice", sub(`"crit":false,`, `"crit":false,"crit":false,`)},
		{"a field in other case", sub(`"crit"`, `"Crit"`)},
		{"an escaped name", sub(`"crit"`, `"cr\u0069t"`)},
		{"an actor's field missing", sub(`"harness":"",`, ``)},
		{"crit as a number", sub(`"crit":false`, `"crit":0`)},
		{"crit null", sub(`"crit":false`, `"crit":null`)},
		{"schema zero", sub(`"schema":1`, `"schema":0`)},
		{"schema negative", sub(`"schema":1`, `"schema":-1`)},
		{"schema a fraction", sub(`"schema":1`, `"schema":1.0`)},
		{"schema as text", sub(`"schema":1`, `"schema":"1"`)},
		{"schema too large", sub(`"schema":1`, `"schema":9007199254740992`)},
		{"id in lower case", sub(testID, strings.ToLower(testID))},
		{"id too short", sub(testID, testID[1:])},
		{"id overflows", sub(testID, "8"+testID[1:])},
		{"id with a letter that is none", sub(testID, "01JGJFGR4N52EG9X19350ZWDTU")},
		{"time with an offset", sub(`000000011Z`, `000000011+00:00`)},
		{"time with fewer digits", sub(`.000000011Z`, `.11Z`)},
		{"month 13", sub("2025-06", "2025-13")},
		{"February 29 of no leap year", sub("2025-06-07", "2025-02-29")},
		{"hour 24", sub("T08", "T24")},
		{"a leap second", sub(":10.", ":60.")},
		{"kind empty", sub(`"kind":"a.b"`, `"kind":""`)},
		{"kind with a capital", sub(`"a.b"`, `"A.b"`)},
		{"story with NUL", sub(`"sty_1"`, `"sty\u00001"`)},
		{"story too long", sub(`"sty_1"`, `"`+strings.Repeat("s", MaxName+1)+`"`)},
		{"a needless escape", sub(`Zoë`, `Zo\u00eb`)},
		{"an escaped slash", sub(`Zoë`, `\/`)},
		{"a long escape where a short one is", sub(`Zoë`, `\u000a`)},
		{"an escape in capitals", sub(`Zoë`, `\u001F`)},
		{"a surrogate", sub(`Zoë`, `\ud800`)},
		{"a raw newline", sub(`Zoë`, "a\nb")},
		{"a raw NUL", sub(`Zoë`, "\x00")},
		{"invalid UTF-8", sub(`Zoë`, "\xff")},
		{"an overlong UTF-8 sequence", sub(`Zoë`, "\xc0\xaf")},
		{"a surrogate in UTF-8", sub(`Zoë`, "\xed\xa0\x80")},
		{"body an array", body(`[]`)},
		{"body null", body(`null`)},
		{"body text", body(`"x"`)},
		{"a fraction", body(`{"a":1.5}`)},
		{"an exponent", body(`{"a":1e3}`)},
		{"a leading zero", body(`{"a":01}`)},
		{"minus zero", body(`{"a":-0}`)},
		{"plus", body(`{"a":+1}`)},
		{"only minus", body(`{"a":-}`)},
		{"2^53", body(`{"a":9007199254740992}`)},
		{"a very long number", body(`{"a":` + strings.Repeat("9", 1000) + `}`)},
		{"NaN", body(`{"a":NaN}`)},
		{"a name twice", body(`{"a":1,"a":1}`)},
		{"a name twice among many", body(`{` + manyNames(40) + `,"n7":1}`)},
		{"a comma too many", body(`{"a":1,}`)},
		{"a comma in an array too many", body(`{"a":[1,]}`)},
		{"no comma", body(`{"a":1"b":2}`)},
		{"no value", body(`{"a"}`)},
		{"a name that is no text", body(`{1:1}`)},
		{"a comment", body(`{/**/}`)},
		{"too deep", body(strings.Repeat(`{"a":`, MaxDepth) + `{}` + strings.Repeat(`}`, MaxDepth))},
		{"arrays too deep", body(`{"a":` + strings.Repeat(`[`, MaxDepth) + strings.Repeat(`]`, MaxDepth) + `}`)},
		{"100,000 brackets", body(`{"a":` + strings.Repeat(`[`, 100_000))},
		{"too large", body(`{"a":"` + strings.Repeat("x", MaxRecord) + `"}`)},
		{"a reference without length", body(ref + `}`)},
		{"a reference with more", body(ref + `,"length":1,"type":"t","more":1}`)},
		{"a reference in another order", body(`{"length":1,` + ref[1:] + `,"type":"t"}`)},
		{"a reference of a negative length", body(ref + `,"length":-1,"type":"t"}`)},
		{"a reference with a short digest", body(`{"digest":"salted-sha256:00","length":1,"type":"t"}`)},
		{"a reference in capitals", body(strings.Replace(ref, "0a", "0A", 1) + `,"length":1,"type":"t"}`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ParseRecord([]byte(tt.raw)); err == nil {
				t.Errorf("accepted: %.300s", tt.raw)
			}
		})
	}
}

func manyNames(n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf(`"n%d":%d`, i, i))
	}
	return strings.Join(names, ",")
}

func TestParseAccepts(t *testing.T) {
	for _, b := range []string{
		`{}`, `{"":""}`, `{"a":[]}`, `{"a":[[],{}]}`, `{` + manyNames(40) + `}`,
		`{"a":9007199254740991,"b":-9007199254740991,"c":0}`,
		`{"a":"\"\\\b\f\n\r\t\u0000\u001f/<>&` + "\u2028\u2029\U0001F600\x7f" + `"}`,
		strings.Repeat(`{"a":`, MaxDepth-1) + `{}` + strings.Repeat(`}`, MaxDepth-1),
		`{"digest":"sha256:00"}`,
		`{"r":[{"digest":"salted-sha256:` + strings.Repeat("0a", 32) + `","length":1,"type":"t"}]}`,
	} {
		raw := good[:strings.Index(good, `"body":`)+7] + b + "}"
		if _, err := ParseRecord([]byte(raw)); err != nil {
			t.Errorf("refused: %s", b)
		}
	}
}

// Bodies of any Go value are written canonically, with their value kept.
func TestCanonicalBody(t *testing.T) {
	type s struct {
		A string `json:"a"`
		B []int  `json:"b"`
	}
	tests := []struct {
		body any
		want string // "" if it is refused
	}{
		{nil, `{}`},
		{s{"<x>&\u2028\x01\n", nil}, `{"a":"<x>&` + "\u2028" + `\u0001\n","b":null}`},
		{map[string]any{"b": 1, "a": true}, `{"a":true,"b":1}`},
		{json.RawMessage(" { \"a\" : [ 1 , \"\\u00e9\\/\" ] } \n"), `{"a":[1,"é/"]}`},
		{json.RawMessage(`{"a":{"b":[],"c":{}},"d":null}`), `{"a":{"b":[],"c":{}},"d":null}`},
		{json.RawMessage(`{"a":"\ud83d\ude00"}`), `{"a":"😀"}`},
		{json.RawMessage(`{"a":1,"a":2}`), ""},
		{json.RawMessage(`{"a":1.5}`), ""},
		{json.RawMessage(`{"a":`), ""},
		{json.RawMessage(`{} {}`), ""},
		{json.RawMessage(``), ""},
		{map[string]any{"a": math.Pi}, ""},
		{map[string]any{"a": uint64(1 << 60)}, ""},
		{"text", ""},
		{[]int{1}, ""},
		{func() {}, ""},
	}
	for _, tt := range tests {
		got, err := bodyJSON(tt.body)
		if err == nil {
			got, err = canonical(got)
		}
		if (err != nil) != (tt.want == "") || err == nil && string(got) != tt.want {
			t.Errorf("%v: %s, %v; want %s", tt.body, got, err, tt.want)
		}
	}
}

// Laws of the record form: what is encoded parses to what it was made of, and
// no byte can be changed without the record becoming another one.
func TestEncodeParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		a := Actor{
			Kind: text.Draw(t, "kind"), Name: text.Draw(t, "name"), Session: text.Draw(t, "session"),
			Harness: text.Draw(t, "harness"), Host: text.Draw(t, "host"), Auth: text.Draw(t, "auth"),
			Key: text.Draw(t, "key"), Sig: text.Draw(t, "sig"),
		}
		body := rapid.MapOf(text, rapid.OneOf(
			rapid.Map(text, func(s string) any { return s }),
			rapid.Map(rapid.Int64Range(-maxInt, maxInt), func(n int64) any { return json.Number(fmt.Sprint(n)) }),
			rapid.Map(rapid.SliceOf(text), func(s []string) any { return s }),
		)).Draw(t, "body")
		d := Draft{Kind: "a.b", Actor: a, Crit: rapid.Bool().Draw(t, "crit"), Schema: 1, Body: body}
		raw, v, err := encode(testID, testTime, &d)
		if err != nil {
			t.Skip() // two names that become one, where text is no UTF-8
		}
		r := v.record(raw)
		want := a
		for _, s := range []*string{&want.Kind, &want.Name, &want.Session, &want.Harness, &want.Host, &want.Auth, &want.Key, &want.Sig} {
			*s = strings.ToValidUTF8(*s, "\uFFFD")
		}
		if r.Actor != want || !r.Time.Equal(testTime) || r.Crit != d.Crit {
			t.Fatalf("%+v, want %+v", r.Actor, want)
		}
		plainJSON, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		if !sameJSON(r.Body, plainJSON) {
			t.Fatalf("body %s, want %s", r.Body, plainJSON)
		}
		again, _, err := encode(testID, testTime, &Draft{Kind: "a.b", Actor: r.Actor, Crit: r.Crit, Schema: 1, Body: r.Body})
		if err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("encoded again: %s, %v", again, err)
		}
	})
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return bytes.Equal(p, q)
}

// The hand-written form of times is the one that package time would give.
func TestTime(t *testing.T) {
	const layout = "2006-01-02T15:04:05.000000000Z"
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		b := appendTime(nil, at)
		if want := at.UTC().Format(layout); string(b) != want || !validTime(b) || !parseTime(b).Equal(at) {
			t.Fatalf("%s, want %s; parsed %v", b, want, parseTime(b))
		}
		i := rapid.IntRange(0, len(b)-1).Draw(t, "i")
		b[i] = rapid.SampledFrom([]byte("0123456789:-TZ. ")).Draw(t, "byte")
		if _, err := time.Parse(layout, string(b)); (err == nil) != validTime(b) {
			t.Fatalf("%s: valid %v, but %v", b, validTime(b), err)
		}
	})
}

// The scanner's look at eight bytes at a time finds what a plain loop finds.
func TestPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOf(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte{'"', '\\', 0x1f, 0x20, 0x7f, 0x80, 0xa2, 0xdc, 'a'}))).Draw(t, "bytes")
		i := rapid.IntRange(0, len(b)).Draw(t, "from")
		want := i
		for want < len(b) && b[want] != '"' && b[want] != '\\' && b[want] >= 0x20 {
			want++
		}
		if got := plain(b, i); got != want {
			t.Fatalf("plain(%q, %d) = %d, want %d", b, i, got, want)
		}
	})
}

// Whatever parse accepts is JSON for others, too, and has one form only.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(good[:60]))
	f.Add([]byte(strings.Replace(good, `"d":true`, `"d":{"digest":"salted-sha256:`+strings.Repeat("ab", 32)+`","length":5,"type":"text/plain"}`, 1)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := ParseRecord(raw)
		if err != nil {
			return
		}
		if !gjson.ValidBytes(raw) || !json.Valid(raw) || !utf8.Valid(raw) {
			t.Fatalf("not JSON: %q", raw)
		}
		again, _, err := encode(r.ID, r.Time, &Draft{
			Kind: r.Kind, Story: r.Story, Actor: r.Actor, Crit: r.Crit, Schema: r.Schema, Body: r.Body,
		})
		if err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("%q is written as %q (%v)", raw, again, err)
		}
	})
}

func FuzzCheckpoint(f *testing.F) {
	f.Add("satelle/p/c\n7\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n— satelle/p/c Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n")
	f.Add("a\n0\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\next\n\n— b AAAAAAA=\n")
	f.Fuzz(func(t *testing.T, s string) {
		cp, err := ParseCheckpoint(s)
		if err != nil {
			return
		}
		if !strings.HasPrefix(s, cp.text()) {
			t.Fatalf("%q is not what %q says", cp.text(), s)
		}
	})
}

func FuzzProof(f *testing.F) {
	f.Add([]byte("c2sp.org/tlog-proof@v1\nindex 0\n\na\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n— a AAAAAAA=\n"))
	f.Add([]byte("c2sp.org/tlog-proof@v1\nextra AAAA\nindex 7\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\nx"))
	f.Fuzz(func(t *testing.T, b []byte) {
		seq, hashes, signed, err := parseProof(b)
		if err != nil {
			return
		}
		want := formatProof(seq, hashes, signed)
		if bytes.Contains(b, []byte("\nextra ")) {
			return // it is passed over
		}
		if !bytes.Equal(want, b) {
			t.Fatalf("%q is written as %q", b, want)
		}
	})
}
