package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow/route"
)

// MaxArtifact bounds the body of a document that an agent hands back.
const MaxArtifact = 1 << 20

// Artifact is a document that a step hands back.
type Artifact struct {
	Name, Type string
	Body       []byte
}

// outputJudge opens the name under which the output contract of a step is
// judged when the story leaves it; a skill can't have such a name.
const outputJudge = "output:"

// ContractOf is the skill of a step that says what the step hands back; ok is
// false where it need hand nothing back.
func ContractOf(lane route.Lane, step string) (contract route.Skill, ok bool) {
	i := slices.IndexFunc(lane.Steps, func(s route.Step) bool { return s.Name == step })
	if i < 0 {
		return contract, false
	}
	for _, name := range lane.Steps[i].Skills {
		if s := lane.Skills[name]; s.Output != (route.OutputContract{}) {
			return s, true
		}
	}
	return contract, false
}

// Candidate reads the final message of an agent as what the contract asks for.
// It returns the document, nil if there is none and none is required, or all
// that is wrong with the message. (Seed 001, "Structured step artifacts".)
func Candidate(contract route.OutputContract, criteria int, message string) (*Artifact, []string) {
	// Who has nothing to hand back need not hand it back; who tries has to do
	// it right.
	if !contract.Required && !strings.Contains(message, `"artifact"`) {
		return nil, nil
	}
	a, err := DecodeArtifact(message)
	if err != nil {
		return nil, []string{err.Error()}
	}
	if findings := CheckArtifact(contract, criteria, a); len(findings) > 0 {
		return nil, findings
	}
	return &a, nil
}

// errForm opens every error about the form of an artifact.
var errForm = errors.New(`the final message is not one object {"artifact":{"name":…,"type":…,"body":…}}`)

// DecodeArtifact reads a final message that is exactly one object
// {"artifact":{"name":…,"type":…,"body":…}}, in whatever order, and nothing
// else: no other key, none twice, nothing before or after it.
func DecodeArtifact(message string) (Artifact, error) {
	bad := func(format string, args ...any) (Artifact, error) {
		return Artifact{}, fmt.Errorf("%w: "+format, append([]any{errForm}, args...)...)
	}
	switch {
	case strings.TrimSpace(message) == "":
		return bad("it is empty")
	case !utf8.ValidString(message):
		return bad("it is no UTF-8 text")
	}
	dec := json.NewDecoder(strings.NewReader(message))
	next := func() (json.Token, error) {
		t, err := dec.Token()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return t, err
	}
	for _, want := range []json.Token{json.Delim('{'), "artifact", json.Delim('{')} {
		switch got, err := next(); {
		case err != nil:
			return bad("%v", err)
		case got != want:
			return bad("%s stands where %s belongs", shown(got), shown(want))
		}
	}
	fields := map[string]string{}
	for dec.More() {
		key, err := next()
		if err != nil {
			return bad("%v", err)
		}
		name, _ := key.(string) // a key is a string, or the decoder had failed
		if !slices.Contains([]string{"name", "type", "body"}, name) {
			return bad("the artifact has the key %s", shown(name))
		}
		if _, twice := fields[name]; twice {
			return bad("the artifact has the key %s twice", shown(name))
		}
		value, err := next()
		if err != nil {
			return bad("%v", err)
		}
		text, is := value.(string)
		if !is {
			return bad("%s is no text but %s", name, shown(value))
		}
		fields[name] = text
	}
	for range 2 {
		switch got, err := next(); {
		case err != nil:
			return bad("%v", err)
		case got != json.Delim('}'):
			return bad("%s stands beside the artifact", shown(got))
		}
	}
	if _, err := dec.Token(); err != io.EOF {
		return bad("something follows it")
	}
	for _, name := range []string{"name", "type", "body"} {
		if _, there := fields[name]; !there {
			return bad("the artifact has no %s", name)
		}
	}
	return Artifact{Name: fields["name"], Type: fields["type"], Body: []byte(fields["body"])}, nil
}

// shown is a token in a message, in short.
func shown(t json.Token) string {
	const most = 60
	s := fmt.Sprint(t)
	if text, is := t.(string); is {
		s = text
	}
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// CheckArtifact returns all that a contract finds wrong with a document, in a
// sentence each; criteria is how many acceptance criteria the story has.
func CheckArtifact(contract route.OutputContract, criteria int, a Artifact) []string {
	var out []string
	if a.Name != contract.Name {
		out = append(out, fmt.Sprintf("name is %s, not %q", shown(a.Name), contract.Name))
	}
	if a.Type != contract.Type {
		out = append(out, fmt.Sprintf("type is %s, not %q", shown(a.Type), contract.Type))
	}
	switch {
	case strings.TrimSpace(string(a.Body)) == "":
		return append(out, "body is empty")
	case !utf8.Valid(a.Body):
		return append(out, "body is no UTF-8 text")
	case len(a.Body) > MaxArtifact:
		return append(out, fmt.Sprintf("body has %d bytes; at most %d are taken", len(a.Body), MaxArtifact))
	}
	if contract.ACCoverage {
		for _, n := range uncovered(string(a.Body), criteria) {
			out = append(out, fmt.Sprintf("body does not cover AC%d: name AC%d in a heading or at the start of a list item, outside of code", n, n))
		}
	}
	return out
}

// output judges the stored document of a step that the story leaves.
func output(s Story, f Facts, from string) string {
	contract, ok := ContractOf(f.Lane, from)
	if !ok {
		return ""
	}
	c := contract.Output
	if f.Output == nil {
		if !c.Required {
			return ""
		}
		return fmt.Sprintf("step %s owes the document %q of type %q: hand it in with `satelle story attach %s --name %s --type %s --file …`",
			from, c.Name, c.Type, s.ID, c.Name, c.Type)
	}
	if findings := CheckArtifact(c, len(f.Text.Criteria), *f.Output); len(findings) > 0 {
		return fmt.Sprintf("the document %q does not hold what step %s owes: %s", c.Name, from, strings.Join(findings, "; "))
	}
	return ""
}

// attachable attaches what a performer handed back, or refuses.
func attachable(s Story, a *Artifact, actor ledger.Actor) (c Change, refusal error) {
	if len(s.Docs) >= maxDocs && !slices.ContainsFunc(s.Docs, func(d Doc) bool { return d.Name == a.Name }) {
		return c, fault.New(fault.Refused, "story %s has %d documents already", s.ID, len(s.Docs))
	}
	c.add(KindAttached, s.ID, actor, documentAttached{Name: a.Name, Type: a.Type, Ref: c.blob("text/markdown", a.Body)})
	return c, nil
}
