package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// planted are credentials as they turn up in text; secret is what must go.
var planted = []struct{ name, text, secret string }{
	{"anthropic", "key sk-ant-api03-Abcdef0123456789-xyz here", "Abcdef0123456789"},
	{"openai", "OPENAI sk-proj-abcdefghij0123456789", "abcdefghij0123456789"},
	{"xai", "xai-abcdefghij0123456789", "abcdefghij0123456789"},
	{"google", "AIzaSyA0123456789abcdefghijklmnopqrstuvw", "0123456789abcdefghij"},
	{"github", "remote ghp_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghijklmnopqrstuvwxyz"},
	{"github fine", "github_pat_11ABCDEFG0abcdefghijkl_mnop", "11ABCDEFG0abcdefghijkl"},
	{"gitlab", "glpat-abcdefgh0123456789zz", "abcdefgh0123456789"},
	{"slack", "xoxb-123456789012-abcdefABCDEF", "123456789012-abcdefABCDEF"},
	{"stripe", "sk_live_abcdefgh0123456789", "abcdefgh0123456789"},
	{"npm", "//registry/:_authToken=npm_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghijklmnopqrstuvwxyz"},
	{"aws id", "id AKIAIOSFODNN7EXAMPLE.", "IOSFODNN7EXAMPLE"},
	{"aws secret", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI/K7MDENG"},
	{"jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "eyJzdWIiOiIxIn0"},
	{"pem", "x\n-----BEGIN RSA PRIVATE KEY-----\nMIIBOgIBAAJBAKj34GkxFhD9\n0vcNYPKA\n-----END RSA PRIVATE KEY-----\ny", "MIIBOgIBAAJBAKj34GkxFhD9"},
	{"pem in json", `{"text":"-----BEGIN PRIVATE KEY-----\nMIIBOgIBAAJBAKj34GkxFhD9\n-----END PRIVATE KEY-----\n"}`, "MIIBOgIBAAJBAKj34GkxFhD9"},
	{"pem cut off", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE", "b3BlbnNzaC1rZXktdjE"},
	{"bearer", "curl -H 'Authorization: Bearer abc.def-ghi'", "abc.def-ghi"},
	{"bearer alone", "sent bearer 0123456789abcdef on", "0123456789abcdef"},
	{"basic", "Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"},
	{"basic alone", "basic dXNlcjpwYXNz it is", "dXNlcjpwYXNz"},
	{"header", "x-api-key: 0123456789", "0123456789"},
	{"cookie", "Cookie: session=abcdef; other=ghijkl", "ghijkl"},
	{"url", "postgres://admin:hunter2@db/x", "hunter2"},
	{"url token", "https://0123456789abcdef0123@example.org/x.git", "0123456789abcdef0123"},
	{"key", "API_KEY=abcd1234", "abcd1234"},
	{"licence key", "export LICENCE_KEY=abcd1234", "abcd1234"},
	{"token", "export GH_TOKEN=abcd1234", "abcd1234"},
	{"password", "PASSWORD=hunter2!", "hunter2!"},
	{"password of digits", "DB_PASSWORD=hunter2", "hunter2"},
	{"quoted", `password: "correct horse battery"`, "horse battery"},
	{"json", `{"api_key":"abcd1234"}`, "abcd1234"},
	{"json in json", `{"text":"{\"client_secret\":\"abcd1234\"}"}`, "abcd1234"},
	{"json of go", `{"text":"TOKEN\u003dabcd1234"}`, "abcd1234"},
	{"after a line break in json", `{"text":"see\nAKIAIOSFODNN7EXAMPLE"}`, "IOSFODNN7EXAMPLE"},
	{"after a colour", "\x1b[31mAKIAIOSFODNN7EXAMPLE\x1b[0m", "IOSFODNN7EXAMPLE"},
	{"flag", "deploy --api-key abcd1234 now", "abcd1234"},
	{"curl", "curl -u admin:hunter2 http://x", "hunter2"},
	{"bot", "bot 123456789:AAabcdefghijklmnopqrstuvwxyz0123456", "abcdefghijklmnopqrstuvwxyz"},
	{"named", "it is Tr0ub4dor and more", "Tr0ub4dor"},
	{"named with blanks", "it is a pass phrase of five words", "phrase of five"},
	{"named in json", `{"text":"say \"hi\" now"}`, `hi\" now`},
	{"named in a url", "http://x/?q=a%2Fb%26c%3Dd", "%2Fb%26c"},
}

var named = New([]string{"Tr0ub4dor", "a pass phrase of five words", `say "hi" now`, "a/b&c=d", "abc"})

func TestShapes(t *testing.T) {
	t.Parallel()
	for _, tt := range planted {
		if got := named.String(tt.text); strings.Contains(got, tt.secret) || !strings.Contains(got, mark) {
			t.Errorf("%s: %q of %q", tt.name, got, tt.text)
		}
	}
}

// What is no credential stays, since a log without its words is worth nothing.
func TestProseStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"the task-list has a risk-assessment-of-everything", "basic authentication and bearer authentication", "input_tokens: 1234, \"token\":123456",
		`{"usage":{"input_tokens":100,"output_tokens":20,"reasoning_tokens":0}}`, "https://example.org/a/b?c=d", "git@github.com:o/r.git",
		"key = value", "for token in tokens:", "apiKeySource: none", "TOKEN=$GH_TOKEN", `"${GLM_API_KEY}"`, "password: required", "sha256:0123456789abcdef0123456789abcdef",
		"sty_7k2m9q4w moved from backlog to in_progress", "a b c d e f", "abc",
	} {
		if got := named.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// A stream is redacted as its whole text is, wherever it is cut.
func TestWriterAtEveryCut(t *testing.T) {
	t.Parallel()
	for _, tt := range planted {
		text := "before, " + tt.text + " \nafter\n"
		for cut := range len(text) {
			var out bytes.Buffer
			w := named.Writer(&out)
			for _, chunk := range []string{text[:cut], text[cut:]} {
				if _, err := w.Write([]byte(chunk)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), tt.secret) {
				t.Errorf("%s, cut at %d: %q", tt.name, cut, out.String())
			}
		}
	}
}

func TestWriterHoldsLittle(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, head, unit, tail string }{
		{"words", "", "word ", ""},
		{"no blank", "", "abcdefgh", ""},
		{"an endless token", "TOKEN=", "s3cr3t00", " after"},
		{"an endless key", "-----BEGIN PRIVATE KEY-----\n", "s3cr3t00\n", "-----END PRIVATE KEY----- after"},
		{"an endless jwt", "eyJhbGciOiJIUzI1NiJ9.", "s3cr3t00", " after"},
	} {
		var out bytes.Buffer
		w := named.Writer(&out)
		fmt.Fprint(w, tt.head)
		for range 20_000 {
			fmt.Fprint(w, tt.unit)
			if w.Pending() > 2*window {
				t.Fatalf("%s: %d bytes are held", tt.name, w.Pending())
			}
		}
		fmt.Fprint(w, tt.tail)
		w.Close()
		if strings.Contains(out.String(), "s3cr3t") {
			t.Errorf("%s: the secret came through: %.100q", tt.name, out.String())
		}
		if !strings.HasSuffix(out.String(), strings.TrimPrefix(tt.tail, "-----END PRIVATE KEY-----")) {
			t.Errorf("%s: what follows is lost", tt.name)
		}
	}
}

// deltas is a text as a protocol carries it: a line for each piece.
func deltas(pieces []string) (lines []string) {
	for i, p := range pieces {
		b, _ := json.Marshal(map[string]any{"type": "delta", "index": i, "delta": map[string]string{"text": p}})
		lines = append(lines, string(b))
	}
	return lines
}

func said(t interface{ Fatal(...any) }, lines []string) string {
	var all strings.Builder
	for _, line := range lines {
		var d struct{ Delta struct{ Text string } }
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(line, err)
		}
		all.WriteString(d.Delta.Text)
	}
	return all.String()
}

// A secret that lines of JSON carry bit by bit is found, whatever the bits.
func TestLinesCarryASecretBitByBit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(planted).Draw(t, "planted")
		rest := "some words before " + p.text + " \nand after"
		var pieces []string
		for rest != "" {
			n := min(len(rest), rapid.IntRange(1, 12).Draw(t, "n"))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		var out []string
		l := named.Lines(func(line string) { out = append(out, line) })
		for _, line := range deltas(pieces) {
			l.Add(line)
		}
		l.Flush()
		if len(out) != len(pieces) {
			t.Fatalf("%d lines of %d", len(out), len(pieces))
		}
		got := said(t, out)
		var unquoted string
		if strings.Contains(p.secret, `\`) && json.Unmarshal([]byte(`"`+p.secret+`"`), &unquoted) == nil && strings.Contains(got, unquoted) {
			t.Fatalf("%s: %q", p.name, got)
		}
		if strings.Contains(got, p.secret) {
			t.Fatalf("%s: %q", p.name, got)
		}
		if !strings.HasPrefix(got, "some words before ") || !strings.HasSuffix(got, "after") && p.name != "pem cut off" {
			t.Fatalf("%s: the words around are lost: %q", p.name, got)
		}
	})
}

func TestLinesHoldLittle(t *testing.T) {
	t.Parallel()
	n := 0
	l := named.Lines(func(string) { n++ })
	for range 2000 {
		l.Add(`{"text":"endless"}`)
		if len(l.lines) > heldLines || l.bytes > heldBytes {
			t.Fatalf("%d lines are held", len(l.lines))
		}
	}
	l.Flush()
	if n != 2000 {
		t.Errorf("%d lines", n)
	}
}

func TestLinesThatAreNoJSON(t *testing.T) {
	t.Parallel()
	var out []string
	l := named.Lines(func(line string) { out = append(out, line) })
	for line := range strings.Lines("start\n-----BEGIN PRIVATE KEY-----\nMIIBOgIBAAJBAKj34\n-----END PRIVATE KEY-----\nend\n") {
		l.Add(strings.TrimSuffix(line, "\n"))
	}
	l.Flush()
	if got := strings.Join(out, "\n"); strings.Contains(got, "MIIB") || !strings.HasPrefix(got, "start\n") || !strings.HasSuffix(got, "\nend") {
		t.Errorf("%q", got)
	}
}

func FuzzRedact(f *testing.F) {
	for _, tt := range planted {
		f.Add(tt.text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		named.String(text)
		cut = min(max(cut, 0), len(text))
		var out bytes.Buffer
		w := named.Writer(&out)
		w.Write([]byte(text[:cut]))
		w.Write([]byte(text[cut:]))
		w.Close()
		if strings.Contains(out.String(), "Tr0ub4dor") {
			t.Errorf("%q", out.String())
		}
		lines := 0
		l := named.Lines(func(string) { lines++ })
		l.Add(text)
		l.Add(text[cut:])
		l.Flush()
		if lines != 2 {
			t.Errorf("%d lines", lines)
		}
	})
}

func BenchmarkString(b *testing.B) {
	text, err := os.ReadFile("shapes.go")
	if err != nil {
		b.Fatal(err)
	}
	prose := strings.Repeat("The story moves on when its gate accepts, and its record says who has judged, by which skill.\n", 1000)
	for name, text := range map[string]string{"dense": string(text), "prose": prose} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				named.String(text)
			}
		})
	}
}
