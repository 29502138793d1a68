package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const ours = `{"hooks":[{"command":"ours"}]}`

var (
	arrayPath   = []string{"hooks", "Pre"}
	handlerPath = []string{"hooks", "Pre", Each, "hooks"}
)

func isOurs(v []byte) bool { return bytes.Contains(v, []byte(`"ours"`)) }

func TestAppend(t *testing.T) {
	tests := []struct{ name, doc, want string }{
		{"a file of the user", `{
    "model": "opus",
    "hooks": {
        "Pre": [
            {"hooks": [{"command": "mine"}]}
        ]
    }
}
`, `{
    "model": "opus",
    "hooks": {
        "Pre": [
            {"hooks": [{"command": "mine"}]},
            {
                "hooks": [
                    {
                        "command": "ours"
                    }
                ]
            }
        ]
    }
}
`},
		{"tabs, no final newline, the objects are missing", "{\n\t\"z\": 1,\n\n\t\"a\" : [ 1,2 ]\n}", "{\n\t\"z\": 1,\n\n\t\"a\" : [ 1,2 ],\n\t\"hooks\": {\n\t\t\"Pre\": [\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"command\": \"ours\"\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}"},
		{"CRLF stays CRLF", "{\r\n  \"a\": 1\r\n}\r\n", "{\r\n  \"a\": 1,\r\n  \"hooks\": {\r\n    \"Pre\": [\r\n      {\r\n        \"hooks\": [\r\n          {\r\n            \"command\": \"ours\"\r\n          }\r\n        ]\r\n      }\r\n    ]\r\n  }\r\n}\r\n"},
		{"the empty object that was there", "{}\n", "{\"hooks\": {\n  \"Pre\": [\n    {\n      \"hooks\": [\n        {\n          \"command\": \"ours\"\n        }\n      ]\n    }\n  ]\n}}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Append([]byte(tt.doc), arrayPath, []byte(ours))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestDeleteTakesOnlyWhatIsChosen(t *testing.T) {
	tests := []struct{ name, doc, want string }{
		{"a handler out of a shared group", `{"hooks":{"Pre":[{"matcher":"Bash","hooks":[{"command":"mine"}, {"command":"ours"},{"command":"other"}]}]}}`, `{"hooks":{"Pre":[{"matcher":"Bash","hooks":[{"command":"mine"},{"command":"other"}]}]}}`},
		{"the first of several groups", `{"hooks":{"Pre":[ {"hooks":[{"command":"ours"}]}, {"hooks":[{"command":"mine"}]} ]}}`, `{"hooks":{"Pre":[ {"hooks":[{"command":"mine"}]} ]}}`},
		{"two in a row and one at the end", `{"hooks":{"Pre":[{"hooks":[{"command":"ours"}]},{"hooks":[{"command":"ours"}]},{"hooks":[]},{"hooks":[{"command":"ours"}]}]}}`, `{"hooks":{"Pre":[{"hooks":[]}]}}`},
		{"an array that was laid out anew", `{"hooks":{"Pre":[{"hooks":[{"command":"ours"}]}]}}`, `{"hooks":{"Pre":[]}}`},
		{"a neighbour in the objects that we made", "{\n \"hooks\": {\n  \"Pre\": [\n   {\"hooks\":[{\"command\":\"ours\"}]}\n  ],\n  \"Post\": []\n }\n}", "{\n \"hooks\": {\n  \"Post\": []\n }\n}"},
		{"nothing of ours", `{"hooks":{"Pre":[{"hooks":[{"command":"mine"}]}]}}`, `{"hooks":{"Pre":[{"hooks":[{"command":"mine"}]}]}}`},
		{"no such path", `{"a":[1]}`, `{"a":[1]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Delete([]byte(tt.doc), handlerPath, isOurs)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	tests := []struct {
		name, doc string
		line      int
		what      string
	}{
		{"empty", "", 1, "the file is empty"},
		{"blank", " \n\n", 1, "the file is empty"},
		{"truncated", "{\n\"hooks\": {\n", 2, "unexpected end"},
		{"a comment", "{\n  // mine\n  \"a\": 1\n}", 2, "invalid character"},
		{"two documents", "{}\n{}", 2, "after top-level value"},
		{"binary", "\x00\x01\x02", 1, "invalid character"},
		{"an array at the root", "[]", 1, "the document is no object"},
		{"a null on the path", "{\n\"hooks\": null}", 2, "hooks is no object"},
		{"an object in place of the array", "{\"hooks\":\n{\"Pre\":\n{}}}", 3, "hooks.Pre is no array"},
		{"a key of the path twice", "{\"hooks\": {},\n\n\"h\\u006foks\": {}}", 3, `"hooks" occurs twice`},
		{"nested too deep", strings.Repeat("[", MaxDepth+2) + strings.Repeat("]", MaxDepth+2), 1, "nested deeper"},
		{"two megabytes of brackets", strings.Repeat("[", 2<<20), 1, "no valid JSON"},
		{"too large", strings.Repeat(" ", MaxSize+1), 1, "more than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Append([]byte(tt.doc), arrayPath, []byte(ours))
			_, errDelete := Delete([]byte(tt.doc), handlerPath, isOurs)
			for _, err := range []error{err, errDelete} {
				var e *Error
				if !errors.As(err, &e) {
					t.Fatalf("error = %v, want an *Error", err)
				}
				if !strings.Contains(e.What, tt.what) || (tt.line != e.Line && !strings.Contains(tt.what, "empty")) {
					t.Errorf("error = %q, want line %d and %q", e, tt.line, tt.what)
				}
			}
		})
	}
}

// drawValue draws JSON text with arbitrary white space.
func drawValue(t *rapid.T, depth int, newline string) string {
	space := func() string {
		return rapid.SampledFrom([]string{"", "", " ", newline, newline + "  ", newline + "\t", " " + newline + newline}).Draw(t, "space")
	}
	list := func(open, shut string, item func() string) string {
		out := open + space()
		for i, n := 0, rapid.IntRange(0, 3).Draw(t, "n"); i < n; i++ {
			if i > 0 {
				out += "," + space()
			}
			out += item() + space()
		}
		return out + shut
	}
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	switch {
	case kind == 0 && depth > 0:
		return list("[", "]", func() string { return drawValue(t, depth-1, newline) })
	case kind == 1 && depth > 0:
		i := 0
		return list("{", "}", func() string {
			i++
			return fmt.Sprintf("\"k%d\"%s:%s", i, space(), space()) + drawValue(t, depth-1, newline)
		})
	default:
		return rapid.SampledFrom([]string{"0", "-1.5e3", "true", "null", `""`, `"a\"\\b]}"`, `"ü\u0041"`}).Draw(t, "scalar")
	}
}

// drawDoc draws a document in which any part of the path may be there already.
func drawDoc(t *rapid.T) []byte {
	newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
	space := func() string {
		return rapid.SampledFrom([]string{"", " ", newline + "  ", newline}).Draw(t, "space")
	}
	object := func(key, value string) string {
		var members []string
		if rapid.Bool().Draw(t, "before") {
			members = append(members, `"b":`+space()+drawValue(t, 2, newline))
		}
		if value != "" {
			members = append(members, fmt.Sprintf("%q%s:%s%s", key, space(), space(), value))
		}
		if rapid.Bool().Draw(t, "after") {
			members = append(members, `"x":`+drawValue(t, 2, newline))
		}
		return "{" + space() + strings.Join(members, space()+","+space()) + space() + "}"
	}
	depth := rapid.IntRange(-1, 2).Draw(t, "depth")
	if depth < 0 {
		return nil
	}
	var text string
	if depth == 2 {
		groups := []string{}
		for i, n := 0, rapid.IntRange(0, 2).Draw(t, "groups"); i < n; i++ {
			groups = append(groups, `{"hooks":`+space()+`[`+rapid.SampledFrom([]string{"", `{"command":"mine"}`}).Draw(t, "group")+space()+`]}`)
		}
		text = "[" + space() + strings.Join(groups, ","+space()) + space() + "]"
	}
	if depth >= 1 {
		text = object("Pre", text)
	}
	text = object("hooks", text)
	bom := rapid.SampledFrom([]string{"", "\xef\xbb\xbf"}).Draw(t, "bom")
	return []byte(bom + text + rapid.SampledFrom([]string{"", newline}).Draw(t, "end"))
}

func TestDeleteUndoesAppend(t *testing.T) {
	paths := [][]string{arrayPath, {"hooks", "Post"}, {"hooks", "Start"}}
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDoc(t)
		got := doc
		var err error
		n := rapid.IntRange(1, len(paths)).Draw(t, "events")
		for _, p := range paths[:n] {
			before := got
			if got, err = Append(got, p, []byte(ours)); err != nil {
				t.Fatalf("append to %q: %v", before, err)
			}
			if !json.Valid(bytes.TrimPrefix(got, byteOrderMark)) {
				t.Fatalf("append to %q gave invalid JSON %q", before, got)
			}
		}
		for _, i := range rapid.Permutation([]int{0, 1, 2}[:n]).Draw(t, "order") {
			if got, err = Delete(got, append(paths[i][:2:2], Each, "hooks"), isOurs); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, doc) || (got == nil) != (doc == nil) {
			t.Fatalf("got  %q\nwant %q", got, doc)
		}
	})
}

func FuzzEdit(f *testing.F) {
	for _, s := range []string{"", "{}", `{"hooks":{"Pre":[{"hooks":[{"command":"ours"}]}]}}`, "[[[", "\xef\xbb\xbf{\"a\":1}", `{"hooks":{"Pre":[ ]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		base, err := Delete(doc, handlerPath, isOurs)
		if err != nil || base == nil {
			return
		}
		out, err := Append(base, arrayPath, []byte(ours))
		if err != nil {
			return
		}
		if !json.Valid(bytes.TrimPrefix(out, byteOrderMark)) {
			t.Fatalf("%q became invalid: %q", base, out)
		}
		back, err := Delete(out, handlerPath, isOurs)
		if err != nil || !bytes.Equal(back, base) {
			t.Fatalf("%q came back as %q, %v", base, back, err)
		}
	})
}
