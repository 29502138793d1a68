package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hiddeco/sshsig"
	"github.com/tidwall/gjson"
	"golang.org/x/crypto/ssh"
)

// TestSignaturesSpeakForTheirRecords rebuilds what a person signed from the
// record that bears the signature and the log's origin, as somebody would who
// has nothing but an export, and holds that no signature serves for another
// record.
func TestSignaturesSpeakForTheirRecords(t *testing.T) {
	s := newScratch(t, nil)
	line := s.must("sshkey", filepath.Join(s.repo, "..", "home", ".ssh", "id_ed25519"), "ada@example.org")
	if err := os.WriteFile(filepath.Join(s.repo, ".satelle", "approvers"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	s.must("satelle", "trust", "--yes")
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(strings.TrimPrefix(line, "ada@example.org ")))
	if err != nil {
		t.Fatal(err)
	}
	create := func() string {
		out := s.must("satelle", "story", "create", "--title", "A", "--ac", "a", "--category", "substrate")
		return out[strings.Index(out, "sty_"):][:12]
	}
	a, b := create(), create()
	s.must("satelle", "approve", a, "--reject")
	s.must("satelle", "approve", a)
	s.must("satelle", "approve", b)
	s.must("satelle", "story", "set", a, "--next")
	s.must("satelle", "approve", a)
	s.must("satelle", "story", "restamp", a)
	s.must("satelle", "halt", "why")
	s.must("satelle", "resume")
	skills := filepath.Join(s.repo, ".satelle", "skills")
	if err := os.MkdirAll(skills, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		text := "---\nname: " + name + "\ndescription: checks\n---\n\n```check\ntest " + name + "\n```\n"
		if err := os.WriteFile(filepath.Join(skills, name+".md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.must("satelle", "trust", "--yes")
	digest := gjson.Get(lastLine(s.must("satelle", "ledger", "list", "--kind", "approval.given", "--json")), "body.note.digest").Str
	s.must("satelle", "ledger", "redact", digest, "--reason", "not for everybody")
	s.must("satelle", "ledger", "rotate-key")

	origin, _, _ := strings.Cut(s.must("satelle", "ledger", "stats"), "\n")
	statements, sigs := signedRecords(origin, s.must("satelle", "ledger", "list", "--json"))
	verbs := map[string]int{}
	for i, statement := range statements {
		verb, _, _ := strings.Cut(statement, "\n")
		verbs[verb]++
		for j, sig := range sigs {
			parsed, err := sshsig.Unarmor([]byte(sig))
			if err != nil {
				t.Fatal(err)
			}
			err = sshsig.Verify(strings.NewReader(statement), parsed, key, sshsig.HashSHA512, "satelle")
			if (err == nil) != (i == j) {
				t.Errorf("the signature of %q for %q: %v", statements[j], statement, err)
			}
		}
	}
	want := map[string]int{
		"satelle approve": 4, "satelle restamp": 1, "satelle halt": 1, "satelle resume": 1,
		"satelle trust": 1, "satelle redact": 1, "satelle rotate-key": 1,
	}
	for verb, n := range want {
		if verbs[verb] != n {
			t.Errorf("%d signatures of %s, want %d", verbs[verb], verb, n)
		}
	}
}

// signedRecords rebuilds the statements of the signed records in a list.
func signedRecords(origin, list string) (statements, sigs []string) {
	for line := range strings.Lines(list) {
		r := gjson.Parse(line)
		sig := r.Get("actor.sig").Str
		if sig == "" {
			continue
		}
		part := func(path string) string { return r.Get(path).String() }
		var words []string
		switch r.Get("kind").Str {
		case "approval.given":
			verdict := "reject"
			if r.Get("body.accept").Bool() {
				verdict = "accept"
			}
			words = []string{"satelle approve", origin, part("story"), part("body.to"), verdict, part("body.tree"), part("body.edits"), part("body.after")}
		case "story.restamped":
			words = []string{"satelle restamp", origin, part("story"), part("body.plan.lane"), part("body.after")}
		case "trust.granted", "approvers.trusted":
			if i := slices.Index(sigs, sig); i >= 0 {
				statements[i] += part("body.digest") + "\n"
				continue
			}
			words = []string{"satelle trust", origin, part("body.digest")}
		case "halt.set":
			words = []string{"satelle halt", origin, part("body.why")}
		case "halt.ended":
			words = []string{"satelle resume", origin}
		case "blob.redacted":
			words = []string{"satelle redact", origin, part("body.blob.digest"), part("body.reason")}
		case "key.rotated":
			words = []string{"satelle rotate-key", origin}
		}
		statements = append(statements, strings.Join(words, "\n")+"\n")
		sigs = append(sigs, sig)
	}
	return statements, sigs
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
