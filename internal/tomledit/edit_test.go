package tomledit

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSet(t *testing.T) {
	tests := []struct{ name, doc, want string }{
		{"no such table", "model = \"m\" # mine\n", "model = \"m\" # mine\n\n[features] # satelle\ntty = false # satelle\n"},
		{"no final newline", "a = 1", "a = 1\n\n[features] # satelle\ntty = false # satelle"},
		{"an empty file", "", "\n[features] # satelle\ntty = false # satelle\n"},
		{"a table", "# top\n[features] # mine\n# about hooks\nhooks = true\n\n[x]\ny = 1\n", "# top\n[features] # mine\ntty = false # satelle\n# about hooks\nhooks = true\n\n[x]\ny = 1\n"},
		{"a table at the end", "[ \"features\" ]", "[ \"features\" ]\ntty = false # satelle"},
		{"CRLF", "[features]\r\na = 1\r\n", "[features]\r\ntty = false # satelle\r\na = 1\r\n"},
		{"a sub-table alone", "[features.deep]\na = 1\n", "[features.deep]\na = 1\n\n[features] # satelle\ntty = false # satelle\n"},
		{"an inline table", "features = { hooks = true } # mine\nb = 1\n", "features = { hooks = true, tty = false } # mine # satelle: tty\nb = 1\n"},
		{"an empty inline table", "features={ }\n", "features={tty = false } # satelle: tty\n"},
		{"dotted keys", "features.hooks = true\nb = 1\n", "features.hooks = true\nfeatures.tty = false # satelle\nb = 1\n"},
		{"the value is there", "[features]\ntty   =   false\n", "[features]\ntty   =   false\n"},
		{"the value is there, spelled differently", "features = {\"tty\" = false}", "features = {\"tty\" = false}"},
		{"the contrary value", "[features]\ntty = true # mine\n", "[features]\ntty = false # mine # satelle was true\n"},
		{"the contrary value, dotted", "features.tty = true", "features.tty = false # satelle was true"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Set([]byte(tt.doc), "false", "features", "tty")
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			again, err := Set(got, "false", "features", "tty")
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("set twice gave %q, %v", again, err)
			}
			value, found, err := Get(got, "features", "tty")
			if err != nil || !found || value != "false" {
				t.Errorf("Get = %q, %v, %v", value, found, err)
			}
			back, err := Unset(got, "features", "tty")
			if err != nil || string(back) != tt.doc || back == nil {
				t.Errorf("came back as %q, %v", back, err)
			}
		})
	}
}

func TestNewDocument(t *testing.T) {
	got, err := Set(nil, `"trusted"`, "projects", `/a "b"`, "trust_level")
	if err != nil || string(got) != "[projects.\"/a \\\"b\\\"\"] # satelle\ntrust_level = \"trusted\" # satelle\n" {
		t.Fatalf("got %q, %v", got, err)
	}
	if back, err := Unset(got, "projects", `/a "b"`, "trust_level"); back != nil || err != nil {
		t.Errorf("came back as %q, %v", back, err)
	}
}

func TestSetAnew(t *testing.T) {
	doc := []byte("[f]\nhash = \"theirs\"\n")
	first, err := Set(doc, `"one"`, "f", "hash")
	if err != nil {
		t.Fatal(err)
	}
	second, err := Set(first, `"two"`, "f", "hash")
	if err != nil || string(second) != "[f]\nhash = \"two\" # satelle was \"theirs\"\n" {
		t.Fatalf("got %q, %v", second, err)
	}
	if back, err := Unset(second, "f", "hash"); err != nil || !bytes.Equal(back, doc) {
		t.Errorf("came back as %q, %v", back, err)
	}
}

func TestReplaceAndLine(t *testing.T) {
	doc := []byte("# top\n[a] # x\nb = \"old\" # y\nc = { d = 1 }\n")
	got, err := Replace(doc, "'new'", "a", "b")
	if err != nil || string(got) != "# top\n[a] # x\nb = 'new' # y\nc = { d = 1 }\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := Replace(doc, "1", "a", "x"); err == nil {
		t.Error("replaced what is not there")
	}
	for _, tt := range []struct {
		path []string
		line int
	}{{[]string{"a"}, 2}, {[]string{"a", "b"}, 3}, {[]string{"a", "c", "d"}, 4}, {[]string{"z"}, 0}} {
		if got := Line(doc, tt.path...); got != tt.line {
			t.Errorf("Line(%v) = %d, want %d", tt.path, got, tt.line)
		}
	}
}

func TestUnsetKeepsWhatIsNotOurs(t *testing.T) {
	tests := []struct{ name, doc, want string }{
		{"the same value of a person", "[features]\ntty = false\n", "[features]\ntty = false\n"},
		{"a person's key in our table", "\n[features] # satelle\ntty = false # satelle\nhooks = true\n", "\n[features]\nhooks = true\n"},
		{"no key", "a = 1\n", "a = 1\n"},
		{"an inline key of a person", "features = { tty = false }\n", "features = { tty = false }\n"},
		{"an inline key of a longer name", "features = { tty = false, tty2 = 1 } # satelle: tty2\n", "features = { tty = false, tty2 = 1 } # satelle: tty2\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Unset([]byte(tt.doc), "features", "tty")
			if err != nil || string(got) != tt.want {
				t.Errorf("got %q, %v", got, err)
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
		{"invalid", "a = 1\nb =\n", 2, "no valid TOML"},
		{"binary", "\x00\x01", 1, "no valid TOML"},
		{"a key twice", "a = 1\na = 2\n", 2, "no valid TOML"},
		{"a table twice", "[a]\n[a]\n", 2, "no valid TOML"},
		{"a scalar on the path", "\nfeatures = 3\n", 2, "features is no table"},
		{"an array on the path", "features = [1]\n", 1, "features is an array"},
		{"an array of tables on the path", "[[features]]\na = 1\n", 1, "features is an array"},
		{"a table in place of the key", "[features.tty]\na = 1\n", 1, "features.tty is a table"},
		{"a contrary value in an inline table", "\nfeatures = { tty = true }\n", 2, "features.tty is true; set it to false"},
		{"deeply nested", "a = " + strings.Repeat("[", 200000), 1, "no valid TOML"},
		{"too large", "#" + strings.Repeat(" ", MaxSize), 1, "more than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Set([]byte(tt.doc), "false", "features", "tty")
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error = %v, want an *Error", err)
			}
			if e.Line != tt.line || !strings.Contains(e.What, tt.what) {
				t.Errorf("error = %q, want line %d and %q", e, tt.line, tt.what)
			}
		})
	}
}

// drawDoc draws a configuration in which the tables of the keys stand in any
// form, or not at all.
func drawDoc(t *rapid.T) []byte {
	if rapid.IntRange(0, 9).Draw(t, "absent") == 0 {
		return nil
	}
	newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
	pick := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
	comment := func() string { return pick("comment", "", " # mine", "  ", " # satelle was here") }
	filler := func() []string {
		return rapid.SliceOfN(rapid.SampledFrom([]string{"", "# words", "  # satelle"}), 0, 3).Draw(t, "filler")
	}
	var lines []string
	add := func(l ...string) { lines = append(append(lines, filler()...), l...) }
	add("model = \"x\"" + comment())
	add("list = [", "  1, # one", "  2,", "]"+comment())
	for _, name := range []string{"features", "projects"} {
		switch rapid.IntRange(0, 5).Draw(t, name) {
		case 0:
			add(name+".a = '''", "# satelle", "''' # x")
		case 1:
			add(name + " = " + pick("inline", "{}", "{ }", "{ a = 1 }", "{a={b=2}, c = 3}", "{ \"tty\" = false }") + comment())
		}
	}
	text := strings.Join(lines, "\n")
	for _, name := range []string{"features", "projects"} {
		if strings.Contains(text, name) {
			continue
		}
		switch rapid.IntRange(0, 3).Draw(t, name+" table") {
		case 0:
			add("[" + name + "]" + comment())
		case 1:
			add("["+name+"]"+comment(), "tty = "+pick("value", "true", "false", "'x'")+comment(), "b = nan")
		case 2:
			add("["+name+".sub]"+comment(), "b = 1")
		}
	}
	add("[[other]]", "a = 1979-05-27T07:32:00Z", "[[other]]", "a = 2")
	return []byte(strings.Join(lines, newline) + pick("end", "", newline, newline+newline))
}

func TestUnsetUndoesSet(t *testing.T) {
	keys := [][]string{{"features", "tty"}, {"projects", "/a b", "level"}, {"features", "x", "y"}, {"projects", "/a b", "time"}}
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDoc(t)
		if _, _, err := parse(doc); err != nil {
			t.Fatalf("the test's own document: %v\n%s", err, doc)
		}
		n := rapid.IntRange(1, len(keys)).Draw(t, "keys")
		order := rapid.Permutation([]int{0, 1, 2, 3}[:n]).Draw(t, "order")
		got := doc
		var set []int
		for _, i := range order {
			next, err := Set(got, "false", keys[i]...)
			if err != nil {
				continue // refused: a contrary inline value, or a key in the way
			}
			if value, _, err := Get(next, keys[i]...); err != nil || value != "false" {
				t.Fatalf("Get after Set = %q, %v in %q", value, err, next)
			}
			got, set = next, append(set, i)
		}
		for _, i := range rapid.Permutation(set).Draw(t, "undo") {
			var err error
			if got, err = Unset(got, keys[i]...); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, doc) || (got == nil) != (doc == nil) {
			t.Fatalf("got  %q\nwant %q", got, doc)
		}
	})
}

func FuzzSet(f *testing.F) {
	for _, s := range []string{"", "[features]", "features = {}", "features.a = 1\r\n", "[[features]]", "a = \"\"\"\n# satelle\n\"\"\"", "[features] # satelle\ntty = true # satelle was 1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if bytes.Contains(doc, []byte(mark)) {
			return
		}
		out, err := Set(doc, "false", "features", "tty")
		if err != nil {
			return
		}
		if value, _, err := Get(out, "features", "tty"); err != nil || value != "false" {
			t.Fatalf("%q became %q: %q, %v", doc, out, value, err)
		}
		back, err := Unset(out, "features", "tty")
		if err != nil || !bytes.Equal(back, doc) {
			t.Fatalf("%q came back as %q, %v", doc, back, err)
		}
	})
}
