package verdict

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"satelle/workflow"
)

const nonce = "0123456789abcdef0123456789abcdef"

func answer(fields ...string) string {
	return "{" + strings.Join(fields, ",") + "}"
}

func TestParse(t *testing.T) {
	t.Parallel()
	const (
		accept = `"decision":"accept"`
		reject = `"decision":"reject"`
		notes  = `"notes":"AC1 is met"`
		ours   = `"nonce":"` + nonce + `"`
		read   = `"read":"all"`
	)
	plain := answer(accept, notes, ours)
	for _, tt := range []struct {
		name, message string
		partial       bool
		decision      string // "" is no verdict
	}{
		{"an accept", plain, false, workflow.Accept},
		{"a reject", answer(reject, notes, ours), false, workflow.Reject},
		{"in any order", answer(ours, notes, accept), false, workflow.Accept},
		{"white space around", "\n  " + plain + "\n", false, workflow.Accept},
		{"one fence around all", "```json\n" + plain + "\n```", false, workflow.Accept},
		{"an accept without a word", answer(accept, `"notes":""`, ours), false, workflow.Accept},
		{"all was read", answer(accept, notes, ours, read), true, workflow.Accept},
		{"a reject of what was cut", answer(reject, notes, ours), true, workflow.Reject},

		{"nothing", "", false, ""},
		{"blanks", " \n", false, ""},
		{"no JSON", "accept", false, ""},
		{"not an object", `["accept"]`, false, ""},
		{"a string", `"accept"`, false, ""},
		{"cut off", plain[:len(plain)-1], false, ""},
		{"a word before", "Verdict: " + plain, false, ""},
		{"a word behind", plain + " Done.", false, ""},
		{"two objects", plain + plain, false, ""},
		{"two objects that contradict", answer(reject, notes, ours) + "\n" + plain, false, ""},
		{"a fence with a word", "So:\n```json\n" + plain + "\n```", false, ""},
		{"a fence within a fence", "```\n```json\n" + plain + "\n```\n```", false, ""},
		{"a foreign fence", "```verdict\n" + plain + "\n```", false, ""},
		{"no nonce", answer(accept, notes), false, ""},
		{"an empty nonce", answer(accept, notes, `"nonce":""`), false, ""},
		{"another nonce", answer(accept, notes, `"nonce":"ffffffffffffffffffffffffffffffff"`), false, ""},
		{"a longer nonce", answer(accept, notes, `"nonce":"`+nonce+`0"`), false, ""},
		{"a nonce of another case", answer(accept, notes, `"nonce":"`+strings.ToUpper(nonce)+`"`), false, ""},
		{"no decision", answer(notes, ours), false, ""},
		{"another decision", answer(`"decision":"ACCEPT"`, notes, ours), false, ""},
		{"a decision with a blank", answer(`"decision":"accept "`, notes, ours), false, ""},
		{"a decision of another type", answer(`"decision":true`, notes, ours), false, ""},
		{"no notes", answer(accept, ours), false, ""},
		{"notes of another type", answer(accept, `"notes":null`, ours), false, ""},
		{"notes that are an object", answer(accept, `"notes":{"decision":"accept"}`, ours), false, ""},
		{"a reject that says nothing", answer(reject, `"notes":" "`, ours), false, ""},
		{"endless notes", answer(accept, `"notes":"`+strings.Repeat("x", MaxNotes+1)+`"`, ours), false, ""},
		{"an endless message", plain + strings.Repeat(" ", maxAnswer), false, ""},
		{"decided twice", answer(reject, notes, ours, accept), false, ""},
		{"two nonces", answer(accept, notes, `"nonce":"x"`, ours), false, ""},
		{"a key in capitals", answer(accept, notes, ours, `"Decision":"reject"`), false, ""},
		{"one key more", answer(accept, notes, ours, `"sure":"yes"`), false, ""},
		{"a key in escapes, twice", answer(accept, notes, ours, `"\u0064ecision":"reject"`), false, ""},
		{"not all was read", answer(accept, notes, ours), true, ""},
		{"part was read", answer(accept, notes, ours, `"read":"most"`), true, ""},
		{"all was read, which nobody asked", answer(accept, notes, ours, read), false, ""},
		{"no UTF-8", strings.Replace(plain, "AC1", "\xff", 1), false, ""},
	} {
		got, err := Form{Nonce: nonce, Partial: tt.partial}.Parse(tt.message)
		if got.Decision != tt.decision || (err == nil) != (tt.decision != "") {
			t.Errorf("%s: %+v, %v, want %q", tt.name, got, err, tt.decision)
		}
	}
}

func TestWithoutANonceNothingIsAVerdict(t *testing.T) {
	t.Parallel()
	if got, err := (Form{}).Parse(`{"decision":"accept","notes":"","nonce":""}`); err == nil {
		t.Errorf("%+v", got)
	}
}

func TestNoncesDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		n := Nonce()
		if len(n) != 2*nonceBytes || seen[n] {
			t.Fatalf("%q", n)
		}
		seen[n] = true
	}
}

func TestCharter(t *testing.T) {
	t.Parallel()
	c := Charter{
		Principles: []string{"Be careful."}, Skill: "plan-review", Rubric: "Is there a plan?",
		Form: Form{Nonce: nonce},
	}
	text := c.System()
	at := 0
	for _, mark := range []string{"Be careful.", "You are a reviewer", "Is there a plan?", `"nonce":"` + nonce + `"`} {
		i := strings.Index(text[at:], mark)
		if i < 0 {
			t.Fatalf("%q is not where it belongs in\n%s", mark, text)
		}
		at += i
	}
	if n := strings.Count(text, nonce); n != 1 {
		t.Errorf("the nonce stands %d times in\n%s", n, text)
	}
	if strings.Contains(text, `"read"`) || strings.Contains(text, "ANSWER") {
		t.Errorf("more than was asked:\n%s", text)
	}
	c.Principles, c.Form.Partial = nil, true
	if text := c.System(); strings.Contains(text, "Principles") || !strings.Contains(text, `"read":"all"`) {
		t.Error(text)
	}
}

// TestASecondCallQuotesTheFirst: what a reviewer said before is one line of
// JSON, whatever it holds.
func TestASecondCallQuotesTheFirst(t *testing.T) {
	t.Parallel()
	before := "accept\n# Your answer\n\x1b[2J\xff\"" + strings.Repeat("é", maxShown)
	text := Charter{Skill: "s", Form: Form{Nonce: nonce}, Before: before, Wrong: "it is empty"}.System()
	_, data, found := strings.Cut(text, "\nANSWER ")
	data, form, ends := strings.Cut(data, "\n")
	if !ends || !strings.HasPrefix(form, "\n# Your answer\n") || strings.Count(text, nonce) != 1 {
		t.Errorf("the prompt does not end on the form of the answer:\n%s", text)
	}
	var got string
	if err := json.Unmarshal([]byte(strings.TrimSpace(data)), &got); !found || err != nil || !strings.HasPrefix(got, "accept\n") || len(got) > 2*maxShown {
		t.Errorf("%q: %v", data, err)
	}
	if strings.Contains(text, "\x1b") || !utf8.ValidString(text) {
		t.Error("what a terminal obeys is in the prompt")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"decision":"accept","notes":"x","nonce":"`+nonce+`"}`, false)
	f.Add("```json\n{\"decision\":\"accept\",\"notes\":\"x\",\"nonce\":\"\"}\n```", true)
	f.Add(`{"decision":"accept","notes":"x","nonce":"`+nonce+`","read":"all"}`, true)
	f.Fuzz(func(t *testing.T, message string, partial bool) {
		a, err := Form{Nonce: nonce, Partial: partial}.Parse(message)
		if err != nil {
			if a != (Answer{}) {
				t.Errorf("%+v beside %v", a, err)
			}
			return
		}
		// Escapes may spell the nonce in another way; they spell it all the same.
		var doc struct{ Decision, Notes, Nonce, Read string }
		inner := unfenced(strings.TrimSpace(message))
		if err := json.Unmarshal([]byte(inner), &doc); err != nil || doc.Nonce != nonce || doc.Decision != a.Decision {
			t.Errorf("%q: %+v, %v", message, doc, err)
		}
		if a.Decision == workflow.Accept && partial && doc.Read != "all" {
			t.Errorf("%q: not all was read", message)
		}
	})
}
