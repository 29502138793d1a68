package workflow

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/ledger/seatread"
)

// Person refuses what only a person may do. Where approvers are set, only an
// ssh signature shows one; otherwise it is enough that no harness session is
// among the process's ancestors.
func (st State) Person(verb string, actor ledger.Actor) error {
	if actor.Kind != ledger.ActorPerson {
		return fault.New(fault.Refused, "%s is a person's: it can't be done from an agent's session", verb)
	}
	if _, _, ok := st.Approvers(); ok && actor.Auth != ledger.AuthSSH {
		return fault.New(fault.Refused, "%s needs the ssh signature of an approver, since .satelle/approvers names some", verb)
	}
	if actor.Auth != ledger.AuthSSH && actor.Auth != ledger.AuthAncestry {
		return fault.New(fault.Refused, "%s needs a person, and nothing shows that one asks", verb)
	}
	return nil
}

// Approve records a person's verdict on a story's next step. tree is the
// content of the work tree that the person judges.
func (st State) Approve(id string, accept bool, note, tree string, actor ledger.Actor) (Change, error) {
	var c Change
	if err := st.Person("approve", actor); err != nil {
		return c, err
	}
	s, err := st.Story(id)
	if err != nil {
		return c, err
	}
	next := s.Next()
	if next == "" {
		return c, fault.New(fault.Refused, "story %s is %s: there is no next step to approve", id, s.Status)
	}
	if len(note) > maxText || !utf8.ValidString(note) {
		return c, fault.New(fault.Usage, "a note is UTF-8 text of at most 1 MiB")
	}
	c.add(KindApproval, id, actor, Approval{
		To: next, Accept: accept, Note: c.blob("text/plain", []byte(note)), Tree: tree, Edits: s.Edits, After: s.Last, By: actor.Name,
	})
	return c, nil
}

// Executable is something that runs only after a person trusted its content
// on this machine.
type Executable struct {
	// Name says what it is, for people: "check lint", "[checks] done".
	Name string
	// Digest identifies its content.
	Digest string
	// Text is what will be run, to be looked at before it is trusted.
	Text string
}

// Untrusted returns those that nobody has trusted yet.
func (st State) Untrusted(all []Executable) []Executable {
	var out []Executable
	for _, e := range all {
		if !st.Trusted(e.Digest) {
			out = append(out, e)
		}
	}
	return out
}

// NewApprovers returns the digest of a list of approvers that nobody has
// trusted yet, or "" where there is nothing new to trust.
func (st State) NewApprovers(content []byte) string {
	digest := ApproversDigest(content)
	if _, have, _ := st.Approvers(); have == digest {
		return ""
	}
	return digest
}

// Trust records that a person trusts executable substrate, a gate and a list
// of approvers, as far as they are new: one record each, in the order of what
// is given. Approvers that are trusted already have to sign a change of their
// own list.
func (st State) Trust(executables []Executable, gate *seatread.Gate, approvers []byte, actor ledger.Actor) (Change, error) {
	var c Change
	if err := st.Person("trust", actor); err != nil {
		return c, err
	}
	for _, e := range st.Untrusted(executables) {
		c.add(KindTrusted, "", actor, trustGranted{Name: e.Name, Digest: e.Digest})
	}
	if gate != nil {
		g, err := st.TrustOwnGate(*gate, actor)
		if err != nil {
			return c, err
		}
		c.then(g)
	}
	if digest := st.NewApprovers(approvers); digest != "" {
		c.add(KindApproversPinned, "", actor, approversTrusted{Digest: digest, Content: c.blob("text/plain", approvers)})
	}
	return c, nil
}

// ApproversDigest identifies a list of approvers; "" where it names nobody.
func ApproversDigest(content []byte) string {
	named := false
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			named = true
		}
	}
	if !named {
		return ""
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// maxWhy bounds the reason of a halt, which stands in the hook's row.
const maxWhy = 500

// Halt denies every edit until [State.Resume].
func (st State) Halt(why string, actor ledger.Actor) (Change, error) {
	var c Change
	if err := st.Person("halt", actor); err != nil {
		return c, err
	}
	if strings.TrimSpace(why) == "" || len(why) > maxWhy || !oneLine(why) {
		return c, fault.New(fault.Usage, "say why in one line of at most %d bytes", maxWhy)
	}
	c.add(KindHalted, "", actor, haltSet{Why: why})
	return c, nil
}

// Resume ends a halt.
func (st State) Resume(actor ledger.Actor) (Change, error) {
	var c Change
	if err := st.Person("resume", actor); err != nil {
		return c, err
	}
	if st.Row().Halt == "" {
		return c, nil
	}
	c.add(KindResumed, "", actor, nothing{})
	return c, nil
}

// TrustOwn trusts what satelle itself has just written, which needs no person.
func (st State) TrustOwn(own Executable, actor ledger.Actor) Change {
	var c Change
	if !st.Trusted(own.Digest) {
		c.add(KindTrusted, "", actor, trustGranted{Name: own.Name, Digest: own.Digest})
	}
	return c
}
